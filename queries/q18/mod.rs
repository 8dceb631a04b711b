//! q18, find last bid: for each bidder and auction the latest bid. Stresses deduplication: the last row per key, with many keys and whole rows as state.
//!
//! State: for each bidder and auction one bid of 32 bytes, 80 if an id or the price needs more than 32 bits. Beside them a hash
//! table takes 6 to 11 bytes.

mod dataflow;
mod oracle;

use crate::ksqldb::Column::{Field, KeyField};
use crate::ksqldb::Ksqldb;
use crate::query::{Column, Query, integer, time};

/// The query.
pub static QUERY: Query = Query {
    name: "q18",
    title: "find last bid",
    question: "For each bidder and auction the latest bid.",
    stresses: "deduplication: the last row per key, with many keys and whole rows as state",
    columns: COLUMNS,
    oracle: oracle::oracle,
    dataflow: dataflow::dataflow,
    flink_sql: &[include_str!("flink.sql")],
    ksqldb: Ksqldb {
        sql: include_str!("ksqldb.sql"),
        columns: &[KeyField("AUCTION"), KeyField("BIDDER"), Field("DATE_TIME")],
        elements: None,
        deviation: Some("the latest bid is the one that arrived last"),
    },
};

const COLUMNS: &[Column] = &[
    integer("auction"),
    integer("bidder"),
    time("dateTime"),
];
