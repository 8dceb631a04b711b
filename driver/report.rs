//! What results say together: two sides compared, a label over time, and a page for people. Knows results, and neither engines nor
//! the terminal; nothing here can start a run.

mod compare;
mod differences;
mod history;
mod metric;
mod page;
pub mod quantity;

pub use compare::{
    Comparison, Loss, MetricComparison, QueryComparison, Side, SideDescription, Summary, THRESHOLD, Total,
};
pub use differences::Difference;
pub use history::{History, Point, Series};
pub use metric::{METRICS, Metric};
pub use page::{Audience, Page};

use crate::result::RunResult;

/// Position of a query among all, so that q10 comes after q9; unknown ones come last.
fn position(query: &str) -> usize {
    nexmark_queries::ALL.iter().position(|known| known.name == query).unwrap_or(usize::MAX)
}

/// Queries of these results, each once, in the order of their numbers.
fn queries<'a>(results: impl IntoIterator<Item = &'a RunResult>) -> Vec<&'a str> {
    let mut queries: Vec<&str> = results.into_iter().map(|result| result.query.as_str()).collect();
    queries.sort_by_key(|query| (position(query), *query));
    queries.dedup();
    queries
}
