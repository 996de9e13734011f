//! Chores of this repository: `cargo xtask run` on a fresh machine gives a window, `cargo xtask test` tests everything.
//!
//! Everything that is missing is named before it is installed; what can't be installed here is printed as the line
//! that does it, and the status is 1. Left out: anything that the products themselves need at run time.

mod demo;
mod machine;
mod packages;
mod page;
mod steps;

use std::process::ExitCode;

const HELP: &str = "\
cargo xtask run [PATH…]      sets up, builds page and app, opens the window (on what it finds, else on a bundled demo)
cargo xtask test             sets up, then tests everything: engine, command, page, the real window
     --no-window             leaves the window out (needs neither WebKit nor a display)
     --no-page               leaves the page out
cargo xtask setup            only the set-up that `test` needs
     --dry-run               says what it would install, and installs nothing
cargo xtask check            formatting, clippy, the page's types and lint, generated types
cargo xtask bench [ARG…]     measures the engine (release build)
cargo xtask types [--check]  writes the page's types from the engine's
cargo xtask shots            pictures of the real window, into target/shots
cargo xtask demo             writes demo/ again
cargo xtask bundle           a .deb of the app, into target/release/bundle";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let task = arguments.next().unwrap_or_default();
    let rest: Vec<String> = arguments.collect();
    let done = match task.as_str() {
        "run" => run(&rest),
        "test" => test(&rest),
        "setup" => set_up(&rest),
        "check" => check(),
        "bench" => bench(&rest),
        "types" => types(&rest),
        "shots" => shots(&rest),
        "demo" => demo::write(&steps::root().join("demo")),
        "bundle" => bundle(),
        "" | "help" | "-h" | "--help" => {
            println!("{HELP}");
            return ExitCode::SUCCESS;
        }
        other => Err(format!("there is no task {other:?}\n\n{HELP}")),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("\nxtask: {why}");
            ExitCode::FAILURE
        }
    }
}

/// How much a task needs of the machine.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Need {
    /// Rust alone.
    Engine,
    /// And Node.
    Page,
    /// And what the window is built with.
    App,
    /// And what drives the window in tests.
    Window,
}

fn set_up(options: &[String]) -> steps::Done {
    match options {
        [] => setup(Need::Window),
        [one] if one == "--dry-run" => would_set_up(),
        _ => Err(format!(
            "`setup` takes --dry-run, not {:?}",
            options.join(" ")
        )),
    }
}

fn setup(need: Need) -> steps::Done {
    machine::check_rust()?;
    if need >= Need::Page {
        machine::check_node()?;
    }
    // In one go: nobody is asked twice.
    let mut wanted = Vec::new();
    if need >= Need::App {
        wanted.extend(packages::BUILD);
    }
    if need >= Need::Window {
        wanted.extend(packages::WINDOW_TESTS);
    }
    packages::install(&wanted)?;
    if need >= Need::Page {
        page::modules()?;
    }
    Ok(())
}

/// What `setup` would do here, all of it, whatever is missing first.
fn would_set_up() -> steps::Done {
    let missing = [machine::check_rust(), machine::check_node()];
    let wanted: Vec<_> = packages::BUILD
        .iter()
        .chain(packages::WINDOW_TESTS)
        .collect();
    packages::would_install(&wanted);
    if page::modules_missing()? {
        println!("would run: npm ci --no-audit --no-fund    (in ui)");
    }
    let faults: Vec<String> = missing.into_iter().filter_map(Result::err).collect();
    if faults.is_empty() {
        return Ok(());
    }
    Err(faults.join("\n"))
}

fn run(paths: &[String]) -> steps::Done {
    machine::check_display("cargo xtask run")?;
    setup(Need::App)?;
    page::build()?;
    steps::cargo(
        "the app",
        &[
            "build",
            "--package",
            "chipdeck-desktop",
            "--package",
            "chipdeck",
            "--bins",
        ],
    )?;
    steps::say("opening the window");
    let here = std::env::current_dir().map_err(|error| format!("no current folder: {error}"))?;
    let mut app = std::process::Command::new(steps::binary("chipdeck-desktop"));
    if paths.is_empty() {
        app.arg("--or-demo");
    }
    steps::ran("the window", app.args(paths).current_dir(here))
}

fn test(options: &[String]) -> steps::Done {
    let window = !options.iter().any(|o| o == "--no-window");
    let page = window || !options.iter().any(|o| o == "--no-page");
    if let Some(other) = options
        .iter()
        .find(|o| *o != "--no-window" && *o != "--no-page")
    {
        return Err(format!(
            "`test` takes --no-window and --no-page, not {other:?}"
        ));
    }
    setup(if window {
        Need::Window
    } else if page {
        Need::Page
    } else {
        Need::Engine
    })?;
    if page {
        page::build()?;
    }
    if window {
        // One selection of packages for all: another one would build the toolkit a second time.
        steps::cargo("everything", &["build", "--workspace", "--bins"])?;
    }
    if !window {
        steps::cargo("engine and command", &["test", "--no-fail-fast"])?;
    } else {
        steps::cargo(
            "engine, command and app",
            &[
                "test",
                "--workspace",
                "--exclude",
                "chipdeck-e2e",
                "--no-fail-fast",
            ],
        )?;
    }
    if page {
        page::check()?;
        page::test()?;
    }
    if window {
        steps::window_tests()?;
    }
    steps::say("all tests passed");
    Ok(())
}

fn check() -> steps::Done {
    setup(Need::App)?;
    page::build()?;
    steps::cargo("formatting", &["fmt", "--all", "--check"])?;
    steps::cargo(
        "clippy",
        &[
            "clippy",
            "--workspace",
            "--all-targets",
            "--",
            "--deny",
            "warnings",
        ],
    )?;
    types(&["--check".into()])?;
    page::check()
}

fn types(options: &[String]) -> steps::Done {
    let mut line = vec![
        "run",
        "--quiet",
        "--package",
        "chipdeck-engine",
        "--bin",
        "chipdeck-types",
        "--",
    ];
    line.extend(options.iter().map(String::as_str));
    steps::cargo("the page's types", &line)
}

fn bench(options: &[String]) -> steps::Done {
    let mut line = vec!["run", "--release", "--package", "chipdeck-bench", "--"];
    line.extend(options.iter().map(String::as_str));
    steps::cargo("bench", &line)
}

fn shots(options: &[String]) -> steps::Done {
    setup(Need::Window)?;
    page::build()?;
    steps::cargo("everything", &["build", "--workspace", "--bins"])?;
    let mut line = vec![
        "run",
        "--package",
        "chipdeck-e2e",
        "--example",
        "shots",
        "--",
    ];
    line.extend(options.iter().map(String::as_str));
    steps::cargo_with_app("pictures", &line)
}

fn bundle() -> steps::Done {
    setup(Need::App)?;
    page::build()?;
    steps::npx_tauri_build()
}
