//! Counts per key in overlapping windows, and of each window the keys with the highest count. Counts are kept once per pane
//! (as long as a window's slide) and added up when a window fires.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use timely::dataflow::StreamVec;
use timely::dataflow::operators::generic::Operator;

use super::held::Held;
use super::window_maximum::{Best, Candidate};
use super::{Environment, Map, Time, exchange, route, time};

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
    /// Number of the pane: its start over the slide. Starts and ends of the first and last panes lie beyond 64 bits.
    pub pane: i64,
    /// The key.
    pub key: i64,
    /// Number of rows.
    pub count: i64,
}

impl Hopping {
    /// Panes of a window.
    fn panes(self) -> i64 {
        self.size_ms / self.slide_ms
    }

    /// Begin of a pane, epoch ms.
    fn start(self, pane: i64) -> i128 {
        i128::from(pane) * i128::from(self.slide_ms)
    }

    /// Whether a watermark has passed a window of a pane: rows that come now miss that one at least.
    fn begun(self, pane: i64, watermark: i64) -> bool {
        time::passed(self.start(pane + 1), watermark)
    }

    /// Whether a watermark has passed all windows of a pane.
    fn passed(self, pane: i64, watermark: i64) -> bool {
        time::passed(self.start(pane + self.panes()), watermark)
    }
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
    /// By number.
    panes: BTreeMap<i64, Pane>,
}

/// For each window the keys of this worker with the most rows, when the watermark passes the window's end.
pub fn hopping_count<'scope>(
    counts: StreamVec<'scope, Time, PaneCount>,
    hopping: Hopping,
    environment: &Environment,
) -> StreamVec<'scope, Time, Candidate<i64>> {
    let environment = environment.clone();
    let by_key = exchange(|count: &PaneCount| route(count.key));
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
                        let end = hopping.start(end);
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
    /// Adds counts; the number of rows that came after a window of theirs had fired. They still count in the others.
    fn add(&mut self, counts: &mut Vec<PaneCount>, fired: i64) -> u64 {
        let mut late = 0;
        let mut counts = counts.drain(..).peekable();
        while let Some(first) = counts.next() {
            let (begun, passed) =
                (self.hopping.begun(first.pane, fired), self.hopping.passed(first.pane, fired));
            if passed {
                late += first.count as u64;
                continue;
            }
            // A batch has one or two panes: look the pane up once for all its rows.
            let pane = self.panes.entry(first.pane).or_default();
            let mut add = |count: PaneCount| {
                late += if begun { count.count as u64 } else { 0 };
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

    /// Panes with which the windows end that are not empty and end after `fired`, up to `watermark`.
    fn ends(&self, fired: i64, watermark: i64) -> BTreeSet<i64> {
        let panes = self.hopping.panes();
        let passed = |end: i64, watermark| time::passed(self.hopping.start(end), watermark);
        self.panes
            .keys()
            .flat_map(|pane| pane + 1..=pane + panes)
            .filter(|end| !passed(*end, fired) && passed(*end, watermark))
            .collect()
    }

    /// The keys with the most rows in the window that ends where pane `end` begins.
    fn window(&self, end: i64) -> Best<i64> {
        let panes: Vec<&Pane> =
            self.panes.range(end - self.hopping.panes()..end).map(|(_, pane)| pane).collect();
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
        let hopping = self.hopping;
        while let Some(pane) = self.panes.first_entry().filter(|pane| hopping.passed(*pane.key(), watermark))
        {
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
        let panes = panes(&[(0, 1, 5), (0, 9, 4), (1, 2, 5), (1, 9, 4), (2, 3, 5), (2, 9, 4), (4, 9, 1)]);
        let best = panes.window(5);
        assert_eq!((best.value, best.rows), (13, vec![9]));
    }

    #[test]
    fn ties_are_all_kept() {
        let panes = panes(&[(0, 1, 3), (0, 2, 1), (2, 2, 2), (3, 3, 2)]);
        let best = panes.window(5);
        assert_eq!((best.value, best.rows), (3, vec![1, 2]));
    }

    #[test]
    fn windows_end_on_every_slide_while_they_hold_a_pane() {
        let panes = panes(&[(-2, 1, 1), (50, 1, 1)]);
        let ends: Vec<i64> = panes.ends(time::NEVER, 104).into_iter().collect();
        assert_eq!(ends, [-1, 0, 1, 2, 3, 51, 52]);
        assert_eq!(panes.ends(2, time::END).first(), Some(&2));
    }

    #[test]
    fn windows_at_the_ends_of_time_are_apart_and_the_last_fire_at_the_end() {
        let (first, last) = (i64::MIN.div_euclid(2), i64::MAX.div_euclid(2));
        let mut panes = panes(&[(first, 1, 1), (last, 1, 1)]);
        assert_eq!(panes.ends(time::NEVER, time::END).len(), 10);
        assert_eq!(panes.ends(time::NEVER, i64::MAX - 1).len(), 5);
        panes.drop_until(i64::MAX - 1);
        assert_eq!(panes.panes.len(), 1);
    }

    #[test]
    fn rows_that_miss_a_window_are_late_and_count_in_the_others() {
        let mut panes = panes(&[]);
        let count = |pane, count| PaneCount { pane, key: 1, count };
        // The watermark has passed all windows of pane 0, four of those of pane 1, none of those of pane 5.
        let mut counts = vec![count(0, 7), count(1, 5), count(5, 3), count(5, 1)];
        assert_eq!(panes.add(&mut counts, 10), 12);
        assert_eq!(panes.panes.keys().collect::<Vec<_>>(), [&1, &5]);
    }
}
