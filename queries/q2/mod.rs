//! q2, selection: the bids on every 123rd auction. Stresses a selective filter.

mod dataflow;
mod oracle;

use crate::ksqldb::Column::{Field, Key};
use crate::ksqldb::Ksqldb;
use crate::query::{Column, Query, integer};

/// The query.
pub static QUERY: Query = Query {
    name: "q2",
    title: "selection",
    question: "The bids on every 123rd auction.",
    stresses: "a selective filter",
    columns: COLUMNS,
    oracle: oracle::oracle,
    dataflow: dataflow::dataflow,
    flink_sql: &[include_str!("flink.sql")],
    ksqldb: Ksqldb {
        sql: include_str!("ksqldb.sql"),
        columns: &[Key, Field("PRICE")],
        elements: None,
        deviation: None,
    },
};

const COLUMNS: &[Column] = &[
    integer("auction"),
    integer("price"),
];
