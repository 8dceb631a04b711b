//! q11, user sessions: for each bidder the sessions of activity: bids at most 10 s apart, with their number. Stresses session windows: merging, many keys, timers.

mod dataflow;
mod oracle;

use crate::ksqldb::Column::{Field, FieldPlus, Key};
use crate::ksqldb::Ksqldb;
use crate::query::{Column, Query, integer, time};

/// The query.
pub static QUERY: Query = Query {
    name: "q11",
    title: "user sessions",
    question: "For each bidder the sessions of activity: bids at most 10 s apart, with their number.",
    stresses: "session windows: merging, many keys, timers",
    columns: COLUMNS,
    oracle: oracle::oracle,
    dataflow: dataflow::dataflow,
    flink_sql: &[include_str!("flink.sql")],
    ksqldb: Ksqldb {
        sql: include_str!("ksqldb.sql"),
        columns: &[Key, Field("BID_COUNT"), Field("STARTTIME"), FieldPlus("ENDTIME", 10_000)],
        elements: None,
        deviation: None,
    },
};

const COLUMNS: &[Column] = &[
    integer("bidder"),
    integer("bid_count"),
    time("starttime"),
    time("endtime"),
];
