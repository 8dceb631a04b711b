//! q20, expand bid with auction: bids on auctions of category 10, with all columns of both, however far apart the two arrive. Stresses an unwindowed join with a large side in state.
//!
//! State: every bid, 32 bytes, 72 if an id or the price needs more than 32 bits, and every auction of the category, 88 bytes that
//! all workers share, and 12 more on each. Rows are linked by auction, whose id stands not in the bid but once in a hash table of
//! every worker that has bids of it, 19 to 39 bytes.

mod dataflow;
mod oracle;

use crate::ksqldb::Column::{Field, Key};
use crate::ksqldb::Ksqldb;
use crate::query::{Column, Query, integer, text, time};

/// The query.
pub static QUERY: Query = Query {
    name: "q20",
    title: "expand bid with auction",
    question: "Bids on auctions of category 10, with all columns of both, however far apart the two arrive.",
    stresses: "an unwindowed join with a large side in state",
    columns: COLUMNS,
    oracle: oracle::oracle,
    dataflow: dataflow::dataflow,
    flink_sql: &[include_str!("flink.sql")],
    ksqldb: Ksqldb {
        sql: include_str!("ksqldb.sql"),
        columns: &[
            Key,
            Field("BIDDER"),
            Field("PRICE"),
            Field("CHANNEL"),
            Field("URL"),
            Field("BID_DATE_TIME"),
            Field("BID_EXTRA"),
            Field("ITEM_NAME"),
            Field("DESCRIPTION"),
            Field("INITIAL_BID"),
            Field("RESERVE"),
            Field("AUCTION_DATE_TIME"),
            Field("EXPIRES"),
            Field("SELLER"),
            Field("CATEGORY"),
            Field("AUCTION_EXTRA"),
        ],
        elements: None,
        deviation: None,
    },
};

const COLUMNS: &[Column] = &[
    integer("auction"),
    integer("bidder"),
    integer("price"),
    text("channel"),
    text("url"),
    time("bid_dateTime"),
    text("bid_extra"),
    text("itemName"),
    text("description"),
    integer("initialBid"),
    integer("reserve"),
    time("auction_dateTime"),
    time("expires"),
    integer("seller"),
    integer("category"),
    text("auction_extra"),
];
