//! Values in the records of ksqlDB: JSON as it writes it, and keys in format KAFKA.

use nexmark_queries::answer::{Kind, Value};

/// Decimal places of `DECIMAL(23,3)`.
const PLACES: usize = 3;

/// Value of a JSON text.
pub(super) fn value(text: &str, kind: Kind) -> Result<Value, String> {
    if text == "null" {
        return Ok(Value::Null);
    }
    match kind {
        Kind::Integer => integer(text).map(Value::Integer),
        Kind::Time => integer(text).map(Value::Time),
        Kind::Decimal => thousandths(text).map(Value::Decimal),
        Kind::Text => {
            serde_json::from_str(text).map(Value::Text).map_err(|_other| "expected a string".to_owned())
        }
    }
}

/// Value of a key in format KAFKA. The window of a windowed key follows its 8 bytes.
pub(super) fn key(bytes: &[u8], kind: Kind) -> Result<Value, String> {
    let number = || {
        let number = bytes.first_chunk().map(|bytes| i64::from_be_bytes(*bytes));
        number.ok_or_else(|| format!("the key has {} bytes, expected 8 of a number", bytes.len()))
    };
    match kind {
        Kind::Integer => number().map(Value::Integer),
        Kind::Time => number().map(Value::Time),
        Kind::Text => text(bytes).map(|text| Value::Text(text.to_owned())),
        Kind::Decimal => Err("a key cannot be a decimal".to_owned()),
    }
}

/// A key as text.
pub(super) fn text(bytes: &[u8]) -> Result<&str, String> {
    std::str::from_utf8(bytes).map_err(|error| format!("the key is no text: {error}"))
}

/// A key's text before and after the last mark.
pub(super) fn split(bytes: &[u8], mark: char) -> Result<(&str, &str), String> {
    text(bytes)?.rsplit_once(mark).ok_or_else(|| format!("the key has no {mark:?}"))
}

/// A whole number; averages are floating-point numbers in ksqlDB and truncated here.
fn integer(text: &str) -> Result<i64, String> {
    if let Ok(number) = text.parse() {
        return Ok(number);
    }
    match text.parse::<f64>() {
        // The cast truncates.
        Ok(number) if number.abs() < i64::MAX as f64 => Ok(number as i64),
        _ => Err("expected a number".to_owned()),
    }
}

/// A decimal with three places or fewer.
fn thousandths(text: &str) -> Result<i128, String> {
    let bad = || "expected a decimal with up to three places".to_owned();
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |digits| (-1, digits));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !all_digits(whole) || !all_digits(fraction) || fraction.len() > PLACES {
        return Err(bad());
    }
    let number: i128 = format!("{whole}{fraction:0<PLACES$}").parse().map_err(|_long| bad())?;
    Ok(sign * number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_read_exactly() {
        for (text, kind, expected) in [
            ("17", Kind::Integer, Value::Integer(17)),
            ("9223372036854775807", Kind::Integer, Value::Integer(i64::MAX)),
            ("3.140642110447761E7", Kind::Integer, Value::Integer(31_406_421)),
            ("-0.5", Kind::Integer, Value::Integer(0)),
            ("1795917600040", Kind::Time, Value::Time(1_795_917_600_040)),
            ("39507.080", Kind::Decimal, Value::Decimal(39_507_080)),
            ("-7.5", Kind::Decimal, Value::Decimal(-7_500)),
            ("12345678901234567890.123", Kind::Decimal, Value::Decimal(12_345_678_901_234_567_890_123)),
            ("\"a\\\"b\\u00e4\"", Kind::Text, Value::Text("a\"bä".to_owned())),
            ("null", Kind::Text, Value::Null),
        ] {
            assert_eq!(value(text, kind), Ok(expected), "{text}");
        }
        for (text, kind) in [
            ("\"7\"", Kind::Integer),
            ("1e400", Kind::Time),
            ("1.2345", Kind::Decimal),
            ("1E3", Kind::Decimal),
            ("7", Kind::Text),
        ] {
            assert!(value(text, kind).unwrap_err().starts_with("expected"), "{text}");
        }
    }

    #[test]
    fn keys_are_read_by_kind() {
        let windowed = [0, 0, 0, 0, 0, 0, 3, 0xee, 1, 2, 3, 4, 5, 6, 7, 8];
        assert_eq!(key(&windowed, Kind::Integer), Ok(Value::Integer(1006)));
        assert_eq!(key(b"2026-11-29", Kind::Text), Ok(Value::Text("2026-11-29".to_owned())));
        assert!(key(b"1234567", Kind::Integer).unwrap_err().contains("7 bytes"));
        assert_eq!(split(b"a|b|2026", '|'), Ok(("a|b", "2026")));
        assert!(split(b"a", '|').is_err() && text(&[0xff]).is_err());
    }
}
