//! The one door between page and engine: a request in, a reply out; notices through one channel.

use crate::arguments::Given;
use crate::dialogues;
use chipdeck_engine::api::{ApiError, DropItem, Notice, Request};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use tauri::ipc::{Channel, Response};
use tauri::{AppHandle, State};

/// Where paths came from; decides what becomes a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    Argument,
    SecondStart,
    Drop,
    Chooser,
}

/// Our own data folder, as everywhere in Chipdeck.
pub fn data_folder() -> PathBuf {
    dirs::data_dir()
        .unwrap_or_else(std::env::temp_dir)
        .join("chipdeck")
}

pub fn cache_folder() -> PathBuf {
    dirs::cache_dir()
        .unwrap_or_else(std::env::temp_dir)
        .join("chipdeck")
}

#[derive(Default)]
pub struct Door {
    page: Mutex<Option<Channel<Notice>>>,
}

/// Asks the engine, on a worker thread.
#[tauri::command]
pub async fn request(
    app: AppHandle,
    door: State<'_, Arc<Door>>,
    request: Request,
) -> Result<Response, ApiError> {
    let door = door.inner().clone();
    let asked = tauri::async_runtime::spawn_blocking(move || door.ask(&app, request));
    // A panic in there is a fault of ours; the page and the window survive it.
    asked
        .await
        .unwrap_or_else(|fault| Err(failed(format!("The request failed inside: {fault}."))))
}

/// Where notices go from now on; a page that was loaded again takes the place of the one before.
#[tauri::command]
pub fn subscribe(door: State<'_, Arc<Door>>, channel: Channel<Notice>) {
    *door
        .page
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(channel);
}

pub fn failed(message: String) -> ApiError {
    ApiError {
        code: "io".into(),
        message,
        hint: None,
    }
}

impl Door {
    pub fn open(_given: &Given) -> Result<Door, Box<dyn std::error::Error>> {
        Ok(Door::default())
    }
    pub fn theme(&self) -> String {
        "system".into()
    }
    fn words(&self) -> dialogues::Words {
        dialogues::Words::named("system")
    }
    fn ask(&self, app: &AppHandle, request: Request) -> Result<Response, ApiError> {
        match request {
            Request::PickFiles {} => {
                let paths = dialogues::pick_files(app, self.words());
                self.open_paths(paths, How::Chooser);
                Ok(Response::new("{}".to_string()))
            }
            other => Err(failed(format!("no engine yet for {other:?}"))),
        }
    }
    pub fn describe(&self, _paths: &[PathBuf]) -> Vec<DropItem> {
        vec![]
    }
    pub fn open_first(&self, _paths: Vec<PathBuf>) {}
    pub fn open_paths(&self, _paths: Vec<PathBuf>, _how: How) {}
    pub fn close(&self) {}
    pub fn tell(&self, notice: Notice) {
        let page = self
            .page
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
            .clone();
        if let Some(page) = page {
            let _ = page.send(notice);
        }
    }
    fn _folder(_: &Path) {}
}
