//! Whether a query kept up with a live feed: then the feed was the limit, and the rate is that of the feed.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// A query that has everything of so long ago keeps up: it tells what it took only at every commit.
const DELAY: Duration = Duration::from_secs(1);
/// A feed that is that much behind its schedule cannot keep to it: events.
const BEHIND_EVENTS: u64 = 1_000;

/// What was seen at the samples of a live feed.
#[derive(Debug, Default)]
pub(super) struct KeepUp {
    /// Records that were there, and when.
    fed: VecDeque<(Instant, u64)>,
    samples: u64,
    bound: u64,
}

impl KeepUp {
    /// Notes a sample: events that the feed is behind its schedule, `None` without one, and records taken and there.
    pub(super) fn sample(&mut self, at: Instant, behind: Option<u64>, taken: u64, there: u64) {
        self.fed.push_back((at, there));
        let mut before = None;
        while let Some((then, fed)) = self.fed.front().copied().filter(|(then, _)| *then + DELAY <= at) {
            before = Some((then, fed));
            self.fed.pop_front();
        }
        let Some((then, fed)) = before else { return };
        // It stays, so that there is one of that age at the next sample.
        self.fed.push_front((then, fed));
        self.samples += 1;
        let feed_is_late = behind.is_none_or(|behind| behind > BEHIND_EVENTS);
        self.bound += u64::from(feed_is_late && taken >= fed);
    }

    /// Says so where it holds for most samples.
    pub(super) fn note(&self) -> Option<String> {
        if self.samples < 5 || self.bound * 2 <= self.samples {
            return None;
        }
        Some("source-bound: the query kept up with the feed, so this is the feed's rate".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten seconds of a feed of 1000 records a second, of which all but `lag` are taken.
    fn fed(behind: Option<u64>, lag: u64) -> Option<String> {
        let mut keep_up = KeepUp::default();
        let start = Instant::now();
        for step in 0..50 {
            let there = step * 200;
            let at = start + Duration::from_millis(200 * step);
            keep_up.sample(at, behind, there.saturating_sub(lag), there);
        }
        keep_up.note()
    }

    #[test]
    fn a_query_that_keeps_up_with_a_feed_at_its_limit_is_bound_by_it() {
        assert!(fed(None, 300).unwrap().starts_with("source-bound"));
        assert!(fed(Some(5_000), 0).is_some());
    }

    #[test]
    fn a_feed_that_keeps_its_schedule_or_runs_ahead_is_no_limit() {
        assert!(fed(Some(10), 0).is_none());
        assert!(fed(None, 5_000).is_none());
        assert!(fed(Some(5_000), 5_000).is_none());
    }
}
