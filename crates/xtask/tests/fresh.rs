//! The set-up on machines that lack things: a PATH of made-up programs, and what `setup` says and would run there.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

struct Machine(tempfile::TempDir);

impl Machine {
    /// With these programs; each writes its arguments down and does what its line says.
    fn with(programs: &[(&str, &str)]) -> Machine {
        let machine = Machine(tempfile::tempdir().unwrap());
        for (name, does) in programs {
            let said = machine.0.path().join("said");
            machine.put(
                name,
                &format!(
                    "#!/bin/sh\necho \"{name} $*\" >> {}\n{does}\n",
                    said.display()
                ),
            );
        }
        machine
    }

    fn put(&self, name: &str, text: &str) {
        let path = self.0.path().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Status, and all that was printed.
    fn run(&self, arguments: &[&str]) -> (i32, String) {
        let out = Command::new(env!("CARGO_BIN_EXE_xtask"))
            .args(arguments)
            .env("PATH", self.0.path())
            .env_remove("DISPLAY")
            .env_remove("WAYLAND_DISPLAY")
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&out.stdout).into_owned()
            + &String::from_utf8_lossy(&out.stderr);
        (out.status.code().unwrap(), text)
    }

    /// What was started, one line each.
    fn said(&self) -> String {
        fs::read_to_string(self.0.path().join("said")).unwrap_or_default()
    }
}

const RUST: (&str, &str) = ("rustc", "echo 'rustc 1.99.0 (abc 2026-01-01)'");
const NODE: (&str, &str) = ("node", "echo v22.11.0");
const NPM: (&str, &str) = ("npm", "echo 10.9.0");
const APT: (&str, &str) = ("apt-get", "echo 'apt 2.6'");
const ROOT: (&str, &str) = ("id", "echo 0");
const USER: (&str, &str) = ("id", "echo 1000");
const NONE: (&str, &str) = ("pkg-config", "exit 1");

const BUILD: &str = "libwebkit2gtk-4.1-dev";
const ALL: &str = "build-essential libwebkit2gtk-4.1-dev xvfb webkit2gtk-driver xdotool";

#[test]
fn no_rust_is_said_with_the_line_that_installs_it() {
    let (status, text) = Machine::with(&[]).run(&["setup"]);
    assert_eq!(status, 1);
    assert!(
        text.contains("Rust ")
            && text.contains("found: none")
            && text.contains("https://sh.rustup.rs"),
        "{text}"
    );
    let old = ("rustc", "echo 'rustc 1.60.0 (x)'");
    let (_, text) = Machine::with(&[old, ("rustup", "echo 'rustup 1.28.0'")]).run(&["setup"]);
    assert!(
        text.contains("rustc 1.60.0") && text.contains("rustup toolchain install"),
        "{text}"
    );
}

#[test]
fn no_node_is_said_with_the_lines_that_install_it() {
    let machine = Machine::with(&[RUST, APT, ROOT]);
    let (status, text) = machine.run(&["setup"]);
    assert_eq!(status, 1);
    assert!(
        text.contains("Node 20.19 or newer with npm is needed, found: none"),
        "{text}"
    );
    assert!(
        text.contains("apt-get install -y nodejs") && text.contains("dnf install nodejs"),
        "{text}"
    );
    assert!(
        !machine.said().contains("apt-get install"),
        "nothing is installed before"
    );
    let (_, text) = Machine::with(&[RUST, ("node", "echo v18.20.0"), NPM]).run(&["setup"]);
    assert!(text.contains("found: v18.20.0"), "{text}");
    let (_, text) = Machine::with(&[RUST, NODE]).run(&["setup"]);
    assert!(text.contains("with npm is needed"), "{text}");
}

#[test]
fn a_dry_run_names_every_package_and_installs_none() {
    let machine = Machine::with(&[RUST, NODE, NPM, APT, ROOT, NONE]);
    let (status, text) = machine.run(&["setup", "--dry-run"]);
    assert_eq!(status, 0, "{text}");
    assert!(
        text.contains(&format!(
            "would run: apt-get install -y --no-install-recommends {ALL}\n"
        )),
        "{text}"
    );
    assert!(
        text.contains("a C compiler, WebKitGTK for development, a virtual X server"),
        "{text}"
    );
    let said = machine.said();
    assert!(
        !said.contains("apt-get update")
            && !said.contains("apt-get install")
            && !said.contains("npm ci"),
        "{said}"
    );

    // All that is missing is named at once, what it can't install too.
    let (status, text) = Machine::with(&[APT, ROOT]).run(&["setup", "--dry-run"]);
    assert_eq!(status, 1);
    for part in ["pkg-config", BUILD, "sh.rustup.rs", "Node 20.19"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn without_the_right_to_install_the_lines_are_printed() {
    let machine = Machine::with(&[RUST, NODE, NPM, APT, USER, NONE]);
    let (status, text) = machine.run(&["setup"]);
    assert_eq!(status, 1);
    assert!(
        text.contains(&format!(
            "sudo apt-get install -y --no-install-recommends {ALL}"
        )),
        "{text}"
    );
    assert!(
        text.contains("sudo dnf install gcc webkit2gtk4.1-devel"),
        "{text}"
    );
    assert!(!machine.said().contains("apt-get install"));
    // Neither apt nor root: the same.
    let (status, text) = Machine::with(&[RUST, NODE, NPM, ROOT, NONE]).run(&["setup"]);
    assert_eq!(status, 1);
    assert!(text.contains("sudo pacman -S --needed"), "{text}");
}

#[test]
fn with_the_right_it_installs_and_looks_again() {
    let machine = Machine::with(&[RUST, NODE, NPM, ROOT, NONE, APT]);
    // `env` starts apt-get as the set-up does.
    machine.put("env", "#!/bin/sh\nshift\nexec \"$@\"\n");
    let (status, text) = machine.run(&["setup"]);
    assert_eq!(status, 1);
    assert!(
        text.contains("installed, but still not found: a C compiler"),
        "{text}"
    );
    let said = machine.said();
    let at = |what: &str| said.find(what).unwrap_or_else(|| panic!("{what}: {said}"));
    assert!(
        at("Dpkg::Use-Pty=0 update") < at(&format!("install -y --no-install-recommends {ALL}"))
    );
    assert!(!said.contains("npm ci"), "it ends there");
    // Through sudo, where that asks for no password.
    let machine = Machine::with(&[RUST, NODE, NPM, USER, NONE, APT, ("sudo", "exit 0")]);
    machine.run(&["setup"]);
    assert!(
        machine
            .said()
            .contains("sudo -n env DEBIAN_FRONTEND=noninteractive apt-get"),
        "{}",
        machine.said()
    );
}

#[test]
fn without_a_display_run_says_how_to_get_one() {
    let machine = Machine::with(&[RUST, NODE, NPM]);
    let (status, text) = machine.run(&["run"]);
    assert_eq!(status, 1);
    assert!(
        text.contains("xvfb-run -a") && text.contains("cargo xtask run"),
        "{text}"
    );
    assert!(
        !Path::new(&machine.0.path().join("said")).exists(),
        "nothing is started before"
    );
}
