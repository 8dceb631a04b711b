//! q7, highest bid: for each 10 s window the bids at its highest price; all of them when several tie. Stresses a global maximum per window, joined back to the rows.

mod dataflow;
mod oracle;

use crate::ksqldb::Column::{Element};
use crate::ksqldb::Ksqldb;
use crate::query::{Column, Query, integer, text, time};

/// The query.
pub static QUERY: Query = Query {
    name: "q7",
    title: "highest bid",
    question: "For each 10 s window the bids at its highest price; all of them when several tie.",
    stresses: "a global maximum per window, joined back to the rows",
    columns: COLUMNS,
    oracle: oracle::oracle,
    dataflow: dataflow::dataflow,
    flink_sql: &[include_str!("flink.sql")],
    ksqldb: Ksqldb {
        sql: include_str!("ksqldb.sql"),
        columns: &[Element("col0"), Element("col1"), Element("sort_col"), Element("col2"), Element("col3")],
        elements: Some("R"),
        deviation: Some("of bids that tie at most 20 are kept"),
    },
};

const COLUMNS: &[Column] = &[
    integer("auction"),
    integer("bidder"),
    integer("price"),
    time("dateTime"),
    text("extra"),
];
