//! The one window: where it stands, what it looks like before the page is there, where it may navigate (nowhere).

use crate::door::Door;
use std::path::Path;
use tauri::webview::NewWindowResponse;
use tauri::{App, AppHandle, Manager, Runtime, Theme, WebviewWindow, WebviewWindowBuilder};
use tauri_plugin_window_state::StateFlags;

const LABEL: &str = "main";

/// Nothing can listen on port 0. With this as its way out, the webview can't even open the connections that no
/// content policy covers (a link's `preconnect`, a guess when the mouse is pressed).
const NOWHERE: &str = "http://0.0.0.0:0";

/// Size and place, kept with our own data.
pub fn remembered<R: Runtime>(data: &Path) -> tauri::plugin::TauriPlugin<R> {
    tauri_plugin_window_state::Builder::new()
        .with_state_flags(
            StateFlags::SIZE
                | StateFlags::POSITION
                | StateFlags::MAXIMIZED
                | StateFlags::FULLSCREEN,
        )
        // An absolute name: not in a folder of the framework's choosing.
        .with_filename(data.join("window.json").to_string_lossy())
        .build()
}

/// Makes the window and loads the page.
pub fn open(app: &App, door: &Door) -> tauri::Result<WebviewWindow> {
    let config = app
        .config()
        .app
        .windows
        .iter()
        .find(|w| w.label == LABEL)
        .ok_or(tauri::Error::WindowNotFound)?;
    let mut window = WebviewWindowBuilder::from_config(app.handle(), config)?;
    // (The development server of a build without an embedded page is on the network, too.)
    if let (false, Ok(nowhere)) = (tauri::is_dev(), tauri::Url::parse(NOWHERE)) {
        window = window.proxy_url(nowhere);
    }
    let window = window
        .on_navigation(|url| ours(url.scheme(), url.host_str()))
        .on_new_window(|_, _| NewWindowResponse::Deny)
        .data_directory(door.cache().join("webview"))
        .theme(theme_named(&door.theme()))
        .build()?;
    let _ = window.set_background_color(Some(match window.theme() {
        Ok(Theme::Dark) => tauri::window::Color(0x1b, 0x1d, 0x20, 0xff),
        _ => tauri::window::Color(0xf3, 0xf0, 0xe9, 0xff),
    }));
    Ok(window)
}

/// The embedded page, or the development server in a build without it.
fn ours(scheme: &str, host: Option<&str>) -> bool {
    match scheme {
        "tauri" => true,
        // Windows serves the embedded page so.
        "http" | "https" => {
            host == Some("tauri.localhost") || (cfg!(dev) && host == Some("localhost"))
        }
        "about" => true,
        _ => false,
    }
}

/// `light`, `dark`, else the system's.
pub fn theme_named(name: &str) -> Option<Theme> {
    match name {
        "light" => Some(Theme::Light),
        "dark" => Some(Theme::Dark),
        _ => None,
    }
}

pub fn apply_theme(app: &AppHandle, name: &str) {
    if let Some(window) = app.get_webview_window(LABEL) {
        let _ = window.set_theme(theme_named(name));
    }
}

/// The window of the person's first start comes forward.
pub fn to_front(app: &AppHandle) {
    if let Some(window) = app.get_webview_window(LABEL) {
        let _ = window.unminimize();
        let _ = window.show();
        let _ = window.set_focus();
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_page_goes_nowhere_else() {
        assert!(super::ours("tauri", Some("localhost")));
        for (scheme, host) in [
            ("https", Some("example.org")),
            ("file", None),
            ("data", None),
            ("http", Some("127.0.0.1")),
        ] {
            assert!(!super::ours(scheme, host), "{scheme}");
        }
    }
}
