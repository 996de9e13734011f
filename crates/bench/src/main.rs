//! Measures reading, folding, seeking and memory on large logs, beside a named peer (`jq -c .type` on the same file).
//!
//! Each measurement runs in a process of its own, so that its peak memory is its own. Figures are ratios where a
//! machine's speed would decide; they are printed, never compared with a stored number.

mod chips;
mod deck;
mod generate;
mod kept;
mod measure;
mod multiply;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

const HELP: &str = "\
chipdeck-bench                            makes the logs where they are missing, measures all, prints a table
chipdeck-bench generate OUT MEGABYTES     a canonical log
chipdeck-bench multiply SAMPLE OUT MEGABYTES   an agent's transcript many times over, with fresh ids
chipdeck-bench measure LOG                one log, in this process
chipdeck-bench engine LOG                 one log, opened and scrubbed as the window does it
chipdeck-bench kept LOG                   the state at the end: a full replay, and from a kept state
chipdeck-bench chips                      how soon a new chip is listed";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        [] => all(),
        ["generate", out, size] => megabytes(size).and_then(|size| {
            generate::write(Path::new(out), size).map_err(|error| format!("{out}: {error}"))
        }),
        ["multiply", sample, out, size] => megabytes(size).and_then(|size| {
            multiply::write(Path::new(sample), Path::new(out), size)
                .map_err(|error| format!("{sample}: {error}"))
        }),
        ["chips"] => chips::run(&PathBuf::from("target/bench/chips")),
        ["measure", log] => measure::run(Path::new(log)),
        ["kept", log] => kept::run(Path::new(log)),
        ["engine", log] => deck::log(Path::new(log)),
        _ => Err(HELP.to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn megabytes(text: &str) -> Result<u64, String> {
    let size: u64 = text
        .parse()
        .map_err(|_| format!("{text} is no number of megabytes"))?;
    Ok(size * 1_000_000)
}

const SIZE: u64 = 100_000_000;

fn all() -> Result<(), String> {
    let folder = PathBuf::from("target/bench");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut logs = vec![folder.join("canonical.jsonl")];
    if let Some(log) = logs.first().filter(|log| !log.exists()) {
        generate::write(log, SIZE).map_err(|error| format!("{}: {error}", log.display()))?;
    }
    match sample() {
        Some(sample) => {
            let log = folder.join("transcript.jsonl");
            if !log.exists() {
                multiply::write(&sample, &log, SIZE)
                    .map_err(|error| format!("{}: {error}", sample.display()))?;
            }
            logs.push(log);
        }
        None => println!(
            "no transcript to multiply: set CHIPDECK_FIXTURES to the folder of the samples"
        ),
    }
    for log in logs {
        compare(&log)?;
    }
    chips::run(&folder.join("chips"))
}

/// A transcript of Claude Code to multiply.
fn sample() -> Option<PathBuf> {
    let fixtures = std::env::var_os("CHIPDECK_FIXTURES");
    let fixtures = fixtures.map_or_else(|| PathBuf::from("../shared/fixtures"), PathBuf::from);
    let sample = fixtures.join("agents/claude-code/v2.1.5-compaction.jsonl");
    sample.exists().then_some(sample)
}

fn compare(log: &Path) -> Result<(), String> {
    let size = std::fs::metadata(log)
        .map_err(|error| error.to_string())?
        .len();
    println!("\n{} ({} MB)", log.display(), size / 1_000_000);
    let peer = peer(log);
    let text = itself(&["measure", &log.display().to_string()])?;
    print!("{text}");
    print!("{}", itself(&["engine", &log.display().to_string()])?);
    print!("{}", itself(&["kept", &log.display().to_string()])?);
    let value = |name: &str| -> Option<f64> {
        let line = text.lines().find(|line| line.starts_with(name))?;
        line.get(name.len()..)?
            .split_whitespace()
            .next()?
            .parse()
            .ok()
    };
    if let Some(peer) = peer {
        let peer = peer.as_secs_f64() * 1e3;
        println!("{:<38}{peer:>10.0} ms", "jq -c .type");
        for (name, what) in [
            (
                "index with all file histories",
                "index, times faster than jq",
            ),
            ("first frame", "first frame, times faster than jq"),
        ] {
            if let Some(ours) = value(name) {
                println!("{what:<38}{:>10.1}", peer / ours.max(0.001));
            }
        }
    }
    if let Some(peak) = value("peak memory") {
        println!(
            "{:<38}{:>10.0} %",
            "peak memory of the file's size",
            peak * 1e8 / size as f64
        );
    }
    Ok(())
}

/// What a measurement of our own prints, in a process of its own.
fn itself(arguments: &[&str]) -> Result<String, String> {
    let this = std::env::current_exe().map_err(|error| error.to_string())?;
    let out = Command::new(this)
        .args(arguments)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| error.to_string())?;
    Ok(String::from_utf8_lossy(&out.stdout).into_owned())
}

/// The better of two runs; `None` where there is no jq.
fn peer(log: &Path) -> Option<Duration> {
    (0..2)
        .filter_map(|_| {
            let begun = Instant::now();
            let status = Command::new("jq")
                .args(["-c", ".type"])
                .arg(log)
                .stdout(Stdio::null())
                .status()
                .ok()?;
            status.success().then(|| begun.elapsed())
        })
        .min()
}
