//! q16, channel statistics report: for each channel and day the numbers of q15, and the last minute seen. Stresses several exact distinct counts under many keys.
//!
//! State: a report for each channel and day, 15 numbers of 8 bytes; under it the bidders and the auctions that were seen, and in
//! which ranks: an id of 8 bytes and a byte of ranks each. Ids are kept as distances of 4 bytes.

mod dataflow;
mod oracle;

use crate::ksqldb::Column::{Field, KeyAfter, KeyBefore};
use crate::ksqldb::Ksqldb;
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
    ksqldb: Ksqldb {
        sql: include_str!("ksqldb.sql"),
        columns: &[
            KeyBefore('|'),
            KeyAfter('|'),
            Field("MI"),
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
