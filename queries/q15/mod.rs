//! q15, bidding statistics report: for each day the numbers of bids, of bidders and of auctions, in all and in three ranks of price. Stresses several exact distinct counts under one key.
//!
//! State: for each day the bidders and the auctions that were seen, and in which ranks: an id of 8 bytes and a byte of ranks each.
//! They are kept as bits, so that ids which lie close together take less.

mod dataflow;
mod oracle;

use crate::ksqldb::Column::{Field, Key};
use crate::ksqldb::Ksqldb;
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
    ksqldb: Ksqldb {
        sql: include_str!("ksqldb.sql"),
        columns: &[
            Key,
            Field("TOTAL_BIDS"),
            Field("RANK1_BIDS"),
            Field("RANK2_BIDS"),
            Field("RANK3_BIDS"),
            Field("TOTAL_BIDDERS"),
            Field("RANK1_BIDDERS"),
            Field("RANK2_BIDDERS"),
            Field("RANK3_BIDDERS"),
            Field("TOTAL_AUCTIONS"),
            Field("RANK1_AUCTIONS"),
            Field("RANK2_AUCTIONS"),
            Field("RANK3_AUCTIONS"),
        ],
        elements: None,
        deviation: None,
    },
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
