//! A part of an open log, reviewed and written. The page says what and how; where to is a path that the desktop's
//! native dialogue gave, never one of the page.

use crate::api::*;
use crate::engine::{Answer, Engine, Inner};
use crate::log::Look;
use chipdeck_disk::fresh::NewFile;
use chipdeck_export as export;
use std::io::{ErrorKind, Write};
use std::path::Path;

/// Places that a reply lists.
const MOST_PLACES: usize = 2_000;

impl ExportFormat {
    fn inner(self) -> export::Format {
        match self {
            ExportFormat::Jsonl => export::Format::Jsonl,
            ExportFormat::Md => export::Format::Markdown,
            ExportFormat::Html => export::Format::Html,
            ExportFormat::Otlp => export::Format::Otlp,
            ExportFormat::Parquet => export::Format::Parquet,
        }
    }
}

impl Engine {
    /// A name for the native dialogue to begin with: the log's, and the format's ending.
    ///
    /// # Errors
    /// No such log.
    pub fn export_name(&self, log: &str, format: ExportFormat) -> Answer<String> {
        let title = self.inner.log_view(log)?.title;
        let plain = |c: char| match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' | '.' => c,
            c if c.is_alphanumeric() => c,
            _ => '-',
        };
        let name: String = title.chars().take(60).map(plain).collect();
        let name = name.trim_end_matches(".jsonl").trim_matches(['-', '.']);
        let name = if name.is_empty() { "log" } else { name };
        Ok(format!("{name}.part{}", format.inner().suffix()))
    }

    /// Writes a part to a new file.
    ///
    /// # Errors
    /// `not-found`, `precondition` (the file is there, the part is empty), `io`.
    pub fn export(
        &self,
        log: &str,
        what: &ExportWhat,
        format: ExportFormat,
        keep: Vec<u32>,
        to: &Path,
    ) -> Answer<Exported> {
        let title = self.inner.log_view(log)?.title;
        let mut file = Counted {
            file: NewFile::create(to).map_err(|error| cannot(to, &error))?,
            bytes: 0,
        };
        let secrets = export::Secrets::Mask { keep };
        let written = self.inner.log(log)?.look(|look| {
            let part = part(look, what)?;
            let of = of(look, &title);
            export::export(of, &part, format.inner(), &secrets, &mut file).map_err(failed)
        })?;
        let bytes = file.bytes;
        file.file.keep().map_err(|error| cannot(to, &error))?;
        Ok(Exported {
            file: self.inner.for_people(to),
            events: written.events,
            masked: written.masked.len() as u64,
            bytes,
        })
    }
}

impl Inner {
    pub(crate) fn review_export(&self, log: &str, what: &ExportWhat) -> Answer<ExportReview> {
        self.log(log)?.look(|look| {
            let part = part(look, what)?;
            let of = of(look, "");
            let places = export::review(of, &part).map_err(failed)?;
            let audit = match part.scope {
                export::Scope::Exec => Some(export::audit(of, &part).map_err(failed)?),
                _ => None,
            };
            Ok(ExportReview {
                events: part.events(look.timeline),
                places_total: places.len() as u64,
                places: places.into_iter().take(MOST_PLACES).map(place).collect(),
                tools: audit
                    .into_iter()
                    .flat_map(|it| it.tools.into_iter().chain([it.all]))
                    .map(row)
                    .collect(),
            })
        })
    }
}

/// The secrets of each text, by the rules that exports go by.
pub(crate) fn secrets_in(texts: &[String]) -> Vec<Vec<SecretRange>> {
    texts.iter().map(|text| ranges(text)).collect()
}

/// Loads the rules for secrets in the background: the first text that a page asks about is veiled until they are there.
pub(crate) fn warm() {
    // Without the thread the first question loads them.
    let _ = std::thread::Builder::new()
        .name("secret-rules".to_owned())
        .spawn(|| chipdeck_secrets::scan("orders/refunds.py is changed"));
}

fn ranges(text: &str) -> Vec<SecretRange> {
    let mut out = Vec::new();
    // Bytes and UTF-16 units up to here.
    let (mut at, mut units) = (0, 0u64);
    let mut count = |to: usize| {
        let more = text.get(at..to).unwrap_or_default();
        units += more.chars().map(|c| c.len_utf16() as u64).sum::<u64>();
        at = to;
        units
    };
    for hit in chipdeck_secrets::scan(text) {
        let from = count(hit.range.start);
        out.push(SecretRange {
            from,
            to: count(hit.range.end),
            rule: hit.rule.to_owned(),
        });
    }
    out
}

fn of<'a>(look: &Look<'a>, name: &'a str) -> export::Log<'a> {
    export::Log {
        timeline: look.timeline,
        source: look.source,
        name,
    }
}

fn part(look: &Look<'_>, what: &ExportWhat) -> Answer<export::Part> {
    let position = |at: Option<u64>| at.map(|at| look.position(at));
    let envelope = |index: u64| {
        let event = look.timeline.entry(look.position(index));
        let event = event.and_then(|it| it.entry.event());
        event
            .map(|it| &it.envelope)
            .ok_or_else(|| ApiError::new("not-found", "There is no event at that place."))
    };
    Ok(export::Part {
        from: position(what.from),
        to: position(what.to),
        scope: match what.scope {
            ExportScope::All {} => export::Scope::All,
            ExportScope::Audit {} => export::Scope::Exec,
            ExportScope::TraceOf { index } => {
                export::Scope::Trace(envelope(index)?.trace_id.to_string())
            }
            ExportScope::CorrelationOf { index } => {
                let id = envelope(index)?.correlation.as_ref();
                let id = id.ok_or_else(|| {
                    ApiError::new("not-found", "This event belongs to no correlation.")
                })?;
                export::Scope::Correlation(id.to_string())
            }
        },
    })
}

fn place(place: export::Place) -> MaskedPlace {
    MaskedPlace {
        file: place.file,
        line: place.line,
        event_id: place.event_id,
        field: place.field,
        rule: place.rule.to_owned(),
        value: place.value,
        excerpt: place.excerpt,
    }
}

fn row(of: export::ToolFigures) -> AuditRow {
    AuditRow {
        tool: of.tool,
        calls: of.calls,
        ok: of.ok,
        error: of.error,
        denied: of.denied,
        cancelled: of.cancelled,
        timeout: of.timeout,
        interrupted: of.interrupted,
        timed: of.timed,
        total_ms: of.total_ms,
        median_ms: of.median_ms,
        longest_ms: of.longest_ms,
    }
}

fn failed(error: export::Error) -> ApiError {
    match error {
        export::Error::Empty => {
            ApiError::new("precondition", "No event of the log is in this part.")
        }
        export::Error::Gone(_) => ApiError::new(
            "io",
            "The log was cut while it was read; nothing was written.",
        ),
        export::Error::Write(error) => {
            ApiError::new("io", format!("The file cannot be written: {error}."))
        }
        export::Error::Table(error) => {
            ApiError::new("io", format!("The table cannot be written: {error}."))
        }
    }
}

fn cannot(path: &Path, error: &std::io::Error) -> ApiError {
    let name = path.file_name().unwrap_or(path.as_os_str());
    let name = name.to_string_lossy();
    match error.kind() {
        ErrorKind::AlreadyExists => ApiError::new(
            "precondition",
            format!("There is already a file {name}; nothing was written over it."),
        )
        .hint("Choose another name."),
        _ => ApiError::new("io", format!("The file {name} cannot be written: {error}.")),
    }
}

/// A file that knows how much went into it.
struct Counted {
    file: NewFile,
    bytes: u64,
}

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_are_those_of_the_page() {
        let key = ["AKIA", "QRSTUVWX2345ABCD"].concat();
        let found = secrets_in(&[format!("😀é {key} {key}"), "nothing".to_owned()]);
        let at = |from| SecretRange {
            from,
            to: from + 20,
            rule: "aws-access-token".to_owned(),
        };
        assert_eq!(found, [vec![at(4), at(25)], vec![]]);
    }
}
