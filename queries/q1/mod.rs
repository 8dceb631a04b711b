//! q1, currency conversion: every bid with its price in euros: price × 0.908, exact to three decimals. Stresses a map with exact decimal arithmetic.

mod dataflow;
mod oracle;

use crate::ksqldb::Column::{Field, Key};
use crate::ksqldb::Ksqldb;
use crate::query::{Column, Query, decimal, integer, text, time};

/// The query.
pub static QUERY: Query = Query {
    name: "q1",
    title: "currency conversion",
    question: "Every bid with its price in euros: price × 0.908, exact to three decimals.",
    stresses: "a map with exact decimal arithmetic",
    columns: COLUMNS,
    oracle: oracle::oracle,
    dataflow: dataflow::dataflow,
    flink_sql: &[include_str!("flink.sql")],
    ksqldb: Ksqldb {
        sql: include_str!("ksqldb.sql"),
        columns: &[Key, Field("BIDDER"), Field("PRICE"), Field("DATE_TIME"), Field("EXTRA")],
        elements: None,
        deviation: None,
    },
};

const COLUMNS: &[Column] = &[
    integer("auction"),
    integer("bidder"),
    decimal("price"),
    time("dateTime"),
    text("extra"),
];
