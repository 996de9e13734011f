//! Pictures of the real window, for looking at and for the README: every view on the bundled demo, on given logs too,
//! in light and dark, at two sizes. `cargo xtask shots [LOG…]` writes them to `target/shots`.

use chipdeck_e2e::{keys, until, Desk, Page};
use std::path::{Path, PathBuf};

const SIZES: [(u32, u32); 2] = [(1280, 800), (1920, 1080)];
const THEMES: [&str; 2] = ["light", "dark"];

fn main() {
    let to = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/shots");
    std::fs::create_dir_all(&to).unwrap();
    let logs: Vec<PathBuf> = std::env::args_os().skip(1).map(|log| std::path::absolute(log).unwrap()).collect();
    let only = std::env::var("SHOTS_ONLY").ok(); // `1280x800-light`
    for (width, height) in SIZES {
        for theme in THEMES {
            if only.as_ref().is_some_and(|only| *only != format!("{width}x{height}-{theme}")) {
                continue;
            }
            let desk = Desk::sized(width, height);
            std::fs::create_dir_all(desk.config()).unwrap();
            std::fs::write(desk.config().join("config.toml"), format!("[ui]\ntheme = \"{theme}\"\nlanguage = \"en\"\n")).unwrap();
            let shoot = |page: &Page, view: &str| {
                page.painted();
                std::thread::sleep(std::time::Duration::from_millis(250));
                std::fs::write(to.join(format!("{view}-{width}x{height}-{theme}.png")), page.png()).unwrap();
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
    desk.xdotool(&["windowsize", "--sync", &window, &width.to_string(), &height.to_string()]);
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
    // The moment of the loss: the file written again from memory.
    goto(page, "orders/refunds.py");
    shoot(page, "files");
    page.click("[data-testid=file-form] [data-value=content]");
    shoot(page, "content");
    page.click("[data-testid=file-form] [data-value=split]");
    shoot(page, "split");
    page.click("[data-testid=file-form] [data-value=inline]");
    for tab in ["dialogue", "tools", "findings", "chips"] {
        page.click(&format!("[data-testid=tab-{tab}]"));
        shoot(page, tab);
    }
    page.click("[data-testid=library-chips]");
    shoot(page, "library-chips");
    page.click("[data-testid=library-snapshots]");
    shoot(page, "snapshots");
    page.click("[data-testid=library-history]");
    shoot(page, "history");
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

/// Selects the file and the change before the last.
fn goto(page: &Page, path: &str) {
    page.click(&format!("[data-testid=tree] [data-path='{path}']"));
    page.press_with(&[keys::ALT], keys::LEFT);
    page.painted();
}
