//! q8, monitor new users: persons who registered and opened an auction within the same 10 s window; one row for each. Stresses a windowed join with duplicates removed.

mod dataflow;
mod oracle;

use crate::ksqldb::Column::{KeyField};
use crate::ksqldb::Ksqldb;
use crate::query::{Column, Query, integer, text, time};

/// The query.
pub static QUERY: Query = Query {
    name: "q8",
    title: "monitor new users",
    question: "Persons who registered and opened an auction within the same 10 s window; one row for each.",
    stresses: "a windowed join with duplicates removed",
    columns: COLUMNS,
    oracle: oracle::oracle,
    dataflow: dataflow::dataflow,
    flink_sql: &[include_str!("flink.sql")],
    ksqldb: Ksqldb {
        sql: include_str!("ksqldb.sql"),
        columns: &[KeyField("ID"), KeyField("NAME"), KeyField("STARTTIME")],
        elements: None,
        deviation: None,
    },
};

const COLUMNS: &[Column] = &[
    integer("id"),
    text("name"),
    time("starttime"),
];
