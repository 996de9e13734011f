//! How a story becomes a log: each thing that the agent does is the events, chips and edit snapshots that a server
//! would leave, and the files after it.

use super::records::{Chip, EditSnapshot};
use serde_json::{json, Value};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// Friday, 14:02:07 in Shanghai; the app moves it to the day it is looked at.
const START: i64 = 1_764_309_727_000;

#[derive(Default)]
pub struct Telling {
    lines: Vec<String>,
    /// Milliseconds since the start.
    clock: i64,
    trace: u32,
    parent: Option<String>,
    correlation: u32,
    /// As the agent's tools left them.
    pub files: BTreeMap<String, String>,
    chips: Vec<Chip>,
    snapshots: Vec<EditSnapshot>,
    calls: u32,
    random: u64,
}

impl Telling {
    /// What lies in the project before the agent starts.
    pub fn on_disk(&mut self, path: &str, content: &str) {
        self.files.insert(path.into(), content.into());
    }

    /// Time goes by, in seconds.
    pub fn after(&mut self, seconds: i64) {
        self.clock += seconds * 1000;
    }

    /// A number that only looks random; the demo is the same at every run.
    fn next(&mut self) -> u64 {
        self.random = self
            .random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        self.random >> 33
    }

    fn id(&mut self) -> String {
        format!("{:06x}", self.next() & 0xff_ffff)
    }

    fn now(&self) -> i64 {
        START + self.clock
    }

    /// One event; what it is called.
    fn event(&mut self, kind: &str, payload: Value) -> String {
        self.clock += 20 + (self.next() % 90) as i64;
        let seq = self.lines.len() + 1;
        let id = format!("e{seq:04}");
        let quoted = |text: &str| Value::from(text).to_string();
        let mut line = format!(
            "{{\"eventId\":{},\"traceId\":\"t-{:02}\"",
            quoted(&id),
            self.trace
        );
        if let Some(parent) = &self.parent {
            line += &format!(",\"parentEventId\":{}", quoted(parent));
        }
        let dialogue = kind.starts_with("message.")
            || kind.starts_with("session.")
            || kind == "context.compact";
        line += &format!(
            ",\"correlationId\":\"c-{:03}\",\"seq\":{seq},\"session\":\"{}\",\"type\":{},\"timestamp\":{},\"version\":1,\"payload\":{payload}}}",
            self.correlation,
            if dialogue { "dialog" } else { "exec" },
            quoted(kind),
            self.now(),
        );
        self.lines.push(line);
        id
    }

    pub fn session_starts(&mut self, cwd: &str) {
        self.event(
            "session.start",
            json!({"cwd": cwd, "agent": "deckhand 0.9", "model": "coder-large"}),
        );
    }

    pub fn session_ends(&mut self, reason: &str) {
        self.parent = None;
        self.event("session.end", json!({"reason": reason}));
    }

    pub fn user(&mut self, text: &str) {
        self.trace += 1;
        self.correlation += 1;
        self.parent = None;
        let id = self.event("message.user", json!({"content": text}));
        self.parent = Some(id);
    }

    pub fn says(&mut self, text: &str) -> String {
        self.after(2 + text.len() as i64 / 40);
        let id = self.event("message.assistant", json!({"content": text}));
        self.parent = Some(id.clone());
        id
    }

    pub fn compacts(&mut self, through: &str, summary: &str, before: u32, after: u32) {
        self.event(
            "context.compact",
            json!({"through": through, "summary": summary, "tokensBefore": before, "tokensAfter": after}),
        );
    }

    /// Any other event, as it is.
    pub fn also(&mut self, kind: &str, payload: Value) {
        self.event(kind, payload);
    }

    fn call(&mut self, tool: &str, args: Value) -> String {
        self.calls += 1;
        self.correlation += 1;
        let thought = 6 + (self.next() % 37) as i64;
        self.after(thought);
        self.event("tool.call", json!({"toolName": tool, "args": args}))
    }

    /// The execution's result and the dialogue's copy of it.
    fn result(&mut self, call: &str, status: &str, text: &str, claimed: &str) {
        let took = 12 + (self.next() % 60) as i64;
        self.clock += took;
        let key = if status == "ok" { "result" } else { "error" };
        self.event(
            "tool.result",
            json!({"callId": call, "status": status, key: text, "durationMs": took}),
        );
        self.event(
            "message.toolResult",
            json!({"callId": call, "status": claimed, "content": text}),
        );
    }

    fn chip(&mut self, tool: &str, args: Value, error: Option<&str>) -> String {
        let chip = Chip {
            id: self.id(),
            tool: tool.into(),
            args,
            error: error.map(str::to_owned),
            created: self.now() / 1000,
        };
        self.event("chip.save", json!({"chip": chip.value()}));
        let id = chip.id.clone();
        self.chips.push(chip);
        id
    }

    fn snapshot(
        &mut self,
        tool: &'static str,
        file: &str,
        before: &str,
        args: Value,
        summary: String,
    ) {
        let id = self.id();
        let (created, after) = (
            self.now() / 1000,
            self.files.get(file).cloned().unwrap_or_default(),
        );
        let before = before.to_owned();
        self.snapshots.push(EditSnapshot {
            id,
            tool,
            file: file.into(),
            before,
            after,
            args,
            summary,
            created,
        });
    }

    /// Looks at a whole file.
    pub fn reads(&mut self, path: &str) {
        let content = self.files.get(path).cloned().unwrap_or_default();
        let call = self.call("be-read", json!({"file": path}));
        self.event(
            "file.observe",
            json!({"path": path, "sha256": sha256(&content), "content": content}),
        );
        let lines = content.lines().count();
        self.result(&call, "ok", &format!("{lines} lines"), "ok");
    }

    /// Replaces a piece that stands once.
    pub fn replaces(&mut self, path: &str, old: &str, new: &str) {
        let before = self.files.get(path).cloned().unwrap_or_default();
        assert_eq!(before.matches(old).count(), 1, "{path}: {old}");
        let start = before
            .split(old)
            .next()
            .unwrap_or_default()
            .matches('\n')
            .count()
            + 1;
        let end = start + old.trim_end_matches('\n').matches('\n').count();
        let after = before.replacen(old, new, 1);
        let place = format!("{path}:{start}-{end}");
        let call = self.call(
            "be-replace",
            json!({"file": place, "old": old, "content": new}),
        );
        self.event(
            "file.change",
            json!({"path": path, "edits": [{"old": old, "new": new}],
                   "beforeSha256": sha256(&before), "afterSha256": sha256(&after)}),
        );
        self.files.insert(path.into(), after);
        let args = json!({"end": end, "file": path, "start": start});
        let summary = format!("be-replace on {} lines {start}-{end}", last(path));
        self.snapshot("be-replace", path, &before, args, summary);
        self.result(
            &call,
            "ok",
            &format!("replaced {} lines", end + 1 - start),
            "ok",
        );
    }

    /// Writes a whole file, new or not.
    pub fn writes(&mut self, path: &str, content: &str) {
        let before = self.files.get(path).cloned();
        let call = self.call("be-write", json!({"file": path, "content": content}));
        match &before {
            None => self.event("file.create", json!({"path": path, "content": content})),
            Some(_) => {
                let sum = sha256(content);
                self.event(
                    "file.change",
                    json!({"path": path, "content": content, "afterSha256": sum}),
                )
            }
        };
        self.files.insert(path.into(), content.into());
        let summary = format!("be-write on {}", last(path));
        self.snapshot(
            "be-write",
            path,
            &before.unwrap_or_default(),
            json!({"file": path}),
            summary,
        );
        self.result(
            &call,
            "ok",
            &format!("{} lines written", content.lines().count()),
            "ok",
        );
    }

    /// Takes lines out; the server keeps them as a chip.
    pub fn deletes_lines(&mut self, path: &str, start: usize, end: usize) -> String {
        let before = self.files.get(path).cloned().unwrap_or_default();
        let lines: Vec<&str> = before.split_inclusive('\n').collect();
        let gone = lines.get(start - 1..end).unwrap_or_default().concat();
        let mut after = lines.clone();
        after.drain(start - 1..end);
        let after = after.concat();
        let call = self.call(
            "be-delete",
            json!({"file": format!("{path}:{start}-{end}")}),
        );
        let chip = self.chip("be-delete", json!({"_content": gone}), None);
        self.event(
            "file.change",
            json!({"path": path, "edits": [{"startLine": start, "endLine": end, "content": ""}], "afterSha256": sha256(&after)}),
        );
        self.files.insert(path.into(), after);
        let args = json!({"end": end, "file": path, "start": start});
        let summary = format!("be-delete on {} lines {start}-{end}", last(path));
        self.snapshot("be-delete", path, &before, args, summary);
        self.result(
            &call,
            "ok",
            &format!("deleted lines {start}-{end}, chip {chip}"),
            "ok",
        );
        chip
    }

    /// A call that fails. `claimed` is what the dialogue is told.
    pub fn fails(&mut self, tool: &str, args: Value, error: &str, claimed: &str) {
        let call = self.call(tool, args.clone());
        if Chip::worth_saving(&args) {
            self.chip(tool, args, Some(error));
        }
        self.result(&call, "error", error, claimed);
    }

    /// A shell call.
    pub fn runs(&mut self, command: &str, output: &str, status: &str) {
        let call = self.call("shell", json!({"command": command}));
        let work = 2 + (self.next() % 9) as i64;
        self.after(work);
        self.result(&call, status, output, status);
    }

    /// A file goes away whole.
    pub fn removes(&mut self, path: &str) {
        let call = self.call("shell", json!({"command": format!("rm {path}")}));
        self.files.remove(path);
        self.event("file.delete", json!({"path": path}));
        self.result(&call, "ok", "", "ok");
    }

    pub fn renames(&mut self, from: &str, to: &str) {
        let call = self.call("shell", json!({"command": format!("git mv {from} {to}")}));
        if let Some(content) = self.files.remove(from) {
            self.files.insert(to.into(), content);
        }
        self.event("file.rename", json!({"from": from, "to": to}));
        self.result(&call, "ok", "", "ok");
    }

    /// A call that never ends in the log.
    pub fn starts_and_never_ends(&mut self, command: &str) {
        self.call("shell", json!({"command": command}));
    }

    /// The disk after the log, unseen by the agent.
    pub fn changed_by_hand(&mut self, path: &str, old: &str, new: &str) {
        let before = self.files.get(path).cloned().unwrap_or_default();
        assert_eq!(before.matches(old).count(), 1, "{path}: {old}");
        self.files.insert(path.into(), before.replacen(old, new, 1));
    }

    /// The server keeps the newest 30 of each.
    fn kept<T>(all: &[T]) -> &[T] {
        &all[all.len().saturating_sub(30)..]
    }

    /// Names and bytes of everything in the bundle.
    pub fn bundle(&self) -> Vec<(String, Vec<u8>)> {
        let mut all = vec![(
            "orders.jsonl".to_owned(),
            (self.lines.join("\n") + "\n").into_bytes(),
        )];
        for chip in Self::kept(&self.chips) {
            all.push((
                format!("chips/chip-{}.json", chip.id),
                chip.bytes().into_bytes(),
            ));
        }
        for snapshot in Self::kept(&self.snapshots) {
            all.push((
                format!("snapshots/snapshot-{}.json", snapshot.id),
                snapshot.bytes().into_bytes(),
            ));
        }
        for (path, content) in &self.files {
            all.push((format!("project/{path}"), content.clone().into_bytes()));
        }
        all
    }

    pub fn summary(&self) -> String {
        format!(
            "{} events in {} minutes, {} calls, {} chips, {} edit snapshots, {} files",
            self.lines.len(),
            self.clock / 60_000,
            self.calls,
            self.chips.len(),
            self.snapshots.len(),
            self.files.len()
        )
    }
}

fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn sha256(text: &str) -> String {
    Sha256::digest(text.as_bytes())
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
