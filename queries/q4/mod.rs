//! q4, average price for a category: for each category the average of the winning prices of its auctions, where a bid counts when it is made while the auction is open. Stresses a join bounded by columns of both sides, an aggregate of an aggregate, and retractions.

mod dataflow;
mod oracle;

use crate::ksqldb::Column::{Field, JsonKey};
use crate::ksqldb::Ksqldb;
use crate::query::{Column, Query, integer};

/// The query.
pub static QUERY: Query = Query {
    name: "q4",
    title: "average price for a category",
    question: "For each category the average of the winning prices of its auctions, where a bid counts when it is made while the auction is open.",
    stresses: "a join bounded by columns of both sides, an aggregate of an aggregate, and retractions",
    columns: COLUMNS,
    oracle: oracle::oracle,
    dataflow: dataflow::dataflow,
    flink_sql: &[include_str!("flink.sql")],
    ksqldb: Ksqldb {
        sql: include_str!("ksqldb.sql"),
        columns: &[JsonKey, Field("AVG_FINAL")],
        elements: None,
        deviation: None,
    },
};

const COLUMNS: &[Column] = &[
    integer("category"),
    integer("avg"),
];
