//! q9, winning bids: for each auction its highest valid bid, the earliest of those at that price. Stresses a join bounded by columns of both sides, then the first of a ranking per key.

mod dataflow;
mod oracle;

use crate::ksqldb::Column::{Element, Key};
use crate::ksqldb::Ksqldb;
use crate::query::{Column, Query, integer, time};

/// The query.
pub static QUERY: Query = Query {
    name: "q9",
    title: "winning bids",
    question: "For each auction its highest valid bid, the earliest of those at that price.",
    stresses: "a join bounded by columns of both sides, then the first of a ranking per key",
    columns: COLUMNS,
    oracle: oracle::oracle,
    dataflow: dataflow::dataflow,
    flink_sql: &[include_str!("flink.sql")],
    ksqldb: Ksqldb {
        sql: include_str!("ksqldb.sql"),
        columns: &[Key, Element("sort_col"), Element("col1")],
        elements: Some("WIN"),
        deviation: Some("of bids at the same price the one that arrived first wins"),
    },
};

const COLUMNS: &[Column] = &[
    integer("id"),
    integer("price"),
    time("bid_dateTime"),
];
