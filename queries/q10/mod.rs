//! q10, log to file system: every bid, written to files partitioned by day and minute. Stresses formatting and many open partitions of a file sink.

mod dataflow;
mod line;
mod oracle;
mod partition;

use crate::query::{Column, Query, integer, text, time};

/// The query.
pub static QUERY: Query = Query {
    name: "q10",
    title: "log to file system",
    question: "Every bid, written to files partitioned by day and minute.",
    stresses: "formatting and many open partitions of a file sink",
    columns: COLUMNS,
    oracle: oracle::oracle,
    dataflow: dataflow::dataflow,
    flink_sql: &[include_str!("flink.sql"), include_str!("answer/flink.sql")],
};

const COLUMNS: &[Column] = &[
    integer("auction"),
    integer("bidder"),
    integer("price"),
    time("dateTime"),
    text("extra"),
    text("dt"),
    text("hm"),
];
