//! ISO 8601 texts to Unix milliseconds, by arithmetic: no clock and no time zone of this machine.

/// `2025-11-30T10:53:20.250Z`, also with `+hh:mm`, a blank for the `T`, any number of digits of a second. `None`
/// without a zone: such a time could be anywhere.
pub(crate) fn iso_millis(text: &str) -> Option<i64> {
    let text = text.trim();
    let date = text.get(..10)?;
    let rest = text.get(10..)?.strip_prefix(['T', 't', ' '])?;
    let mut parts = date.split('-');
    let (year, month, day) = (
        digits(parts.next()?)?,
        digits(parts.next()?)?,
        digits(parts.next()?)?,
    );
    let zone_at = rest.find(['Z', 'z', '+', '-'])?;
    let (clock, zone) = rest.split_at(zone_at);
    let (hms, fraction) = clock.split_once(['.', ',']).unwrap_or((clock, ""));
    let mut parts = hms.split(':');
    let (hour, minute) = (digits(parts.next()?)?, digits(parts.next()?)?);
    let second = parts.next().map_or(Some(0), digits)?;
    let millis = if fraction.is_empty() {
        0
    } else {
        digits(format!("{fraction:0<3}").get(..3)?)?
    };
    if !(1..=12).contains(&month)
        || !(1..=31).contains(&day)
        || hour > 24
        || minute > 59
        || second > 60
    {
        return None;
    }
    let offset = match zone {
        "Z" | "z" => 0,
        _ => {
            let sign = if zone.starts_with('-') { -1 } else { 1 };
            let hhmm: String = zone.chars().filter(char::is_ascii_digit).collect();
            let hours = digits(hhmm.get(..2)?)?;
            let minutes = hhmm.get(2..4).map_or(Some(0), digits)?;
            sign * (hours * 60 + minutes)
        }
    };
    let seconds = days(year, month, day) * 86_400 + hour * 3_600 + (minute - offset) * 60 + second;
    Some(seconds * 1000 + millis)
}

fn digits(text: &str) -> Option<i64> {
    (!text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse().ok())?
}

/// Days from 1970-01-01 (the civil calendar, counted from March so that the leap day is last).
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::iso_millis;

    #[test]
    fn known_times() {
        assert_eq!(iso_millis("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(
            iso_millis("2025-11-30T10:53:20.250Z"),
            Some(1_764_500_000_250)
        );
        assert_eq!(
            iso_millis("2025-11-30 12:53:20.250123+02:00"),
            Some(1_764_500_000_250)
        );
        assert_eq!(
            iso_millis("2024-02-29T23:59:59-0030"),
            Some(1_709_252_999_000)
        );
        assert_eq!(iso_millis("2025-11-30T10:53:20"), None, "no zone");
        assert_eq!(iso_millis("soon"), None);
        assert_eq!(iso_millis("ééééééééééé"), None);
    }
}
