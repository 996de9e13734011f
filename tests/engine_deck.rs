//! An engine with places of its own, for the tests of the request table.

use chipdeck_disk::logs::Homes;
use chipdeck_disk::places::Places;
use chipdeck_engine::api::*;
use chipdeck_engine::{Config, Engine, Origin};
use serde_json::{json, Value};
use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

pub struct Deck {
    pub place: tempfile::TempDir,
    pub engine: Engine,
    pub notices: Receiver<Notice>,
}

pub fn config(place: &Path) -> Config {
    let home = place.join("home");
    std::fs::create_dir_all(&home).unwrap();
    Config {
        places: Places::below(&place.join("ours")),
        homes: Some(Homes::below(&home)),
        environment: vec![("HOME".to_owned(), home.to_string_lossy().into_owned())],
        arguments: Vec::new(),
        demo: None,
    }
}

impl Deck {
    pub fn new() -> Deck {
        Deck::at(tempfile::tempdir().unwrap())
    }

    pub fn at(place: tempfile::TempDir) -> Deck {
        let (engine, notices) = Engine::start(config(place.path()));
        Deck {
            place,
            engine,
            notices,
        }
    }

    /// The same places, a new engine.
    pub fn again(self) -> Deck {
        let Deck {
            place,
            engine,
            notices,
        } = self;
        engine.close();
        drop((engine, notices));
        Deck::at(place)
    }

    /// A path of the test's folder, links resolved.
    pub fn path(&self, below: &str) -> PathBuf {
        let path = self.place.path().canonicalize().unwrap().join(below);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    }

    pub fn write(&self, below: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(below);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    #[track_caller]
    pub fn ask(&self, request: Request) -> Value {
        match self.engine.handle(request.clone()) {
            Ok(reply) => serde_json::to_value(reply).unwrap(),
            Err(error) => panic!("{request:?}: {error:?}"),
        }
    }

    #[track_caller]
    pub fn refused(&self, request: Request) -> ApiError {
        match self.engine.handle(request.clone()) {
            Ok(reply) => panic!(
                "{request:?} was answered: {}",
                serde_json::to_string(&reply).unwrap()
            ),
            Err(error) => error,
        }
    }

    /// The first notice that fits, within ten seconds.
    #[track_caller]
    pub fn wait<T>(&self, mut fits: impl FnMut(&Notice) -> Option<T>) -> T {
        let end = Instant::now() + Duration::from_secs(10);
        while let Ok(notice) = self
            .notices
            .recv_timeout(end.saturating_duration_since(Instant::now()))
        {
            if let Some(found) = fits(&notice) {
                return found;
            }
        }
        panic!("no such notice came");
    }

    #[track_caller]
    pub fn opened(&self, paths: &[PathBuf]) -> (Vec<String>, Vec<DropItem>) {
        self.engine.open_paths(paths, Origin::Drop);
        self.wait(|notice| match notice {
            Notice::Opened { logs, refused, .. } => Some((logs.clone(), refused.clone())),
            _ => None,
        })
    }

    /// Opens one log and waits until it is read.
    #[track_caller]
    pub fn open(&self, path: &Path) -> String {
        let (logs, refused) = self.opened(&[path.to_owned()]);
        assert!(refused.is_empty(), "{refused:?}");
        let log = logs.into_iter().next().expect("a log");
        self.ready(&log);
        log
    }

    #[track_caller]
    pub fn ready(&self, log: &str) -> LogView {
        let end = Instant::now() + Duration::from_secs(30);
        loop {
            let view = self.view(log);
            if view.phase != "opening" {
                assert_eq!(view.phase, "ready", "{:?}", view.error);
                return view;
            }
            assert!(Instant::now() < end, "still opening: {view:?}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[track_caller]
    pub fn view(&self, log: &str) -> LogView {
        match self.engine.handle(Request::Log {
            log: log.to_owned(),
        }) {
            Ok(Reply::Log(view)) => view,
            other => panic!("{:?}", other.map(|_| ()).err()),
        }
    }

    /// Waits until the log's view is as wanted.
    #[track_caller]
    pub fn until(&self, log: &str, wanted: impl Fn(&LogView) -> bool) -> LogView {
        let end = Instant::now() + Duration::from_secs(10);
        loop {
            let view = self.view(log);
            if wanted(&view) {
                return view;
            }
            assert!(Instant::now() < end, "it never came: {view:?}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// A canonical log of these events, with ids `e1`, `e2`, … a second apart.
pub fn log_text(events: &[(&str, Value)]) -> String {
    events
        .iter()
        .enumerate()
        .map(|(n, (kind, payload))| line(n as u64 + 1, kind, payload))
        .collect()
}

pub fn line(n: u64, kind: &str, payload: &Value) -> String {
    let event = json!({"eventId": format!("e{n}"), "traceId": "t", "seq": n, "type": kind,
        "timestamp": 1_764_500_000_000_i64 + n as i64 * 1_000, "payload": payload});
    format!("{event}\n")
}
