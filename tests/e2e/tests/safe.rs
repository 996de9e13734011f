//! One door, no network, no foreign markup.

use chipdeck_e2e::Desk;
use serde_json::json;

/// What the page may not do, tried in the real page.
#[test]
fn the_page_has_one_door_and_no_network() {
    let desk = Desk::new();
    let page = desk.start(&[]);
    page.wait("#app > *");

    // A command of a plugin, and one of the framework itself: refused by the capabilities.
    let tried = "const done = arguments[arguments.length - 1];
        window.__TAURI_INTERNALS__.invoke(arguments[0], arguments[1]).then(() => done('allowed'), e => done(String(e)))";
    for (command, what) in [
        ("plugin:dialog|open", json!({"options": {}})),
        ("plugin:fs|read_text_file", json!({"path": "/etc/passwd"})),
        (
            "plugin:window|set_title",
            json!({"label": "main", "value": "x"}),
        ),
        ("plugin:event|emit", json!({"event": "x"})),
        (
            "plugin:webview|create_webview_window",
            json!({"options": {"label": "x"}}),
        ),
        ("plugin:app|version", json!({})),
        (
            "plugin:window-state|save_window_state",
            json!({"flags": 63}),
        ),
    ] {
        let said = page.js_async(tried, &[json!(command), what]);
        let said = said.as_str().unwrap();
        assert!(
            said.contains("not allowed") || said.contains("not found"),
            "{command}: {said}"
        );
    }
    // A request that is not in the table.
    let said = page.js_async(
        tried,
        &[
            json!("request"),
            json!({"request": {"type": "readFile", "path": "/etc/passwd"}}),
        ],
    );
    assert!(said.as_str().unwrap().contains("readFile"), "{said}");

    // The network, by every way that a page has.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let url = format!("http://{}/x", listener.local_addr().unwrap());
    page.js_async(
        "const [url, done] = arguments; const quiet = p => p.catch(() => 0); window.hurt = 0;
         const add = (tag, set) => { const e = document.createElement(tag); Object.assign(e, set); document.head.append(e) };
         add('img', {src: url}); add('script', {src: url}); add('iframe', {src: url}); add('link', {rel: 'stylesheet', href: url});
         add('link', {rel: 'prefetch', href: url}); add('link', {rel: 'preconnect', href: url}); add('video', {src: url}); add('object', {data: url}); add('embed', {src: url});
         add('script', {textContent: 'window.hurt = 1'}); add('style', {textContent: '@import \"' + url + '\"'});
         const form = document.createElement('form'); form.action = url; document.body.append(form); try { form.submit() } catch {}
         try { new WebSocket(url.replace('http', 'ws')) } catch {} try { new EventSource(url) } catch {} try { navigator.sendBeacon(url) } catch {}
         try { new Worker(url) } catch {} try { window.open(url) } catch {} try { (0, eval)('window.hurt = 2') } catch {}
         try { setTimeout('window.hurt = 3', 0) } catch {}
         for (const target of ['', '_blank']) {
           const link = document.createElement('a'); Object.assign(link, {href: url, target, ping: url}); document.body.append(link); link.click() }
         quiet(fetch(url)); quiet(import(url)); const x = new XMLHttpRequest(); x.open('GET', url); try { x.send() } catch {}
         location.href = url;
         setTimeout(() => done(1), 1500)",
        &[json!(url)],
    );
    assert!(listener.accept().is_err(), "the page reached the network");
    assert_eq!(
        page.js("return window.hurt", &[]),
        json!(0),
        "inline script ran"
    );
    assert!(page
        .js("return location.href", &[])
        .as_str()
        .unwrap()
        .starts_with("tauri://localhost"));
    assert_eq!(desk.windows("Chipdeck").len(), 1, "no second window");
}
