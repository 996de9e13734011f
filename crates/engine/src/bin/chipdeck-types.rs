//! Writes the page's types: `chipdeck-types [--check] [DIR]`, DIR being `ui/src/api` of this repository.

use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut check = false;
    let mut dir = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../ui/src/api"));
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--check" => check = true,
            _ => dir = PathBuf::from(argument),
        }
    }
    let mut old = 0;
    for (name, text) in chipdeck_engine::api::typescript::files() {
        let path = dir.join(name);
        if std::fs::read_to_string(&path).is_ok_and(|there| there == text) {
            continue;
        }
        old += 1;
        if check {
            eprintln!("{} is not up to date", path.display());
        } else if let Err(error) =
            std::fs::create_dir_all(&dir).and_then(|()| std::fs::write(&path, text))
        {
            eprintln!("cannot write {}: {error}", path.display());
            return ExitCode::from(1);
        }
    }
    if check && old > 0 {
        eprintln!("run: cargo run -p chipdeck-engine --bin chipdeck-types");
        return ExitCode::from(1);
    }
    ExitCode::SUCCESS
}
