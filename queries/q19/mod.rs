//! q19, auction top 10 price: for each auction its ten highest bids, ranked. Stresses top-n per key with retractions.

mod dataflow;
mod oracle;

use crate::query::{Column, Query, integer};

/// The query.
pub static QUERY: Query = Query {
    name: "q19",
    title: "auction top 10 price",
    question: "For each auction its ten highest bids, ranked.",
    stresses: "top-n per key with retractions",
    columns: COLUMNS,
    oracle: oracle::oracle,
    dataflow: dataflow::dataflow,
};

const COLUMNS: &[Column] = &[
    integer("auction"),
    integer("price"),
    integer("rank_number"),
];
