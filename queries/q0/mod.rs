//! q0, pass-through: every bid, unchanged. Stresses the engine's own cost per event: source, hand-over, sink.

mod dataflow;
mod oracle;

use crate::ksqldb::Column::{Field, Key};
use crate::ksqldb::Ksqldb;
use crate::query::{Column, Query, integer, text, time};

/// The query.
pub static QUERY: Query = Query {
    name: "q0",
    title: "pass-through",
    question: "Every bid, unchanged.",
    stresses: "the engine's own cost per event: source, hand-over, sink",
    columns: COLUMNS,
    oracle: oracle::oracle,
    dataflow: dataflow::dataflow,
    flink_sql: &[include_str!("flink.sql")],
    ksqldb: Ksqldb {
        sql: include_str!("ksqldb.sql"),
        columns: &[Key, Field("BIDDER"), Field("PRICE"), Field("DATE_TIME"), Field("EXTRA")],
        elements: None,
        deviation: None,
    },
};

const COLUMNS: &[Column] = &[
    integer("auction"),
    integer("bidder"),
    integer("price"),
    time("dateTime"),
    text("extra"),
];
