//! A key of the configuration: its default, what it allows, and how its text is read. Engine adapters declare theirs in
//! the same form, so that their mistakes are found before anything starts.

use std::fmt;
use std::time::Duration;

/// A key of a section.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Name within its section, dots allowed.
    pub name: &'static str,
    /// Value when nothing else is said.
    pub default: &'static str,
    /// What may be given.
    pub allowed: Allowed,
    /// What it does, one line.
    pub meaning: &'static str,
}

/// What a key allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allowed {
    /// A whole number in a range, both ends included.
    Count {
        /// Lowest.
        min: u64,
        /// Highest.
        max: u64,
    },
    /// A number of bytes up to this one.
    Bytes {
        /// Highest.
        max: u64,
    },
    /// Events per second.
    Rate,
    /// A length of time.
    Duration,
    /// `true` or `false`.
    Switch,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Any text.
    Text,
}

impl Allowed {
    /// Whether `text` is allowed.
    pub fn accepts(self, text: &str) -> bool {
        match self {
            Self::Count { min, max } => count(text).is_some_and(|value| (min..=max).contains(&value)),
            Self::Bytes { max } => bytes(text).is_some_and(|value| value <= max),
            Self::Rate => rate(text).is_some(),
            Self::Duration => duration(text).is_some(),
            Self::Switch => matches!(text, "true" | "false"),
            Self::Choice(words) => words.contains(&text),
            Self::Text => true,
        }
    }
}

impl fmt::Display for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count { min, max } => write!(f, "a whole number from {min} to {max}"),
            Self::Bytes { max } => {
                write!(f, "a number of bytes such as 512MiB, 2GiB or 2GB, up to {max}, or 0 for no limit")
            }
            Self::Rate => f.write_str("events per second such as 500000 or 10M, or 0 for no limit"),
            Self::Duration => f.write_str("a duration such as 500ms, 30s, 2m or 1h30m"),
            Self::Switch => f.write_str("true or false"),
            Self::Choice(words) => f.write_str(&words.join(", ")),
            Self::Text => f.write_str("any text"),
        }
    }
}

/// Suffixes of numbers, and how many decimal places each moves the point.
const SUFFIXES: [(char, u32); 5] = [('k', 3), ('K', 3), ('M', 6), ('G', 9), ('T', 12)];

/// Reads a whole number: `10000000`, `10_000_000`, `10M`, `2.5k`.
pub fn count(text: &str) -> Option<u64> {
    let (digits, places) = split_suffix(text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let all_digits =
        |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
    if !all_digits(whole) || !all_digits(fraction) || whole.starts_with('_') {
        return None;
    }
    let whole: u64 = whole.replace('_', "").parse().ok()?;
    let fraction = fraction.trim_end_matches('0');
    let missing = places.checked_sub(u32::try_from(fraction.len()).ok()?)?;
    let fraction: u64 = if fraction.is_empty() { 0 } else { fraction.parse().ok()? };
    whole
        .checked_mul(10u64.checked_pow(places)?)?
        .checked_add(fraction.checked_mul(10u64.checked_pow(missing)?)?)
}

/// Units of bytes, the longest first, and how many bytes each is.
const UNITS: [(&str, u64); 9] = [
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("B", 1),
];

/// Reads a number of bytes: `2GiB`, `1.5GB`, `500MB`, or a whole number in any form of [`count`].
pub fn bytes(text: &str) -> Option<u64> {
    let unit = UNITS.iter().find_map(|(unit, size)| Some((text.strip_suffix(unit)?, *size)));
    let Some((number, size)) = unit else { return count(text) };
    let (whole, fraction) = number.trim_end().split_once('.').unwrap_or((number.trim_end(), "0"));
    // A millionth of the unit is fine enough, and keeps the sum exact.
    let millionths = count(&format!("{fraction:0<6}")).filter(|_| (1..=6).contains(&fraction.len()))?;
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let whole = count(whole).filter(|_| digits(whole) && digits(fraction))?;
    whole.checked_mul(size)?.checked_add(millionths.checked_mul(size)? / 1_000_000)
}

/// Reads events per second: `500000`, `1.5M`.
pub fn rate(text: &str) -> Option<f64> {
    let (digits, places) = split_suffix(text);
    if !digits.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    let value: f64 = digits.replace('_', "").parse().ok()?;
    let value = value * 10f64.powi(i32::try_from(places).ok()?);
    value.is_finite().then_some(value)
}

/// Reads a length of time that is not negative: `500ms`, `30s`, `1h30m`.
pub fn duration(text: &str) -> Option<Duration> {
    let duration: jiff::SignedDuration = text.parse().ok()?;
    Duration::try_from(duration).ok()
}

fn split_suffix(text: &str) -> (&str, u32) {
    SUFFIXES
        .iter()
        .find_map(|(suffix, places)| Some((text.strip_suffix(*suffix)?, *places)))
        .unwrap_or((text, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_in_every_form() {
        for (text, value) in [
            ("0", Some(0)),
            ("10000000", Some(10_000_000)),
            ("10_000_000", Some(10_000_000)),
            ("10M", Some(10_000_000)),
            ("2.5k", Some(2500)),
            ("1.50M", Some(1_500_000)),
            ("18446744073709551615", Some(u64::MAX)),
            ("18446744073709551616", None),
            ("99999999999T", None),
            ("1.5", None),
            ("0.0001k", None),
            ("-1", None),
            ("+1", None),
            ("", None),
            ("M", None),
            ("_", None),
            ("1e6", None),
            ("ten", None),
        ] {
            assert_eq!(count(text), value, "{text:?}");
        }
    }

    #[test]
    fn bytes_are_read_in_every_form() {
        for (text, value) in [
            ("0", Some(0)),
            ("2GiB", Some(2 << 30)),
            ("1.5 GiB", Some(3 << 29)),
            ("2GB", Some(2_000_000_000)),
            ("0.25kB", Some(250)),
            ("64KiB", Some(65_536)),
            ("7B", Some(7)),
            ("512M", Some(512_000_000)),
            ("-1GiB", None),
            ("GiB", None),
            ("1.GiB", None),
            ("1kGiB", None),
            ("1 G i B", None),
            ("99999999999TiB", None),
        ] {
            assert_eq!(bytes(text), value, "{text:?}");
        }
    }

    #[test]
    fn rates_and_durations_are_read_in_every_form() {
        assert_eq!(rate("1.5M"), Some(1_500_000.0));
        assert_eq!(rate("0"), Some(0.0));
        assert_eq!(rate("-1"), None);
        assert_eq!(rate("inf"), None);
        assert_eq!(rate("nan"), None);
        assert_eq!(duration("500ms"), Some(Duration::from_millis(500)));
        assert_eq!(duration("1h30m"), Some(Duration::from_secs(5400)));
        assert_eq!(duration("2m"), Some(Duration::from_secs(120)));
        assert_eq!(duration("30"), None);
        assert_eq!(duration("-3s"), None);
        assert_eq!(duration(""), None);
    }
}
