//! q10, log to file system: every bid, written to files partitioned by day and minute. Stresses formatting and many open partitions of a file sink.

mod dataflow;
mod line;
mod oracle;
mod partition;

use crate::ksqldb::Column::{Field, Key};
use crate::ksqldb::Ksqldb;
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
    ksqldb: Ksqldb {
        sql: include_str!("ksqldb.sql"),
        columns: &[
            Key,
            Field("BIDDER"),
            Field("PRICE"),
            Field("DATE_TIME"),
            Field("EXTRA"),
            Field("DT"),
            Field("HM"),
        ],
        elements: None,
        deviation: Some("rows go to a topic, not to files"),
    },
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
