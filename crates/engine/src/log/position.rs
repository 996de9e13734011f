//! What the command line takes for N: `end`, a position, `@ms`, a time, an event id.

use chipdeck_replay::Timeline;

/// The position that a text names.
///
/// # Errors
/// One sentence: there is no such position or event.
pub fn position(timeline: &Timeline, text: &str) -> Result<u32, String> {
    if text == "end" {
        return Ok(timeline.len());
    }
    if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
        return match text.parse::<u32>() {
            Ok(n) if n <= timeline.len() => Ok(n),
            _ => Err(format!(
                "there is no position {text}: the log has {} entries",
                timeline.len()
            )),
        };
    }
    if let Some(time) = unix_ms(text) {
        return Ok(timeline.position_at_time(time));
    }
    let id = text.strip_prefix("id:").unwrap_or(text);
    timeline
        .index_of_event(id)
        .ok_or_else(|| format!("no event of the log has the id `{id}`"))
}

/// A time as text that is an N again: `2025-11-30T12:00:00.000Z`.
pub fn iso(unix_ms: i64) -> String {
    match chrono::DateTime::from_timestamp_millis(unix_ms) {
        Some(time) => time.format("%Y-%m-%dT%H:%M:%S%.3fZ").to_string(),
        None => format!("@{unix_ms}"),
    }
}

/// `@` and digits, or an ISO 8601 time with a zone.
fn unix_ms(text: &str) -> Option<i64> {
    if let Some(digits) = text.strip_prefix('@') {
        let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        // More digits than a time has: later than anything.
        return plain.then(|| digits.parse().unwrap_or(i64::MAX));
    }
    if !text.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    if let Ok(time) = chrono::DateTime::parse_from_rfc3339(text) {
        return Some(time.timestamp_millis());
    }
    let zoned = text
        .strip_suffix(['Z', 'z'])
        .map(|local| format!("{local}+0000"))
        .unwrap_or_else(|| text.to_owned());
    [
        "%Y-%m-%dT%H:%M:%S%.f%#z",
        "%Y-%m-%dT%H:%M%#z",
        "%Y%m%dT%H%M%S%.f%#z",
        "%Y%m%dT%H%M%#z",
        "%Y-%m-%d %H:%M:%S%.f%#z",
    ]
    .iter()
    .find_map(|format| chrono::DateTime::parse_from_str(&zoned, format).ok())
    .map(|time| time.timestamp_millis())
}

#[cfg(test)]
mod tests {
    use super::unix_ms;

    #[test]
    fn times() {
        let noon = 1_764_504_000_000;
        for text in [
            "@1764504000000",
            "2025-11-30T12:00:00Z",
            "2025-11-30T13:00:00+01:00",
            "2025-11-30T12:00Z",
            "20251130T120000Z",
            "2025-11-30T13:00+01",
            "2025-11-30T12:00:00.000z",
            "2025-11-30 12:00:00Z",
        ] {
            assert_eq!(unix_ms(text), Some(noon), "{text}");
        }
        for text in [
            "",
            "@",
            "@12a",
            "e12",
            "2025-11-30",
            "2025-11-30T12:00:00",
            "12",
            "-1",
        ] {
            assert_eq!(unix_ms(text), None, "{text}");
        }
        assert_eq!(unix_ms("@99999999999999999999"), Some(i64::MAX));
    }
}
