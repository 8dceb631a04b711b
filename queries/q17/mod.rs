//! q17, auction statistics report: for each auction and day the numbers of bids in three ranks of price, and minimum, maximum, average and sum of the price. Stresses an unbounded aggregate with many keys.
//!
//! State: for each auction and day both keys, three counts, minimum and maximum of 8 bytes each, and a sum of 16: 72 bytes. Beside
//! them a hash table takes 6 to 11 bytes.

mod dataflow;
mod oracle;

use crate::ksqldb::Column::{Field, KeyField};
use crate::ksqldb::Ksqldb;
use crate::query::{Column, Query, integer, text};

/// The query.
pub static QUERY: Query = Query {
    name: "q17",
    title: "auction statistics report",
    question: "For each auction and day the numbers of bids in three ranks of price, and minimum, maximum, average and sum of the price.",
    stresses: "an unbounded aggregate with many keys",
    columns: COLUMNS,
    oracle: oracle::oracle,
    dataflow: dataflow::dataflow,
    flink_sql: &[include_str!("flink.sql")],
    ksqldb: Ksqldb {
        sql: include_str!("ksqldb.sql"),
        columns: &[
            KeyField("AUCTION"),
            KeyField("DY"),
            Field("TOTAL_BIDS"),
            Field("RANK1_BIDS"),
            Field("RANK2_BIDS"),
            Field("RANK3_BIDS"),
            Field("MIN_PRICE"),
            Field("MAX_PRICE"),
            Field("AVG_PRICE"),
            Field("SUM_PRICE"),
        ],
        elements: None,
        deviation: None,
    },
};

const COLUMNS: &[Column] = &[
    integer("auction"),
    text("day"),
    integer("total_bids"),
    integer("rank1_bids"),
    integer("rank2_bids"),
    integer("rank3_bids"),
    integer("min_price"),
    integer("max_price"),
    integer("avg_price"),
    integer("sum_price"),
];
