//! q3, local item suggestion: who offers an item of category 10 in Oregon, Idaho or California: auctions with their sellers, however far apart the two arrive. Stresses an unwindowed join of two filtered streams, with state that only grows.
//!
//! State: nothing is ever forgotten, since a seller may register after any auction and sell after any time. A kept auction takes 16
//! bytes, a kept person 28, and every id of either 19 to 39 in a hash table; memory grows with the persons of the three states
//! and the auctions of the category.

mod dataflow;
mod oracle;

use crate::ksqldb::Column::{Field, Key};
use crate::ksqldb::Ksqldb;
use crate::query::{Column, Query, integer, text};

/// The query.
pub static QUERY: Query = Query {
    name: "q3",
    title: "local item suggestion",
    question: "Who offers an item of category 10 in Oregon, Idaho or California: auctions with their sellers, however far apart the two arrive.",
    stresses: "an unwindowed join of two filtered streams, with state that only grows",
    columns: COLUMNS,
    oracle: oracle::oracle,
    dataflow: dataflow::dataflow,
    flink_sql: &[include_str!("flink.sql")],
    ksqldb: Ksqldb {
        sql: include_str!("ksqldb.sql"),
        columns: &[Field("NAME"), Field("CITY"), Field("STATE"), Key],
        elements: None,
        deviation: None,
    },
};

const COLUMNS: &[Column] = &[
    text("name"),
    text("city"),
    text("state"),
    integer("id"),
];
