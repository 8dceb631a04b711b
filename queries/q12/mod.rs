//! q12, processing-time windows: for each bidder the number of bids in each 10 s of processing time. Stresses windows on the clock of the engine.

mod dataflow;
mod oracle;

use crate::ksqldb::Column::{Field, Key};
use crate::ksqldb::Ksqldb;
use crate::query::{Column, Query, integer};

/// The query.
pub static QUERY: Query = Query {
    name: "q12",
    title: "processing-time windows",
    question: "For each bidder the number of bids in each 10 s of processing time.",
    stresses: "windows on the clock of the engine",
    columns: COLUMNS,
    oracle: oracle::oracle,
    dataflow: dataflow::dataflow,
    flink_sql: &[include_str!("flink.sql")],
    ksqldb: Ksqldb {
        sql: include_str!("ksqldb.sql"),
        columns: &[Key, Field("BID_COUNT")],
        elements: None,
        deviation: None,
    },
};

const COLUMNS: &[Column] = &[
    integer("bidder"),
    integer("bid_count"),
];
