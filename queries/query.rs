//! The catalogue entry of a query: what it asks, what its answer holds, and how to compute it.

pub use crate::answer::Column;
use crate::answer::{Kind, Row};
use crate::event::{Event, Texts};
use crate::ksqldb::Ksqldb;
use crate::operators::{Blocks, Environment};

/// Builds the dataflow of a query over the blocks of one worker and hands its rows to the sink of the environment.
pub type Dataflow = for<'scope> fn(Blocks<'scope>, &Environment);

/// A query of the benchmark.
#[derive(Debug)]
pub struct Query {
    /// `q0` to `q23`.
    pub name: &'static str,
    /// Short name, as in the literature.
    pub title: &'static str,
    /// What it asks, one sentence.
    pub question: &'static str,
    /// Which part of an engine it stresses.
    pub stresses: &'static str,
    /// The answer columns.
    pub columns: &'static [Column],
    /// The answer over a bounded stream, in order of arrival: slow, obvious, and independent of every engine.
    pub oracle: fn(&[Event], &Texts) -> Vec<Row>,
    /// The dataflow of the native engine.
    pub dataflow: Dataflow,
    /// Statements for Flink, over the tables of [`crate::source::FLINK`], a text a job: the query, and for one whose answer
    /// is in files a second job that reads it back. Empty where Flink cannot say it; the reason is in the query's page.
    pub flink_sql: &'static [&'static str],
    /// The query for ksqlDB.
    pub ksqldb: Ksqldb,
}

/// An integer column.
pub(crate) const fn integer(name: &'static str) -> Column {
    Column { name, kind: Kind::Integer }
}

/// A time column.
pub(crate) const fn time(name: &'static str) -> Column {
    Column { name, kind: Kind::Time }
}

/// A decimal column.
pub(crate) const fn decimal(name: &'static str) -> Column {
    Column { name, kind: Kind::Decimal }
}

/// A text column.
pub(crate) const fn text(name: &'static str) -> Column {
    Column { name, kind: Kind::Text }
}
