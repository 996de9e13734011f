//! Pictures of the real window, for looking at and for the README: every view on the bundled demo, on given logs too,
//! in light and dark, at two sizes. `cargo xtask shots [LOG…]` writes them to `target/shots`.

use chipdeck_e2e::{keys, until, Desk, Page};
use std::path::{Path, PathBuf};

const SIZES: [(u32, u32); 2] = [(1280, 800), (1920, 1080)];
const THEMES: [&str; 2] = ["light", "dark"];

/// A usual desktop's fonts, where this machine has them.
const FONTS: &str = r#"<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>
<alias binding="strong"><family>sans-serif</family><prefer><family>Inter</family><family>Noto Sans CJK SC</family></prefer></alias>
<alias binding="strong"><family>Sans</family><prefer><family>Inter</family><family>Noto Sans CJK SC</family></prefer></alias>
<alias binding="strong"><family>system-ui</family><prefer><family>Inter</family><family>Noto Sans CJK SC</family></prefer></alias>
<alias binding="strong"><family>ui-monospace</family><prefer><family>JetBrains Mono</family><family>Noto Sans Mono CJK SC</family></prefer></alias>
<alias binding="strong"><family>monospace</family><prefer><family>JetBrains Mono</family><family>Noto Sans Mono CJK SC</family></prefer></alias>
</fontconfig>"#;

fn main() {
    let to = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/shots");
    std::fs::create_dir_all(&to).unwrap();
    let logs: Vec<PathBuf> = std::env::args_os()
        .skip(1)
        .map(|log| std::path::absolute(log).unwrap())
        .collect();
    let only = std::env::var("SHOTS_ONLY").ok(); // `1280x800-light`
    for (width, height) in SIZES {
        for theme in THEMES {
            if only
                .as_ref()
                .is_some_and(|only| *only != format!("{width}x{height}-{theme}"))
            {
                continue;
            }
            let desk = Desk::sized(width, height);
            std::fs::create_dir_all(desk.config()).unwrap();
            std::fs::write(
                desk.config().join("config.toml"),
                format!("[ui]\ntheme = \"{theme}\"\nlanguage = \"en\"\n"),
            )
            .unwrap();
            std::fs::create_dir_all(desk.config().with_file_name("fontconfig")).unwrap();
            std::fs::write(
                desk.config()
                    .with_file_name("fontconfig")
                    .join("fonts.conf"),
                FONTS,
            )
            .unwrap();
            let shoot = |page: &Page, view: &str| {
                page.painted();
                std::thread::sleep(std::time::Duration::from_millis(250));
                std::fs::write(
                    to.join(format!("{view}-{width}x{height}-{theme}.png")),
                    page.png(),
                )
                .unwrap();
            };
            {
                let page = demo(&desk, (width, height));
                tour(&page, &shoot);
            }
            for log in &logs {
                let page = desk.start(&[log]);
                fill(&desk, (width, height));
                page.wait("[data-testid=playhead]");
                std::thread::sleep(std::time::Duration::from_millis(800));
                let name = log.file_stem().unwrap().to_string_lossy().into_owned();
                shoot(&page, &format!("log-{name}"));
                for tab in ["dialogue", "tools", "findings"] {
                    page.click(&format!("[data-testid=tab-{tab}]"));
                    shoot(&page, &format!("log-{name}-{tab}"));
                }
            }
        }
    }
    println!("{}", to.display());
}

/// Without a window manager the window is as large as it likes to be.
fn fill(desk: &Desk, (width, height): (u32, u32)) {
    let window = until("the window", || desk.windows("^Chipdeck$").pop());
    desk.xdotool(&["windowmove", &window, "0", "0"]);
    desk.xdotool(&[
        "windowsize",
        "--sync",
        &window,
        &width.to_string(),
        &height.to_string(),
    ]);
}

fn demo(desk: &Desk, size: (u32, u32)) -> Page {
    let page = desk.start(&["--demo".as_ref()]);
    page.wait("[data-testid=playhead]");
    fill(desk, size);
    page.wait("[data-testid=tree] [data-path]");
    page
}

fn tour(page: &Page, shoot: &dyn Fn(&Page, &str)) {
    shoot(page, "end");
    // Just before the loss, against the disk: what a restore gives back.
    goto(page, "orders/refunds.py", 2);
    page.click("[data-testid=against] [data-value=disk]");
    until("a restore to be offered", || {
        page.there("[data-testid=restore-button]:not(:disabled)")
            .then_some(())
    });
    quiet(page);
    shoot(page, "deck");
    page.click("[data-testid=file-form] [data-value=split]");
    shoot(page, "split");
    page.click("[data-testid=file-form] [data-value=content]");
    shoot(page, "content");
    page.click("[data-testid=file-form] [data-value=inline]");
    page.click("[data-testid=against] [data-value=previous]");
    for tab in ["dialogue", "tools", "findings", "chips"] {
        page.click(&format!("[data-testid=tab-{tab}]"));
        shoot(page, tab);
    }
    page.click("[data-testid=library-chips]");
    page.wait("[data-testid=chips] [data-chip]");
    page.painted();
    // The settings that were cut out: where they came from, and where they go now.
    page.click("[data-testid=chips] [data-index='4'], [data-testid=chips] [data-index='4'] *");
    std::thread::sleep(std::time::Duration::from_millis(600));
    shoot(page, "library-chips");
    page.click("[data-testid=library-snapshots]");
    shoot(page, "snapshots");
    page.click("[data-testid=tab-files]");
    page.click("[data-testid=restore-button]");
    std::thread::sleep(std::time::Duration::from_millis(900));
    shoot(page, "restored");
    page.click("[data-testid=library-history]");
    shoot(page, "history");
    page.press_with(&[keys::CONTROL], "z");
    page.click("[data-testid=tab-files]");
    page.press_with(&[keys::CONTROL], "k");
    page.press("limit");
    shoot(page, "palette");
    page.press(keys::ESCAPE);
    page.press("?");
    shoot(page, "help");
    page.press(keys::ESCAPE);
    page.press_with(&[keys::CONTROL], ",");
    shoot(page, "settings");
    page.press(keys::ESCAPE);
}

/// Toasts go.
fn quiet(page: &Page) {
    page.js("document.querySelectorAll('[data-testid=toast] button').forEach(b => b.getAttribute('data-testid') ?? b.click())", &[]);
    page.painted();
}

/// Selects the file and goes so many of its changes back.
fn goto(page: &Page, path: &str, back: usize) {
    page.click(&format!("[data-testid=tree] [data-path='{path}']"));
    for _ in 0..back {
        page.press_with(&[keys::ALT], keys::LEFT);
        page.painted();
    }
}
