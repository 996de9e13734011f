//! A part as a Parquet table: one row for each line, the state before it included, the columns that questions are
//! asked about beside the payload as JSON.

use crate::lines::{Line, Lines};
use crate::masking::Masking;
use crate::part::paths;
use crate::Error;
use chipdeck_event::{Event, Payload};
use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{
    SerializedColumnWriter, SerializedFileWriter, SerializedRowGroupWriter,
};
use parquet::schema::parser::parse_message_type;
use serde_json::Value;
use std::io::Write;
use std::sync::Arc;

const SCHEMA: &str = "
message event {
  OPTIONAL INT64 position;
  OPTIONAL BYTE_ARRAY file (UTF8);
  OPTIONAL INT64 line;
  OPTIONAL BYTE_ARRAY event_id (UTF8);
  OPTIONAL BYTE_ARRAY trace_id (UTF8);
  OPTIONAL BYTE_ARRAY parent_event_id (UTF8);
  OPTIONAL BYTE_ARRAY correlation_id (UTF8);
  OPTIONAL INT64 seq;
  OPTIONAL BYTE_ARRAY session (UTF8);
  OPTIONAL BYTE_ARRAY type (UTF8);
  OPTIONAL INT64 timestamp (TIMESTAMP_MILLIS);
  OPTIONAL BYTE_ARRAY tool_name (UTF8);
  OPTIONAL BYTE_ARRAY call_id (UTF8);
  OPTIONAL BYTE_ARRAY status (UTF8);
  OPTIONAL INT64 duration_ms;
  OPTIONAL BYTE_ARRAY path (UTF8);
  OPTIONAL BYTE_ARRAY content (UTF8);
  OPTIONAL BYTE_ARRAY payload (UTF8);
}
";

/// Rows that are held before they are written.
const GROUP: usize = 20_000;
/// Bytes that are held before they are written.
const GROUP_BYTES: usize = 64 << 20;

#[derive(Default)]
struct Rows {
    numbers: [Vec<Option<i64>>; 5],
    texts: [Vec<Option<ByteArray>>; 13],
    bytes: usize,
}

impl From<ParquetError> for Error {
    fn from(error: ParquetError) -> Error {
        Error::Table(error.to_string())
    }
}

pub(crate) fn write(
    lines: &Lines<'_>,
    masking: &Masking,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let schema = Arc::new(parse_message_type(SCHEMA)?);
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_created_by(format!("chipdeck {}", env!("CARGO_PKG_VERSION")))
        .build();
    // The file's end says where its parts are, so it is made whole before it goes out.
    let mut file = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties))?;
    let mut rows = Rows::default();
    lines.each(&mut |line| {
        rows.take(&line, lines, masking);
        if rows.len() >= GROUP || rows.bytes >= GROUP_BYTES {
            rows.write(file.next_row_group()?)?;
            rows = Rows::default();
        }
        Ok(())
    })?;
    if rows.len() > 0 {
        rows.write(file.next_row_group()?)?;
    }
    Ok(out.write_all(&file.into_inner()?)?)
}

impl Rows {
    fn len(&self) -> usize {
        self.numbers.first().map_or(0, Vec::len)
    }

    fn take(&mut self, line: &Line, lines: &Lines<'_>, masking: &Masking) {
        let text = masking.line(line);
        self.bytes += text.len();
        let value: Value = match line.opaque {
            true => Value::Null,
            false => serde_json::from_str(&text).unwrap_or_default(),
        };
        let event = line.index.and_then(|index| lines.event(index));
        let payload = value.get("payload").unwrap_or(&Value::Null);
        let of =
            |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(ByteArray::from);
        let number = |value: &Value, key: &str| value.get(key).and_then(Value::as_i64);
        let masked = |text: Option<&str>| text.map(|it| ByteArray::from(&*masking.text(it)));
        let session = event.map(|it| match it.envelope.session {
            chipdeck_event::Session::Dialog => "dialog",
            chipdeck_event::Session::Exec => "exec",
        });
        let call = line
            .index
            .zip(event)
            .and_then(|(index, event)| call(index, event, lines));
        let content = ["content", "summary"]
            .iter()
            .find_map(|key| of(payload, key));
        let payload_text = match line.opaque {
            true => text,
            false => payload.to_string(),
        };
        let numbers = [
            line.index.map(i64::from),
            i64::try_from(line.line).ok().filter(|it| *it > 0),
            number(&value, "seq"),
            number(&value, "timestamp"),
            number(payload, "durationMs"),
        ];
        let texts = [
            (!line.file.is_empty()).then(|| ByteArray::from(&*line.file)),
            of(&value, "eventId"),
            of(&value, "traceId"),
            of(&value, "parentEventId"),
            of(&value, "correlationId"),
            session.map(ByteArray::from),
            of(&value, "type"),
            masked(call.and_then(tool_name)),
            masked(call.map(|it| &*it.envelope.event_id)),
            of(payload, "status"),
            masked(event.and_then(|it| paths(it).last().copied())),
            content,
            Some(ByteArray::from(&*payload_text)),
        ];
        self.numbers
            .iter_mut()
            .zip(numbers)
            .for_each(|(list, it)| list.push(it));
        self.texts
            .iter_mut()
            .zip(texts)
            .for_each(|(list, it)| list.push(it));
    }

    fn write(&self, mut group: SerializedRowGroupWriter<'_, Vec<u8>>) -> Result<(), ParquetError> {
        let (mut numbers, mut texts) = (self.numbers.iter(), self.texts.iter());
        // Which columns of the schema are numbers.
        let is_number = |column: usize| matches!(column, 0 | 2 | 7 | 10 | 14);
        let mut at = 0;
        while let Some(column) = group.next_column()? {
            match is_number(at) {
                true => numbers
                    .next()
                    .map_or(Ok(()), |list| write_numbers(column, list))?,
                false => texts
                    .next()
                    .map_or(Ok(()), |list| write_texts(column, list))?,
            }
            at += 1;
        }
        group.close()?;
        Ok(())
    }
}

fn levels<T>(list: &[Option<T>]) -> Vec<i16> {
    list.iter().map(|it| i16::from(it.is_some())).collect()
}

fn write_numbers(
    mut column: SerializedColumnWriter<'_>,
    list: &[Option<i64>],
) -> Result<(), ParquetError> {
    let values: Vec<i64> = list.iter().flatten().copied().collect();
    let writer = column.typed::<Int64Type>();
    writer.write_batch(&values, Some(&levels(list)), None)?;
    column.close()
}

fn write_texts(
    mut column: SerializedColumnWriter<'_>,
    list: &[Option<ByteArray>],
) -> Result<(), ParquetError> {
    let values: Vec<ByteArray> = list.iter().flatten().cloned().collect();
    let writer = column.typed::<ByteArrayType>();
    writer.write_batch(&values, Some(&levels(list)), None)?;
    column.close()
}

/// The call of a call or a result.
fn call<'a>(index: u32, event: &'a Event, lines: &Lines<'a>) -> Option<&'a Event> {
    match &event.payload {
        Payload::ToolCall { .. } => Some(event),
        Payload::ToolResult { .. } | Payload::MessageToolResult { .. } => {
            lines.event(lines.log.timeline.counterpart(index)?)
        }
        _ => None,
    }
}

fn tool_name(event: &Event) -> Option<&str> {
    match &event.payload {
        Payload::ToolCall { tool_name, .. } => Some(tool_name),
        _ => None,
    }
}
