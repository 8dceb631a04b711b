//! q21, add channel id: bids with a numeric id for their channel: four well-known channels by name, the others by a parameter of their URL. Stresses text: lower-casing and a regular expression.

mod dataflow;
mod oracle;

use crate::ksqldb::Column::{Field, Key};
use crate::ksqldb::Ksqldb;
use crate::query::{Column, Query, integer, text};

/// The query.
pub static QUERY: Query = Query {
    name: "q21",
    title: "add channel id",
    question: "Bids with a numeric id for their channel: four well-known channels by name, the others by a parameter of their URL.",
    stresses: "text: lower-casing and a regular expression",
    columns: COLUMNS,
    oracle: oracle::oracle,
    dataflow: dataflow::dataflow,
    flink_sql: &[include_str!("flink.sql")],
    ksqldb: Ksqldb {
        sql: include_str!("ksqldb.sql"),
        columns: &[Key, Field("BIDDER"), Field("PRICE"), Field("CHANNEL"), Field("CHANNEL_ID")],
        elements: None,
        deviation: None,
    },
};

const COLUMNS: &[Column] =
    &[integer("auction"), integer("bidder"), integer("price"), text("channel"), text("channel_id")];
