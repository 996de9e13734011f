//! What has to be on the machine already: Rust, Node, a display. Checked, never installed: a line says how.

use crate::steps::{output, root, Done};

/// Oldest Node that the page's tools run on.
const NODE: (u32, u32) = (20, 19);

/// First two numbers of `1.95.0`, `v20.20.2`, `rustc 1.95.0 (…)`.
fn version(text: &str) -> Option<(u32, u32)> {
    let start = text.find(|c: char| c.is_ascii_digit())?;
    let mut parts = text[start..].split(|c: char| !c.is_ascii_digit());
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// The version that `rust-toolchain.toml` names.
fn wanted_rust() -> Result<String, String> {
    let file = root().join("rust-toolchain.toml");
    let text =
        std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    text.lines()
        .find_map(|line| {
            line.trim()
                .strip_prefix("channel")?
                .split('"')
                .nth(1)
                .map(str::to_owned)
        })
        .ok_or_else(|| format!("{} names no channel", file.display()))
}

pub fn check_rust() -> Done {
    let wanted = wanted_rust()?;
    let found = output("rustc", &["--version"]);
    if found
        .as_deref()
        .and_then(version)
        .is_some_and(|found| Some(found) >= version(&wanted))
    {
        return Ok(());
    }
    let found = found.unwrap_or_else(|| "none".into());
    let line = if output("rustup", &["--version"]).is_some() {
        format!("rustup toolchain install {wanted} --component rustfmt --component clippy")
    } else {
        format!("curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y --default-toolchain {wanted}")
    };
    Err(format!(
        "Rust {wanted} is needed, found: {found}. Install it with\n\n    {line}\n"
    ))
}

pub fn check_node() -> Done {
    let found = output("node", &["--version"]);
    if found
        .as_deref()
        .and_then(version)
        .is_some_and(|found| found >= NODE)
        && npm_there()
    {
        return Ok(());
    }
    let found = found.unwrap_or_else(|| "none".into());
    let lines = if cfg!(target_os = "macos") {
        "    brew install node"
    } else if cfg!(windows) {
        "    winget install OpenJS.NodeJS.LTS"
    } else {
        "    curl -fsSL https://deb.nodesource.com/setup_22.x | sudo -E bash - && sudo apt-get install -y nodejs    (Debian, Ubuntu)
    sudo dnf install nodejs npm                                                                             (Fedora)
    sudo pacman -S nodejs npm                                                                               (Arch)"
    };
    Err(format!(
        "Node {}.{} or newer with npm is needed, found: {found}. Install it with\n\n{lines}\n",
        NODE.0, NODE.1
    ))
}

fn npm_there() -> bool {
    output(
        if cfg!(windows) { "npm.cmd" } else { "npm" },
        &["--version"],
    )
    .is_some()
}

/// A window needs a screen.
pub fn check_display(task: &str) -> Done {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if !cfg!(target_os = "linux") || set("DISPLAY") || set("WAYLAND_DISPLAY") {
        return Ok(());
    }
    Err(format!(
        "there is no display here (neither DISPLAY nor WAYLAND_DISPLAY is set), so no window can be shown. With a virtual one:

    sudo apt-get install -y xvfb xauth && xvfb-run -a -s \"-screen 0 1280x800x24\" {task}

`cargo xtask test` needs no display, and `cargo run -- --help` lists what works without a window."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_out_of_what_programs_print() {
        assert_eq!(version("v20.20.2"), Some((20, 20)));
        assert_eq!(
            version("rustc 1.95.0 (f2d3ce0bd 2026-03-21)"),
            Some((1, 95))
        );
        assert_eq!(version("none"), None);
        assert!(version("v9.11.2") < version("v20.19.0"));
    }

    #[test]
    fn the_toolchain_file_names_a_version() {
        assert!(version(&wanted_rust().unwrap()).is_some());
    }
}
