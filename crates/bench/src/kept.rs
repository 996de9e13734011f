//! The state at the end of a log: by a full replay, and from a state that was kept.

use chipdeck_disk::places::Places;
use chipdeck_disk::store::KeptStates;
use chipdeck_engine::log::{keep, state_at_end, Least, Reading, Start};
use std::path::Path;
use std::time::Instant;

pub fn run(log: &Path) -> Result<(), String> {
    let folder = std::env::temp_dir().join(format!("chipdeck-bench-kept-{}", std::process::id()));
    let states = KeptStates::new(&Places::below(&folder));
    let found = compare(log, &states);
    let _ = std::fs::remove_dir_all(&folder);
    found
}

fn compare(log: &Path, states: &KeptStates) -> Result<(), String> {
    let begun = Instant::now();
    let reading = Reading::of(log).map_err(|error| error.to_string())?;
    let replayed = reading
        .timeline
        .state_json(reading.timeline.end(), &*reading.source);
    let replay = begun.elapsed().as_secs_f64() * 1e3;
    keep(&reading, states, Least::default()).map_err(|error| error.to_string())?;
    drop(reading);
    let begun = Instant::now();
    let end = state_at_end(log, states, Least::default()).map_err(|error| error.to_string())?;
    let kept = begun.elapsed().as_secs_f64() * 1e3;
    println!("{:<32}{replay:>10.1} ms", "state at the end, replayed");
    if end.start == Start::Beginning {
        println!("{:<32}{:>10}", "from a kept state", "not kept");
        return Ok(());
    }
    if end.json != replayed {
        return Err("the kept state is another one".to_owned());
    }
    println!("{:<32}{kept:>10.1} ms", "from a kept state");
    println!(
        "{:<32}{:>10.1} times",
        "full replay / kept state",
        replay / kept
    );
    Ok(())
}
