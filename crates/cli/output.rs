//! What a command says and how it ends. Text for people is escaped, so that a log cannot send control sequences to a
//! terminal; a reader that goes away (`| head`) ends the command quietly.

use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter, Serializer};
use std::io::{ErrorKind, Write};
use std::process::ExitCode;

/// How a command ended when nothing failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Status 0.
    Done,
    /// Status 1: it ran and the answer is no.
    No,
}

/// Why a command failed: one clear sentence, and what to do about it.
#[derive(Debug)]
pub struct Failure {
    /// 1 (the answer is no) or 2 (arguments that don't go together).
    pub status: u8,
    pub message: String,
    pub hint: Option<String>,
}

impl Failure {
    /// Status 1.
    pub fn no(message: impl Into<String>) -> Failure {
        Failure {
            status: 1,
            message: message.into(),
            hint: None,
        }
    }

    /// Status 2.
    pub fn usage(message: impl Into<String>) -> Failure {
        Failure {
            status: 2,
            message: message.into(),
            hint: None,
        }
    }

    pub fn hint(mut self, hint: impl Into<String>) -> Failure {
        self.hint = Some(hint.into());
        self
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        if error.kind() == ErrorKind::BrokenPipe {
            // The reader had enough; nothing to say.
            return Failure {
                status: 0,
                message: String::new(),
                hint: None,
            };
        }
        Failure::no(format!("cannot write the output: {error}"))
    }
}

pub type Outcome = Result<End, Failure>;

/// Standard output.
pub struct Out {
    pub json: bool,
    stdout: std::io::BufWriter<std::io::Stdout>,
}

impl Out {
    pub fn new(json: bool) -> Out {
        Out {
            json,
            stdout: std::io::BufWriter::with_capacity(64 * 1024, std::io::stdout()),
        }
    }

    /// One line for people; control characters are shown, not sent.
    pub fn line(&mut self, text: impl AsRef<str>) -> Result<(), Failure> {
        self.stdout.write_all(visible(text.as_ref()).as_bytes())?;
        self.stdout.write_all(b"\n")?;
        Ok(())
    }

    /// Several lines for people: line ends and tabs are kept.
    pub fn text(&mut self, text: &str) -> Result<(), Failure> {
        for line in text.split_inclusive('\n') {
            let (line, end) = match line.strip_suffix('\n') {
                Some(line) => (line, "\n"),
                None => (line, ""),
            };
            self.stdout.write_all(visible(line).as_bytes())?;
            self.stdout.write_all(end.as_bytes())?;
        }
        Ok(())
    }

    /// Bytes as they are (a file's content asked for by name).
    pub fn bytes(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        Ok(self.stdout.write_all(bytes)?)
    }

    /// Bytes as they are, for a writer of its own.
    pub fn raw(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.stdout.write_all(bytes)
    }

    /// One JSON document, indented.
    pub fn document(&mut self, value: &impl serde::Serialize) -> Result<(), Failure> {
        let pretty = Escaping(PrettyFormatter::new());
        let mut json = Serializer::with_formatter(&mut self.stdout, pretty);
        value.serialize(&mut json).map_err(std::io::Error::from)?;
        Ok(self.stdout.write_all(b"\n")?)
    }

    /// One line of a JSON stream.
    pub fn json_line(&mut self, value: &impl serde::Serialize) -> Result<(), Failure> {
        let mut json = Serializer::with_formatter(&mut self.stdout, Escaping(CompactFormatter));
        value.serialize(&mut json).map_err(std::io::Error::from)?;
        Ok(self.stdout.write_all(b"\n")?)
    }

    pub fn flush(&mut self) -> Result<(), Failure> {
        Ok(self.stdout.flush()?)
    }
}

/// A number and its word: `1 error`, `2 errors`.
pub fn counted(number: usize, word: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{number} {word}{s}")
}

/// A position as it is given to an option.
///
/// # Errors
/// It begins with a dash: a negative number, or the next option.
pub fn not_an_option(text: &str) -> Result<String, String> {
    if text.starts_with('-') {
        return Err(
            "a position is a number from 0 on, `end`, `@` and Unix milliseconds, a time, or an event's id".to_owned(),
        );
    }
    Ok(text.to_owned())
}

/// A sentence on standard error that fails nothing.
pub fn warn(text: impl AsRef<str>) {
    let _ = writeln!(std::io::stderr(), "warning: {}", visible(text.as_ref()));
}

/// Prints the failure, if any, and gives the process its status.
pub fn exit(outcome: Outcome) -> ExitCode {
    match outcome {
        Ok(End::Done) => ExitCode::SUCCESS,
        Ok(End::No) => ExitCode::from(1),
        Err(failure) => {
            if !failure.message.is_empty() {
                let _ = writeln!(std::io::stderr(), "chipdeck: {}", visible(&failure.message));
            }
            if let Some(hint) = &failure.hint {
                let _ = writeln!(std::io::stderr(), "hint: {}", visible(hint));
            }
            ExitCode::from(failure.status)
        }
    }
}

/// Controls of C0 and C1, and marks that turn the writing direction or break lines.
fn strange(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// JSON in whose texts every strange character is an escape: the same value to a reader, and no steering of a terminal.
struct Escaping<F>(F);

impl<F: Formatter> Formatter for Escaping<F> {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> std::io::Result<()> {
        let mut rest = fragment;
        // Those of C0 are escaped by the serializer itself; none of these needs two units.
        while let Some((at, c)) = rest.char_indices().find(|(_, c)| strange(*c)) {
            let (plain, from) = rest.split_at(at);
            writer.write_all(plain.as_bytes())?;
            write!(writer, "\\u{:04x}", u32::from(c))?;
            rest = from.split_at(c.len_utf8()).1;
        }
        writer.write_all(rest.as_bytes())
    }

    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> std::io::Result<()> {
        self.0.begin_array(writer)
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> std::io::Result<()> {
        self.0.end_array(writer)
    }

    fn begin_array_value<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> std::io::Result<()> {
        self.0.begin_array_value(writer, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> std::io::Result<()> {
        self.0.end_array_value(writer)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> std::io::Result<()> {
        self.0.begin_object(writer)
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> std::io::Result<()> {
        self.0.end_object(writer)
    }

    fn begin_object_key<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> std::io::Result<()> {
        self.0.begin_object_key(writer, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> std::io::Result<()> {
        self.0.begin_object_value(writer)
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> std::io::Result<()> {
        self.0.end_object_value(writer)
    }
}

/// Control characters (terminal escapes, line breaks inside a value) and the marks that turn the writing direction
/// become visible escapes.
pub fn visible(text: &str) -> std::borrow::Cow<'_, str> {
    let strange = |c: char| strange(c) && c != '\t';
    if !text.contains(strange) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if strange(c) {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out.into()
}
