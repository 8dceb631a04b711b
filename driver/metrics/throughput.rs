//! Throughput from an engine's event counter: differences of counts over the driver's monotonic clock, never a mean of
//! an engine's own rates.

use std::time::Instant;

/// A count at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The moment.
    pub at: Instant,
    /// Events counted until then.
    pub events: u64,
}

/// Follows an event counter that may go backwards when a job restarts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Meter {
    last: Option<Reading>,
    counted: u64,
    dropped: u64,
}

impl Meter {
    /// Takes a reading of the counter and returns the rate since the last one, events per second. A difference below zero is
    /// dropped and counted as dropped; counting goes on from the lower value.
    pub fn read(&mut self, reading: Reading) -> Option<f64> {
        let Some(last) = self.last.replace(reading) else {
            self.counted = reading.events;
            return None;
        };
        let Some(difference) = reading.events.checked_sub(last.events) else {
            self.dropped += 1;
            return None;
        };
        self.counted = self.counted.saturating_add(difference);
        let seconds = reading.at.checked_duration_since(last.at)?.as_secs_f64();
        (seconds > 0.0).then(|| difference as f64 / seconds)
    }

    /// Events counted so far, and when the counter was last read.
    pub fn counted(&self) -> Option<Reading> {
        self.last.map(|last| Reading { at: last.at, events: self.counted })
    }

    /// Readings that went backwards.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }
}

/// What was measured between two readings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Throughput {
    /// Events between the two.
    pub events: u64,
    /// Seconds between the two.
    pub seconds: f64,
    /// Events per second; `None` when no time passed.
    pub events_per_s: Option<f64>,
}

impl Throughput {
    /// Throughput between two readings, the earlier one first.
    pub fn between(from: Reading, to: Reading) -> Self {
        let events = to.events.saturating_sub(from.events);
        let seconds = to.at.saturating_duration_since(from.at).as_secs_f64();
        let events_per_s = (seconds > 0.0).then(|| events as f64 / seconds);
        Self { events, seconds, events_per_s }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    fn reading(start: Instant, ms: u64, events: u64) -> Reading {
        Reading { at: start + Duration::from_millis(ms), events }
    }

    #[test]
    fn rates_are_differences_over_time() {
        let start = Instant::now();
        let mut meter = Meter::default();
        assert_eq!(meter.read(reading(start, 0, 1_000)), None);
        assert_eq!(meter.read(reading(start, 500, 3_000)), Some(4_000.0));
        assert_eq!(meter.read(reading(start, 500, 3_000)), None);
        let throughput = Throughput::between(reading(start, 0, 1_000), reading(start, 500, 3_000));
        assert_eq!(throughput, Throughput { events: 2_000, seconds: 0.5, events_per_s: Some(4_000.0) });
        let empty = Throughput::between(reading(start, 5, 7), reading(start, 5, 7));
        assert_eq!(empty.events_per_s, None);
    }

    #[test]
    fn a_counter_that_goes_back_is_dropped_and_counted() {
        let start = Instant::now();
        let mut meter = Meter::default();
        meter.read(reading(start, 0, 1_000));
        assert_eq!(meter.read(reading(start, 100, 200)), None);
        assert_eq!(meter.read(reading(start, 200, 300)), Some(1_000.0));
        assert_eq!(meter.counted().map(|reading| reading.events), Some(1_100));
        assert_eq!(meter.dropped(), 1);
    }

    proptest! {
        #[test]
        fn counted_is_the_last_value_of_a_counter_that_only_grows(steps in proptest::collection::vec(0_u64..1 << 40, 1..50)) {
            let start = Instant::now();
            let (mut meter, mut events) = (Meter::default(), 0);
            for (step, ms) in steps.iter().zip(0..) {
                events += step;
                meter.read(reading(start, ms, events));
            }
            prop_assert_eq!(meter.counted().map(|reading| reading.events), Some(events));
            prop_assert_eq!(meter.dropped(), 0);
        }
    }
}
