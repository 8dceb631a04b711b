//! The answer of a query from the records of its sink: appended rows as they are, of a table the last record of each key.

mod field;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use nexmark_driver::engine::Output;
use nexmark_queries::Query;
use nexmark_queries::answer::{Digest, Digester, Kind, Row, Value, replay};
use nexmark_queries::ksqldb::Column;
use serde_json::value::RawValue;

use crate::script::Kind as Sink;

/// Fields of an object, as they stand in the text.
type Fields<'a> = HashMap<Cow<'a, str>, &'a RawValue>;

/// Takes the records of a sink and keeps what its answer needs.
#[derive(Debug)]
pub(crate) struct Answer {
    query: &'static Query,
    sink: Sink,
    /// Rows after this time come from the records that close the last windows.
    time_max: i64,
    keep_rows: bool,
    /// Of a table: the last value of each key.
    table: HashMap<Box<[u8]>, Box<[u8]>>,
    digester: Digester,
    rows: Vec<Row>,
}

impl Answer {
    /// Of a query whose sink is of that kind, for events up to `time_max`, epoch ms.
    pub(crate) fn new(query: &'static Query, sink: Sink, time_max: i64, output: Output) -> Self {
        Self {
            query,
            sink,
            time_max,
            // Rows that are to be added up have to be kept.
            keep_rows: output == Output::Rows || adds_up(query),
            table: HashMap::new(),
            digester: Digester::default(),
            rows: Vec::new(),
        }
    }

    /// Takes the next record of a partition. A record without a value takes the row of its key back.
    ///
    /// # Errors
    /// The record is not as the query's columns say.
    pub(crate) fn take(&mut self, key: Option<&[u8]>, value: Option<&[u8]>) -> Result<(), String> {
        match (self.sink, value) {
            (Sink::Stream, Some(value)) => self.add(key.unwrap_or_default(), value),
            (Sink::Stream, None) => Err("a stream has a record without a value".to_owned()),
            (Sink::Table, Some(value)) => {
                self.table.insert(key.unwrap_or_default().into(), value.into());
                Ok(())
            }
            (Sink::Table, None) => {
                self.table.remove(key.unwrap_or_default());
                Ok(())
            }
        }
    }

    /// The answer: its digest, and its rows where they were to be kept.
    ///
    /// # Errors
    /// A record is not as the query's columns say.
    pub(crate) fn finish(mut self) -> Result<(Digest, Vec<Row>), String> {
        for (key, value) in std::mem::take(&mut self.table) {
            self.add(&key, &value)?;
        }
        if adds_up(self.query) {
            self.rows = add_up(self.rows);
            return Ok((Digest::of(&self.rows), self.rows));
        }
        Ok((self.digester.digest(), self.rows))
    }

    fn add(&mut self, key: &[u8], value: &[u8]) -> Result<(), String> {
        let wrong = |problem: String| {
            let (key, value) = (String::from_utf8_lossy(key), String::from_utf8_lossy(value));
            format!(
                "{problem} in the record with key {key:?} and value {}",
                value.chars().take(300).collect::<String>()
            )
        };
        for row in rows(self.query, key, value).map_err(wrong)? {
            if time(self.query, &row).is_some_and(|time| time > self.time_max) {
                continue;
            }
            self.digester.row(1, |columns| replay(&row, columns));
            if self.keep_rows {
                self.rows.push(row);
            }
        }
        Ok(())
    }
}

/// Whether the rows of a query are parts of those of the answer: windows of the clock differ from run to run.
fn adds_up(query: &Query) -> bool {
    query.name == "q12"
}

/// Adds up the last column of rows that are the same in the others.
fn add_up(rows: Vec<Row>) -> Vec<Row> {
    let mut sums = BTreeMap::<Row, i64>::new();
    for mut row in rows {
        if let Some(Value::Integer(part)) = row.pop() {
            *sums.entry(row).or_default() += part;
        }
    }
    let whole = |(mut row, sum): (Row, i64)| {
        row.push(Value::Integer(sum));
        row
    };
    sums.into_iter().map(whole).collect()
}

/// The first time of a row.
fn time(query: &Query, row: &Row) -> Option<i64> {
    let at = query.columns.iter().position(|column| column.kind == Kind::Time)?;
    match row.get(at) {
        Some(Value::Time(time)) => Some(*time),
        _ => None,
    }
}

/// A time and so many ms.
fn later(time: Value, ms: i64) -> Result<Value, String> {
    match time {
        Value::Time(time) => Ok(Value::Time(time.saturating_add(ms))),
        other => Err(format!("{other:?} is no time")),
    }
}

/// The rows of one record.
fn rows(query: &Query, key: &[u8], value: &[u8]) -> Result<Vec<Row>, String> {
    let fields: Fields<'_> =
        serde_json::from_slice(value).map_err(|error| format!("the value is no object: {error}"))?;
    let Some(name) = query.ksqldb.elements else {
        return Ok(vec![row(query, key, &fields, None)?]);
    };
    let text = fields.get(name).ok_or_else(|| format!("no field {name}"))?.get();
    let bad = |error: serde_json::Error| format!("field {name} holds no structs: {error}");
    let elements: Vec<Fields<'_>> = if text.starts_with('{') {
        vec![serde_json::from_str(text).map_err(bad)?]
    } else {
        serde_json::from_str(text).map_err(bad)?
    };
    let element = |(place, element): (usize, &Fields<'_>)| row(query, key, &fields, Some((place, element)));
    elements.iter().enumerate().map(element).collect()
}

fn row(
    query: &Query,
    key: &[u8],
    fields: &Fields<'_>,
    element: Option<(usize, &Fields<'_>)>,
) -> Result<Row, String> {
    let columns = query.columns.iter().zip(query.ksqldb.columns);
    columns
        .map(|(column, place)| {
            let of = |fields: &Fields<'_>, name: &str| {
                let text = fields.get(name).ok_or_else(|| format!("no field {name}"))?.get();
                field::value(text, column.kind)
                    .map_err(|problem| format!("field {name} is {text}, {problem}"))
            };
            match *place {
                Column::Key => field::key(key, column.kind),
                Column::KeyPlus(ms) => later(field::key(key, column.kind)?, ms),
                Column::FieldPlus(name, ms) => later(of(fields, name)?, ms),
                Column::KeyBefore(mark) => Ok(Value::Text(field::split(key, mark)?.0.to_owned())),
                Column::KeyAfter(mark) => Ok(Value::Text(field::split(key, mark)?.1.to_owned())),
                Column::JsonKey => field::value(field::text(key)?, column.kind),
                Column::KeyField(name) => {
                    let fields: Fields<'_> = serde_json::from_slice(key)
                        .map_err(|error| format!("the key is no object: {error}"))?;
                    of(&fields, name)
                }
                Column::Field(name) => of(fields, name),
                Column::Element(name) => match element {
                    Some((_, element)) => of(element, name),
                    None => Err(format!("no element for column {}", column.name)),
                },
                Column::Rank => match element {
                    Some((place, _)) => Ok(Value::Integer(place as i64 + 1)),
                    None => Err(format!("no element for column {}", column.name)),
                },
                Column::Null => Ok(Value::Null),
            }
        })
        .collect()
}
