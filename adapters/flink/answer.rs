//! What the sink leaves behind in the accumulators of a finished job: how many rows it took, the answer's digest, and its rows.

use nexmark_driver::engine::EngineError;
use nexmark_queries::Query;
use nexmark_queries::answer::{Column, Digest, Kind, Row, Value};

use crate::replies::{Accumulator, Accumulators};

/// Between two columns.
const SEPARATOR: char = '\x1f';
/// SQL null.
const NULL: &str = "\\N";

/// Changes that reached the sink; `None` for a job without that sink.
pub(crate) fn records(accumulators: &Accumulators) -> Option<u64> {
    find(accumulators, "nexmark.records")?.value.parse().ok()
}

/// The answer's digest.
pub(crate) fn digest(accumulators: &Accumulators) -> Result<Digest, EngineError> {
    let sum = integer(accumulators, "nexmark.digest")?;
    Ok(Digest { rows: integer(accumulators, "nexmark.rows")?, sum: sum.cast_unsigned() })
}

fn integer(accumulators: &Accumulators, name: &str) -> Result<i64, EngineError> {
    let value = &required(accumulators, name)?.value;
    value
        .parse()
        .map_err(|_bad| EngineError::new(format!("accumulator {name} is {value:?}, which is no number")))
}

/// The rows of the answer, each as often as it is in it.
pub(crate) fn rows(accumulators: &Accumulators, query: &Query) -> Result<Vec<Row>, EngineError> {
    let mut rows = Vec::new();
    for line in required(accumulators, "nexmark.answer")?.value.lines() {
        let damaged = || {
            EngineError::new(format!(
                "accumulator nexmark.answer holds the line {line:?}, which is no row of {}",
                query.name
            ))
        };
        let (count, text) = line.split_once(' ').ok_or_else(damaged)?;
        let count: usize = count.parse().map_err(|_bad| damaged())?;
        let row = row(text, query.columns).ok_or_else(damaged)?;
        rows.extend(std::iter::repeat_n(row, count));
    }
    Ok(rows)
}

fn row(text: &str, columns: &[Column]) -> Option<Row> {
    let texts: Vec<&str> = text.split(SEPARATOR).collect();
    let fits = texts.len() == columns.len();
    columns
        .iter()
        .zip(texts)
        .map(|(column, text)| value(text, column.kind))
        .collect::<Option<Row>>()
        .filter(|_| fits)
}

fn value(text: &str, kind: Kind) -> Option<Value> {
    if text == NULL {
        return Some(Value::Null);
    }
    Some(match kind {
        Kind::Integer => Value::Integer(text.parse().ok()?),
        Kind::Time => Value::Time(text.parse().ok()?),
        Kind::Decimal => Value::Decimal(thousandths(text)?),
        Kind::Text => Value::Text(text.to_owned()),
    })
}

/// A decimal with three places.
fn thousandths(text: &str) -> Option<i128> {
    let (whole, places) = text.split_once('.').filter(|(_, places)| places.len() == 3)?;
    format!("{whole}{places}").parse().ok()
}

fn find<'a>(accumulators: &'a Accumulators, name: &str) -> Option<&'a Accumulator> {
    accumulators.user_task_accumulators.iter().find(|accumulator| accumulator.name == name)
}

fn required<'a>(accumulators: &'a Accumulators, name: &str) -> Result<&'a Accumulator, EngineError> {
    find(accumulators, name)
        .ok_or_else(|| EngineError::new(format!("the finished job has no accumulator {name}")))
}

#[cfg(test)]
mod tests {
    use nexmark_queries::answer::{CanonicalText, replay};

    use super::*;

    fn left(entries: &[(&str, &str)]) -> Accumulators {
        let accumulator = |(name, value): &(&str, &str)| Accumulator {
            name: (*name).to_owned(),
            value: (*value).to_owned(),
        };
        Accumulators { user_task_accumulators: entries.iter().map(accumulator).collect() }
    }

    #[test]
    fn a_digest_is_a_signed_number() {
        let left = left(&[("nexmark.rows", "6"), ("nexmark.records", "8"), ("nexmark.digest", "-1")]);
        assert_eq!(digest(&left).unwrap(), Digest { rows: 6, sum: u64::MAX });
        assert_eq!(records(&left), Some(8));
    }

    #[test]
    fn rows_come_back_as_they_were() {
        let query = nexmark_queries::find("q1").unwrap();
        let one: Row = vec![
            Value::Integer(-7),
            Value::Null,
            Value::Decimal(-5),
            Value::Time(1_436_918_400_000),
            Value::Text("a b\"\\".to_owned()),
        ];
        let mut text = CanonicalText::default();
        replay(&one, &mut text);
        let lines = format!("2 {}\n", text.as_str());
        let rows = rows(&left(&[("nexmark.answer", &lines)]), query).unwrap();
        assert_eq!(rows, [one.clone(), one]);
    }

    #[test]
    fn what_is_absent_or_damaged_is_named() {
        let query = nexmark_queries::find("q2").unwrap();
        assert!(digest(&left(&[])).unwrap_err().message.contains("no accumulator nexmark.digest"));
        assert!(digest(&left(&[("nexmark.digest", "x")])).unwrap_err().message.contains("\"x\""));
        for bad in ["1", "x 1\x1f2", "1 1", "1 1\x1f2\x1f3", "1 1\x1ftwo", "-1 1\x1f2"] {
            let message = rows(&left(&[("nexmark.answer", bad)]), query).unwrap_err().message;
            assert!(message.contains("no row of q2"), "{bad}: {message}");
        }
        assert_eq!(rows(&left(&[("nexmark.answer", "")]), query).unwrap(), Vec::<Row>::new());
    }
}
