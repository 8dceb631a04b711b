//! q15, bidding statistics report: for each day the numbers of bids, of bidders and of auctions, in all and in three ranks of price. Stresses several exact distinct counts under one key.

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
