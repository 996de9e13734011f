//! The library: sessions that are found without being told, looked into, counted, grouped, kept; nothing is written
//! beside them.

use crate::engine_deck::{config, Deck};
use chipdeck_engine::api::*;
use chipdeck_engine::Engine;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

/// A small session of Claude Code: one file written, one call that failed.
fn claude(session: &str, cwd: &str, asked: &str) -> String {
    let line = |number: u32, kind: &str, rest: &str| {
        format!(
            "{{\"parentUuid\":null,\"isSidechain\":false,\"userType\":\"external\",\"cwd\":\"{cwd}\",\"sessionId\":\"{session}\",\"version\":\"2.1.5\",\"type\":\"{kind}\",\"uuid\":\"{session}-{number}\",\"timestamp\":\"2026-05-10T10:0{number}:00.000Z\",{rest}}}\n"
        )
    };
    [
        line(1, "user", &format!("\"message\":{{\"role\":\"user\",\"content\":\"{asked}\"}}")),
        line(2, "assistant", &format!("\"message\":{{\"id\":\"m1\",\"role\":\"assistant\",\"content\":[{{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"Write\",\"input\":{{\"file_path\":\"{cwd}/a.py\",\"content\":\"x = 1\\n\"}}}}]}}")),
        line(3, "user", &format!("\"message\":{{\"role\":\"user\",\"content\":[{{\"type\":\"tool_result\",\"tool_use_id\":\"t1\",\"content\":\"ok\"}}]}},\"toolUseResult\":{{\"type\":\"create\",\"filePath\":\"{cwd}/a.py\",\"content\":\"x = 1\\n\",\"structuredPatch\":[]}}")),
        line(4, "assistant", "\"message\":{\"id\":\"m2\",\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"t2\",\"name\":\"Bash\",\"input\":{\"command\":\"false\"}}]}"),
        line(5, "user", "\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"t2\",\"content\":\"Exit code 1\",\"is_error\":true}]},\"toolUseResult\":\"Error: Exit code 1\""),
    ]
    .concat()
}

fn codex(session: &str, cwd: &str, asked: &str, parent: Option<&str>) -> String {
    let source = match parent {
        Some(parent) => format!("{{\"subagent\":{{\"thread_spawn\":{{\"parent_thread_id\":\"{parent}\",\"depth\":1}}}}}}"),
        None => "\"cli\"".to_owned(),
    };
    format!("{{\"timestamp\":\"2026-05-11T10:00:00.000Z\",\"type\":\"session_meta\",\"payload\":{{\"id\":\"{session}\",\"timestamp\":\"2026-05-11T10:00:00.000Z\",\"cwd\":\"{cwd}\",\"originator\":\"codex_cli_rs\",\"cli_version\":\"0.130.0\",\"source\":{source}}}}}\n{{\"timestamp\":\"2026-05-11T10:30:00.000Z\",\"type\":\"response_item\",\"payload\":{{\"type\":\"message\",\"role\":\"user\",\"content\":[{{\"type\":\"input_text\",\"text\":\"{asked}\"}}]}}}}\n")
}

/// Files written now count as being written: these are old.
fn age(path: &Path, hours: u64) {
    let file = std::fs::File::open(path).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(hours * 3600))
        .unwrap();
}

fn put(place: &Path, below: &str, text: &str, hours: u64) {
    let path = place.join("home").join(below);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    age(&path, hours);
}

pub const SHOP: &str = ".claude/projects/-w-shop/0a1b2c3d-4e5f-4061-8071-2a3b4c5d6e7f.jsonl";

pub fn machine() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    let at = place.path();
    put(
        at,
        SHOP,
        &claude("s-1", "/w/shop", "Make the prices right"),
        3,
    );
    let part = SHOP.replace(".jsonl", "/subagents/agent-1.jsonl");
    put(at, &part, &claude("s-1", "/w/shop", "A part of it"), 3);
    put(
        at,
        ".claude/projects/-w-shop/agent-2.jsonl",
        &claude("s-1", "/w/shop", "Another part"),
        3,
    );
    put(
        at,
        ".codex/sessions/2026/05/11/rollout-1.jsonl",
        &codex("c-1", "/w/shop", "Look for dead code", None),
        2,
    );
    put(
        at,
        ".codex/sessions/2026/05/11/rollout-2.jsonl",
        &codex("c-2", "/w/shop", "Only the tests", Some("c-1")),
        1,
    );
    put(
        at,
        ".codex/sessions/2026/05/09/rollout-0.jsonl",
        &codex("c-0", "/w/docs", "Write the manual", None),
        50,
    );
    place
}

pub fn sessions(engine: &Engine, query: &str, by: SessionsBy, opened: &[String]) -> SessionsView {
    let request = Request::Sessions {
        query: query.to_owned(),
        by,
        folded: Vec::new(),
        opened: opened.to_vec(),
        offset: 0,
        limit: 100,
    };
    match engine.handle(request) {
        Ok(Reply::Sessions(view)) => view,
        other => panic!("{other:?}"),
    }
}

/// Waits until everything is looked into and counted.
pub fn counted(engine: &Engine) -> SessionsView {
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        let view = sessions(engine, "", SessionsBy::Project, &[]);
        if !view.scanning && view.unlooked == 0 && view.uncounted == 0 {
            return view;
        }
        assert!(Instant::now() < end, "{view:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn lines(view: &SessionsView) -> Vec<String> {
    view.rows
        .iter()
        .map(|line| match line {
            SessionLine::Head {
                name,
                day,
                sessions,
                ..
            } => format!(
                "# {} {sessions}",
                name.as_deref().or(day.as_deref()).unwrap_or("?")
            ),
            SessionLine::Session {
                row,
                depth,
                children,
                ..
            } => {
                let counts = row.counts.as_ref().map_or("-".to_owned(), |it| {
                    format!("{} files {} errors", it.files, it.errors)
                });
                let mut line = format!(
                    "{}{} | {} | {counts}",
                    "  ".repeat(*depth as usize),
                    row.format,
                    row.title
                );
                if children + row.parts > 0 {
                    line += &format!(" | {} below", children + row.parts);
                }
                line
            }
        })
        .collect()
}

#[test]
fn sessions_are_found_looked_into_counted_and_grouped() {
    let deck = Deck::at(machine());
    let view = counted(&deck.engine);
    assert_eq!(
        lines(&view),
        [
            "# shop 2",
            "codex | Look for dead code | 0 files 0 errors | 1 below",
            "claude-code | Make the prices right | 1 files 1 errors | 1 below",
            "# docs 1",
            "codex | Write the manual | 0 files 0 errors",
        ]
    );
    assert_eq!(
        (view.all, view.matching),
        (4, 4),
        "a sub-agent's own file is no session"
    );
    let SessionLine::Session { row, .. } = &view.rows[1] else {
        panic!("{view:?}");
    };
    assert_eq!(row.ended.unwrap() - row.started.unwrap(), 30 * 60_000);
    assert_eq!(row.cwd.as_deref(), Some("/w/shop"));
    // The one that it started is below it when that is asked for, or found.
    let open = sessions(
        &deck.engine,
        "",
        SessionsBy::Project,
        std::slice::from_ref(&row.source),
    );
    assert_eq!(
        lines(&open)[2],
        "  codex | Only the tests | 0 files 0 errors"
    );
    let found = sessions(&deck.engine, "TESTS shop", SessionsBy::Project, &[]);
    assert_eq!(
        lines(&found),
        [
            "# shop 1",
            "codex | Look for dead code | 0 files 0 errors | 1 below",
            "  codex | Only the tests | 0 files 0 errors"
        ]
    );
    assert_eq!(found.matching, 1);
    let days = sessions(&deck.engine, "manual", SessionsBy::Day, &[]);
    assert_eq!(days.rows.len(), 2);
    assert!(
        matches!(&days.rows[0], SessionLine::Head { day: Some(day), .. } if day == "week" || day == "yesterday" || day.len() == 7)
    );
    // The short list of the window's edge has the same words.
    let library = deck.ask(Request::Library {});
    assert_eq!(library["logs"][0]["title"], "Look for dead code");
    assert_eq!(library["sessions"], 4);
}

#[test]
fn a_session_opens_by_its_row_and_a_new_one_appears_by_itself() {
    let deck = Deck::at(machine());
    counted(&deck.engine);
    put(
        deck.place.path(),
        ".claude/projects/-w-new/1f1b2c3d-4e5f-4061-8071-2a3b4c5d6e7f.jsonl",
        &claude("s-2", "/w/new", "Begin something new"),
        0,
    );
    deck.wait(|notice| {
        let Notice::LibraryChanged = notice else {
            return None;
        };
        let view = sessions(&deck.engine, "begin", SessionsBy::Project, &[]);
        (view.matching == 1).then_some(())
    });
    let view = sessions(&deck.engine, "prices", SessionsBy::Project, &[]);
    let SessionLine::Session { row, .. } = &view.rows[1] else {
        panic!("{view:?}");
    };
    deck.ask(Request::OpenSource {
        source: row.source.clone(),
    });
    let log = deck.wait(|notice| match notice {
        Notice::Opened { focus, .. } => focus.clone(),
        _ => None,
    });
    deck.ready(&log);
    let view = sessions(&deck.engine, "prices", SessionsBy::Project, &[]);
    let SessionLine::Session { row, .. } = &view.rows[1] else {
        panic!("{view:?}");
    };
    assert_eq!(row.log.as_deref(), Some(&*log), "the same row, open now");
}

#[test]
fn what_was_found_out_is_kept_in_our_cache_and_nowhere_else() {
    let place = machine();
    let before = tree(&place.path().join("home"));
    let deck = Deck::at(place);
    counted(&deck.engine);
    let cache = deck.place.path().join("ours/cache/chipdeck/library.json");
    let end = Instant::now() + Duration::from_secs(10);
    while !cache.exists() {
        assert!(Instant::now() < end, "the cards are not written");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(
        tree(&deck.place.path().join("home")),
        before,
        "nothing beside the logs"
    );
    let kept: serde_json::Value = serde_json::from_slice(&std::fs::read(&cache).unwrap()).unwrap();
    assert_eq!(kept["cards"].as_array().unwrap().len(), 4);

    // Counts are there at once after a restart, since they were kept.
    let deck = deck.again();
    let view = sessions(&deck.engine, "", SessionsBy::Project, &[]);
    assert_eq!((view.unlooked, view.uncounted), (0, 0));
    // Another file of the same size and time is noticed by its first bytes.
    let path = deck.place.path().join("home").join(SHOP);
    let time = std::fs::metadata(&path).unwrap().modified().unwrap();
    let other = claude("s-9", "/w/shop", "Make the fences high!");
    assert_eq!(other.len() as u64, std::fs::metadata(&path).unwrap().len());
    let deck = {
        let Deck {
            place,
            engine,
            notices,
        } = deck;
        engine.close();
        drop((engine, notices));
        std::fs::write(&path, other).unwrap();
        std::fs::File::options()
            .append(true)
            .open(&path)
            .unwrap()
            .set_modified(time)
            .unwrap();
        Deck::at(place)
    };
    let end = Instant::now() + Duration::from_secs(10);
    while sessions(&deck.engine, "fences", SessionsBy::Project, &[]).matching != 1 {
        assert!(Instant::now() < end, "an old card is believed");
        std::thread::sleep(Duration::from_millis(20));
    }
    // Damage is no card.
    let Deck {
        place,
        engine,
        notices,
    } = deck;
    engine.close();
    drop((engine, notices));
    std::fs::write(
        place.path().join("ours/cache/chipdeck/library.json"),
        "{\"version\":1,\"cards\":[[\"/x\",",
    )
    .unwrap();
    let deck = Deck::at(place);
    assert_eq!(lines(&counted(&deck.engine)).len(), 5);
}

#[test]
fn further_homes_and_folders_are_settings() {
    let place = machine();
    let at = place.path().to_owned();
    put(
        &at,
        "../win/Users/me/.claude/projects/c--app/2a1b2c3d-4e5f-4061-8071-2a3b4c5d6e7f.jsonl",
        &claude("w-1", "C:/app", "On the other side"),
        1,
    );
    put(
        &at,
        "../given/deep/x.jsonl",
        &codex("g-1", "/w/given", "In a given folder", None),
        1,
    );
    put(&at, "../given/deep/rows.jsonl", "{\"a\":1}\n", 1);
    let mut config = config(&at);
    let homes = at.join("win/Users/*").display().to_string();
    let folders = at.join("given").display().to_string();
    config
        .environment
        .push(("CHIPDECK_LIBRARY_HOMES".to_owned(), homes));
    config
        .environment
        .push(("CHIPDECK_LIBRARY_FOLDERS".to_owned(), folders));
    let (engine, _notices) = Engine::start(config);
    let view = counted(&engine);
    let text = lines(&view).join("\n");
    assert!(
        text.contains("# app 1\nclaude-code | On the other side"),
        "{text}"
    );
    assert!(
        text.contains("# given 1\ncodex | In a given folder"),
        "{text}"
    );
    assert!(
        !text.contains("rows.jsonl"),
        "any other JSON Lines are no session: {text}"
    );
}

fn tree(folder: &Path) -> Vec<String> {
    let mut names = Vec::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(dir) = waiting.pop() {
        for entry in std::fs::read_dir(dir).unwrap().flatten() {
            let metadata = entry.metadata().unwrap();
            names.push(format!(
                "{} {} {:?}",
                entry.path().display(),
                metadata.len(),
                metadata.modified().unwrap()
            ));
            if metadata.is_dir() {
                waiting.push(entry.path());
            }
        }
    }
    names.sort();
    names
}

/// The samples of every agent, each at the place where the agent keeps it: told apart, with words of their own.
#[test]
fn every_agents_samples_are_found_at_their_places() {
    let Some(agents) = crate::fixtures::shared("agents") else {
        return;
    };
    let place = tempfile::tempdir().unwrap();
    let home = place.path().join("home");
    let samples = [
        ("claude-code/v2.0.76-edits.jsonl", ".claude/projects/-w-a/11111111-4e5f-4061-8071-2a3b4c5d6e7f.jsonl"),
        ("claude-code/v2.1.5-compaction.jsonl", ".claude/projects/-w-b/22222222-4e5f-4061-8071-2a3b4c5d6e7f.jsonl"),
        ("codex/v0.126-patch-apply-end.jsonl", ".codex/sessions/2026/03/01/rollout-2026-03-01T10-00-00-a.jsonl"),
        ("codex/v0.2x-bare-items.jsonl", ".codex/sessions/2025/07/01/rollout-2025-07-01T10-00-00-b.jsonl"),
        ("copilot-cli/events-create.jsonl", ".copilot/session-state/33/events.jsonl"),
        ("gemini/chat-v0.40.jsonl", ".gemini/tmp/abc/chats/session-1.jsonl"),
        ("gemini/chat-write-shell.json", ".gemini/tmp/abd/chats/session-2.json"),
        ("kimi/wire-tools-plan-compaction.jsonl", ".kimi-code/sessions/wd_app_1/session_1/agents/main/wire.jsonl"),
        ("kimi/state.json", ".kimi-code/sessions/wd_app_1/session_1/state.json"),
        ("cline/1770577372307-xml/ui_messages.json", ".config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks/1770577372307/ui_messages.json"),
        ("cline/1770577372307-xml/api_conversation_history.json", ".config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks/1770577372307/api_conversation_history.json"),
        ("opencode/storage", ".local/share/opencode/storage"),
        ("openhands/v1-conversation", ".openhands/conversations"),
        ("pi", ".pi/agent/sessions/--w-pi--"),
        ("qwen", ".qwen/projects/-w-qwen/chats"),
        ("aider/chat-history-multi.md", ".aider.chat.history.md"),
    ];
    for (from, to) in samples {
        copy(&agents.join(from), &home.join(to));
    }
    let (engine, _notices) = Engine::start(config(place.path()));
    let view = counted(&engine);
    let mut bare = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    for line in &view.rows {
        let SessionLine::Session { row, .. } = line else {
            continue;
        };
        seen.insert(row.format.clone());
        println!(
            "{} | {} | {:?} | {:?}",
            row.format, row.title, row.cwd, row.counts
        );
        if !row.looked
            || row.title.ends_with(".jsonl")
            || row.title.ends_with(".json")
            || row.counts.is_none()
        {
            bare.push(format!("{} {}", row.format, row.path));
        }
    }
    let want = [
        "aider",
        "claude-code",
        "cline",
        "codex",
        "copilot-cli",
        "gemini",
        "kimi",
        "opencode",
        "openhands",
        "pi",
        "qwen",
    ];
    assert_eq!(seen.iter().map(String::as_str).collect::<Vec<_>>(), want);
    assert!(bare.is_empty(), "no words of their own: {bare:#?}");
}

fn copy(from: &Path, to: &Path) {
    if from.is_dir() {
        std::fs::create_dir_all(to).unwrap();
        for entry in std::fs::read_dir(from).unwrap().flatten() {
            copy(&entry.path(), &to.join(entry.file_name()));
        }
        // A folder that is one log is still being written while its own time is new.
        age(to, 1);
        return;
    }
    std::fs::create_dir_all(to.parent().unwrap()).unwrap();
    std::fs::copy(from, to).unwrap();
    age(to, 1);
}
