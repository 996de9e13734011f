//! Logs that grow, shrink, are replaced, or are so large that they are looked at before they are read; what is
//! remembered over a restart.

use crate::engine_deck::{line, log_text, Deck};
use chipdeck_engine::api::*;
use serde_json::json;
use std::io::Write;
use std::path::Path;

fn said(n: u64) -> String {
    line(
        n,
        "message.user",
        &json!({ "content": format!("word {n}") }),
    )
}

fn append(path: &Path, text: &str) {
    let mut file = std::fs::OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

#[test]
fn a_growing_log_is_followed() {
    let deck = Deck::new();
    let path = deck.write("log.jsonl", said(1) + &said(2));
    let log = deck.open(&path);
    assert_eq!(deck.view(&log).count, 2);
    append(&path, &said(3));
    let view = deck.wait(|notice| match notice {
        Notice::Log { view } if view.count == 3 => Some(view.clone()),
        _ => None,
    });
    assert!(
        view.live && view.phase == "ready" && view.changed.is_none(),
        "{view:?}"
    );

    // A line in two writes is one entry, when it is whole.
    let text = said(4);
    let (first, rest) = text.split_at(40);
    append(&path, first);
    std::thread::sleep(std::time::Duration::from_millis(400));
    let view = deck.view(&log);
    assert_eq!((view.count, view.findings_error), (3, 0), "held back");
    append(&path, rest);
    let view = deck.until(&log, |view| view.count == 4);
    assert_eq!(view.findings_error, 0);
    // Many small writes are not many looks behind.
    for n in 5..205 {
        append(&path, &said(n));
    }
    deck.until(&log, |view| view.count == 204);
}

#[test]
fn a_torn_line_at_rest_is_one_entry_when_its_rest_comes() {
    let deck = Deck::new();
    let text = said(2);
    let (first, rest) = text.split_at(40);
    let path = deck.write("log.jsonl", said(1) + first);
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(3_600);
    std::fs::File::open(&path)
        .unwrap()
        .set_modified(old)
        .unwrap();
    let log = deck.open(&path);
    let view = deck.view(&log);
    assert_eq!(
        (view.count, view.findings_error, view.live),
        (2, 1, false),
        "torn, and said"
    );
    append(&path, rest);
    let view = deck.until(&log, |view| view.count == 2 && view.findings_error == 0);
    assert!(view.live);
}

#[test]
fn a_log_that_is_taken_away_stays_and_it_is_said() {
    let deck = Deck::new();
    let fate = |name: &str, what: &dyn Fn(&Path)| {
        let path = deck.write(&format!("{name}.jsonl"), said(1) + &said(2));
        let log = deck.open(&path);
        what(&path);
        let view = deck.until(&log, |view| view.changed.is_some());
        assert_eq!(
            (view.changed.as_deref(), view.count, view.live),
            (Some(name), 2, false)
        );
        let page = deck.ask(Request::Entries {
            log,
            offset: 0,
            limit: 10,
            lane: None,
            after: None,
        });
        assert_eq!(page["total"], 2);
        page["rows"][1]["summary"].clone()
    };
    fate("truncated", &|path| std::fs::write(path, said(1)).unwrap());
    let kept = fate("replaced", &|path| {
        let new = path.with_extension("new");
        std::fs::write(&new, said(7) + &said(8) + &said(9)).unwrap();
        std::fs::rename(new, path).unwrap();
    });
    assert_eq!(
        kept, "word 2",
        "what was read is still there to be looked at"
    );
    let kept = fate("deleted", &|path| std::fs::remove_file(path).unwrap());
    assert_eq!(kept, "word 2");
}

#[test]
fn a_new_shard_joins_its_set() {
    let deck = Deck::new();
    deck.write("set/2026-01-01.jsonl", said(1));
    let log = deck.open(deck.path("set/2026-01-01.jsonl").parent().unwrap());
    deck.write("set/2026-01-02.jsonl", said(2) + &said(3));
    let view = deck.until(&log, |view| view.count == 3);
    assert_eq!(view.files, ["2026-01-01.jsonl", "2026-01-02.jsonl"]);
}

/// Some 40 MB.
fn large(deck: &Deck) -> (std::path::PathBuf, u64) {
    let path = deck.path("large.jsonl");
    let mut file = std::io::BufWriter::new(std::fs::File::create(&path).unwrap());
    let filler = "x".repeat(700);
    let count = 50_000;
    for n in 1..=count {
        let word = if n % 1_000 == 0 { "needle" } else { "hay" };
        let text = line(
            n,
            "message.user",
            &json!({ "content": format!("{word} {filler}") }),
        );
        file.write_all(text.as_bytes()).unwrap();
    }
    file.flush().unwrap();
    (path, count)
}

#[test]
fn a_large_log_is_looked_at_before_it_is_read_and_cancelled_with_what_there_is() {
    let deck = Deck::new();
    let (path, count) = large(&deck);
    let (logs, _) = deck.opened(std::slice::from_ref(&path));
    let log = logs[0].clone();
    let first = deck.until(&log, |view| view.count > 0);
    assert!(first.phase == "opening" && first.count < count, "{first:?}");
    let progress = first.progress.expect("a progress");
    assert!(progress.read_bytes > 0 && progress.read_bytes < progress.total_bytes);
    let page = deck.ask(Request::Entries {
        log: log.clone(),
        offset: 0,
        limit: 3,
        lane: None,
        after: None,
    });
    assert_eq!(
        page["rows"].as_array().unwrap().len(),
        3,
        "it can be looked at"
    );
    deck.ask(Request::CancelOpen { log: log.clone() });
    let view = deck.until(&log, |view| view.phase != "opening");
    assert_eq!(view.phase, "cancelled");
    assert!(
        view.count > 0 && view.count < count,
        "{} of {count}",
        view.count
    );
    let last = deck.ask(Request::Event {
        log: log.clone(),
        index: view.count,
    });
    assert_eq!(last["row"]["eventId"], format!("e{}", view.count));
    deck.ask(Request::CloseLog { log: log.clone() });
    assert_eq!(deck.refused(Request::Log { log }).code, "not-found");
}

#[test]
fn a_search_runs_beside_and_a_new_one_ends_it() {
    let deck = Deck::new();
    let (path, count) = large(&deck);
    let log = deck.open(&path);
    let search = |filter: &str| {
        deck.ask(Request::Search {
            log: log.clone(),
            filter: filter.into(),
        })
    };
    let fault = search("is:x");
    assert!(fault["fault"].as_str().unwrap().contains("is:x") && fault["search"] == "");
    let first = search("needle");
    let second = search("needle type:message.user");
    let id = second["search"].as_str().unwrap().to_owned();
    if second["done"] != true {
        deck.wait(|notice| match notice {
            Notice::SearchProgress {
                search,
                done: true,
                scanned,
                ..
            } if *search == id => {
                assert_eq!(*scanned, count);
                Some(())
            }
            // The first one was ended: it never says that it is done.
            Notice::SearchProgress {
                search, done: true, ..
            } if *search == first["search"] => {
                panic!("the first search went on")
            }
            _ => None,
        });
    }
    let hits = deck.ask(Request::Hits {
        log: log.clone(),
        search: id.clone(),
        offset: 48,
        limit: 10,
    });
    assert_eq!(
        (&hits["total"], &hits["rows"][1]["index"]),
        (&json!(50), &json!(50_000))
    );
    let step = Request::Step {
        log: log.clone(),
        from: 1_500,
        by: StepBy::Hit { search: id.clone() },
        forward: true,
        lane: None,
    };
    assert_eq!(deck.ask(step), 2_000);
    let query = TracksQuery {
        axis: Axis::Event,
        from: 0.0,
        to: 50_000.0,
        pixels: 10,
        path: None,
        search: Some(id.clone()),
        lanes: false,
    };
    let marks = deck.ask(Request::Tracks {
        log: log.clone(),
        query,
    });
    assert_eq!(
        marks["hits"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it["count"].as_u64().unwrap())
            .sum::<u64>(),
        50
    );
    // A log that grew is searched on.
    append(
        &path,
        &line(50_001, "message.user", &json!({"content": "needle"})),
    );
    deck.until(&log, |view| view.count == count + 1);
    let hits = deck.ask(Request::Hits {
        log,
        search: id,
        offset: 0,
        limit: 1,
    });
    assert_eq!(hits["total"], 51);
}

#[test]
fn what_a_person_opens_is_told_with_the_reason_where_it_is_not_understood() {
    let deck = Deck::new();
    let log = deck.write("in/log.jsonl", said(1));
    let raw = deck.write("in/other.jsonl", "{\"a\":1}\n{\"a\":2}\n");
    let text = deck.write("in/text.txt", "hello\n");
    let chip = deck.write("in/chip-ab12cd.json", "{\n  \"id\": \"ab12cd\",\n  \"tool\": \"be-delete\",\n  \"args\": {\n    \"_content\": \"x\\n\"\n  },\n  \"created_at\": 1764500000\n}");
    let folder = deck.path("project/readme.md").parent().unwrap().to_owned();
    let gone = deck.path("gone.jsonl");
    let items = deck.engine.describe_drop(&[
        log.clone(),
        raw.clone(),
        text.clone(),
        chip.clone(),
        folder.clone(),
        gone.clone(),
    ]);
    let kinds: Vec<(&str, bool)> = items
        .iter()
        .map(|item| (item.kind.as_str(), item.understood))
        .collect();
    assert_eq!(
        kinds,
        [
            ("log", true),
            ("log", true),
            ("unknown", false),
            ("chip", true),
            ("root", true),
            ("unknown", false)
        ]
    );
    assert_eq!(items[2].detail, "line 1 is no JSON");

    deck.engine.open_paths(
        &[log, raw, text, chip, folder.clone(), gone],
        chipdeck_engine::Origin::Drop,
    );
    let (logs, focus, chip, root, refused) = deck.wait(|notice| match notice {
        Notice::Opened {
            logs,
            focus,
            chip,
            root,
            refused,
            ..
        } => Some((
            logs.clone(),
            focus.clone(),
            chip.clone(),
            root.clone(),
            refused.clone(),
        )),
        _ => None,
    });
    assert_eq!(logs.len(), 2);
    assert_eq!(focus.as_ref(), logs.last());
    assert_eq!(root.as_deref(), folder.to_str());
    assert_eq!(
        refused
            .iter()
            .map(|it| it.name.as_str())
            .collect::<Vec<_>>(),
        ["text.txt", "gone.jsonl"]
    );
    let view = deck.ask(Request::Chip {
        chip: chip.unwrap(),
    });
    assert_eq!(
        (&view["row"]["id"], &view["content"]),
        (&json!("ab12cd"), &json!("x\n"))
    );
    let raw = deck.ready(&logs[1]);
    assert!(
        raw.foreign && raw.count == 2 && raw.findings_info == 1,
        "{raw:?}"
    );
    // A dropped folder may be written, a dropped file's folder may not.
    let library = deck.ask(Request::Library {});
    assert_eq!(library["roots"].as_array().unwrap().len(), 1, "{library}");
    let hello = deck.ask(Request::Hello {});
    assert_eq!(hello["openLogs"].as_array().unwrap().len(), 2);
    // Opened again, it is the same log.
    let (again, _) = deck.opened(&[deck.path("in/log.jsonl")]);
    assert_eq!(again[0], logs[0]);
}

#[test]
fn bookmarks_recent_logs_and_settings_stay_over_a_restart() {
    let deck = Deck::new();
    let path = deck.write(
        "log.jsonl",
        log_text(&[
            ("message.user", json!({"content": "x"})),
            ("message.user", json!({"content": "y"})),
        ]),
    );
    let log = deck.open(&path);
    let mark = |deck: &Deck, log: &str, index: u64, label: Option<&str>| {
        deck.ask(Request::SetBookmark {
            log: log.to_owned(),
            index,
            label: label.map(str::to_owned),
        })
    };
    mark(&deck, &log, 2, Some("second"));
    mark(&deck, &log, 1, Some("first\nline"));
    assert_eq!(
        mark(&deck, &log, 1, Some("first")),
        json!([{"index": 1, "label": "first"}, {"index": 2, "label": "second"}])
    );
    deck.ask(Request::Library {});
    let changed = deck.ask(Request::SetSetting {
        key: "ui.theme".into(),
        value: json!("dark"),
    });
    let theme = |view: &serde_json::Value| {
        let rows = view["rows"].as_array().unwrap().iter();
        rows.clone()
            .find(|row| row["key"] == "ui.theme")
            .map(|row| (row["value"].clone(), row["source"].clone()))
    };
    assert_eq!(theme(&changed), Some((json!("dark"), json!("file"))));
    assert_eq!(
        deck.refused(Request::SetSetting {
            key: "ui.theme".into(),
            value: json!("pink")
        })
        .code,
        "bad-request"
    );
    assert_eq!(
        deck.refused(Request::SetSetting {
            key: "x".into(),
            value: json!(1)
        })
        .code,
        "bad-request"
    );

    let deck = deck.again();
    assert_eq!(
        theme(&deck.ask(Request::GetSettings {})),
        Some((json!("dark"), json!("file")))
    );
    let library = deck.ask(Request::Library {});
    let row = &library["logs"][0];
    assert_eq!(
        (&row["title"], &row["recent"], &row["log"], &row["entries"]),
        (&json!("log.jsonl"), &json!(true), &json!(null), &json!(2))
    );
    deck.ask(Request::OpenSource {
        source: row["source"].as_str().unwrap().to_owned(),
    });
    let log = deck.wait(|notice| match notice {
        Notice::Opened { logs, .. } => logs.first().cloned(),
        _ => None,
    });
    deck.ready(&log);
    assert_eq!(
        deck.ask(Request::Bookmarks { log: log.clone() })[1],
        json!({"index": 2, "label": "second"})
    );
    assert_eq!(
        mark(&deck, &log, 2, None),
        json!([{"index": 1, "label": "first"}])
    );
    let step = Request::Step {
        log,
        from: 2,
        by: StepBy::Bookmark,
        forward: false,
        lane: None,
    };
    assert_eq!(deck.ask(step), 1);
    // Nothing is for other eyes.
    #[cfg(unix)]
    for entry in walk(&deck.path("ours")) {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(&entry).unwrap().permissions().mode() & 0o077;
        assert_eq!(mode, 0, "{}", entry.display());
    }
}

#[cfg(unix)]
fn walk(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(dir) = waiting.pop() {
        for entry in std::fs::read_dir(&dir).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                waiting.push(path.clone());
            }
            found.push(path);
        }
    }
    found
}

#[test]
fn agents_logs_of_this_machine_are_found_and_opened() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("home/.claude/projects/-home-me-shop");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("0a.jsonl"), "{\"type\":\"user\",\"cwd\":\"/home/me/shop\",\"message\":{\"role\":\"user\",\"content\":\"x\"}}\n").unwrap();
    let deck = Deck::at(place);
    // Found in the background.
    let end = std::time::Instant::now() + std::time::Duration::from_secs(30);
    let library = loop {
        let library = deck.ask(Request::Library {});
        if library["logs"][0]["project"] == "shop" {
            break library;
        }
        assert!(std::time::Instant::now() < end, "{library}");
        std::thread::sleep(std::time::Duration::from_millis(20));
    };
    let row = &library["logs"][0];
    assert_eq!(
        (&row["format"], &row["project"], &row["recent"]),
        (&json!("claude-code"), &json!("shop"), &json!(false))
    );
    assert!(
        row["path"].as_str().unwrap().starts_with("~/.claude/"),
        "{row}"
    );
    deck.ask(Request::OpenSource {
        source: row["source"].as_str().unwrap().to_owned(),
    });
    let log = deck.wait(|notice| match notice {
        Notice::Opened { logs, root, .. } => {
            assert!(
                root.is_none(),
                "what was found is not allowed to be written"
            );
            logs.first().cloned()
        }
        _ => None,
    });
    deck.ready(&log);
    assert!(deck.ask(Request::Library {})["roots"]
        .as_array()
        .unwrap()
        .is_empty());
}

#[test]
fn what_others_do_on_the_disk_is_told() {
    let deck = Deck::new();
    let file = deck.write("project/a.txt", "one\n");
    let project = file.parent().unwrap().to_owned();
    let text = log_text(&[
        ("session.start", json!({ "cwd": project })),
        ("file.create", json!({"path": "a.txt", "content": "one\n"})),
    ]);
    deck.opened(std::slice::from_ref(&project));
    let path = deck.write("log.jsonl", text);
    deck.engine
        .open_paths(&[path], chipdeck_engine::Origin::Drop);
    let view = deck.wait(|notice| match notice {
        Notice::Log { view } if view.phase == "ready" => Some(view.clone()),
        _ => None,
    });
    let log = view.log.clone();
    assert_eq!(view.root.as_deref(), project.to_str());
    let diff = || Request::Diff {
        log: log.clone(),
        path: "a.txt".into(),
        at: 2,
        against: Against::Disk,
        context: 3,
    };
    assert_eq!(deck.ask(diff())["note"], "same");
    std::fs::write(&file, "one\ntwo\n").unwrap();
    let path = deck.wait(|notice| match notice {
        Notice::DiskChanged { log: told, path } if *told == log => Some(path.clone()),
        _ => None,
    });
    assert_eq!(path, "a.txt");
    assert_eq!(deck.ask(diff())["added"], 1);
    // The command restored something: the history is another one.
    std::thread::sleep(std::time::Duration::from_millis(900));
    deck.write("ours/data/chipdeck/restores.jsonl", "");
    deck.wait(|notice| matches!(notice, Notice::HistoryChanged).then_some(()));
}

#[test]
fn a_log_that_was_cut_short_is_read_anew_when_it_is_opened_again() {
    let deck = Deck::new();
    let path = deck.write("log.jsonl", said(1) + &said(2));
    let log = deck.open(&path);
    std::fs::write(&path, said(7)).unwrap();
    deck.until(&log, |view| view.changed.is_some());
    let again = deck.open(&path);
    assert_eq!(again, log, "under its old name");
    let view = deck.view(&log);
    assert_eq!((view.count, view.changed), (1, None));
}

/// Gemini, Cline and others rewrite the whole file on each change.
#[test]
fn a_document_that_is_rewritten_is_followed() {
    let deck = Deck::new();
    let message = |n: u64| {
        json!({"id": format!("m{n}"), "timestamp": format!("2026-01-01T00:00:0{n}.000Z"), "type": "user",
            "content": format!("word {n}")})
    };
    let chat = |count: u64| {
        let messages: Vec<_> = (1..=count).map(message).collect();
        json!({"sessionId": "s1", "projectHash": "ab", "startTime": "2026-01-01T00:00:00.000Z",
            "lastUpdated": "2026-01-01T00:00:09.000Z", "messages": messages})
        .to_string()
    };
    let path = deck.write("session-1.json", chat(1));
    let log = deck.open(&path);
    let first = deck.view(&log).count;
    std::fs::write(&path, chat(3)).unwrap();
    let view = deck.until(&log, |view| view.count == first + 2);
    assert_eq!((view.changed, view.findings_error), (None, 0));
    // Seen half written: what was there stays until it is whole.
    let whole = chat(5);
    let half = &whole[..whole.len() / 2];
    std::fs::write(&path, half).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(500));
    let view = deck.view(&log);
    assert_eq!((view.count, view.findings_error), (first + 2, 0));
    std::fs::write(&path, &whole).unwrap();
    let view = deck.until(&log, |view| view.count == first + 4);
    assert_eq!((view.changed, view.findings_error), (None, 0));
    // Put in place of the old one by a rename.
    let new = deck.write("new.json", chat(6));
    std::fs::rename(&new, &path).unwrap();
    let view = deck.until(&log, |view| view.count == first + 5);
    assert_eq!(view.changed, None);
    // Shorter again: what the file says now counts.
    std::fs::write(&path, chat(2)).unwrap();
    deck.until(&log, |view| view.count == first + 1);
}
