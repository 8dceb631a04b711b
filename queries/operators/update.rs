//! Rows of a result that changes: additions and retractions.

use crate::answer::{Columns, Output};
use crate::event::Texts;

/// A row that is added or taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Update<R> {
    /// The row.
    pub row: R,
    /// Whether it is added; else it is taken back.
    pub added: bool,
}

impl<R> Update<R> {
    /// The row is added.
    pub fn add(row: R) -> Self {
        Self { row, added: true }
    }

    /// The row is taken back.
    pub fn retract(row: R) -> Self {
        Self { row, added: false }
    }

    /// The same with another row.
    pub fn map<S>(self, function: impl FnOnce(R) -> S) -> Update<S> {
        Update { row: function(self.row), added: self.added }
    }
}

impl<R: Output> Output for Update<R> {
    fn columns(&self, texts: &Texts, columns: &mut dyn Columns) {
        self.row.columns(texts, columns);
    }

    fn difference(&self) -> i64 {
        if self.added { 1 } else { -1 }
    }
}
