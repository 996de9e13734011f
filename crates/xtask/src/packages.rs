//! System packages: what is missing is named, then installed by apt as root or with `sudo -n`; elsewhere the exact
//! line is printed for a person to run.

use crate::steps::{output, ran, say, Done};
use std::process::Command;

/// Something the system must have, how that is seen, and what it is called where.
pub struct Wanted {
    what: &'static str,
    seen: Seen,
    /// Debian and Ubuntu.
    apt: &'static str,
    dnf: &'static str,
    pacman: &'static str,
}

enum Seen {
    Program(&'static str),
    Library(&'static str),
}

/// To build the app.
pub const BUILD: &[Wanted] = &[
    Wanted {
        what: "a C compiler",
        seen: Seen::Program("cc"),
        apt: "build-essential",
        dnf: "gcc",
        pacman: "base-devel",
    },
    Wanted {
        what: "pkg-config",
        seen: Seen::Program("pkg-config"),
        apt: "pkg-config",
        dnf: "pkgconf-pkg-config",
        pacman: "pkgconf",
    },
    Wanted {
        what: "WebKitGTK for development",
        seen: Seen::Library("webkit2gtk-4.1"),
        apt: "libwebkit2gtk-4.1-dev",
        dnf: "webkit2gtk4.1-devel",
        pacman: "webkit2gtk-4.1",
    },
];

/// To test the real window.
pub const WINDOW_TESTS: &[Wanted] = &[
    Wanted {
        what: "a virtual X server",
        seen: Seen::Program("Xvfb"),
        apt: "xvfb",
        dnf: "xorg-x11-server-Xvfb",
        pacman: "xorg-server-xvfb",
    },
    Wanted {
        what: "WebKit's driver",
        seen: Seen::Program("WebKitWebDriver"),
        apt: "webkit2gtk-driver",
        dnf: "webkit2gtk4.1",
        pacman: "webkit2gtk-4.1",
    },
    Wanted {
        what: "xdotool",
        seen: Seen::Program("xdotool"),
        apt: "xdotool",
        dnf: "xdotool",
        pacman: "xdotool",
    },
];

/// # Errors
/// The lines for an administrator, where this user may not install; what apt says.
pub fn install(wanted: &[&Wanted]) -> Done {
    if !cfg!(target_os = "linux") {
        return elsewhere(wanted);
    }
    let missing: Vec<&Wanted> = wanted.iter().copied().filter(|w| !there(&w.seen)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let apt = names(&missing, |w| w.apt);
    say(&format!(
        "missing on this system: {} ({apt})",
        list_of(&missing)
    ));
    if output("apt-get", &["--version"]).is_some() {
        if let Some(prefix) = as_root() {
            let apt_get = |arguments: &[&str]| {
                let mut line: Vec<&str> = prefix.to_vec();
                line.extend([
                    "env",
                    "DEBIAN_FRONTEND=noninteractive",
                    "apt-get",
                    "-q",
                    "-o",
                    "Dpkg::Use-Pty=0",
                ]);
                line.extend(arguments);
                println!("   {}", line.join(" "));
                ran("apt", Command::new(line[0]).args(&line[1..]))
            };
            apt_get(&["update"])?;
            let mut arguments = vec!["install", "-y", "--no-install-recommends"];
            arguments.extend(missing.iter().map(|w| w.apt));
            apt_get(&arguments)?;
            let still: Vec<&Wanted> = missing.into_iter().filter(|w| !there(&w.seen)).collect();
            return if still.is_empty() {
                Ok(())
            } else {
                Err(format!(
                    "installed, but still not found: {}",
                    list_of(&still)
                ))
            };
        }
    }
    Err(lines_for(&missing))
}

/// What `install` would do here.
pub fn would_install(wanted: &[&Wanted]) {
    if !cfg!(target_os = "linux") {
        if let Err(why) = elsewhere(wanted) {
            println!("{why}");
        }
        return;
    }
    let missing: Vec<&Wanted> = wanted.iter().copied().filter(|w| !there(&w.seen)).collect();
    if missing.is_empty() {
        return println!("no system package is missing");
    }
    let apt = names(&missing, |w| w.apt);
    println!("missing on this system: {} ({apt})", list_of(&missing));
    let prefix = output("apt-get", &["--version"]).and_then(|_| as_root());
    match prefix {
        Some(prefix) => {
            let sudo: String = prefix.iter().map(|word| format!("{word} ")).collect();
            println!("would run: {sudo}apt-get update");
            println!("would run: {sudo}apt-get install -y --no-install-recommends {apt}");
        }
        None => println!("{}", lines_for(&missing)),
    }
}

fn names(missing: &[&Wanted], name: fn(&Wanted) -> &'static str) -> String {
    // Some systems have one package for two of these.
    let mut names: Vec<&str> = Vec::new();
    for wanted in missing {
        if !names.contains(&name(wanted)) {
            names.push(name(wanted));
        }
    }
    names.join(" ")
}

fn lines_for(missing: &[&Wanted]) -> String {
    format!(
        "{} must be installed by an administrator first:

    sudo apt-get update && sudo apt-get install -y --no-install-recommends {}    (Debian 12, Ubuntu 22.04, and newer)
    sudo dnf install {}    (Fedora)
    sudo pacman -S --needed {}    (Arch)
    xcode-select --install    (macOS; WebKit is part of the system)
    winget install Microsoft.VisualStudio.2022.BuildTools Microsoft.EdgeWebView2Runtime    (Windows)
",
        list_of(missing),
        names(missing, |w| w.apt),
        names(missing, |w| w.dnf),
        names(missing, |w| w.pacman),
    )
}

/// macOS and Windows bring the webview; the tests' driver exists only for WebKitGTK.
fn elsewhere(wanted: &[&Wanted]) -> Done {
    if wanted
        .iter()
        .any(|w| matches!(w.seen, Seen::Program("WebKitWebDriver")))
    {
        return Err(
            "the real window's tests run on Linux only; use `cargo xtask test --no-window` here"
                .into(),
        );
    }
    if cfg!(target_os = "macos") && output("xcode-select", &["-p"]).is_none() {
        return Err("the command line tools are needed:\n\n    xcode-select --install\n".into());
    }
    Ok(())
}

fn list_of(wanted: &[&Wanted]) -> String {
    wanted.iter().map(|w| w.what).collect::<Vec<_>>().join(", ")
}

fn there(seen: &Seen) -> bool {
    match seen {
        Seen::Program(name) => on_path(name),
        Seen::Library(name) => output("pkg-config", &["--exists", name]).is_some(),
    }
}

fn on_path(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|dir| dir.join(name).is_file())
}

/// What goes before a line that needs root: nothing as root, `sudo -n` where that asks for no password.
fn as_root() -> Option<&'static [&'static str]> {
    if output("id", &["-u"]).as_deref() == Some("0") {
        return Some(&[]);
    }
    output("sudo", &["-n", "true"]).map(|_| &["sudo", "-n"] as &[&str])
}
