//! q13, bounded side input join: every bid with the value that a side table of 10 000 keys has for its auction, as of processing time. Stresses a lookup join against a bounded table.

mod dataflow;
mod oracle;

use crate::ksqldb::Column::{Field};
use crate::ksqldb::Ksqldb;
use crate::query::{Column, Query, integer, text, time};

/// The query.
pub static QUERY: Query = Query {
    name: "q13",
    title: "bounded side input join",
    question: "Every bid with the value that a side table of 10 000 keys has for its auction, as of processing time.",
    stresses: "a lookup join against a bounded table",
    columns: COLUMNS,
    oracle: oracle::oracle,
    dataflow: dataflow::dataflow,
    flink_sql: &[include_str!("flink.sql")],
    ksqldb: Ksqldb {
        sql: include_str!("ksqldb.sql"),
        columns: &[Field("AUCTION"), Field("BIDDER"), Field("PRICE"), Field("DATE_TIME"), Field("SIDE_VALUE")],
        elements: None,
        deviation: None,
    },
};

const COLUMNS: &[Column] =
    &[integer("auction"), integer("bidder"), integer("price"), time("dateTime"), text("value")];

/// Keys of the side table.
pub const SIDE_KEYS: std::ops::Range<i64> = 0..10_000;

/// Value of the side table for one of its keys.
pub fn side_value(key: i64) -> String {
    key.to_string()
}
