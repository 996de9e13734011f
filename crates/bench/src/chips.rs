//! How long a new chip takes from being complete on disk to being told and listed, with a full queue beside it.

use chipdeck_chip::{chip_file_name, ChipRecord};
use chipdeck_disk::chips::{ArchiveConfig, ChipConfig, ChipFolder, SnapshotPlaces};
use std::path::Path;
use std::time::{Duration, Instant};

const ROUNDS: i64 = 100;
const QUEUE: i64 = 30;

pub fn run(folder: &Path) -> Result<(), String> {
    let said = |error: std::io::Error| format!("{}: {error}", folder.display());
    let chips = folder.join("chips");
    // Left by a run that was broken off.
    let _ = std::fs::remove_dir_all(folder);
    std::fs::create_dir_all(&chips).map_err(said)?;
    let write = |n: i64| -> std::io::Result<()> {
        let text = format!("fn number_{n}() {{\n    run();\n}}\n").repeat(20);
        let record = ChipRecord::of_delete(format!("{n:06x}"), text.into_bytes(), n);
        let name = chip_file_name(&record.id).unwrap_or_default();
        std::fs::write(chips.join(name), record.write())
    };
    for n in 0..QUEUE {
        write(n).map_err(said)?;
    }
    let (handle, changes) = ChipFolder::open(ChipConfig {
        folder: chips.clone(),
        snapshots: SnapshotPlaces {
            base: Some(folder.join("snapshots")),
            single: None,
        },
        archive: Some(ArchiveConfig::in_dir(folder.join("archive"))),
        polling: false,
    });
    let mut times = Vec::new();
    for n in QUEUE..QUEUE + ROUNDS {
        // Out of step with whatever ticks inside.
        std::thread::sleep(Duration::from_millis(60 + (n as u64 * 7) % 40));
        while changes.try_recv().is_ok() {}
        // The server evicts the oldest, then writes.
        let oldest = format!("chip-{:06x}.json", n - QUEUE);
        std::fs::remove_file(chips.join(oldest)).map_err(said)?;
        write(n).map_err(said)?;
        let complete = Instant::now();
        let id = format!("{n:06x}");
        loop {
            changes
                .recv_timeout(Duration::from_secs(10))
                .map_err(|_| "a new chip was not told within 10 s".to_owned())?;
            if handle.list().rows.iter().any(|row| row.id == id) {
                break;
            }
        }
        times.push(complete.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    let at = |part: usize| {
        times
            .get(times.len() * part / 100)
            .copied()
            .unwrap_or_default()
    };
    println!("\na new chip, complete on disk to listed ({ROUNDS} times, 30 in the queue)");
    println!("{:<34}{:>10.1} ms", "median", at(50));
    println!("{:<34}{:>10.1} ms", "99th of 100", at(98));
    println!("{:<34}{:>10.1} ms", "slowest", at(99));
    drop(handle);
    std::fs::remove_dir_all(folder).map_err(said)
}
