//! The machine around the window.

use crate::Page;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A process that ends with its owner.
pub struct Running(pub Child);

impl Drop for Running {
    fn drop(&mut self) {
        // Politely first: the driver then ends the app.
        let _ = Command::new("kill")
            .arg(self.0.id().to_string())
            .stderr(Stdio::null())
            .status();
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(3) {
            if let Ok(Some(_)) = self.0.try_wait() {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// An X server, a driver and a home. The app is not started yet.
pub struct Desk {
    display: String,
    port: u16,
    home: tempfile::TempDir,
    _driver: Running,
    _screen: Running,
}

impl Desk {
    pub fn new() -> Desk {
        Desk::sized(1280, 800)
    }

    pub fn sized(width: u32, height: u32) -> Desk {
        // Xvfb picks a free display and prints its number.
        let mut screen = Command::new("Xvfb")
            .args([
                "-displayfd",
                "1",
                "-nolisten",
                "tcp",
                "-noreset",
                "-screen",
                "0",
            ])
            .arg(format!("{width}x{height}x24"))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("Xvfb: `cargo xtask setup` installs it");
        let mut number = String::new();
        BufReader::new(screen.stdout.take().unwrap())
            .read_line(&mut number)
            .unwrap();
        let display = format!(":{}", number.trim());

        let home = tempfile::Builder::new()
            .prefix("chipdeck-desk")
            .tempdir()
            .unwrap();
        for folder in ["data", "config", "cache", "run", "work"] {
            fs::create_dir(home.path().join(folder)).unwrap();
        }
        let port = std::net::TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let mut driver = Command::new("WebKitWebDriver");
        driver.arg(format!("--port={port}"));
        surroundings(&mut driver, &display, home.path());
        driver.env("TAURI_WEBVIEW_AUTOMATION", "true");
        driver.stdout(Stdio::null());
        let driver = Running(
            driver
                .spawn()
                .expect("WebKitWebDriver: `cargo xtask setup` installs it"),
        );
        crate::until("the driver", || {
            std::net::TcpStream::connect(("127.0.0.1", port)).ok()
        });
        Desk {
            display,
            port,
            home,
            _driver: driver,
            _screen: Running(screen),
        }
    }

    /// Starts the app on these arguments.
    pub fn start(&self, arguments: &[&Path]) -> Page {
        Page::new(self.port, &app(), arguments)
    }

    /// Starts the app once more, as a person would; its end is the caller's to await.
    pub fn start_again(&self, arguments: &[&Path]) -> Child {
        self.command(app()).args(arguments).spawn().unwrap()
    }

    /// A program on this desk's screen, with this desk's home.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        surroundings(&mut command, &self.display, self.home.path());
        command
    }

    /// Runs xdotool to its end.
    pub fn xdotool(&self, arguments: &[&str]) -> String {
        let out = self
            .command("xdotool")
            .args(arguments)
            .output()
            .expect("xdotool: `cargo xtask setup` installs it");
        assert!(
            out.status.success(),
            "xdotool {arguments:?}: {}",
            String::from_utf8_lossy(&out.stderr)
        );
        String::from_utf8_lossy(&out.stdout).trim().to_owned()
    }

    /// The visible windows whose name matches.
    pub fn windows(&self, name: &str) -> Vec<String> {
        let out = self
            .command("xdotool")
            .args(["search", "--onlyvisible", "--name", name])
            .output()
            .unwrap();
        String::from_utf8_lossy(&out.stdout)
            .split_whitespace()
            .map(str::to_owned)
            .collect()
    }

    /// A folder for projects and logs, empty at first.
    pub fn work(&self) -> PathBuf {
        self.home.path().join("work")
    }

    /// Where chips are watched on this desk.
    pub fn chips(&self) -> PathBuf {
        self.home.path().join("cache/better-edit-tools-mcp/chips")
    }

    pub fn snapshots(&self) -> PathBuf {
        self.home
            .path()
            .join("cache/better-edit-tools-mcp/snapshots")
    }

    /// Our own settings on this desk.
    pub fn config(&self) -> PathBuf {
        self.home.path().join("config/chipdeck")
    }

    /// Our own data on this desk.
    pub fn data(&self) -> PathBuf {
        self.home.path().join("data/chipdeck")
    }

    /// Writes a file below `work`, folders made; its path.
    pub fn put(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.work().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    /// The whole screen, where ImageMagick is at hand (for looking, not for judging).
    pub fn picture(&self, to: &Path) {
        let _ = self
            .command("import")
            .args(["-window", "root"])
            .arg(to)
            .status();
    }
}

impl Default for Desk {
    fn default() -> Desk {
        Desk::new()
    }
}

fn surroundings(command: &mut Command, display: &str, home: &Path) {
    command
        .env("DISPLAY", display)
        .env("GDK_BACKEND", "x11")
        .env("HOME", home)
        .env("XDG_DATA_HOME", home.join("data"))
        .env("XDG_CONFIG_HOME", home.join("config"))
        .env("XDG_CACHE_HOME", home.join("cache"))
        .env("XDG_RUNTIME_DIR", home.join("run"))
        .env("LC_ALL", "C.UTF-8")
        .env("NO_AT_BRIDGE", "1")
        .env("GSETTINGS_BACKEND", "memory")
        // A quicker first paint, and no shader cache in the home.
        .env("WEBKIT_SKIA_ENABLE_CPU_RENDERING", "1")
        .env("MESA_SHADER_CACHE_DISABLE", "true")
        .current_dir(home.join("work"))
        .stdin(Stdio::null());
    for name in [
        "WAYLAND_DISPLAY",
        "DBUS_SESSION_BUS_ADDRESS",
        "BETTER_EDIT_SNAPSHOT_DIR",
        "BETTER_EDIT_WORKSPACE",
    ] {
        command.env_remove(name);
    }
}

/// The app under test. `cargo xtask test` has built it and says where; alone, this builds it once, so that it is
/// never an old one.
pub fn app() -> PathBuf {
    static BUILT: std::sync::OnceLock<PathBuf> = std::sync::OnceLock::new();
    BUILT
        .get_or_init(|| {
            if let Some(app) = std::env::var_os("CHIPDECK_APP") {
                return app.into();
            }
            let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
            let build = [
                "build",
                "--quiet",
                "-p",
                "chipdeck-desktop",
                "-p",
                "chipdeck-e2e",
            ];
            let built = Command::new(env!("CARGO"))
                .args(build)
                .current_dir(root)
                .status()
                .unwrap();
            assert!(built.success(), "the app does not build");
            beside("chipdeck-desktop")
        })
        .clone()
}

/// A binary of the same build as this test.
pub fn beside(name: &str) -> PathBuf {
    let me = std::env::current_exe().unwrap();
    me.ancestors()
        .skip(1)
        .map(|folder| folder.join(name))
        .find(|path| path.is_file())
        .unwrap_or_else(|| panic!("{name} is not built"))
}

/// The data with right answers that lies beside the repository, where it does. Says so where not.
pub fn shared_fixtures(part: &str) -> Option<PathBuf> {
    let folder = match std::env::var_os("CHIPDECK_FIXTURES") {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/fixtures"),
    };
    let path = folder.join(part);
    if path.exists() {
        return Some(path);
    }
    eprintln!("skipped: no {} (set CHIPDECK_FIXTURES)", path.display());
    None
}
