//! q9, winning bids: for each auction its highest valid bid, the earliest of those at that price. Stresses a join bounded by columns of both sides, then the first of a ranking per key.

mod dataflow;
mod oracle;

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
};

const COLUMNS: &[Column] = &[
    integer("id"),
    integer("price"),
    time("bid_dateTime"),
];
