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

#[cfg(test)]
mod tests {
    use timely::dataflow::operators::{Input as _, Inspect as _};

    use super::super::alone;
    use super::*;

    /// End, value and row of the candidates of a worker.
    fn candidates(worker: usize) -> Vec<(i128, i64, usize)> {
        let beyond = i128::from(i64::MAX) + 5;
        vec![
            (10, 7, worker),
            (10, 6, 100 + worker),
            // Only one worker has the best of this window.
            (20, worker as i64, 200 + worker),
            (30, i64::MIN, 300 + worker),
            (beyond, -1, 400 + worker),
        ]
    }

    /// Windows with their best rows.
    fn best(workers: usize) -> Vec<(i128, i64, usize)> {
        alone::run(workers, |worker, out| {
            let (out, got) = (std::sync::Arc::clone(out), std::sync::Arc::clone(out));
            let mut input = worker.dataflow::<Time, _, _>(|scope| {
                let (input, rows) = scope.new_input::<Vec<_>>();
                window_maximum(rows, &alone::environment())
                    .inspect(move |best| out.lock().unwrap().push((best.end, best.value, best.row)));
                input
            });
            for (end, value, row) in candidates(worker.index()) {
                input.send(Candidate { end, value, row });
            }
            for (watermark, over) in [(9, 0), (10, 1), (25, 2)] {
                input.advance_to(time::stamp(watermark, 0));
                for _step in 0..20 {
                    worker.step();
                }
                if worker.peers() == 1 {
                    assert_eq!(got.lock().unwrap().len(), over, "windows over at {watermark}");
                }
            }
        })
    }

    #[test]
    fn all_rows_at_the_highest_value_of_any_worker_come_when_the_window_is_over() {
        for workers in [1, 2, 3] {
            let all: Vec<_> = (0..workers).flat_map(candidates).collect();
            let highest = |end| all.iter().filter(|row| row.0 == end).map(|row| row.1).max().unwrap();
            let mut expected: Vec<_> = all.iter().copied().filter(|row| row.1 == highest(row.0)).collect();
            expected.sort_unstable();
            assert_eq!(best(workers), expected, "{workers} workers");
        }
    }
}
