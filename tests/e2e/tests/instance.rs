//! Started twice, it is one window.

use crate::deck::opened;
use crate::logs::shop;
use chipdeck_e2e::{until, Desk};
use std::time::{Duration, Instant};

#[test]
fn a_second_start_hands_its_paths_to_the_first_window() {
    let desk = Desk::new();
    let page = desk.start(&[]);
    page.wait("#app > *");
    let log = shop();
    desk.put("second.jsonl", log.text());

    // A relative path: the second start is in the same folder as its caller, the first one perhaps not.
    let mut second = desk.start_again(&["second.jsonl".as_ref()]);
    let start = Instant::now();
    let status = until("the second start to end", || second.try_wait().unwrap());
    assert!(status.success(), "{status}");
    assert!(start.elapsed() < Duration::from_secs(5));
    opened(&page, &log);
    assert_eq!(desk.windows("Chipdeck").len(), 1);

    // After the first has ended, hard, a start is a first one again.
    drop(page);
    let page = desk.start(&[&desk.work().join("second.jsonl")]);
    opened(&page, &log);
}
