//! A canonical log of a long, ordinary day: talk, tool calls, files written and edited, chips, memory.
//!
//! The same numbers give the same log. Every edit fits its file.

use serde_json::{json, Value};
use std::io::{self, BufWriter, Write};
use std::path::Path;

pub fn write(out: &Path, size: u64) -> io::Result<()> {
    let mut file = BufWriter::new(std::fs::File::create(out)?);
    let mut day = Day::new();
    let mut written = 0u64;
    while written < size {
        for event in day.step() {
            let line = event.to_string();
            file.write_all(line.as_bytes())?;
            file.write_all(b"\n")?;
            written += line.len() as u64 + 1;
        }
    }
    file.flush()
}

struct Day {
    random: u64,
    seq: u64,
    time: i64,
    files: Vec<Vec<String>>,
    chips: u64,
    items: u64,
    pending: Vec<Value>,
}

const WORDS: [&str; 16] = [
    "the", "parser", "keeps", "each", "line", "until", "its", "end", "arrives", "and", "then",
    "folds", "what", "it", "means", "你好",
];

impl Day {
    fn new() -> Day {
        Day {
            random: 0x2545_f491_4f6c_dd1d,
            seq: 0,
            time: 1_764_500_000_000,
            files: Vec::new(),
            chips: 0,
            items: 0,
            pending: Vec::new(),
        }
    }

    fn below(&mut self, most: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random % most.max(1)
    }

    fn words(&mut self, count: u64) -> String {
        let mut out = String::new();
        for _ in 0..count {
            let at = self.below(WORDS.len() as u64) as usize;
            out.push_str(WORDS.get(at).copied().unwrap_or_default());
            out.push(if at == 7 { '\n' } else { ' ' });
        }
        out
    }

    fn line(&mut self) -> String {
        let indent = "    ".repeat(self.below(4) as usize);
        let words = 2 + self.below(9);
        format!(
            "{indent}{}\n",
            self.words(words).replace('\n', " ").trim_end()
        )
    }

    fn say(&mut self, parent: Option<&str>, name: &str, payload: Value) -> String {
        self.seq += 1;
        self.time += 1 + self.below(4_000) as i64;
        let id = format!(
            "{:08x}-{:04x}-4000-8000-{:012x}",
            self.seq * 2_654_435_761 % 0xffff_ffff,
            self.seq % 0xffff,
            self.seq
        );
        let mut event = json!({
            "eventId": id, "traceId": format!("trace-{}", self.seq / 200), "seq": self.seq, "type": name,
            "timestamp": self.time, "payload": payload, "version": 1,
        });
        if let Some(parent) = parent {
            event["parentEventId"] = json!(parent);
            event["correlationId"] = json!(format!("op-{parent}"));
        }
        self.pending.push(event);
        id
    }

    /// The events of one exchange.
    fn step(&mut self) -> Vec<Value> {
        let count = 20 + self.below(60);
        let text = self.words(count);
        let asked = self.say(None, "message.user", json!({"content": text}));
        for _ in 0..1 + self.below(6) {
            self.tool(&asked);
        }
        if self.below(3) == 0 {
            self.remember(&asked);
        }
        let count = 40 + self.below(200);
        let text = self.words(count);
        self.say(Some(&asked), "message.assistant", json!({"content": text}));
        std::mem::take(&mut self.pending)
    }

    fn tool(&mut self, asked: &str) {
        match self.below(10) {
            0 | 1 => self.create(asked),
            2..=5 if !self.files.is_empty() => self.edit(asked),
            _ => {
                let command = self.words(6);
                let call = self.say(
                    Some(asked),
                    "tool.call",
                    json!({"toolName": "run", "args": {"cmd": command}}),
                );
                let count = 20 + self.below(300);
                let output = self.words(count);
                let status = if self.below(12) == 0 { "error" } else { "ok" };
                self.say(
                    Some(&call),
                    "tool.result",
                    json!({"callId": call, "status": status, "result": output, "durationMs": 12}),
                );
                self.say(
                    Some(&call),
                    "message.toolResult",
                    json!({"callId": call, "status": status, "content": output}),
                );
            }
        }
    }

    fn create(&mut self, asked: &str) {
        let path = format!(
            "src/part{}/file{}.rs",
            self.files.len() % 40,
            self.files.len()
        );
        let count = 20 + self.below(200);
        let lines: Vec<String> = (0..count).map(|_| self.line()).collect();
        let content = lines.concat();
        let call = self.say(
            Some(asked),
            "tool.call",
            json!({"toolName": "be-write", "args": {"file": path, "content": content}}),
        );
        self.say(
            Some(&call),
            "file.create",
            json!({"path": path, "content": content}),
        );
        self.say(
            Some(&call),
            "tool.result",
            json!({"callId": call, "status": "ok"}),
        );
        self.files.push(lines);
    }

    fn edit(&mut self, asked: &str) {
        let number = self.below(self.files.len().min(30) as u64) as usize;
        let number = self.files.len() - 1 - number;
        let path = format!("src/part{}/file{number}.rs", number % 40);
        let lines = self.files.get(number).map_or(0, Vec::len) as u64;
        let start = 1 + self.below(lines.max(1));
        let end = (start + self.below(4)).min(lines);
        let fresh: Vec<String> = (0..1 + self.below(5)).map(|_| self.line()).collect();
        let call = self.say(
            Some(asked),
            "tool.call",
            json!({"toolName": "be-replace", "args": {"file": format!("{path}:{start}-{end}")}}),
        );
        let edit = json!({"startLine": start, "endLine": end, "content": fresh.concat()});
        self.say(
            Some(&call),
            "file.change",
            json!({"path": path, "edits": [edit]}),
        );
        if let Some(held) = self.files.get_mut(number) {
            let from = (start as usize - 1).min(held.len());
            let to = (end as usize).min(held.len()).max(from);
            held.splice(from..to, fresh);
        }
        if self.below(8) == 0 {
            self.chips += 1;
            let id = format!("{:06x}", self.chips);
            let gone = self.line();
            self.say(Some(&call), "chip.save", json!({"chip": {"id": id, "tool": "be-delete", "args": {"_content": gone}, "created_at": 1_764_500_000 + self.chips}}));
            if self.chips > 30 {
                let old = format!("{:06x}", self.chips - 30);
                self.say(
                    Some(&call),
                    "chip.evict",
                    json!({"id": old, "reason": "capacity"}),
                );
            }
        }
        self.say(
            Some(&call),
            "tool.result",
            json!({"callId": call, "status": "ok"}),
        );
    }

    fn remember(&mut self, asked: &str) {
        self.items += 1;
        let text = self.words(12);
        self.say(Some(asked), "memory.add", json!({"id": format!("m{}", self.items), "zone": "hot", "role": "user", "content": text, "tokens": 20}));
        if self.items > 40 {
            self.say(
                Some(asked),
                "memory.move",
                json!({"id": format!("m{}", self.items - 40), "to": "warm", "score": 0.5}),
            );
        }
        if self.items > 100 {
            self.say(
                Some(asked),
                "memory.remove",
                json!({"id": format!("m{}", self.items - 100), "reason": "capacity"}),
            );
        }
    }
}
