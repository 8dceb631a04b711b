//! q6, average selling price by seller: for each auction that was bid on, the average of the winning prices of its seller's last ten such auctions up to it, in the order of (expires, id). Stresses ordered history per key over the result of a join.
//!
//! State: open auctions and the bids of the last seconds, which the watermark bounds, and for good the last ten prices of each
//! seller: 32 bytes a seller, 6 to 11 in a hash table, and 8 a price. Memory grows with the sellers that have sold.

mod dataflow;
mod oracle;

use crate::ksqldb::Column::{Field, Key, Null};
use crate::ksqldb::Ksqldb;
use crate::query::{Column, Query, integer};

/// The query.
pub static QUERY: Query = Query {
    name: "q6",
    title: "average selling price by seller",
    question: "For each auction that was bid on, the average of the winning prices of its seller's last ten such auctions up to it, in the order of (expires, id).",
    stresses: "ordered history per key over the result of a join",
    columns: COLUMNS,
    oracle: oracle::oracle,
    dataflow: dataflow::dataflow,
    flink_sql: &[include_str!("flink.sql")],
    ksqldb: Ksqldb {
        sql: include_str!("ksqldb.sql"),
        columns: &[Key, Null, Field("AVG_PRICE")],
        elements: None,
        deviation: Some("a row for each seller, not for each auction, without the column auction: its last ten auctions are those whose winning bid changed last, in that order"),
    },
};

const COLUMNS: &[Column] = &[
    integer("seller"),
    integer("auction"),
    integer("avg_price"),
];
