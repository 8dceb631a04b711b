//! q15, bidding statistics report: for each day the numbers of bids, of bidders and of auctions, in all and in three ranks of price. Stresses several exact distinct counts under one key.
//!
//! State: for each day the bidders and the auctions that were seen, and in which ranks: an id of 8 bytes and a byte of ranks each.
//! They are kept as bits, so that ids which lie close together take less.

mod dataflow;
mod oracle;

use crate::query::{Column, Query, integer, text};

/// The query.
pub static QUERY: Query = Query {
    name: "q15",
    title: "bidding statistics report",
    question: "For each day the numbers of bids, of bidders and of auctions, in all and in three ranks of price.",
    stresses: "several exact distinct counts under one key",
    columns: COLUMNS,
    oracle: oracle::oracle,
    dataflow: dataflow::dataflow,
    flink_sql: &[include_str!("flink.sql")],
};

const COLUMNS: &[Column] = &[
    text("day"),
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
