//! q16, channel statistics report: for each channel and day the numbers of q15, and the last minute seen. Stresses several exact distinct counts under many keys.

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
