//! A host's clocks beside the driver's. The driver asks for them and halves the time that the answer took.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use nexmark_collector::clock::Clocks;

use crate::result::ClockOffset;

/// Questions at the begin and at the end, of which the one that was answered fastest counts.
pub(super) const QUESTIONS: usize = 3;

/// Questions without an answer that are remembered: a host that answers none is silent, and says nothing about clocks.
const OPEN_MAX: usize = 64;

/// A host's clocks, as far as they were compared.
#[derive(Debug)]
pub(super) struct HostClock {
    epoch: Instant,
    open: BTreeMap<u64, Instant>,
    first: Vec<Comparison>,
    last: VecDeque<Comparison>,
}

/// One answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Comparison {
    /// The host's monotonic clock less the driver's time since `epoch`.
    monotonic_ns: i128,
    /// The host's wall clock less the driver's.
    wall_ns: i128,
    /// The offsets are true to this.
    error: Duration,
}

impl HostClock {
    pub(super) fn new(epoch: Instant) -> Self {
        Self { epoch, open: BTreeMap::new(), first: Vec::new(), last: VecDeque::new() }
    }

    /// A question of that number was asked.
    pub(super) fn ask(&mut self, number: u64, at: Instant) {
        if self.open.len() == OPEN_MAX {
            self.open.pop_first();
        }
        self.open.insert(number, at);
    }

    /// An answer came, when the driver's wall clock stood at `wall_ns`.
    pub(super) fn answer(&mut self, clocks: &Clocks, at: Instant, wall_ns: i64) {
        let Some(asked) = self.open.remove(&clocks.request) else { return };
        let error = at.saturating_duration_since(asked) / 2;
        let half = i128::try_from(error.as_nanos()).unwrap_or(i128::MAX);
        let comparison = Comparison {
            monotonic_ns: i128::from(clocks.monotonic_ns) - (self.since_epoch_ns(at) - half),
            wall_ns: i128::from(clocks.wall_ns) - (i128::from(wall_ns) - half),
            error,
        };
        if self.first.len() < QUESTIONS {
            self.first.push(comparison);
        }
        if self.last.len() == QUESTIONS {
            self.last.pop_front();
        }
        self.last.push_back(comparison);
    }

    /// Answers so far, up to those of the begin.
    pub(super) fn answers(&self) -> usize {
        self.first.len()
    }

    /// The moment on the driver's clock at which the host's stood there; `None` before the first answer.
    pub(super) fn instant(&self, monotonic_ns: u64) -> Option<Instant> {
        let offset = best(&self.last)?.monotonic_ns;
        let since = u64::try_from((i128::from(monotonic_ns) - offset).max(0)).ok()?;
        self.epoch.checked_add(Duration::from_nanos(since))
    }

    /// The offsets, for a result.
    pub(super) fn offset(&self) -> Option<ClockOffset> {
        let (first, last) = (best(&self.first)?, best(&self.last)?);
        let seconds = |ns: i128| ns as f64 / 1e9;
        Some(ClockOffset {
            wall_seconds: seconds(first.wall_ns),
            error_seconds: first.error.max(last.error).as_secs_f64(),
            drift_seconds: Some(seconds(last.monotonic_ns - first.monotonic_ns)),
        })
    }

    fn since_epoch_ns(&self, at: Instant) -> i128 {
        i128::try_from(at.saturating_duration_since(self.epoch).as_nanos()).unwrap_or(i128::MAX)
    }
}

fn best<'a>(comparisons: impl IntoIterator<Item = &'a Comparison>) -> Option<Comparison> {
    comparisons.into_iter().min_by_key(|comparison| comparison.error).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn the_fastest_answer_counts() {
        let epoch = Instant::now();
        let mut clock = HostClock::new(epoch);
        assert_eq!((clock.instant(5), clock.offset()), (None, None));
        // The host's monotonic clock is 100 s ahead, its wall clock 2 s; the first answer takes 80 ms on its way back alone.
        let mut round = |number: u32, way_back: Duration| {
            let asked = epoch + 1_000 * MS * number;
            let read = asked + MS;
            let answered = read + way_back;
            let ns = |at: Instant| u64::try_from(at.duration_since(epoch).as_nanos()).unwrap();
            let wall = |at: Instant| i64::try_from(ns(at)).unwrap();
            clock.ask(u64::from(number), asked);
            let clocks = Clocks {
                request: u64::from(number),
                monotonic_ns: ns(read) + 100_000_000_000,
                wall_ns: wall(read) + 2_000_000_000,
            };
            clock.answer(&clocks, answered, wall(answered));
        };
        round(1, 80 * MS);
        round(2, MS);
        let offset = clock.offset().unwrap();
        assert!((offset.wall_seconds - 2.0).abs() < 1e-9 && offset.error_seconds == 0.001, "{offset:?}");
        assert_eq!(clock.instant(107_000_000_000), Some(epoch + Duration::from_secs(7)));
        // An answer that nobody asked for tells nothing.
        clock.answer(&Clocks { request: 9, monotonic_ns: 1, wall_ns: 1 }, epoch, 0);
        assert_eq!(clock.answers(), 2);
    }

    #[test]
    fn a_clock_that_runs_fast_is_told() {
        let epoch = Instant::now();
        let mut clock = HostClock::new(epoch);
        for number in 0..10 {
            let at = epoch + Duration::from_secs(number);
            clock.ask(number, at);
            let monotonic_ns = number * 1_001_000_000;
            clock.answer(&Clocks { request: number, monotonic_ns, wall_ns: 0 }, at, 0);
        }
        let drift = clock.offset().unwrap().drift_seconds.unwrap();
        assert!((drift - 0.007).abs() < 1e-9, "{drift}");
    }
}
