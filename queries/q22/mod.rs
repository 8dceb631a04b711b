//! q22, URL directories: every bid with the first three directories of its URL. Stresses text: splitting.

mod dataflow;
mod oracle;

use crate::ksqldb::Column::{Field, Key};
use crate::ksqldb::Ksqldb;
use crate::query::{Column, Query, integer, text};

/// The query.
pub static QUERY: Query = Query {
    name: "q22",
    title: "URL directories",
    question: "Every bid with the first three directories of its URL.",
    stresses: "text: splitting",
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
            Field("DIR1"),
            Field("DIR2"),
            Field("DIR3"),
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
    text("dir1"),
    text("dir2"),
    text("dir3"),
];
