//! q16, channel statistics report: for each channel and day the numbers of q15, and the last minute seen. Stresses several exact distinct counts under many keys.
//!
//! State: a report for each channel and day, 15 numbers of 8 bytes; under it the bidders and the auctions that were seen, and in
//! which ranks: an id of 8 bytes and a byte of ranks each. Ids are kept as distances of 4 bytes.

mod dataflow;
mod oracle;

use crate::query::{Column, Query, integer, text};

/// The query.
pub static QUERY: Query = Query {
    name: "q16",
    title: "channel statistics report",
    question: "For each channel and day the numbers of q15, and the last minute seen.",
    stresses: "several exact distinct counts under many keys",
    columns: COLUMNS,
    oracle: oracle::oracle,
    dataflow: dataflow::dataflow,
    flink_sql: &[include_str!("flink.sql")],
};

const COLUMNS: &[Column] = &[
    text("channel"),
    text("day"),
    text("minute"),
    integer("total_bids"),
    integer("rank1_bids"),
    integer("rank2_bids"),
    integer("rank3_bids"),
    integer("total_bidders"),
    integer("rank1_bidders"),
    integer("rank2_bidders"),
    integer("rank3_bidders"),
    integer("total_auctions"),
    integer("rank1_auctions"),
    integer("rank2_auctions"),
    integer("rank3_auctions"),
];
