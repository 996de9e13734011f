//! A 64-bit float as the server writes it.

/// Appends `x` with the shortest digits that read back as the same float: plain decimal for 1e-6 ≤ |x| < 1e21, else
/// `d.ddd` with a signed exponent. `x` must be finite (the reader lets nothing else in); otherwise `null` is written.
pub(crate) fn write_number(x: f64, out: &mut String) {
    use std::fmt::Write;
    if !x.is_finite() {
        out.push_str("null");
        return;
    }
    let size = x.abs();
    // Writing to a string can't fail.
    if size == 0.0 || (1e-6..1e21).contains(&size) {
        let _ = write!(out, "{x}");
        return;
    }
    let text = format!("{x:e}");
    match text.split_once('e') {
        Some((digits, exponent)) => {
            out.push_str(digits);
            out.push('e');
            if !exponent.starts_with('-') {
                out.push('+');
            }
            out.push_str(exponent);
        }
        None => out.push_str(&text),
    }
}
