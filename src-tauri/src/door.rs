//! The one door between page and engine: a request in, a reply out; notices through one channel. What only a window
//! can do (dialogues, the file manager) is done here, so that a path never comes from the page.

use crate::arguments::{Demo, Given};
use crate::dialogues::{self, Words};
use crate::{demo, reveal, window};
use chipdeck_engine::api::{
    ApiError, Done, DropItem, LibraryView, Notice, PlanView, Reply, Request,
};
use chipdeck_engine::{Config, Engine, Origin};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tauri::ipc::{Channel, Response};
use tauri::{AppHandle, State};

/// From this size on a reply goes as bytes: the page's bridge is twice as quick with them.
const AS_BYTES: usize = 256 << 10;

/// What the window keeps of the engine.
pub struct Door {
    engine: Engine,
    cache: PathBuf,
    /// Where the demo is laid out when it is asked for; goes with the app.
    demo: Mutex<Option<demo::Place>>,
    page: Arc<Page>,
}

/// Where notices go: the page that subscribed last. What was said before it came is kept for it.
#[derive(Default)]
struct Page(Mutex<Listening>);

#[derive(Default)]
struct Listening {
    channel: Option<Channel<Notice>>,
    waiting: Vec<Notice>,
}

/// Asks the engine, on a worker thread.
#[tauri::command]
pub async fn request(
    app: AppHandle,
    door: State<'_, Arc<Door>>,
    request: Request,
) -> Result<Response, ApiError> {
    let door = door.inner().clone();
    let asked = tokio::task::spawn_blocking(move || door.answer(&app, request));
    // A panic in there is a fault of ours; the page and the window survive it.
    asked
        .await
        .unwrap_or_else(|fault| Err(failed(format!("The request failed inside: {fault}."))))
}

/// Where notices go from now on; a page that was loaded again takes the place of the one before.
#[tauri::command]
pub fn subscribe(door: State<'_, Arc<Door>>, channel: Channel<Notice>) {
    door.page.listens(channel);
}

fn failed(message: String) -> ApiError {
    ApiError::new("io", message)
}

impl Page {
    fn listens(&self, channel: Channel<Notice>) {
        let mut listening = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for notice in std::mem::take(&mut listening.waiting) {
            let _ = channel.send(notice);
        }
        listening.channel = Some(channel);
    }

    fn tell(&self, notice: Notice) {
        let mut listening = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &listening.channel {
            Some(channel) => {
                let _ = channel.send(notice);
            }
            // Progress of a log that nobody looks at yet is not worth keeping.
            None if matches!(
                notice,
                Notice::LogProgress { .. }
                    | Notice::SearchProgress { .. }
                    | Notice::DiagnoseProgress { .. }
            ) => {}
            None => listening.waiting.push(notice),
        }
    }
}

impl Door {
    /// Starts the engine.
    pub fn open(mut config: Config, given: &Given) -> Door {
        if let Some(folder) = &given.chips {
            config
                .arguments
                .push(("chips.dir".into(), folder.to_string_lossy().into_owned()));
        }
        let demo = demo::Place::new();
        config.demo = demo.as_ref().map(|folder| folder.path().to_owned());
        let cache = config.places.cache.clone();
        let (engine, notices) = Engine::start(config);
        let page = Arc::new(Page::default());
        let to = page.clone();
        // Ends with the engine.
        std::thread::spawn(move || {
            for notice in notices {
                to.tell(notice);
            }
        });
        Door {
            engine,
            cache,
            demo: Mutex::new(demo),
            page,
        }
    }

    fn answer(&self, app: &AppHandle, request: Request) -> Result<Response, ApiError> {
        match request {
            Request::PickFiles {} => {
                self.open_paths(dialogues::pick_files(app, self.words()), Origin::Dialogue);
                sent(&Done {})
            }
            Request::PickFolder {} => {
                self.open_paths(
                    dialogues::pick_folder(app, self.words())
                        .into_iter()
                        .collect(),
                    Origin::Dialogue,
                );
                sent(&Done {})
            }
            Request::OpenDemo {} => {
                self.open_demo()?;
                sent(&Done {})
            }
            Request::Export {
                log,
                what,
                format,
                keep,
            } => {
                let name = self.engine.export_name(&log, format)?;
                let exported = match dialogues::save(app, self.words(), &name) {
                    Some(path) => Some(self.engine.export(&log, &what, format, keep, &path)?),
                    None => None,
                };
                sent(&exported)
            }
            Request::SaveBranch { branch } => {
                let name = self.engine.branch_name(&branch).unwrap_or_default();
                let saved = match dialogues::save(app, self.words(), &name) {
                    Some(path) => Some(self.engine.save_branch(&branch, &path)?),
                    None => None,
                };
                sent(&saved)
            }
            Request::AllowRoot { plan } => sent(&self.allow(app, &plan)?),
            Request::Reveal { what } => {
                reveal::show(&self.engine.reveal_path(&what)?)
                    .map_err(|error| failed(error.to_string()))?;
                sent(&Done {})
            }
            other => {
                let themed = matches!(&other, Request::SetSetting { key, .. } if key == "ui.theme");
                let reply = self.engine.handle(other)?;
                if themed {
                    window::apply_theme(app, &self.theme());
                }
                sent(&reply)
            }
        }
    }

    /// Asks the person whether the plan may write where it wants to.
    fn allow(&self, app: &AppHandle, plan: &str) -> Result<PlanView, ApiError> {
        let (folder, file) = self.engine.wanted_root(plan).ok_or_else(|| {
            ApiError::new("bad-request", "This plan is gone, or needs no permission.")
                .why("plan-gone")
        })?;
        match dialogues::allow(app, self.words(), &folder.to_string_lossy(), &file)? {
            Some(reach) => self.engine.allow_root(plan, reach),
            None => Err(ApiError::new(
                "cancelled",
                "Nothing was allowed, and nothing was written.",
            )),
        }
    }

    /// Our own cache folder.
    pub fn cache(&self) -> &Path {
        &self.cache
    }

    fn setting(&self, key: &str) -> String {
        self.engine
            .setting(key)
            .as_str()
            .unwrap_or("system")
            .to_owned()
    }

    pub fn theme(&self) -> String {
        self.setting("ui.theme")
    }

    fn words(&self) -> Words {
        Words::named(&self.setting("ui.language"))
    }

    /// What a drop of these would do.
    pub fn describe(&self, paths: &[PathBuf]) -> Vec<DropItem> {
        self.engine.describe_drop(paths)
    }

    /// Opens what a person named; what comes of it is said by notices. Returns at once.
    pub fn open_paths(self: &Door, paths: Vec<PathBuf>, origin: Origin) {
        if paths.is_empty() {
            return;
        }
        let engine = self.engine.clone();
        tauri::async_runtime::spawn_blocking(move || engine.open_paths(&paths, origin));
    }

    /// What this start was given; the demo where that is wanted.
    pub fn open_first(&self, given: &Given) {
        if !given.paths.is_empty() {
            self.engine.open_paths(&given.paths, Origin::Argument);
        } else if given.demo == Demo::Always || given.demo == Demo::WhenNothing && self.nothing() {
            if let Err(error) = self.open_demo() {
                eprintln!("The demo could not be opened: {}", error.message);
            }
        }
    }

    fn open_demo(&self) -> Result<(), ApiError> {
        let demo = self.demo.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(folder) = demo.as_ref() {
            demo::lay_out(folder.path(), now())
                .map_err(|error| failed(format!("The demo cannot be laid out: {error}.")))?;
        }
        self.engine.handle(Request::OpenDemo {})?;
        Ok(())
    }

    /// Nothing was found on this machine.
    fn nothing(&self) -> bool {
        match self.engine.handle(Request::Library {}) {
            Ok(Reply::Library(library)) => empty(&library),
            _ => false,
        }
    }

    pub fn tell(&self, notice: Notice) {
        self.page.tell(notice);
    }

    pub fn close(&self) {
        self.engine.close();
        drop(
            self.demo
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take(),
        );
    }
}

fn empty(library: &LibraryView) -> bool {
    let chips = library.chips_in_queue + library.chips_evicted + library.chips_damaged;
    chips + library.edit_snapshots == 0 && library.logs.is_empty() && library.memory.is_empty()
}

/// A reply as the page gets it: only the inner value.
fn sent(reply: &impl Serialize) -> Result<Response, ApiError> {
    let text = serde_json::to_string(reply)
        .map_err(|error| failed(format!("The reply could not be written: {error}.")))?;
    Ok(match text.len() {
        0..AS_BYTES => Response::new(text),
        _ => Response::new(text.into_bytes()),
    })
}

fn now() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |time| time.as_secs() as i64)
}
