//! The engine as the window uses it: a log opened and scrubbed.

use chipdeck_disk::places::Places;
use chipdeck_engine::api::{Notice, Request, TreeMode};
use chipdeck_engine::{Config, Engine, Origin};
use std::path::Path;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(120);
const SEEKS: u64 = 1_000;

fn start(place: &Path) -> (Engine, Receiver<Notice>) {
    let chips = place.join("chips").display().to_string();
    Engine::start(Config {
        places: Places::below(&place.join("ours")),
        homes: None,
        environment: Vec::new(),
        arguments: vec![("chips.dir".to_owned(), chips)],
        demo: None,
    })
}

fn place() -> Result<tempfile::TempDir, String> {
    let place = tempfile::tempdir().map_err(|error| error.to_string())?;
    std::fs::create_dir_all(place.path().join("chips")).map_err(|error| error.to_string())?;
    Ok(place)
}

/// The first notice that fits.
fn wait<T>(
    notices: &Receiver<Notice>,
    mut fits: impl FnMut(&Notice) -> Option<T>,
) -> Result<T, String> {
    let end = Instant::now() + PATIENCE;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let notice = notices
            .recv_timeout(left)
            .map_err(|_| "the engine said nothing in time")?;
        if let Some(found) = fits(&notice) {
            return Ok(found);
        }
    }
}

/// Opens a log, then asks for what a scrub step needs at places all over it.
pub fn log(log: &Path) -> Result<(), String> {
    let place = place()?;
    let (engine, notices) = start(place.path());
    let begun = Instant::now();
    engine.open_paths(&[log.to_owned()], Origin::Argument);
    let log = wait(&notices, |notice| match notice {
        Notice::Log { view } if view.count > 0 => Some(view.log.clone()),
        _ => None,
    })?;
    let moment = |at: u64| {
        engine
            .handle(Request::Moment {
                log: log.clone(),
                at,
                path: None,
            })
            .map_err(|e| e.message)
    };
    moment(1)?;
    super::measure::say("engine: first frame", super::measure::ms(begun), "ms");
    let count = wait(&notices, |notice| match notice {
        Notice::Log { view } if view.phase != "opening" => Some(view.count),
        _ => None,
    })?;
    super::measure::say("engine: ready", super::measure::ms(begun), "ms");
    super::measure::say(
        "engine: peak memory",
        super::measure::peak_kb() as f64 / 1e3,
        "MB",
    );
    let (mut moments, mut trees) = (Vec::new(), Vec::new());
    for n in 0..SEEKS {
        let at = (n * 7_919_191) % count.max(1);
        let begun = Instant::now();
        moment(at)?;
        moments.push(super::measure::ms(begun));
        let begun = Instant::now();
        let tree = Request::Tree {
            log: log.clone(),
            at,
            mode: TreeMode::All,
            query: String::new(),
            offset: 0,
            limit: 60,
        };
        engine.handle(tree).map_err(|error| error.message)?;
        trees.push(super::measure::ms(begun));
    }
    tell("engine: seek (moment)", &mut moments);
    tell("engine: seek (tree)", &mut trees);
    super::measure::say(
        "engine: peak memory, scrubbed",
        super::measure::peak_kb() as f64 / 1e3,
        "MB",
    );
    engine.close();
    Ok(())
}

/// Median, the slowest but one in a hundred, and the slowest.
fn tell(what: &str, times: &mut [f64]) {
    times.sort_by(f64::total_cmp);
    let at = |share: f64| {
        times
            .get((times.len() as f64 * share) as usize)
            .or(times.last())
            .copied()
    };
    for (name, share) in [("median", 0.5), ("99 %", 0.99), ("worst", 1.0)] {
        super::measure::say(
            &format!("{what}, {name}"),
            at(share).unwrap_or_default(),
            "ms",
        );
    }
}
