//! `chipdeck-dragsource X Y FILE…`: a small window to drag files from. Says `shown`, `failed …`, `end`.

use gtk::{gdk, glib, prelude::*};
use std::time::Duration;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (x, y): (i32, i32) = (arguments[0].parse().unwrap(), arguments[1].parse().unwrap());
    let uris: Vec<glib::GString> = arguments[2..]
        .iter()
        .map(|f| glib::filename_to_uri(f, None).unwrap())
        .collect();
    gtk::init().unwrap();
    // A popup needs no window manager to be placed and shown.
    let window = gtk::Window::new(gtk::WindowType::Popup);
    window.set_default_size(120, 80);
    window.move_(x, y);
    let handle = gtk::EventBox::new();
    handle.add(&gtk::Label::new(Some("drag me")));
    window.add(&handle);
    handle.drag_source_set(gdk::ModifierType::BUTTON1_MASK, &[], gdk::DragAction::COPY);
    handle.drag_source_add_uri_targets();
    handle.connect_drag_data_get(move |_, _, selection, _, _| {
        let uris: Vec<&str> = uris.iter().map(|uri| uri.as_str()).collect();
        selection.set_uris(&uris);
    });
    handle.connect_drag_failed(|_, _, reason| {
        println!("failed {reason:?}");
        glib::Propagation::Proceed
    });
    handle.connect_drag_end(|_, _| {
        println!("end");
        glib::timeout_add_local_once(Duration::from_millis(200), gtk::main_quit);
    });
    window.show_all();
    println!("shown");
    gtk::main();
}
