//! Times as agents write them, to Unix milliseconds.

use crate::time::iso_millis;

/// ISO 8601 with or without a zone. A local time without one is taken as UTC: nobody knows the machine's zone, and
/// the same log must give the same times everywhere.
pub(crate) fn iso(text: &str) -> Option<i64> {
    iso_millis(text).or_else(|| iso_millis(&format!("{}Z", text.trim())))
}

/// A number that may be seconds, milliseconds or microseconds since 1970, told by its size.
pub(crate) fn number(value: f64) -> Option<i64> {
    let positive = value.is_finite() && value > 0.0;
    match value {
        _ if !positive => None,
        v if v < 1e11 => Some((v * 1000.0).round() as i64),
        v if v < 1e14 => Some(v.round() as i64),
        v if v < 1e17 => Some((v / 1000.0).round() as i64),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_form_of_the_samples() {
        assert_eq!(iso("2026-01-29T01:29:10.744Z"), Some(1_769_650_150_744));
        assert_eq!(iso("2026-01-29T01:29:10.744123"), Some(1_769_650_150_744));
        assert_eq!(iso("2026-01-29T03:29:10+02:00"), Some(1_769_650_150_000));
        assert_eq!(iso("2026-01-29 01:29:10"), Some(1_769_650_150_000));
        assert_eq!(iso("[trimmed for fixture]"), None);
        assert_eq!(number(1_769_650_150.0), Some(1_769_650_150_000));
        assert_eq!(number(1_769_650_150_744.0), Some(1_769_650_150_744));
        assert_eq!(number(-1.0), None);
        assert_eq!(number(f64::NAN), None);
    }
}
