//! One log, measured in this process: first frame, index, histories, seeks, memory.

use chipdeck_disk::logs::FileSource;
use chipdeck_ingest::{LogSet, Source};
use chipdeck_replay::{Options, Timeline};
use std::path::Path;
use std::time::Instant;

/// What the window looks at first.
const FIRST: usize = 256 << 10;
const STRIDE: usize = 16 << 20;
const SEEKS: u32 = 2_000;

pub fn run(log: &Path) -> Result<(), String> {
    let failed = |error: std::io::Error| error.to_string();
    let begun = Instant::now();
    let source = FileSource::open(log).map_err(|error| error.to_string())?;
    let mut set = LogSet::open(&source);
    let names = (0..source.files()).map(|file| source.name(file)).collect();
    let canonical = set.format().is_canonical();
    let mut timeline = Timeline::new(Options {
        names,
        canonical,
        ..Options::default()
    });
    let mut progress = set
        .read(&source, FIRST, &mut |batch, source| {
            timeline.take(batch, source)
        })
        .map_err(failed)?;
    let first = timeline.state_json(&timeline.state_at(timeline.len().min(100)), &source);
    say("first frame", ms(begun), "ms");
    while !progress.done() {
        progress = set
            .read(&source, STRIDE, &mut |batch, source| {
                timeline.take(batch, source)
            })
            .map_err(failed)?;
    }
    set.settle(true, &source, &mut |batch, source| {
        timeline.take(batch, source)
    });
    timeline.arrange(&source);
    let paths = timeline.paths();
    let versions: usize = paths.iter().map(|path| timeline.versions(path).len()).sum();
    say("index with all file histories", ms(begun), "ms");
    say("its processor time", processor_ms().0, "ms");
    say("peak memory", peak_kb() as f64 / 1e3, "MB");

    let mut random = 88_172_645_463_325_252u64;
    let mut worst = 0.0f64;
    let mut sum = 0.0;
    for _ in 0..SEEKS {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let position = (random % u64::from(timeline.len().max(1))) as u32;
        let begun = Instant::now();
        let state = timeline.state_at(position);
        let files = timeline.files(&state).len();
        std::hint::black_box((state, files));
        let took = ms(begun);
        worst = worst.max(took);
        sum += took;
    }
    say("seek, mean", sum / f64::from(SEEKS), "ms");
    say("seek, worst", worst, "ms");

    let begun = Instant::now();
    let mut known = 0usize;
    for path in &paths {
        for version in timeline.versions(path) {
            let hash = version
                .content
                .and_then(|content| timeline.content_sha256(content, &source));
            known += usize::from(hash.is_some());
        }
    }
    say("hashes of all versions", ms(begun), "ms");
    say("peak memory, all looked at", peak_kb() as f64 / 1e3, "MB");
    println!(
        "{} entries, {} findings, {} paths, {versions} versions ({known} with a hash), {} bytes of first state",
        timeline.len(),
        timeline.findings().len(),
        paths.len(),
        first.len(),
    );
    Ok(())
}

pub fn say(what: &str, value: f64, unit: &str) {
    println!("{what:<38}{value:>10.3} {unit}");
}

pub fn ms(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}

/// Processor time of this process and of those that it waited for, milliseconds; 0 where the system does not say.
pub fn processor_ms() -> (f64, f64) {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after = stat.rsplit_once(')').map_or("", |(_, after)| after);
    let ticks: Vec<f64> = after
        .split_whitespace()
        .filter_map(|word| word.parse().ok())
        .collect();
    // After the name and a letter: 3 is the parent, 13 the time in the program, then system, children, theirs.
    let at = |n: usize| ticks.get(n).copied().unwrap_or(0.0) * 10.0;
    (at(10) + at(11), at(12) + at(13))
}

/// Most memory that the process ever held, in kB; 0 where the system does not say.
pub fn peak_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok())
        .unwrap_or(0)
}
