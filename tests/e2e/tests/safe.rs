//! One door, no network, no foreign markup.

use chipdeck_e2e::{keys, Desk};
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

/// Markup, scripts, format strings, escapes, paths: as text in every field of a log and of a chip.
#[test]
fn a_hostile_log_stays_text() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let url = format!("http://{}/x", listener.local_addr().unwrap());
    let evil = format!(
        "<img src=\"{url}\" onerror=\"window.hurt=1\"><script>window.hurt=2</script><svg onload=\"window.hurt=3\"></svg>\
         <iframe src=\"{url}\"></iframe><style>@import '{url}';body{{display:none}}</style>[x](javascript:window.hurt=4)![i]({url})\
         {{{{constructor.constructor('window.hurt=5')()}}}}${{window.hurt=6}}%s%n%x\u{1b}]0;pwned\u{7}\u{202e}../../../etc/passwd"
    );
    let e = || json!(evil);
    let log = [
        (
            "session.start",
            json!({"cwd": e(), "agent": e(), "model": e()}),
        ),
        ("message.user", json!({"content": e()})),
        ("message.assistant", json!({"content": e()})),
        (
            "tool.call",
            json!({"toolName": e(), "args": {evil.clone(): e(), "file": e(), "command": e()}}),
        ),
        (
            "tool.result",
            json!({"status": "error", "error": e(), "result": {evil.clone(): e()}}),
        ),
        (
            "message.toolResult",
            json!({"callId": e(), "status": "ok", "content": e()}),
        ),
        ("file.create", json!({"path": e(), "content": e()})),
        (
            "file.create",
            json!({"path": "a.html", "content": format!("{evil}\n")}),
        ),
        (
            "file.change",
            json!({"path": "a.html", "content": format!("{evil}\n{evil}\n")}),
        ),
        (
            "file.rename",
            json!({"from": "a.html", "to": format!("<b>{evil}")}),
        ),
        (
            "chip.save",
            json!({"chip": {"id": e(), "tool": e(), "args": {"_content": e()}, "err_msg": e(), "created_at": 1}}),
        ),
        (
            "memory.add",
            json!({"id": e(), "zone": "hot", "content": e(), "tags": [e()]}),
        ),
        (
            "plan.create",
            json!({"planId": e(), "task": e(), "plan": {}}),
        ),
        ("context.compact", json!({"through": e(), "summary": e()})),
        (evil.as_str(), json!({evil.clone(): e()})),
    ];
    let mut text = String::new();
    for (n, (kind, payload)) in log.iter().enumerate() {
        let event = json!({"eventId": format!("{evil}{n}"), "traceId": e(), "correlationId": e(), "parentEventId": e(),
            "seq": n + 1, "type": kind, "timestamp": 1_764_500_000_000_u64 + n as u64, "payload": payload});
        text += &format!("{event}\n");
    }
    text += &format!("{evil}\n");

    let desk = Desk::new();
    std::fs::create_dir_all(desk.chips()).unwrap();
    let chip = json!({"id": "abc123", "tool": evil, "args": {"_content": evil}, "err_msg": evil, "created_at": 1_764_500_000});
    std::fs::write(desk.chips().join("chip-abc123.json"), chip.to_string()).unwrap();
    let file = desk.put("<img src=x onerror=alert(1)>.jsonl", text);
    let page = desk.start(&[&file]);
    page.wait("[data-testid=playhead]");
    let count = log.len() + 1;
    crate::deck::wait_at(&page, count as u64);
    page.js(
        "window.hurt = 0; window.foreign = [];
         new MutationObserver(all => { for (const one of all) for (const node of one.addedNodes)
           if (node.nodeType === 1 && (node.matches('script,iframe,style,object,embed,link,base,form,a[href^=\"javascript\"],img[onerror],svg[onload]')))
             window.foreign.push(node.outerHTML.slice(0, 200)) }).observe(document, {subtree: true, childList: true})",
        &[],
    );
    for tab in ["files", "dialogue", "tools", "findings", "chips"] {
        page.click(&format!("[data-testid=tab-{tab}]"));
        page.painted();
        for _ in 0..count {
            page.press(keys::LEFT);
        }
        page.painted();
        page.press(keys::END);
        crate::deck::wait_at(&page, count as u64);
    }
    page.click("[data-testid=library-chips]");
    page.painted();
    page.press_with(&[keys::CONTROL], "k");
    page.press("img");
    page.painted();
    assert_eq!(
        page.js("return window.hurt", &[]),
        json!(0),
        "something ran"
    );
    assert_eq!(
        page.js("return window.foreign", &[]),
        json!([]),
        "markup came in"
    );
    let scripts = page.js("return [...document.scripts].filter(s => !s.src.startsWith('tauri://localhost/') && s.textContent.includes('hurt')).length", &[]);
    assert_eq!(scripts, json!(0));
    assert!(listener.accept().is_err(), "a request was sent");
    assert_eq!(
        desk.windows("Chipdeck").len(),
        1,
        "the window is called what it is called"
    );
    // And it was really shown, as text.
    page.press(keys::ESCAPE);
    page.click("[data-testid=library-log]");
    page.click("[data-testid=tab-dialogue]");
    page.wait_text("[data-testid=stage]", "<script>window.hurt=2</script>");
}
