//! Native dialogues: the file and folder chooser, and the question before a write outside the opened folders.
//! They block, so they are called from a worker thread; the page goes on living under them.

use chipdeck_engine::api::ApiError;
use chipdeck_engine::Reach;
use std::path::PathBuf;
use tauri::{AppHandle, Manager};
use tauri_plugin_dialog::{DialogExt, FilePath};

/// Asks for files to open; none when cancelled.
pub fn pick_files(app: &AppHandle, words: Words) -> Vec<PathBuf> {
    let mut chooser = app.dialog().file().set_title(words.pick_files);
    if let Some(window) = app.get_webview_window("main") {
        chooser = chooser.set_parent(&window);
    }
    chooser
        .blocking_pick_files()
        .unwrap_or_default()
        .into_iter()
        .filter_map(local)
        .collect()
}

/// Asks for a folder to open.
pub fn pick_folder(app: &AppHandle, words: Words) -> Option<PathBuf> {
    let mut chooser = app.dialog().file().set_title(words.pick_folder);
    if let Some(window) = app.get_webview_window("main") {
        chooser = chooser.set_parent(&window);
    }
    chooser.blocking_pick_folder().and_then(local)
}

/// Asks where to write a new file of that name.
pub fn save(app: &AppHandle, words: Words, name: &str) -> Option<PathBuf> {
    let mut chooser = app
        .dialog()
        .file()
        .set_title(words.save)
        .set_file_name(plain(name));
    if let Some(window) = app.get_webview_window("main") {
        chooser = chooser.set_parent(&window);
    }
    chooser.blocking_save_file().and_then(local)
}

fn local(path: FilePath) -> Option<PathBuf> {
    path.into_path().ok()
}

/// Asks whether something may be written in `folder`, for the sake of `file`. Cancelling is `None`, and so is
/// closing the dialogue.
///
/// # Errors
/// When the dialogue could not be shown.
pub fn allow(
    app: &AppHandle,
    words: Words,
    folder: &str,
    file: &str,
) -> Result<Option<Reach>, ApiError> {
    let question = Question {
        title: words.allow_title.into(),
        // A name may hold anything; control characters would break the dialogue's lines.
        text: format!("{}\n{}", words.allow_text, plain(folder)),
        detail: words.allow_detail.replace("{file}", &plain(file)),
        file: words.only_this_file.into(),
        folder: words.this_folder.into(),
        cancel: words.cancel.into(),
    };
    ask(app, question).ok_or_else(|| ApiError::new("io", "The dialogue could not be shown."))
}

fn plain(name: &str) -> String {
    name.chars()
        .map(|c| if c.is_control() { '\u{FFFD}' } else { c })
        .collect()
}

struct Question {
    title: String,
    text: String,
    detail: String,
    file: String,
    folder: String,
    cancel: String,
}

#[cfg(target_os = "linux")]
fn ask(app: &AppHandle, question: Question) -> Option<Option<Reach>> {
    use gtk::prelude::*;
    use gtk::ResponseType;
    const FILE: ResponseType = ResponseType::Other(1);
    const FOLDER: ResponseType = ResponseType::Other(2);

    let (send, answer) = std::sync::mpsc::channel();
    let window = app.get_webview_window("main")?;
    app.run_on_main_thread(move || {
        let parent = window.gtk_window().ok();
        let dialogue = gtk::MessageDialog::new(
            parent.as_ref(),
            gtk::DialogFlags::MODAL | gtk::DialogFlags::DESTROY_WITH_PARENT,
            gtk::MessageType::Question,
            gtk::ButtonsType::None,
            &question.text,
        );
        dialogue.set_title(&question.title);
        dialogue.set_secondary_text(Some(&question.detail));
        dialogue.add_button(&question.cancel, ResponseType::Cancel);
        dialogue.add_button(&question.folder, FOLDER);
        let least = dialogue.add_button(&question.file, FILE);
        dialogue.set_default_response(FILE);
        least.grab_focus();
        dialogue.connect_response(move |dialogue, response| {
            let reach = match response {
                FILE => Some(Reach::OnlyThisFile),
                FOLDER => Some(Reach::ThisFolder),
                _ => None,
            };
            let _ = send.send(reach);
            dialogue.close();
        });
        dialogue.show_all();
        dialogue.present();
    })
    .ok()?;
    // Ends also when the dialogue is destroyed with its window: the sender is then gone.
    Some(answer.recv().ok().flatten())
}

#[cfg(not(target_os = "linux"))]
fn ask(app: &AppHandle, question: Question) -> Option<Option<Reach>> {
    use tauri_plugin_dialog::{MessageDialogButtons, MessageDialogResult};
    // The first button has the focus on these systems.
    let buttons = MessageDialogButtons::YesNoCancelCustom(
        question.file.clone(),
        question.folder.clone(),
        question.cancel,
    );
    let mut dialogue = app
        .dialog()
        .message(format!("{}\n\n{}", question.text, question.detail))
        .title(question.title)
        .buttons(buttons);
    if let Some(window) = app.get_webview_window("main") {
        dialogue = dialogue.parent(&window);
    }
    Some(match dialogue.blocking_show_with_result() {
        MessageDialogResult::Yes => Some(Reach::OnlyThisFile),
        MessageDialogResult::No => Some(Reach::ThisFolder),
        MessageDialogResult::Custom(label) if label == question.file => Some(Reach::OnlyThisFile),
        MessageDialogResult::Custom(label) if label == question.folder => Some(Reach::ThisFolder),
        _ => None,
    })
}

/// What the dialogues say, in the person's language.
#[derive(Clone, Copy, Debug)]
pub struct Words {
    pick_files: &'static str,
    pick_folder: &'static str,
    save: &'static str,
    allow_title: &'static str,
    allow_text: &'static str,
    allow_detail: &'static str,
    only_this_file: &'static str,
    this_folder: &'static str,
    cancel: &'static str,
}

const ENGLISH: Words = Words {
    pick_files: "Open logs, chips or databases",
    pick_folder: "Open a folder: restores may then write in it",
    save: "Export to a new file",
    allow_title: "Write outside the opened folders?",
    allow_text: "Chipdeck has not been allowed to write in this folder:",
    allow_detail: "“Only this file” lets it write {file} and nothing else there. It can be undone.",
    only_this_file: "Only this file",
    this_folder: "This folder",
    cancel: "Cancel",
};

const CHINESE: Words = Words {
    pick_files: "打开日志、芯片或数据库",
    pick_folder: "打开文件夹：之后可以恢复到其中",
    save: "导出为新文件",
    allow_title: "写入未打开的文件夹？",
    allow_text: "Chipdeck 尚未获准写入此文件夹：",
    allow_detail: "“仅此文件”只允许写入 {file}，不会写入其他内容。可以撤销。",
    only_this_file: "仅此文件",
    this_folder: "此文件夹",
    cancel: "取消",
};

impl Words {
    /// By the setting `ui.language`; `system` looks at the environment.
    pub fn named(language: &str) -> Words {
        let chinese = match language {
            "zh-CN" => true,
            "en" => false,
            _ => ["LC_ALL", "LC_MESSAGES", "LANG"]
                .iter()
                .filter_map(std::env::var_os)
                .find(|value| !value.is_empty())
                .is_some_and(|value| value.to_string_lossy().starts_with("zh")),
        };
        if chinese {
            CHINESE
        } else {
            ENGLISH
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_add_lines_to_the_question() {
        assert_eq!(
            plain("a\nYou may\tclose\u{7}"),
            "a\u{FFFD}You may\u{FFFD}close\u{FFFD}"
        );
    }

    #[test]
    fn the_language_is_the_setting_first() {
        assert_eq!(Words::named("zh-CN").cancel, "取消");
        assert_eq!(Words::named("en").cancel, "Cancel");
    }
}
