//! `export`: a part of a log, for people or for other engines. Secrets are masked unless they are to be kept, and
//! each masked place is said on standard error.

use super::restoring::open_log;
use crate::output::{visible, End, Failure, Out, Outcome};
use chipdeck_disk::fresh::NewFile;
use chipdeck_export::{export, Error, Format, Log, Part, Place, Scope, Secrets, Written};
use serde_json::json;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub struct Arguments {
    /// A log file or folder
    log: PathBuf,
    /// Events after this position; the state there comes first
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = crate::output::not_an_option)]
    from: Option<String>,
    /// Up to this position
    #[arg(long, value_name = "M", allow_hyphen_values = true, value_parser = crate::output::not_an_option)]
    to: Option<String>,
    /// Only the events of this trace
    #[arg(long, value_name = "ID", conflicts_with_all = ["correlation", "audit"])]
    trace: Option<String>,
    /// Only the events of this correlation, of both sessions
    #[arg(long, value_name = "ID", conflicts_with = "audit")]
    correlation: Option<String>,
    /// Only the execution session, with figures by tool, status and duration (in md and html)
    #[arg(long)]
    audit: bool,
    /// What to write
    #[arg(long)]
    format: Kind,
    /// Write to this new file instead of standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Values that look like keys, passwords or tokens
    #[arg(long, value_name = "WHAT", default_value = "mask")]
    secrets: Keep,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Kind {
    /// A log of its own that opens and replays alone
    Jsonl,
    /// Markdown
    Md,
    /// One page that needs nothing else
    Html,
    /// OpenTelemetry spans as JSON
    Otlp,
    /// A table
    Parquet,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Keep {
    Mask,
    Keep,
}

pub fn run(arguments: Arguments, out: &mut Out) -> Outcome {
    let format = match arguments.format {
        Kind::Jsonl => Format::Jsonl,
        Kind::Md => Format::Markdown,
        Kind::Html => Format::Html,
        Kind::Otlp => Format::Otlp,
        Kind::Parquet => Format::Parquet,
    };
    if format == Format::Parquet && arguments.out.is_none() {
        return Err(Failure::usage("a table is not written to standard output")
            .hint("name a new file with --out FILE"));
    }
    let reading = open_log(&arguments.log)?;
    let position = |text: &Option<String>| match text {
        Some(text) => reading.position(text).map(Some).map_err(Failure::no),
        None => Ok(None),
    };
    let (from, to) = (position(&arguments.from)?, position(&arguments.to)?);
    if from.zip(to).is_some_and(|(from, to)| from > to) {
        return Err(Failure::usage("--from stands after --to"));
    }
    let scope = match (arguments.trace, arguments.correlation, arguments.audit) {
        (Some(trace), ..) => Scope::Trace(trace),
        (_, Some(correlation), _) => Scope::Correlation(correlation),
        (_, _, true) => Scope::Exec,
        _ => Scope::All,
    };
    let part = Part { from, to, scope };
    let secrets = match arguments.secrets {
        Keep::Mask => Secrets::Mask { keep: Vec::new() },
        Keep::Keep => Secrets::Keep,
    };
    let name = title(&arguments.log);
    let log = Log {
        timeline: &reading.timeline,
        source: &*reading.source,
        name: &name,
    };
    let json = out.json;
    let written = match &arguments.out {
        Some(path) => to_file(log, &part, format, &secrets, path)?,
        None => export(log, &part, format, &secrets, &mut Through(out)).map_err(failed)?,
    };
    out.flush()?;
    written.masked.iter().for_each(|place| say(place, json));
    if let Some(path) = &arguments.out {
        let (events, masked) = (written.events, written.masked.len());
        match json {
            true => out.document(&json!({
                "out": path, "format": format.as_str(), "events": events, "masked": written.masked,
            }))?,
            false => out.line(format!(
                "{events} events written to {}, {masked} places masked",
                path.display()
            ))?,
        }
    }
    Ok(End::Done)
}

fn title(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

fn to_file(
    log: Log<'_>,
    part: &Part,
    format: Format,
    secrets: &Secrets,
    path: &Path,
) -> Result<Written, Failure> {
    let mut file = NewFile::create(path).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => Failure::no(format!("{} is already there", path.display()))
            .hint("nothing is written over it; name a new file"),
        _ => Failure::no(format!("cannot write {}: {error}", path.display())),
    })?;
    let written = export(log, part, format, secrets, &mut file).map_err(failed)?;
    file.keep()?;
    Ok(written)
}

fn failed(error: Error) -> Failure {
    match error {
        Error::Write(error) => error.into(),
        other => Failure::no(other.to_string()),
    }
}

/// One masked place, on standard error.
fn say(place: &Place, json: bool) {
    let line = if json {
        serde_json::to_string(place).unwrap_or_default()
    } else {
        let at = match place.file.is_empty() {
            true => "the state before".to_owned(),
            false => format!("{}:{}", place.file, place.line),
        };
        visible(&format!("masked: {at} {} ({})", place.field, place.rule)).into_owned()
    };
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Standard output as a writer.
struct Through<'o>(&'o mut Out);

impl Write for Through<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.raw(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
