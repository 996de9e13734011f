//! The stable codes that the page has words for, as closed tables: generated into `ui/src/api/codes.ts`, where a test
//! and the compiler hold that each of them is said in every language.
//!
//! Left out: texts of the log, of the system and of other programs. Those are shown as they are.

use chipdeck_event::{Code, Status};
use chipdeck_replay::restore::{Action, Kind, Note};

/// Codes of [`ApiError`](super::ApiError).
pub const ERRORS: &[&str] = &[
    "not-found",
    "bad-request",
    "precondition",
    "outside-root",
    "unknown-content",
    "conflict",
    "nothing-to-undo",
    "cancelled",
    "io",
    "host-only",
];

/// What exactly, of an error or of a path that is refused.
pub const WHYS: &[&str] = &[
    // Paths that are never written.
    "no-file",
    "climbs",
    "foreign",
    "not-below",
    "link",
    "own-place",
    "too-wide",
    "not-granted",
    "not-opened",
    "in-no-folder",
    "elsewhere",
    "nothing-known",
    // What is there is no file.
    "folder-there",
    "file-in-the-way",
    "special-file",
    "link-loop",
    "link-missing",
    "name-too-long",
    "not-utf8",
    "same-file",
    // Plans.
    "plan-gone",
    "no-conflict",
    "no-place",
    "unsettled",
    "already-there",
    "stale-hunk",
    "moved",
    "moved-place",
    "unknown-there",
    "no-base",
    // The history.
    "unknown-restore",
    "nothing-to-undo",
    "undone-already",
    "image-gone",
    "busy",
    "broke-off",
    "put-back",
    "broken",
    "io",
    // Chips.
    "no-chip",
    "unsafe-id",
    "damaged-chip",
    "no-content",
    "only-deleted",
    "no-origin",
    "no-archive",
    "chip-exists",
    // Repairs of a drift.
    "repair-foreign",
    "repair-torn",
    "repair-moved",
    "repair-gone",
    "repair-io",
];

/// Codes of [`Warning`](super::Warning).
pub const WARNINGS: &[&str] = &[
    "disk-differs",
    "disk-unknown",
    "unverified",
    "unknown-content",
    "outside-root",
    "server-form",
    "note",
];

/// `why` of the warning `disk-differs`.
pub const DIFFERS: &[&str] = &["changed", "gone", "unexpected", "line-ends"];

/// `why` of the warning `server-form`.
pub const SERVER_FORMS: &[&str] = &["line-ends", "newline", "both"];

/// Note of a step whose file lies outside the opened folders: only what the log says is shown.
pub const NOT_LOOKED_AT: &str = "not-looked-at";

/// What a restore was.
pub const DEEDS: &[&str] = &["restored", "took-back", "restored-again"];

/// Each table with its name on the page.
pub fn tables() -> Vec<(&'static str, Vec<&'static str>)> {
    let mut statuses: Vec<&str> = Status::ALL.iter().map(|it| it.as_str()).collect();
    statuses.extend(["pending", "interrupted"]);
    let mut notes: Vec<&str> = Note::ALL.iter().map(|it| it.as_str()).collect();
    notes.push(NOT_LOOKED_AT);
    let actions = [
        Action::Create,
        Action::Replace,
        Action::Delete,
        Action::None,
    ];
    vec![
        ("findings", Code::ALL.iter().map(|it| it.as_str()).collect()),
        (
            "events",
            chipdeck_event::schema::CATALOGUE
                .iter()
                .map(|it| it.name)
                .collect(),
        ),
        ("statuses", statuses),
        ("errors", ERRORS.to_vec()),
        ("whys", WHYS.to_vec()),
        ("warnings", WARNINGS.to_vec()),
        ("differs", DIFFERS.to_vec()),
        ("serverForms", SERVER_FORMS.to_vec()),
        ("notes", notes),
        ("actions", actions.iter().map(|it| it.as_str()).collect()),
        ("kinds", Kind::ALL.iter().map(|it| it.as_str()).collect()),
        ("deeds", DEEDS.to_vec()),
    ]
}
