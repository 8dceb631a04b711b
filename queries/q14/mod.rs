//! q14, calculation: bids whose converted price lies between one and fifty millions, with the time of day as words and the number of `c` in their text. Stresses a filter on arithmetic, a case distinction and a user-defined function.

mod dataflow;
mod oracle;

use crate::ksqldb::Column::{Field, Key};
use crate::ksqldb::Ksqldb;
use crate::query::{Column, Query, decimal, integer, text, time};

/// The query.
pub static QUERY: Query = Query {
    name: "q14",
    title: "calculation",
    question: "Bids whose converted price lies between one and fifty millions, with the time of day as words and the number of `c` in their text.",
    stresses: "a filter on arithmetic, a case distinction and a user-defined function",
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
            Field("BID_TIME_TYPE"),
            Field("DATE_TIME"),
            Field("EXTRA"),
            Field("C_COUNTS"),
        ],
        elements: None,
        deviation: None,
    },
};

const COLUMNS: &[Column] = &[
    integer("auction"),
    integer("bidder"),
    decimal("price"),
    text("bidTimeType"),
    time("dateTime"),
    text("extra"),
    integer("c_counts"),
];
