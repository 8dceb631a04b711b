//! q17, auction statistics report: for each auction and day the numbers of bids in three ranks of price, and minimum, maximum, average and sum of the price. Stresses an unbounded aggregate with many keys.
//!
//! State: for each auction and day both keys, three counts, minimum and maximum of 8 bytes each, and a sum of 16: 72 bytes. Beside
//! them a hash table takes 6 to 11 bytes.

mod dataflow;
mod oracle;

use crate::query::{Column, Query, integer, text};

/// The query.
pub static QUERY: Query = Query {
    name: "q17",
    title: "auction statistics report",
    question: "For each auction and day the numbers of bids in three ranks of price, and minimum, maximum, average and sum of the price.",
    stresses: "an unbounded aggregate with many keys",
    columns: COLUMNS,
    oracle: oracle::oracle,
    dataflow: dataflow::dataflow,
    flink_sql: &[include_str!("flink.sql")],
};

const COLUMNS: &[Column] = &[
    integer("auction"),
    text("day"),
    integer("total_bids"),
    integer("rank1_bids"),
    integer("rank2_bids"),
    integer("rank3_bids"),
    integer("min_price"),
    integer("max_price"),
    integer("avg_price"),
    integer("sum_price"),
];
