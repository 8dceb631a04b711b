//! q23, three-way join: bids with their bidder and every auction that this bidder sells. Stresses two unwindowed joins, with a result larger than the input.
//!
//! State: every bid, 32 bytes, 72 if an id or the price needs more than 32 bits, every auction, 80, and every person, 96. Up to four
//! workers share auctions and persons; each has 12 bytes for every one of them. Rows are linked by person, whose id stands not in
//! a bid but once in a hash table, 29 to 57 bytes on each worker that has rows of it.

mod dataflow;
mod oracle;

use crate::ksqldb::Column::{Field, Key};
use crate::ksqldb::Ksqldb;
use crate::query::{Column, Query, integer, text, time};

/// The query.
pub static QUERY: Query = Query {
    name: "q23",
    title: "three-way join",
    question: "Bids with their bidder and every auction that this bidder sells.",
    stresses: "two unwindowed joins, with a result larger than the input",
    columns: COLUMNS,
    oracle: oracle::oracle,
    dataflow: dataflow::dataflow,
    flink_sql: &[include_str!("flink.sql")],
    ksqldb: Ksqldb {
        sql: include_str!("ksqldb.sql"),
        columns: &[
            Field("AUCTION"),
            Key,
            Field("PRICE"),
            Field("CHANNEL"),
            Field("URL"),
            Field("BID_DATE_TIME"),
            Field("BID_EXTRA"),
            Field("NAME"),
            Field("EMAIL_ADDRESS"),
            Field("CREDIT_CARD"),
            Field("CITY"),
            Field("STATE"),
            Field("PERSON_EXTRA"),
            Field("AUCTION_ID"),
            Field("ITEM_NAME"),
            Field("DESCRIPTION"),
            Field("INITIAL_BID"),
            Field("RESERVE"),
            Field("AUCTION_DATE_TIME"),
            Field("EXPIRES"),
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
    text("name"),
    text("emailAddress"),
    text("creditCard"),
    text("city"),
    text("state"),
    text("person_extra"),
    integer("auction_id"),
    text("itemName"),
    text("description"),
    integer("initialBid"),
    integer("reserve"),
    time("auction_dateTime"),
    time("expires"),
    integer("category"),
    text("auction_extra"),
];
