//! Answers: rows, their canonical text, and a digest that can be kept incrementally, in any order, in many places.
//! It is the same on every engine.

use std::fmt::{self, Write as _};
use std::ops::{Add, AddAssign};

use serde::{Deserialize, Serialize};

use crate::event::Texts;
use crate::generator::mix;

/// What a column of an answer holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// 64-bit integer.
    Integer,
    /// Time, epoch ms.
    Time,
    /// `DECIMAL(23,3)`.
    Decimal,
    /// Text.
    Text,
}

/// A column of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Name, as printed.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
}

/// A value of an answer's row.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Value {
    /// SQL null.
    Null,
    /// 64-bit integer.
    Integer(i64),
    /// Time, epoch ms.
    Time(i64),
    /// `DECIMAL(23,3)`, in thousandths.
    Decimal(i128),
    /// Text.
    Text(String),
}

/// A row of an answer: the values of the answer columns, in their order.
pub type Row = Vec<Value>;

/// Takes the values of one row in the order of the answer columns.
pub trait Columns {
    /// An integer.
    fn integer(&mut self, value: i64);
    /// A time, epoch ms.
    fn time(&mut self, epoch_ms: i64);
    /// A decimal with three places, in thousandths.
    fn decimal(&mut self, thousandths: i128);
    /// A text.
    fn text(&mut self, value: &str);
    /// Null.
    fn null(&mut self);
}

/// A row that an operator emits. It may hold more columns than the answer has.
pub trait Output: Clone + 'static {
    /// Hands over the values of the answer columns. `texts` are those of the stream.
    fn columns(&self, texts: &Texts, columns: &mut dyn Columns);

    /// +1: the row is added; -1: a row that was added before is taken back.
    fn difference(&self) -> i64 {
        1
    }
}

impl Columns for Row {
    fn integer(&mut self, value: i64) {
        self.push(Value::Integer(value));
    }
    fn time(&mut self, epoch_ms: i64) {
        self.push(Value::Time(epoch_ms));
    }
    fn decimal(&mut self, thousandths: i128) {
        self.push(Value::Decimal(thousandths));
    }
    fn text(&mut self, value: &str) {
        self.push(Value::Text(value.to_owned()));
    }
    fn null(&mut self) {
        self.push(Value::Null);
    }
}

/// Canonical text of one row: the columns joined by the byte 0x1F.
#[derive(Debug, Default)]
pub struct CanonicalText {
    text: String,
    columns: usize,
}

impl CanonicalText {
    /// The text so far.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Begins the next row; keeps the memory.
    pub fn clear(&mut self) {
        self.text.clear();
        self.columns = 0;
    }

    fn next(&mut self) -> &mut String {
        if self.columns > 0 {
            self.text.push('\x1f');
        }
        self.columns += 1;
        &mut self.text
    }

    fn display(&mut self, value: impl fmt::Display) {
        // Writing to a String cannot fail.
        let _ = write!(self.next(), "{value}");
    }
}

impl Columns for CanonicalText {
    fn integer(&mut self, value: i64) {
        self.display(value);
    }
    fn time(&mut self, epoch_ms: i64) {
        self.display(epoch_ms);
    }
    fn decimal(&mut self, thousandths: i128) {
        self.display(Thousandths(thousandths));
    }
    fn text(&mut self, value: &str) {
        self.next().push_str(value);
    }
    fn null(&mut self) {
        self.next().push_str("\\N");
    }
}

/// Shows a number of thousandths with three decimals, as `1234.500`.
#[derive(Clone, Copy, Debug)]
pub struct Thousandths(pub i128);

impl fmt::Display for Thousandths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let whole = self.0.unsigned_abs();
        write!(f, "{sign}{}.{:03}", whole / 1000, whole % 1000)
    }
}

/// Hands the values of a row to `columns`.
pub fn replay(row: &[Value], columns: &mut dyn Columns) {
    for value in row {
        match value {
            Value::Null => columns.null(),
            Value::Integer(value) => columns.integer(*value),
            Value::Time(value) => columns.time(*value),
            Value::Decimal(value) => columns.decimal(*value),
            Value::Text(value) => columns.text(value),
        }
    }
}

/// Number of rows and the wrapping sum of their hashes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Digest {
    /// Rows added less rows taken back.
    pub rows: i64,
    /// Sum over the rows of `mix(fnv1a64(canonical text))`, 16 hexadecimal digits.
    #[serde(rename = "digest", with = "hexadecimal")]
    pub sum: u64,
}

impl Digest {
    /// Adds (`difference` 1) or takes back (-1) a row, given by its canonical text.
    pub fn update(&mut self, canonical_text: &str, difference: i64) {
        self.rows += difference;
        let hash = mix(fnv1a64(canonical_text.as_bytes()));
        self.sum = self.sum.wrapping_add(hash.wrapping_mul(difference as u64));
    }

    /// Digest of whole rows.
    pub fn of<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Self {
        let mut digest = Self::default();
        let mut text = CanonicalText::default();
        for row in rows {
            text.clear();
            replay(row, &mut text);
            digest.update(text.as_str(), 1);
        }
        digest
    }
}

impl AddAssign for Digest {
    fn add_assign(&mut self, other: Self) {
        self.rows += other.rows;
        self.sum = self.sum.wrapping_add(other.sum);
    }
}

impl Add for Digest {
    type Output = Self;
    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:016x}", self.rows, self.sum)
    }
}

/// FNV-1a, 64 bits (Fowler, Noll, Vo).
fn fnv1a64(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

mod hexadecimal {
    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(sum: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format!("{sum:016x}"))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        let digits = String::deserialize(deserializer)?;
        u64::from_str_radix(&digits, 16)
            .map_err(|_bad| D::Error::custom(format!("digest {digits:?} is not 16 hexadecimal digits")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_text_follows_the_rules() {
        let mut text = CanonicalText::default();
        text.integer(-7);
        text.time(1_436_918_400_000);
        text.decimal(1_234_500);
        text.decimal(-5);
        text.text("a b");
        text.null();
        assert_eq!(text.as_str(), "-7\x1f1436918400000\x1f1234.500\x1f-0.005\x1fa b\x1f\\N");
    }

    #[test]
    fn fnv1a64_matches_the_published_vectors() {
        assert_eq!(fnv1a64(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a64(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a64(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn retraction_undoes_a_row_and_order_does_not_matter() {
        let mut a = Digest::default();
        a.update("x", 1);
        a.update("y", 1);
        a.update("x", -1);
        let mut b = Digest::default();
        b.update("y", 1);
        assert_eq!(a, b);
        b.update("z", 1);
        assert_ne!(a, b);
    }
}
