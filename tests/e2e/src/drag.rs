//! A real drag between two windows: XDND with `text/uri-list`, the mouse moved by xdotool.

use crate::desk::{beside, Desk, Running};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

/// Where the source window stands; inside the smallest screen, over a corner of the app.
const SOURCE: (i32, i32) = (1100, 60);

/// Drags files onto a point of the screen. `hovering` is called while they hover there, before they are dropped.
pub fn drag_onto(desk: &Desk, files: &[&Path], to: (i32, i32), hovering: impl FnOnce()) {
    let mut source = desk
        .command(beside("chipdeck-dragsource"))
        .args([SOURCE.0.to_string(), SOURCE.1.to_string()])
        .args(files)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(source.stdout.take().unwrap()).lines();
    let _source = Running(source);
    assert_eq!(said.next().unwrap().unwrap(), "shown");
    let pause = |ms| std::thread::sleep(Duration::from_millis(ms));
    let move_to = |(x, y): (i32, i32)| desk.xdotool(&["mousemove", &x.to_string(), &y.to_string()]);
    pause(200);
    let from = (SOURCE.0 + 60, SOURCE.1 + 40);
    move_to(from);
    desk.xdotool(&["mousedown", "1"]);
    pause(50);
    for step in 1..=12 {
        move_to((
            from.0 + (to.0 - from.0) * step / 12,
            from.1 + (to.1 - from.1) * step / 12,
        ));
        pause(30);
    }
    // The last small moves let the target answer before the button is let go.
    for side in [2, 4, 0] {
        move_to((to.0 + side, to.1));
        pause(80);
    }
    hovering();
    desk.xdotool(&["mouseup", "1"]);
    for line in said {
        let line = line.unwrap();
        assert!(!line.starts_with("failed"), "{line}");
        if line == "end" {
            break;
        }
    }
}
