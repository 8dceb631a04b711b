//! q5, hot items: for each 10 s window, every 2 s, the auctions with the most bids in it; all of them when several tie. Stresses overlapping windows over many keys, and a maximum over their counts.

mod dataflow;
mod oracle;

use crate::ksqldb::Column::{Element, Key, KeyPlus};
use crate::ksqldb::Ksqldb;
use crate::query::{Column, Query, integer, time};

/// The query.
pub static QUERY: Query = Query {
    name: "q5",
    title: "hot items",
    question: "For each 10 s window, every 2 s, the auctions with the most bids in it; all of them when several tie.",
    stresses: "overlapping windows over many keys, and a maximum over their counts",
    columns: COLUMNS,
    oracle: oracle::oracle,
    dataflow: dataflow::dataflow,
    flink_sql: &[include_str!("flink.sql")],
    ksqldb: Ksqldb {
        sql: include_str!("ksqldb.sql"),
        columns: &[Element("col0"), Element("sort_col"), Key, KeyPlus(10_000)],
        elements: Some("HOT"),
        deviation: Some("of auctions that tie at most 100 are kept"),
    },
};

const COLUMNS: &[Column] = &[
    integer("auction"),
    integer("num"),
    time("starttime"),
    time("endtime"),
];
