//! Files dragged over and onto the window. The drop's paths come from the system, never from the page.

use crate::door::Door;
use chipdeck_engine::api::Notice;
use chipdeck_engine::Origin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use tauri::{DragDropEvent, WebviewWindow, WindowEvent};

/// Tells the page what a drop would do while files hover, and opens what is dropped.
pub fn watch(window: &WebviewWindow, door: Arc<Door>) {
    // Looking at what hovers takes a moment; one that has left again must not be announced late.
    let hover = Arc::new(AtomicU64::new(0));
    window.on_window_event(move |event| {
        let WindowEvent::DragDrop(event) = event else {
            return;
        };
        match event {
            DragDropEvent::Enter { paths, .. } => {
                let mine = hover.fetch_add(1, Ordering::SeqCst) + 1;
                let (hover, door, paths) = (hover.clone(), door.clone(), paths.clone());
                tauri::async_runtime::spawn_blocking(move || {
                    let items = door.describe(&paths);
                    if hover.load(Ordering::SeqCst) == mine {
                        door.tell(Notice::DropHover { items });
                    }
                });
            }
            DragDropEvent::Leave => {
                hover.fetch_add(1, Ordering::SeqCst);
                door.tell(Notice::DropLeave);
            }
            DragDropEvent::Drop { paths, .. } => {
                hover.fetch_add(1, Ordering::SeqCst);
                door.tell(Notice::DropLeave);
                door.open_paths(paths.clone(), Origin::Drop);
            }
            _ => {}
        }
    });
}
