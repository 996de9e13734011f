//! The page, through WebDriver: a plain HTTP client is enough.

use base64::Engine;
use serde_json::{json, Value};
use std::path::Path;
use std::time::Duration;

const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// Keys that have no character, as WebDriver names them.
pub mod keys {
    pub const ENTER: &str = "\u{E007}";
    pub const ESCAPE: &str = "\u{E00C}";
    pub const LEFT: &str = "\u{E012}";
    pub const UP: &str = "\u{E013}";
    pub const RIGHT: &str = "\u{E014}";
    pub const DOWN: &str = "\u{E015}";
    pub const HOME: &str = "\u{E011}";
    pub const END: &str = "\u{E010}";
    pub const TAB: &str = "\u{E004}";
    pub const CONTROL: &str = "\u{E009}";
    pub const SHIFT: &str = "\u{E008}";
    pub const ALT: &str = "\u{E00A}";
}

/// A running window's page. Ends the app when dropped.
pub struct Page {
    agent: ureq::Agent,
    base: String,
}

impl Page {
    pub(crate) fn new(port: u16, app: &Path, arguments: &[&Path]) -> Page {
        let agent: ureq::Agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(Duration::from_secs(60)))
            .build()
            .into();
        let mut page = Page {
            agent,
            base: format!("http://127.0.0.1:{port}/session"),
        };
        let arguments: Vec<&str> = arguments.iter().map(|a| a.to_str().unwrap()).collect();
        let options = json!({"binary": app, "args": arguments});
        let wanted =
            json!({"capabilities": {"alwaysMatch": {"webkitgtk:browserOptions": options}}});
        let session = page.call("POST", "", wanted).expect("a session");
        page.base = format!("{}/{}", page.base, session["sessionId"].as_str().unwrap());
        page
    }

    fn call(&self, method: &str, path: &str, body: Value) -> Result<Value, String> {
        let url = format!("{}{path}", self.base);
        let sent = match method {
            "GET" => self.agent.get(&url).call(),
            "DELETE" => self.agent.delete(&url).call(),
            _ => self.agent.post(&url).send_json(body),
        };
        let mut reply = sent.map_err(|error| error.to_string())?;
        let said: Value = reply
            .body_mut()
            .with_config()
            .limit(64 << 20)
            .read_json()
            .map_err(|error| error.to_string())?;
        if reply.status().is_success() {
            Ok(said["value"].clone())
        } else {
            Err(said["value"].to_string())
        }
    }

    fn element(&self, css: &str) -> Result<String, String> {
        let found = self.call(
            "POST",
            "/element",
            json!({"using": "css selector", "value": css}),
        )?;
        Ok(found[ELEMENT].as_str().unwrap_or_default().to_owned())
    }

    /// Waits until it is there.
    pub fn wait(&self, css: &str) -> String {
        crate::until(css, || self.element(css).ok())
    }

    pub fn wait_gone(&self, css: &str) {
        crate::until(&format!("{css} to go"), || {
            (self.count(css) == 0).then_some(())
        });
    }

    pub fn there(&self, css: &str) -> bool {
        self.element(css).is_ok()
    }

    pub fn count(&self, css: &str) -> u64 {
        self.js(
            "return document.querySelectorAll(arguments[0]).length",
            &[json!(css)],
        )
        .as_u64()
        .unwrap()
    }

    /// A real click at the middle of it; what covers it would get it.
    pub fn click(&self, css: &str) {
        // Lists are virtual and may lay themselves out again between the look and the click.
        crate::until(&format!("a click on {css}"), || {
            let element = self.element(css).ok()?;
            self.call("POST", &format!("/element/{element}/click"), json!({}))
                .ok()
        });
    }

    pub fn text(&self, css: &str) -> String {
        self.js(
            "return document.querySelector(arguments[0])?.textContent ?? ''",
            &[json!(css)],
        )
        .as_str()
        .unwrap_or_default()
        .to_owned()
    }

    /// Waits until its text has `part`; the whole text.
    pub fn wait_text(&self, css: &str, part: &str) -> String {
        let mut last = String::new();
        let start = std::time::Instant::now();
        loop {
            if self.there(css) {
                last = self.text(css);
                if last.contains(part) {
                    return last;
                }
            }
            assert!(
                start.elapsed() < Duration::from_secs(20),
                "{css} does not say {part:?} but {last:?}"
            );
            std::thread::sleep(Duration::from_millis(25));
        }
    }

    pub fn attribute(&self, css: &str, name: &str) -> Option<String> {
        let script =
            "return document.querySelector(arguments[0])?.getAttribute(arguments[1]) ?? null";
        self.js(script, &[json!(css), json!(name)])
            .as_str()
            .map(str::to_owned)
    }

    /// Keys to whatever has the focus, as a keyboard sends them: real key events, not text put in.
    pub fn press(&self, keys: &str) {
        let actions: Vec<Value> = keys
            .chars()
            .flat_map(|key| {
                [
                    json!({"type": "keyDown", "value": key}),
                    json!({"type": "keyUp", "value": key}),
                ]
            })
            .collect();
        self.act(json!([{"type": "key", "id": "keyboard", "actions": actions}]));
    }

    /// One key with others held.
    pub fn press_with(&self, held: &[&str], key: &str) {
        let mut actions: Vec<Value> = held
            .iter()
            .map(|k| json!({"type": "keyDown", "value": k}))
            .collect();
        actions.push(json!({"type": "keyDown", "value": key}));
        actions.push(json!({"type": "keyUp", "value": key}));
        actions.extend(
            held.iter()
                .rev()
                .map(|k| json!({"type": "keyUp", "value": k})),
        );
        self.act(json!([{"type": "key", "id": "keyboard", "actions": actions}]));
    }

    /// The mouse: down at the first point, along the others, up at the last. Page pixels.
    pub fn drag(&self, points: &[(f64, f64)]) {
        let at = |(x, y): (f64, f64), time: u64| json!({"type": "pointerMove", "duration": time, "x": x.round(), "y": y.round()});
        let mut actions = vec![
            at(points[0], 0),
            json!({"type": "pointerDown", "button": 0}),
        ];
        actions.extend(points[1..].iter().map(|p| at(*p, 40)));
        actions.push(json!({"type": "pointerUp", "button": 0}));
        self.act(json!([{"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": actions}]));
    }

    fn act(&self, actions: Value) {
        self.call("POST", "/actions", json!({"actions": actions}))
            .unwrap();
    }

    /// x, y, width, height of it, in page pixels.
    pub fn place(&self, css: &str) -> [f64; 4] {
        self.wait(css);
        let script = "const r = document.querySelector(arguments[0]).getBoundingClientRect(); return [r.x, r.y, r.width, r.height]";
        let numbers = self.js(script, &[json!(css)]);
        [0, 1, 2, 3].map(|n| numbers[n].as_f64().unwrap())
    }

    /// Runs a script in the page and gives what it returns.
    pub fn js(&self, script: &str, arguments: &[Value]) -> Value {
        let asked = json!({"script": script, "args": arguments});
        self.call("POST", "/execute/sync", asked)
            .unwrap_or_else(|error| panic!("{script}: {error}"))
    }

    /// Runs a script that calls its last argument with the answer.
    pub fn js_async(&self, script: &str, arguments: &[Value]) -> Value {
        let asked = json!({"script": script, "args": arguments});
        self.call("POST", "/execute/async", asked)
            .unwrap_or_else(|error| panic!("{script}: {error}"))
    }

    /// Two frames from now: what the document says is then on the screen too.
    pub fn painted(&self) {
        let script = "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => done(1), 50)))";
        self.js_async(script, &[]);
    }

    pub fn png(&self) -> Vec<u8> {
        let picture = self.call("GET", "/screenshot", Value::Null).unwrap();
        base64::engine::general_purpose::STANDARD
            .decode(picture.as_str().unwrap())
            .unwrap()
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        let _ = self.call("DELETE", "", Value::Null);
    }
}
