//! Answers: rows, their canonical text, and a digest that can be kept incrementally, in any order, in many places.
//! It is the same on every engine.

mod hash;

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
}

impl Columns for CanonicalText {
    fn integer(&mut self, value: i64) {
        self.next().push_str(itoa::Buffer::new().format(value));
    }
    fn time(&mut self, epoch_ms: i64) {
        self.integer(epoch_ms);
    }
    fn decimal(&mut self, thousandths: i128) {
        // Writing to a String cannot fail.
        let _ = write!(self.next(), "{}", Thousandths(thousandths));
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
    /// Digest of whole rows.
    pub fn of<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Self {
        let mut digester = Digester::default();
        rows.into_iter().for_each(|row| digester.row(1, |columns| replay(row, columns)));
        digester.digest()
    }

    fn add_hash(&mut self, hash: u64, difference: i64) {
        self.rows += difference;
        self.sum = self.sum.wrapping_add(mix(hash).wrapping_mul(difference as u64));
    }
}

/// Keeps a [`Digest`] of rows that come and go.
#[derive(Debug, Default)]
pub struct Digester {
    digest: Digest,
    /// Rows that are not in the digest yet, one after the other.
    text: CanonicalText,
    /// Where each of them ends, and its difference.
    rows: Vec<(usize, i64)>,
}

impl Digester {
    /// Rows that are hashed at a time: their text stays in the innermost cache.
    const ROWS: usize = 64;

    /// Adds (`difference` 1) or takes back (-1) a row, whose values `columns` hands over.
    pub fn row(&mut self, difference: i64, columns: impl FnOnce(&mut dyn Columns)) {
        self.text.columns = 0;
        columns(&mut self.text);
        self.rows.push((self.text.as_str().len(), difference));
        if self.rows.len() == Self::ROWS {
            self.hash();
        }
    }

    /// Digest of all rows so far.
    pub fn digest(&mut self) -> Digest {
        self.hash();
        self.digest
    }

    fn hash(&mut self) {
        let Self { digest, text, rows } = self;
        let (text, mut from) = (text.as_str().as_bytes(), 0);
        let texts: Vec<&[u8]> =
            rows.iter().map(|(to, _difference)| &text[std::mem::replace(&mut from, *to)..*to]).collect();
        hash::fnv1a64_each(&texts, |number, hash| digest.add_hash(hash, rows[number].1));
        self.text.clear();
        self.rows.clear();
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

    fn digest(rows: &[(&str, i64)]) -> Digest {
        let mut digester = Digester::default();
        rows.iter().for_each(|(text, difference)| digester.row(*difference, |columns| columns.text(text)));
        digester.digest()
    }

    #[test]
    fn retraction_undoes_a_row_and_order_does_not_matter() {
        assert_eq!(digest(&[("x", 1), ("y", 1), ("x", -1)]), digest(&[("y", 1)]));
        assert_eq!(digest(&[("x", 1), ("y", 1)]), digest(&[("y", 1), ("x", 1)]));
        assert_ne!(digest(&[("y", 1), ("z", 1)]), digest(&[("y", 1)]));
    }

    #[test]
    fn a_digest_is_the_same_whenever_it_is_looked_at() {
        let mut digester = Digester::default();
        let mut sum = Digest::default();
        for number in 0..1000 {
            let row = vec![Value::Integer(number), Value::Text("z".repeat(number as usize % 7))];
            digester.row(1, |columns| replay(&row, columns));
            sum += Digest::of([&row]);
            if number % 77 == 0 {
                assert_eq!(digester.digest(), sum);
            }
        }
        assert_eq!((digester.digest(), sum.rows), (sum, 1000));
    }
}
