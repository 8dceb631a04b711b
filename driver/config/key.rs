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
