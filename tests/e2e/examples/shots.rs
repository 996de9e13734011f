//! Pictures of the real window, for looking at and for the README: every view on the bundled demo, on given logs too,
//! in light and dark, at two sizes. `cargo xtask shots [LOG…]` writes them to `target/shots`; `cargo xtask shots --scrub`
//! only the animated one of a scrub (`scrub.webp`), with how long a step took.
//!
//! `SHOTS_ONLY=1280x800-light` leaves out the other sizes and themes; `SHOTS_LANGUAGE=zh-CN` speaks Chinese.

use chipdeck_e2e::{keys, until, Desk, Page};
use std::path::{Path, PathBuf};

const SIZES: [(u32, u32); 4] = [(1280, 800), (1920, 1080), (1024, 640), (3840, 2160)];
/// Made without being asked for; the others by `SHOTS_ONLY`.
const USUAL: usize = 2;
/// Pictures of a scrub, one for each step.
const SCRUB_FRAMES: usize = 30;
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
    if std::env::args().any(|it| it == "--scrub") {
        return scrub(&to);
    }
    let logs: Vec<PathBuf> = std::env::args_os()
        .skip(1)
        .map(|log| std::path::absolute(log).unwrap())
        .collect();
    let only = std::env::var("SHOTS_ONLY").ok(); // `1280x800-light`
    let language = std::env::var("SHOTS_LANGUAGE").unwrap_or_else(|_| "en".to_owned());
    for (place, (width, height)) in SIZES.into_iter().enumerate() {
        for theme in THEMES {
            let wanted = match &only {
                Some(only) => *only == format!("{width}x{height}-{theme}"),
                None => place < USUAL,
            };
            if !wanted {
                continue;
            }
            let desk = furnished((width, height), theme, &language);
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
                for (tab, view) in [
                    ("findings", "drift"),
                    ("tools", "traces"),
                    ("tools", "figures"),
                ] {
                    page.click(&format!("[data-testid=tab-{tab}]"));
                    page.click(&format!("[data-testid={tab}-view] [data-value={view}]"));
                    shoot(&page, &format!("log-{name}-{view}"));
                }
            }
        }
    }
    println!("{}", to.display());
}

/// A desk with its settings and fonts.
fn furnished((width, height): (u32, u32), theme: &str, language: &str) -> Desk {
    let desk = Desk::sized(width, height);
    std::fs::create_dir_all(desk.config()).unwrap();
    std::fs::write(
        desk.config().join("config.toml"),
        format!("[ui]\ntheme = \"{theme}\"\nlanguage = \"{language}\"\n"),
    )
    .unwrap();
    let fonts = desk.config().with_file_name("fontconfig");
    std::fs::create_dir_all(&fonts).unwrap();
    std::fs::write(fonts.join("fonts.conf"), FONTS).unwrap();
    desk
}

/// One file through its history, a picture for each step, put together by ImageMagick.
fn scrub(to: &Path) {
    let size = (1280, 800);
    let desk = furnished(size, "light", "en");
    let page = demo(&desk, size);
    page.click("[data-testid=tree] [data-path='orders/refunds.py']");
    page.press(keys::END);
    quiet(&page);
    let folder = to.join("scrub");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    for frame in 0..SCRUB_FRAMES {
        std::fs::write(folder.join(format!("{frame:02}.png")), page.png()).unwrap();
        if frame % 2 == 0 {
            page.press_with(&[keys::ALT], keys::LEFT);
        } else {
            page.press(keys::LEFT);
        }
        page.painted();
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
    let picture = to.join("scrub.webp");
    let made = std::process::Command::new("convert")
        .args(["-delay", "22", "-loop", "0"])
        .arg(folder.join("*.png"))
        .args([
            "-resize",
            "1120x",
            "-quality",
            "70",
            "-define",
            "webp:method=6",
        ])
        .arg(&picture)
        .status();
    assert!(made.is_ok_and(|it| it.success()), "ImageMagick is missing");
    // Small enough for a page that is read over a slow line.
    assert!(std::fs::metadata(&picture).unwrap().len() < 1_000_000);
    steps(&page);
    println!("{}", picture.display());
}

/// How long a held key takes for each step, until tree, difference and event of it are on screen.
fn steps(page: &Page) {
    page.press(keys::END);
    std::thread::sleep(std::time::Duration::from_millis(800));
    let times = page.js_async(STEPS, &[]);
    println!("a step of a scrub: {times}");
}

const STEPS: &str = r#"
const done = arguments[0];
(async () => {
const frame = () => new Promise((done) => requestAnimationFrame(() => done(performance.now())));
const times = [], gaps = [];
for (let step = 0; step < 40; step++) {
  const before = performance.now();
  document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowLeft', bubbles: true, cancelable: true }));
  let last = before;
  for (let tries = 0; tries < 200; tries++) {
    const now = await frame();
    gaps.push(now - last);
    last = now;
    const event = document.querySelector('[data-testid=inspector-part]')?.dataset.event;
    if (event === document.querySelector('[data-testid=playhead]').getAttribute('aria-valuenow')) break;
  }
  times.push(performance.now() - before);
}
times.sort((a, b) => a - b);
gaps.sort((a, b) => a - b);
const at = (list, share) => Math.round(list[Math.min(list.length - 1, Math.floor(list.length * share))] * 10) / 10;
return `median ${at(times, 0.5)} ms, 95 % ${at(times, 0.95)} ms; a frame: median ${at(gaps, 0.5)} ms, 95 % ${at(gaps, 0.95)} ms`;
})().then(done, (thrown) => done(String(thrown)));
"#;

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
