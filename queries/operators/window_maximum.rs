//! The rows with the highest value of each window, over all workers. Each worker hands in its own best rows of a window when
//! its watermark passes the end; one worker per window picks the best of them.

use std::collections::BTreeMap;
use std::fmt::Debug;

use timely::ExchangeData;
use timely::dataflow::StreamVec;
use timely::dataflow::operators::generic::Operator;

use super::held::Held;
use super::{Environment, Time, exchange, route, time};

/// A row that is best in its window at the worker that sends it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Candidate<R> {
    /// End of the window, epoch ms; that of the last windows lies beyond 64 bits.
    pub end: i128,
    /// The value by which rows are compared.
    pub value: i64,
    /// The row.
    pub row: R,
}

/// Rows of one window at the highest value so far.
#[derive(Debug)]
pub struct Best<R> {
    /// The highest value.
    pub value: i64,
    /// All rows that have it.
    pub rows: Vec<R>,
}

impl<R> Best<R> {
    /// Takes a row into account.
    #[inline]
    pub fn offer(&mut self, value: i64, row: impl FnOnce() -> R) {
        if value > self.value {
            self.value = value;
            self.rows.clear();
        }
        if value == self.value {
            self.rows.push(row());
        }
    }

    /// Size, bytes.
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + self.rows.capacity() * size_of::<R>()
    }

    /// Nothing yet.
    pub fn new() -> Self {
        Self { value: i64::MIN, rows: Vec::new() }
    }
}

impl<R> Default for Best<R> {
    fn default() -> Self {
        Self::new()
    }
}

/// All rows of each window that have its highest value, emitted when the watermark passes the window's end.
pub fn window_maximum<'scope, R: ExchangeData + Debug>(
    candidates: StreamVec<'scope, Time, Candidate<R>>,
    environment: &Environment,
) -> StreamVec<'scope, Time, Candidate<R>> {
    let gauge = environment.state_gauge();
    let by_window = exchange(|candidate: &Candidate<R>| route(candidate.end as i64));
    candidates.unary_frontier(by_window, "window maximum", |_capability, _info| {
        let mut held = Held::default();
        let mut windows = BTreeMap::<i128, Best<R>>::new();
        move |(input, frontier), output| {
            input.for_each(|capability, candidates| {
                held.retain(&capability);
                for Candidate { end, value, row } in candidates.drain(..) {
                    windows.entry(end).or_default().offer(value, || row);
                }
            });
            let watermark = time::watermark(frontier.frontier());
            while let Some(window) =
                windows.first_entry().filter(|window| time::passed(*window.key(), watermark))
            {
                let (end, best) = window.remove_entry();
                if let Some(capability) = held.get() {
                    let rows = best.rows.into_iter().map(|row| Candidate { end, value: best.value, row });
                    output.session(capability).give_iterator(rows);
                }
            }
            gauge.set(windows.values().map(Best::bytes).sum());
            held.advance(frontier.frontier(), !windows.is_empty());
        }
    })
}
