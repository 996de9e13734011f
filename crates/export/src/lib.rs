//! A part of a log, for people and for other engines: canonical JSON Lines that open alone, Markdown, one HTML page,
//! OTLP spans, a Parquet table; and the figures of an execution session.
//!
//! One way for all: a [`Part`] of a [`Timeline`](chipdeck_replay::Timeline) becomes lines of a canonical log, the
//! secrets in them are masked, and each format is made of the masked lines. Left out: where the result goes (a writer
//! comes in), and which secrets a person keeps (numbers come in).

#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::string_slice
    )
)]

mod audit;
mod canonical;
mod convert;
mod html;
mod lines;
mod markdown;
mod masking;
mod otlp;
mod page;
mod part;
mod table;
mod walk;

pub use audit::{audit, Audit, ToolFigures};
pub use canonical::{canonical, Canonical};
pub use masking::Place;
pub use part::{Part, Scope};

use chipdeck_ingest::Source;
use chipdeck_replay::Timeline;
use lines::Lines;
use masking::Masking;
use std::io::{self, Write};

/// A log to take a part of.
#[derive(Clone, Copy)]
pub struct Log<'a> {
    pub timeline: &'a Timeline,
    pub source: &'a dyn Source,
    /// For people: the title of a page.
    pub name: &'a str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    Jsonl,
    Markdown,
    Html,
    Otlp,
    Parquet,
}

impl Format {
    pub const ALL: [Format; 5] = [
        Format::Jsonl,
        Format::Markdown,
        Format::Html,
        Format::Otlp,
        Format::Parquet,
    ];

    /// As the command line names it.
    pub fn as_str(self) -> &'static str {
        match self {
            Format::Jsonl => "jsonl",
            Format::Markdown => "md",
            Format::Html => "html",
            Format::Otlp => "otlp",
            Format::Parquet => "parquet",
        }
    }

    pub fn parse(text: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|it| it.as_str() == text)
    }

    /// The end of a file's name, with its dot.
    pub fn suffix(self) -> &'static str {
        match self {
            Format::Jsonl => ".jsonl",
            Format::Markdown => ".md",
            Format::Html => ".html",
            Format::Otlp => ".otlp.json",
            Format::Parquet => ".parquet",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Secrets {
    /// All but the values with these numbers (see [`Place::value`]).
    Mask {
        keep: Vec<u32>,
    },
    Keep,
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("the part is empty: no event of the log is in it")]
    Empty,
    #[error("the log no longer has the bytes of event {0}")]
    Gone(u32),
    #[error(transparent)]
    Write(#[from] io::Error),
    #[error("the table could not be written: {0}")]
    Table(String),
}

/// What was written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Written {
    /// Events of the log, without snapshots.
    pub events: u64,
    /// What was masked, in order.
    pub masked: Vec<Place>,
}

/// Writes a part of a log.
///
/// # Errors
/// An empty part, a log that was cut meanwhile, a writer that fails.
pub fn export(
    log: Log<'_>,
    part: &Part,
    format: Format,
    secrets: &Secrets,
    out: &mut dyn Write,
) -> Result<Written, Error> {
    let lines = Lines::of(log, part)?;
    let masking = match secrets {
        Secrets::Keep => Masking::none(),
        Secrets::Mask { keep } => Masking::of(&lines, keep)?,
    };
    let events = lines.events();
    match format {
        Format::Jsonl => {
            lines.each(&mut |line| {
                let text = masking.line(&line);
                match line.raw {
                    // Made to text they could become an event.
                    Some(raw) if text == line.json => out.write_all(&raw)?,
                    Some(_) => write!(out, "\u{fffd} {text}")?,
                    None => out.write_all(text.as_bytes())?,
                }
                Ok(out.write_all(b"\n")?)
            })?;
        }
        Format::Markdown => markdown::write(&lines, &masking, out)?,
        Format::Html => html::write(&lines, &masking, out)?,
        Format::Otlp => otlp::write(&lines, &masking, out)?,
        Format::Parquet => table::write(&lines, &masking, out)?,
    }
    Ok(Written {
        events,
        masked: masking.places(),
    })
}

/// What an export of this part would mask.
///
/// # Errors
/// As [`export`].
pub fn review(log: Log<'_>, part: &Part) -> Result<Vec<Place>, Error> {
    let lines = Lines::of(log, part)?;
    let masking = Masking::of(&lines, &[])?;
    lines.each(&mut |line| {
        masking.line(&line);
        Ok(())
    })?;
    Ok(masking.places())
}
