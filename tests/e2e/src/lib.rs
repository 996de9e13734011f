//! A desk with a real window on it: an X server and a WebKit driver of its own, a home of its own, the app as
//! people start it. The page is driven by WebDriver, everything outside it (drags, dialogues, keys) by xdotool.
//!
//! Left out: anything that reaches into the app. What a test knows, a person could see or find on disk.

mod chooser;
mod desk;
mod drag;
mod page;

pub use chooser::{choose, save_as};
pub use desk::{beside, shared_fixtures, Desk, Running};
pub use drag::drag_onto;
pub use page::{keys, Page};

use std::time::{Duration, Instant};

/// Looks until `look` finds something; the machine may be busy, so it is patient.
pub fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(
            start.elapsed() < Duration::from_secs(20),
            "waited in vain for {what}"
        );
        std::thread::sleep(Duration::from_millis(25));
    }
}
