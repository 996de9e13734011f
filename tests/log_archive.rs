//! The archive of logs by the engine: opt-in, what agents delete stays in the library and opens like before, the
//! agents' own folders are only read.

use crate::engine_deck::config;
use crate::library::{machine, sessions, SHOP};
use chipdeck_engine::api::*;
use chipdeck_engine::Engine;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

fn all_files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    crate::agents::walk(folder, &mut |path| {
        found.push((path.to_owned(), std::fs::read(path).unwrap()));
    });
    found
}

fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < end, "{what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn row(engine: &Engine, query: &str) -> Option<SourceRow> {
    let view = sessions(engine, query, SessionsBy::Project, &[]);
    view.rows.into_iter().find_map(|line| match line {
        SessionLine::Session { row, .. } => Some(row),
        _ => None,
    })
}

#[test]
fn what_an_agent_deletes_stays_where_that_is_wanted() {
    let place = machine();
    let home = place.path().join("home");
    let before = all_files(&home);
    let archive = place.path().join("ours/data/chipdeck/logs");

    // Nothing is kept unless asked for.
    let mut settings = config(place.path());
    let (engine, _notices) = Engine::start(settings.clone());
    until("the library", || row(&engine, "prices"));
    std::thread::sleep(Duration::from_millis(500));
    assert!(!archive.exists());
    engine.close();
    drop(engine);

    settings
        .environment
        .push(("CHIPDECK_LOGS_ARCHIVE".to_owned(), "true".to_owned()));
    let (engine, _notices) = Engine::start(settings);
    let kept = || std::fs::read_dir(archive.join("sets")).map_or(0, Iterator::count);
    let found = sessions(&engine, "", SessionsBy::Project, &[]);
    assert!(found.total > 0);
    until("copies of all logs", || (kept() >= 4).then_some(()));
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(all_files(&home), before, "the originals are only read");
    assert!(!row(&engine, "prices").unwrap().archived);

    // The agent tidies up.
    let log = home.join(SHOP);
    std::fs::remove_dir_all(log.with_extension("")).unwrap();
    std::fs::remove_file(&log).unwrap();
    let row = until("the archived one", || {
        row(&engine, "prices").filter(|it| it.archived)
    });
    assert!(
        row.path.ends_with(".jsonl") && row.path.contains(".claude"),
        "{}",
        row.path
    );
    assert_eq!(row.format, "claude-code");
    let source = row.source.clone();
    engine.handle(Request::OpenSource { source }).unwrap();
    let view = until("the log", || {
        let Ok(Reply::Library(library)) = engine.handle(Request::Library {}) else {
            panic!()
        };
        let id = library.logs.into_iter().find_map(|it| it.log)?;
        match engine.handle(Request::Log { log: id }) {
            Ok(Reply::Log(view)) if view.phase == "ready" => Some(view),
            _ => None,
        }
    });
    let request = Request::File {
        log: view.log,
        path: "/w/shop/a.py".to_owned(),
        at: view.count,
        from_line: 1,
        limit: 10,
    };
    let Ok(Reply::File(file)) = engine.handle(request) else {
        panic!()
    };
    assert_eq!(file.text.unwrap(), ["x = 1"]);
}
