//! The native file chooser, filled by keys as a person would.

use crate::{until, Desk};
use std::path::Path;
use std::time::{Duration, Instant};

/// Waits for the chooser of this title, names `path` in it and accepts.
pub fn choose(desk: &Desk, title: &str, path: &Path) {
    let chooser = until("the chooser", || desk.windows(title).pop());
    let pause = |ms| std::thread::sleep(Duration::from_millis(ms));
    pause(700);
    desk.xdotool(&["windowfocus", "--sync", &chooser]);
    // `/` opens the entry for a path; what is typed before it is there gets lost.
    desk.xdotool(&["key", "slash"]);
    pause(400);
    let rest = path.to_str().unwrap().trim_start_matches('/');
    desk.xdotool(&["type", "--delay", "10", rest]);
    pause(500);
    // The first Return may only close the list of completions, or go into a folder.
    for _ in 0..3 {
        desk.xdotool(&["key", "Return"]);
        let pressed = Instant::now();
        while pressed.elapsed() < Duration::from_millis(1500) {
            if desk.windows(title).is_empty() {
                return;
            }
            pause(50);
        }
    }
    panic!("the chooser does not close");
}

/// Waits for the chooser of this title that asks where to save, puts `path` in place of the name that it proposes and
/// accepts.
pub fn save_as(desk: &Desk, title: &str, path: &Path) {
    let chooser = until("the chooser", || desk.windows(title).pop());
    let pause = |ms| std::thread::sleep(Duration::from_millis(ms));
    pause(700);
    desk.xdotool(&["windowfocus", "--sync", &chooser]);
    desk.xdotool(&["key", "ctrl+a"]);
    pause(200);
    desk.xdotool(&["type", "--delay", "10", path.to_str().unwrap()]);
    pause(500);
    for _ in 0..3 {
        desk.xdotool(&["key", "Return"]);
        let pressed = Instant::now();
        while pressed.elapsed() < Duration::from_millis(1500) {
            if desk.windows(title).is_empty() {
                return;
            }
            pause(50);
        }
    }
    panic!("the chooser does not close");
}
