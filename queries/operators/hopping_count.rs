//! Counts per key in overlapping windows, and of each window the keys with the highest count. Counts are kept once per pane
//! (as long as a window's slide) and added up when a window fires.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use timely::dataflow::StreamVec;
use timely::dataflow::channels::pact::Exchange;
use timely::dataflow::operators::generic::Operator;

use super::held::Held;
use super::window_maximum::{Best, Candidate};
use super::{Environment, Map, Time, route, time};

/// Lengths of hopping windows, ms. The size is a multiple of the slide.
#[derive(Clone, Copy, Debug)]
pub struct Hopping {
    /// Length of a window.
    pub size_ms: i64,
    /// Distance of the starts of windows.
    pub slide_ms: i64,
}

/// Rows of one key in one pane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaneCount {
    /// Start of the pane, epoch ms.
    pub pane: i64,
    /// The key.
    pub key: i64,
    /// Number of rows.
    pub count: i64,
}

/// Counts of one pane.
#[derive(Debug, Default)]
struct Pane {
    counts: Map<i64, i64>,
    count_max: i64,
}

/// The panes of one worker's keys.
#[derive(Debug)]
struct Panes {
    hopping: Hopping,
    panes: BTreeMap<i64, Pane>,
}

/// For each window the keys of this worker with the most rows, when the watermark passes the window's end.
pub fn hopping_count<'scope>(
    counts: StreamVec<'scope, Time, PaneCount>,
    hopping: Hopping,
    environment: &Environment,
) -> StreamVec<'scope, Time, Candidate<i64>> {
    let environment = environment.clone();
    let by_key = Exchange::new(|count: &PaneCount| route(count.key));
    counts.unary_frontier(by_key, "hopping count", move |_capability, _info| {
        let gauge = environment.state_gauge();
        let mut held = Held::default();
        let mut panes = Panes { hopping, panes: BTreeMap::new() };
        let mut fired = time::NEVER;
        move |(input, frontier), output| {
            let mut late = 0;
            input.for_each(|capability, counts| {
                held.retain(&capability);
                late += panes.add(counts, fired);
            });
            environment.count_late(late);
            let watermark = time::watermark(frontier.frontier());
            if watermark > fired {
                for end in panes.ends(fired, watermark) {
                    if let Some(capability) = held.get() {
                        let best = panes.window(end);
                        let candidates =
                            best.rows.into_iter().map(|row| Candidate { end, value: best.value, row });
                        output.session(capability).give_iterator(candidates);
                    }
                }
                panes.drop_until(watermark);
                fired = watermark;
            }
            gauge.set(panes.bytes());
            held.advance(frontier.frontier(), !panes.panes.is_empty());
        }
    })
}

impl Panes {
    /// Adds counts; the number of rows that came after all their windows had fired.
    fn add(&mut self, counts: &mut Vec<PaneCount>, fired: i64) -> u64 {
        let mut late = 0;
        let mut counts = counts.drain(..).peekable();
        while let Some(first) = counts.next() {
            if first.pane + self.hopping.size_ms <= fired {
                late += first.count as u64;
                continue;
            }
            // A batch has one or two panes: look the pane up once for all its rows.
            let pane = self.panes.entry(first.pane).or_default();
            let mut add = |count: PaneCount| {
                let sum = pane.counts.entry(count.key).or_default();
                *sum += count.count;
                pane.count_max = pane.count_max.max(*sum);
            };
            add(first);
            while let Some(count) = counts.next_if(|count| count.pane == first.pane) {
                add(count);
            }
        }
        late
    }

    /// Ends of the windows that are not empty and end after `fired`, up to `watermark`.
    fn ends(&self, fired: i64, watermark: i64) -> BTreeSet<i64> {
        let Hopping { size_ms, slide_ms } = self.hopping;
        let ends_of = |pane: i64| (1..=size_ms / slide_ms).map(move |step| pane + step * slide_ms);
        self.panes
            .keys()
            .flat_map(|pane| ends_of(*pane))
            .filter(|end| *end > fired && *end <= watermark)
            .collect()
    }

    /// The keys with the most rows in the window that ends at `end`.
    fn window(&self, end: i64) -> Best<i64> {
        let panes: Vec<&Pane> =
            self.panes.range(end - self.hopping.size_ms..end).map(|(_, pane)| pane).collect();
        // The winner has at least the count of the best key of any pane, hence in some pane that count's share. Keys that
        // reach it in none need not be added up.
        let at_least = panes.iter().map(|pane| pane.count_max).max().unwrap_or(0);
        let share = (at_least / panes.len().max(1) as i64).max(1);
        let candidates: BTreeSet<i64> = panes
            .iter()
            .flat_map(|pane| &pane.counts)
            .filter(|(_, count)| **count >= share)
            .map(|(key, _)| *key)
            .collect();
        let mut best = Best::new();
        for key in candidates {
            let count = panes.iter().filter_map(|pane| pane.counts.get(&key)).sum();
            best.offer(count, || key);
        }
        best
    }

    /// Drops the panes whose windows have all fired.
    fn drop_until(&mut self, watermark: i64) {
        let size = self.hopping.size_ms;
        while let Some(pane) = self.panes.first_entry().filter(|pane| *pane.key() + size <= watermark) {
            pane.remove();
        }
    }

    fn bytes(&self) -> usize {
        self.panes.values().map(|pane| pane.counts.allocation_size()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOPPING: Hopping = Hopping { size_ms: 10, slide_ms: 2 };

    fn panes(rows: &[(i64, i64, i64)]) -> Panes {
        let mut panes = Panes { hopping: HOPPING, panes: BTreeMap::new() };
        let mut counts = rows.iter().map(|&(pane, key, count)| PaneCount { pane, key, count }).collect();
        assert_eq!(panes.add(&mut counts, time::NEVER), 0);
        panes
    }

    #[test]
    fn a_key_that_leads_in_no_pane_may_win_the_window() {
        let panes = panes(&[(0, 1, 5), (0, 9, 4), (2, 2, 5), (2, 9, 4), (4, 3, 5), (4, 9, 4), (8, 9, 1)]);
        let best = panes.window(10);
        assert_eq!((best.value, best.rows), (13, vec![9]));
    }

    #[test]
    fn ties_are_all_kept() {
        let panes = panes(&[(0, 1, 3), (0, 2, 1), (4, 2, 2), (6, 3, 2)]);
        let best = panes.window(10);
        assert_eq!((best.value, best.rows), (3, vec![1, 2]));
    }

    #[test]
    fn windows_end_on_every_slide_while_they_hold_a_pane() {
        let panes = panes(&[(-4, 1, 1), (100, 1, 1)]);
        let ends: Vec<i64> = panes.ends(time::NEVER, 104).into_iter().collect();
        assert_eq!(ends, [-2, 0, 2, 4, 6, 102, 104]);
        assert_eq!(panes.ends(2, time::END).first(), Some(&4));
    }

    #[test]
    fn rows_after_their_last_window_are_late() {
        let mut panes = panes(&[]);
        let mut counts =
            vec![PaneCount { pane: 0, key: 1, count: 7 }, PaneCount { pane: 2, key: 1, count: 5 }];
        assert_eq!(panes.add(&mut counts, 10), 7);
        assert_eq!(panes.panes.len(), 1);
    }
}
