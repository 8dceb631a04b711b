//! q19, auction top 10 price: for each auction its ten highest bids, ranked. Stresses top-n per key with retractions.
//!
//! State: each auction's id of 8 bytes and up to ten bids of 40, without the id. Beside them a list's head of 32 bytes, room in the
//! list for up to half as many bids again, and a hash table of 6 to 11 bytes an auction.

mod dataflow;
mod oracle;

use crate::ksqldb::Column::{Element, Key, Rank};
use crate::ksqldb::Ksqldb;
use crate::query::{Column, Query, integer};

/// The query.
pub static QUERY: Query = Query {
    name: "q19",
    title: "auction top 10 price",
    question: "For each auction its ten highest bids, ranked.",
    stresses: "top-n per key with retractions",
    columns: COLUMNS,
    oracle: oracle::oracle,
    dataflow: dataflow::dataflow,
    flink_sql: &[include_str!("flink.sql")],
    ksqldb: Ksqldb {
        sql: include_str!("ksqldb.sql"),
        columns: &[Key, Element("sort_col"), Rank],
        elements: Some("TOP10"),
        deviation: None,
    },
};

const COLUMNS: &[Column] = &[
    integer("auction"),
    integer("price"),
    integer("rank_number"),
];
