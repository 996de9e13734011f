//! `chips restore` and `chips put-back`: a chip's text goes into a file, through a restore plan.

use super::{failed, find, Folder};
use crate::commands::restoring;
use crate::output::{Failure, Out, Outcome};
use chipdeck_chip::{
    insert_content, insert_header, insert_text, stands_there, InsertError, Inserted,
};
use chipdeck_disk::chips::{git_top_level, ChipFolder, Origin, Origins, RemovedText, RemovedTexts};
use chipdeck_disk::restore::Root;
use chipdeck_engine::log::Reading;
use chipdeck_replay::restore::{FileImage, Kind, Note, RestorePlan, Step, Warning};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

#[derive(clap::Args)]
pub struct Restore {
    /// The chip's id
    id: String,
    #[command(flatten)]
    folder: Folder,
    /// The file, and the line after which the text goes (0: before the first)
    #[arg(long, value_name = "FILE:LINE")]
    to: String,
    /// What goes in: `header` is what be-insert-chip leaves, byte for byte; `content` the bare text
    #[arg(long, value_enum, default_value_t = Form::Header)]
    form: Form,
    /// Show what would be written, write nothing
    #[arg(long)]
    dry_run: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Form {
    Header,
    Content,
}

#[derive(clap::Args)]
pub struct PutBack {
    /// The chip's id
    id: String,
    #[command(flatten)]
    folder: Folder,
    /// The folder of the edit snapshots (default: the one of this user's server)
    #[arg(long, value_name = "BASE")]
    snapshots: Option<PathBuf>,
    /// A log that may know where the text was
    #[arg(long, value_name = "LOG")]
    log: Vec<PathBuf>,
    /// A folder to look in and to write (default: the current folder and its git top level)
    #[arg(long, value_name = "DIR")]
    root: Vec<PathBuf>,
    /// Show what would be written, write nothing
    #[arg(long)]
    dry_run: bool,
}

pub fn restore(arguments: Restore, out: &mut Out) -> Outcome {
    let (file, line) = target(&arguments.to)?;
    let chips = arguments.folder.look(None, !arguments.dry_run);
    let key = find(&chips, &arguments.id)?;
    let record = record(&chips, &key)?;
    let (root, path) = root_of(file)?;
    let found = root.read(&path).map_err(restoring::failed)?;
    let Some(image) = found.image else {
        return Err(Failure::no(format!(
            "there is no file {file}; nothing was written"
        )));
    };
    let now = image.content.bytes();
    let mut warnings = Vec::new();
    let mut notes = found.notes;
    let inserted = match arguments.form {
        Form::Header => {
            let inserted = insert_header(now, line, &insert_text(&record)).map_err(beyond(file))?;
            warnings.extend(rewrites(&path, &inserted));
            if !warnings.is_empty() {
                notes.push(Note::ServerForm);
            }
            inserted
        }
        Form::Content => {
            let content = record.content().ok_or_else(|| {
                Failure::no("the chip has no content: neither `_content` nor `content`")
                    .hint("--form header inserts its arguments")
            })?;
            warnings.extend(lost_bytes(&path, content.as_bytes()));
            let mut inserted =
                insert_content(now, line, content.as_bytes()).map_err(beyond(file))?;
            if stands_there(now, line, content.as_bytes()) {
                warnings.push(already_there(&path));
                inserted.bytes = now.to_vec();
            }
            inserted
        }
    };
    let mut plan = plan(Kind::Chip, &path, image, notes, inserted.bytes);
    plan.label = Some(format!("{path}:{line}"));
    restoring::carry_out(&root, &plan, &warnings, arguments.dry_run, "inserted", out)
}

pub fn put_back(arguments: PutBack, out: &mut Out) -> Outcome {
    let roots = roots(&arguments.root)?;
    let chips = arguments
        .folder
        .look(arguments.snapshots.as_deref(), !arguments.dry_run);
    let key = find(&chips, &arguments.id)?;
    let logs = Logs::open(&arguments.log)?;
    let origins = chips.origins(&key, &roots, &logs).map_err(failed)?;
    let Some(origin) = origins.places.first().filter(|_| origins.certain) else {
        return nowhere(&origins, out);
    };
    let record = record(&chips, &key)?;
    let content = record
        .deleted()
        .ok_or_else(|| Failure::no("it is not a delete"))?
        .as_bytes();
    let root = Root::open(&origin.root).map_err(restoring::failed)?;
    let path = below(origin).ok_or_else(|| Failure::no("the path is no text"))?;
    let path = root
        .place(&path, None)
        .map_err(|error| restoring::failed(error.into()))?;
    let found = root.read(&path).map_err(restoring::failed)?;
    let Some(image) = found.image else {
        return Err(Failure::no(format!("{path} has gone; nothing was written")));
    };
    let line = i64::try_from(origin.line).unwrap_or(i64::MAX);
    if !out.json {
        out.line(format!(
            "{path}, after line {line}, by {}{}",
            origin.because,
            match origin.moved {
                true => "; lines have moved since",
                false => "",
            }
        ))?;
    }
    let mut warnings = Vec::new();
    warnings.extend(lost_bytes(&path, content));
    let bytes = if origins.already_there {
        warnings.push(already_there(&path));
        image.content.bytes().to_vec()
    } else {
        insert_content(image.content.bytes(), line, content)
            .map_err(beyond(&path))?
            .bytes
    };
    let mut plan = plan(Kind::PutBack, &path, image, found.notes, bytes);
    plan.label = Some(format!("{path}:{line}"));
    restoring::carry_out(&root, &plan, &warnings, arguments.dry_run, "put back", out)
}

/// No place, or more than one: what was found is shown, nothing is written.
fn nowhere(origins: &Origins, out: &mut Out) -> Outcome {
    let shown = |origin: &Origin| {
        below(origin).unwrap_or_else(|| origin.path.to_string_lossy().into_owned())
    };
    if out.json {
        let candidates: Vec<_> = origins
            .places
            .iter()
            .map(|origin| {
                json!({
                    "path": shown(origin),
                    "line": origin.line,
                    "certainty": origin.certainty.as_str(),
                    "because": origin.because,
                    "root": origin.root.to_string_lossy(),
                })
            })
            .collect();
        let warnings: Vec<_> = origins
            .notes
            .iter()
            .map(|message| json!({"code": "note", "message": message}))
            .collect();
        out.document(&json!({
            "restoreId": null,
            "steps": [],
            "applied": false,
            "warnings": warnings,
            "candidates": candidates,
        }))?;
    } else {
        origins.notes.iter().for_each(crate::output::warn);
        for origin in &origins.places {
            let quoted = |line: &Option<String>| match line {
                Some(line) => format!("{line:?}"),
                None => "the file's end".to_owned(),
            };
            out.line(format!(
                "{}:{} ({}, {}), between {} and {}",
                origin.path.display(),
                origin.line,
                origin.certainty.as_str(),
                origin.because,
                quoted(&origin.before),
                quoted(&origin.after)
            ))?;
        }
    }
    let failure = match origins.places.len() {
        0 => Failure::no("nothing says where the text was cut from; nothing was written"),
        1 => Failure::no("the one place found is not certain; nothing was written"),
        n => Failure::no(format!(
            "it may have been cut from {n} places; nothing was written"
        )),
    };
    Err(failure
        .hint("`chipdeck chips restore ID --to FILE:LINE --form content` puts it where you say"))
}

fn record(chips: &ChipFolder, key: &str) -> Result<chipdeck_chip::ChipRecord, Failure> {
    let detail = chips.detail(key).map_err(failed)?;
    detail.record.ok_or_else(|| {
        let reason = detail.entry.reason.unwrap_or_default();
        Failure::no(format!("{} is damaged: {reason}", detail.entry.file))
    })
}

/// `FILE:LINE`, split at the last colon.
fn target(to: &str) -> Result<(&str, i64), Failure> {
    let hint = "--to names a file and the line after which the text goes: src/main.rs:12";
    let (file, line) = to
        .rsplit_once(':')
        .ok_or_else(|| Failure::usage(format!("no line in {to:?}")).hint(hint))?;
    if file.is_empty() {
        return Err(Failure::usage(format!("no file in {to:?}")).hint(hint));
    }
    if line.is_empty() || !line.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Failure::usage(format!("{line:?} is no line number")).hint(hint));
    }
    // More digits than a number holds: beyond any file.
    Ok((file, line.parse().unwrap_or(i64::MAX)))
}

fn beyond(file: &str) -> impl Fn(InsertError) -> Failure + '_ {
    move |error| match error {
        InsertError::OutOfRange { line, lines } => Failure::no(format!(
            "{file} has {lines} lines, there is no line {line}; nothing was written"
        )),
        InsertError::Negative(line) => {
            Failure::no(format!("there is no line {line}; nothing was written"))
        }
    }
}

/// The folder of the file is the root.
fn root_of(file: &str) -> Result<(Root, String), Failure> {
    let path = Path::new(file);
    let name = path
        .file_name()
        .and_then(|name| name.to_str())
        .ok_or_else(|| Failure::no(format!("{file:?} names no file; nothing was written")))?;
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let root = Root::open(folder).map_err(restoring::failed)?;
    let place = root
        .place(name, None)
        .map_err(|error| restoring::failed(error.into()))?;
    Ok((root, place))
}

/// `--root`, else the current folder (by the name that the shell has for it) and its git top level.
fn roots(given: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    if !given.is_empty() {
        for root in given {
            if !root.is_dir() {
                return Err(Failure::no(format!(
                    "there is no folder {}",
                    root.display()
                )));
            }
        }
        let absolute = |root: &PathBuf| std::path::absolute(root).unwrap_or_else(|_| root.clone());
        return Ok(given.iter().map(absolute).collect());
    }
    let current = std::env::current_dir().map_err(|error| {
        Failure::usage(format!("no current folder: {error}")).hint("--root DIR")
    })?;
    let named = std::env::var_os("PWD").map(PathBuf::from);
    let same = |path: &PathBuf| {
        path.is_absolute() && path.canonicalize().ok() == current.canonicalize().ok()
    };
    let mut roots = vec![named.filter(same).unwrap_or(current)];
    if let Some(top) = git_top_level(&roots[0]) {
        if top.canonicalize().ok() != roots[0].canonicalize().ok() {
            roots.push(top);
        }
    }
    Ok(roots)
}

/// Path below the root, `/` between names.
fn below(origin: &Origin) -> Option<String> {
    let rest = origin.path.strip_prefix(&origin.root).ok()?;
    let names: Option<Vec<&str>> = rest.components().map(|c| c.as_os_str().to_str()).collect();
    Some(names?.join("/"))
}

fn plan(kind: Kind, path: &str, image: FileImage, notes: Vec<Note>, bytes: Vec<u8>) -> RestorePlan {
    let mut step = Step::new(path, Some(image), Some(FileImage::of(bytes)));
    notes.into_iter().for_each(|note| step.note(note));
    RestorePlan::new(kind, vec![step])
}

/// The server's form rewrites the whole file; that is said.
fn rewrites(path: &str, inserted: &Inserted) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut say = |code, message| {
        warnings.push(Warning {
            code,
            why: "",
            path: path.to_owned(),
            message,
        });
    };
    if inserted.rewritten_endings > 0 {
        say(
            "line-endings",
            match inserted.rewritten_endings {
                1 => format!("the server's own form changes the line end of 1 line of {path}"),
                n => format!("the server's own form changes the line ends of {n} lines of {path}"),
            },
        );
    }
    if inserted.added_final_newline {
        say(
            "final-newline",
            format!("the server's own form adds the missing newline at the end of {path}"),
        );
    }
    warnings
}

fn already_there(path: &str) -> Warning {
    Warning {
        code: "already-there",
        why: "",
        path: path.to_owned(),
        message: format!("{path} has the text there already"),
    }
}

/// A chip's text has U+FFFD where the file had bytes that are no UTF-8.
fn lost_bytes(path: &str, content: &[u8]) -> Option<Warning> {
    let text = String::from_utf8_lossy(content);
    text.contains('\u{fffd}').then(|| Warning {
        code: "lost-bytes",
        why: "",
        path: path.to_owned(),
        message: "the text has U+FFFD in it: bytes that were no UTF-8 are lost in a chip"
            .to_owned(),
    })
}

/// Logs that were named.
struct Logs(Vec<(String, Reading)>);

/// Looking through the logs ends after this.
const PATIENCE: Duration = Duration::from_secs(20);

impl Logs {
    fn open(paths: &[PathBuf]) -> Result<Logs, Failure> {
        let mut logs = Vec::new();
        for path in paths {
            let name = path.file_name().unwrap_or(path.as_os_str());
            let name = name.to_string_lossy().into_owned();
            logs.push((name, restoring::open_log(path)?));
        }
        Ok(Logs(logs))
    }
}

impl RemovedTexts for Logs {
    fn removed(&self, text: &[u8], created_at: i64) -> Vec<RemovedText> {
        let Ok(text) = std::str::from_utf8(text) else {
            return Vec::new();
        };
        let deadline = Instant::now() + PATIENCE;
        let mut found = Vec::new();
        for (name, log) in &self.0 {
            let look = log.look();
            look.removals(text, created_at, deadline, &mut |removal| {
                let event = look.row(removal.index).and_then(|row| row.event_id);
                let event = event.unwrap_or_else(|| format!("entry {}", removal.index));
                found.push(RemovedText {
                    path: removal.path,
                    before: removal.before.as_bytes().to_vec(),
                    first_line: removal.first_line,
                    because: format!("{event} of {name}"),
                });
            });
        }
        found
    }
}
