//! Logs for these tests: a small project and what was done to it, as canonical events.

use serde_json::{json, Value};

/// Where the logs say that they were made: another machine.
/// With the name of the folder that tests open: the same project on another machine.
pub const CWD: &str = "/home/someone/project";

#[derive(Default)]
pub struct Log {
    lines: Vec<String>,
}

impl Log {
    pub fn new() -> Log {
        Log::default().event("session.start", json!({"cwd": CWD, "agent": "test"}))
    }

    pub fn event(mut self, kind: &str, payload: Value) -> Log {
        let seq = self.lines.len() + 1;
        let time = 1_764_500_000_000_u64 + seq as u64 * 1500;
        self.lines.push(
            json!({"eventId": format!("e{seq}"), "traceId": "t1", "seq": seq, "type": kind, "timestamp": time, "payload": payload})
                .to_string(),
        );
        self
    }

    pub fn says(self, text: &str) -> Log {
        self.event("message.assistant", json!({"content": text}))
    }

    pub fn creates(self, path: &str, content: &str) -> Log {
        self.event("file.create", json!({"path": path, "content": content}))
    }

    pub fn changes(self, path: &str, old: &str, new: &str) -> Log {
        self.event(
            "file.change",
            json!({"path": path, "edits": [{"old": old, "new": new}]}),
        )
    }

    pub fn writes(self, path: &str, content: &str) -> Log {
        self.event("file.change", json!({"path": path, "content": content}))
    }

    pub fn text(&self) -> String {
        self.lines.join("\n") + "\n"
    }

    pub fn count(&self) -> usize {
        self.lines.len()
    }
}

pub const FIRST: &str = "def price(item):\n    return item.net * 1.19\n\n\ndef total(items):\n    return sum(price(i) for i in items)\n";
pub const SECOND: &str = "def price(item):\n    return item.net * item.rate\n\n\ndef total(items):\n    return sum(price(i) for i in items)\n";
pub const THIRD: &str = "def price(item):\n    return item.net\n";

/// Position 3: `FIRST`; 5: `SECOND`; 7 (the end): `THIRD`, the loss.
pub fn shop() -> Log {
    Log::new()
        .says("A file for prices.")
        .creates("shop/price.py", FIRST)
        .says("The rate belongs to the item.")
        .changes("shop/price.py", "1.19", "item.rate")
        .says("Simpler now.")
        .writes("shop/price.py", THIRD)
}
