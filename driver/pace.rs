//! When the next event is due: a pure function from position to time, so that a source that falls behind catches up and
//! never stretches the schedule.

use std::f64::consts::{PI, TAU};
use std::time::Duration;

/// Rates above this are refused, events per second. Counts stay whole in an `f64` for hours.
pub const EVENTS_PER_S_MAX: f64 = 1e11;
/// Longest period, one day; far above any run.
pub const PERIOD_MAX: Duration = Duration::from_secs(86_400);
/// Shortest period; below it a shape is noise.
pub const PERIOD_MIN: Duration = Duration::from_millis(1);

/// Offered rate over time.
#[derive(Clone, Debug, PartialEq)]
pub enum Schedule {
    /// As fast as the engine takes them: every event is due at the start.
    Unlimited,
    /// The same rate throughout, events per second.
    Constant(f64),
    /// Two rates in turn, each for half a period.
    Square {
        /// Rate of the first half, events per second.
        first: f64,
        /// Rate of the second half, events per second.
        next: f64,
        /// Length of a period.
        period: Duration,
    },
    /// Between two rates along a sine: `first` at the start, `next` after half a period.
    Sine {
        /// Rate at the start, events per second.
        first: f64,
        /// Rate after half a period, events per second.
        next: f64,
        /// Length of a period.
        period: Duration,
    },
}

/// A schedule that cannot be kept.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ScheduleError {
    /// A rate is out of range.
    #[error(
        "{rate} is {value} events/s, allowed is a number above 0 and up to {EVENTS_PER_S_MAX:e} (one of two may be 0)"
    )]
    Rate {
        /// Which rate: `rate`, `first` or `next`.
        rate: &'static str,
        /// What was given, events per second.
        value: f64,
    },
    /// The period is out of range.
    #[error("period is {0:?}, allowed is {PERIOD_MIN:?} to {PERIOD_MAX:?}")]
    Period(Duration),
}

impl Schedule {
    /// Checks rates and period.
    ///
    /// # Errors
    /// The first value that is out of range.
    pub fn check(&self) -> Result<(), ScheduleError> {
        match *self {
            Self::Unlimited => Ok(()),
            Self::Constant(rate) => check_rate("rate", rate, f64::MIN_POSITIVE),
            Self::Square { first, next, period } | Self::Sine { first, next, period } => {
                check_rate("first", first, 0.0)?;
                check_rate("next", next, if first == 0.0 { f64::MIN_POSITIVE } else { 0.0 })?;
                if (PERIOD_MIN..=PERIOD_MAX).contains(&period) {
                    Ok(())
                } else {
                    Err(ScheduleError::Period(period))
                }
            }
        }
    }

    /// Number of events that are due before a moment after the start: the positions `0..events_due`.
    pub fn events_due(&self, elapsed: Duration) -> u64 {
        // The cast saturates, so that an unlimited schedule gives the largest number.
        self.events_offered(elapsed).ceil() as u64
    }

    /// Events offered from the start to a moment: the integral of the rate, infinite when unlimited.
    pub fn events_offered(&self, elapsed: Duration) -> f64 {
        match *self {
            Self::Unlimited => f64::INFINITY,
            Self::Constant(rate) => rate * elapsed.as_secs_f64(),
            Self::Square { period, .. } | Self::Sine { period, .. } => {
                let period_ns = period.as_nanos().max(1);
                let periods = elapsed.as_nanos() / period_ns;
                let rest_ns = elapsed.as_nanos() % period_ns;
                periods as f64 * self.events_per_period() + self.events_in_period(rest_ns as f64 / 1e9)
            }
        }
    }

    /// When the event at a position is due, since the start: the first nanosecond by which that many were offered.
    pub fn due(&self, position: u64) -> Duration {
        match *self {
            Self::Unlimited => Duration::ZERO,
            Self::Constant(rate) => duration((position as f64 / rate * 1e9).ceil()),
            Self::Square { period, .. } | Self::Sine { period, .. } => {
                self.due_by_bisection(position as f64, period)
            }
        }
    }

    /// Rate at a moment after the start, events per second; `None` when unlimited.
    pub fn events_per_s(&self, elapsed: Duration) -> Option<f64> {
        match *self {
            Self::Unlimited => None,
            Self::Constant(rate) => Some(rate),
            Self::Square { first, next, period } => {
                Some(if phase(elapsed, period) < 0.5 { first } else { next })
            }
            Self::Sine { first, next, period } => {
                let share = (1.0 - (TAU * phase(elapsed, period)).cos()) / 2.0;
                Some(first + (next - first) * share)
            }
        }
    }

    /// Mean rate between two moments after the start, events per second; `None` when unlimited or empty.
    pub fn events_per_s_mean(&self, from: Duration, to: Duration) -> Option<f64> {
        if *self == Self::Unlimited || to <= from {
            return None;
        }
        Some((self.events_offered(to) - self.events_offered(from)) / (to - from).as_secs_f64())
    }

    /// Both shapes spend half a period on either side of the mean.
    fn events_per_period(&self) -> f64 {
        match *self {
            Self::Square { first, next, period } | Self::Sine { first, next, period } => {
                (first + next) / 2.0 * period.as_secs_f64()
            }
            Self::Unlimited | Self::Constant(_) => f64::INFINITY,
        }
    }

    /// Events offered within a period up to `seconds` after its start.
    fn events_in_period(&self, seconds: f64) -> f64 {
        match *self {
            Self::Square { first, next, period } => {
                let half = period.as_secs_f64() / 2.0;
                first * seconds.min(half) + next * (seconds - half).max(0.0)
            }
            Self::Sine { first, next, period } => {
                let length = period.as_secs_f64();
                let wave = seconds / 2.0 - length / (4.0 * PI) * (TAU * seconds / length).sin();
                // Rounding must not take the first moments of a rate of 0 below nothing.
                (first * seconds + (next - first) * wave).max(0.0)
            }
            Self::Unlimited | Self::Constant(_) => f64::INFINITY,
        }
    }

    /// The offered events grow with time, so that halving the interval finds the moment to the nanosecond.
    fn due_by_bisection(&self, events: f64, period: Duration) -> Duration {
        let periods = (events / self.events_per_period()).floor();
        let period_ns = period.as_nanos() as f64;
        let (mut low, mut high) = (as_ns((periods - 1.0) * period_ns), as_ns((periods + 2.0) * period_ns));
        while low < high {
            let middle = low + (high - low) / 2;
            if self.events_offered(Duration::from_nanos(middle)) >= events {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        Duration::from_nanos(low)
    }
}

fn check_rate(rate: &'static str, value: f64, min: f64) -> Result<(), ScheduleError> {
    if value >= min && value <= EVENTS_PER_S_MAX { Ok(()) } else { Err(ScheduleError::Rate { rate, value }) }
}

/// Share of the current period that has passed, 0 to 1.
fn phase(elapsed: Duration, period: Duration) -> f64 {
    let period_ns = period.as_nanos().max(1);
    (elapsed.as_nanos() % period_ns) as f64 / period_ns as f64
}

/// Saturates: a moment beyond 584 years is never reached.
fn as_ns(ns: f64) -> u64 {
    ns as u64
}

fn duration(ns: f64) -> Duration {
    Duration::from_nanos(as_ns(ns))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn shapes() -> impl Strategy<Value = Schedule> {
        let rate = 1.0..2e7_f64;
        let shaped = (0.0..2e7_f64, 1.0..2e7_f64, 1_u64..120_000, any::<bool>(), any::<bool>());
        prop_oneof![
            rate.prop_map(Schedule::Constant),
            shaped.prop_map(|(one, other, period_ms, swapped, square)| {
                let period = Duration::from_millis(period_ms);
                let (first, next) = if swapped { (other, one) } else { (one, other) };
                if square {
                    Schedule::Square { first, next, period }
                } else {
                    Schedule::Sine { first, next, period }
                }
            }),
        ]
    }

    proptest! {
        #[test]
        fn due_times_and_counts_never_go_back(schedule in shapes(), a in 0_u64..1 << 40, b in 0_u64..1 << 40) {
            let (low, high) = (a.min(b), a.max(b));
            prop_assert!(schedule.due(low) <= schedule.due(high));
            let (early, late) = (Duration::from_nanos(low), Duration::from_nanos(high));
            prop_assert!(schedule.events_due(early) <= schedule.events_due(late));
        }

        #[test]
        fn count_inverts_due_time(schedule in shapes(), position in 0_u64..1 << 40) {
            let due = schedule.due(position);
            // Two of slack: one for the event itself, one for the rounding of 2^40 in an f64.
            let before = schedule.events_due(due.saturating_sub(Duration::from_nanos(1_000)));
            let after = schedule.events_due(due + Duration::from_nanos(1));
            prop_assert!(before <= position + 1, "{before} events due before position {position}");
            prop_assert!(after + 1 >= position, "{after} events due after position {position}");
        }

        #[test]
        fn total_is_the_integral_of_the_rate(schedule in shapes(), ms in 1_u64..600_000) {
            let span = Duration::from_millis(ms);
            let steps = 20_000;
            let step = span / steps;
            let sum: f64 = (0..steps)
                .filter_map(|n| schedule.events_per_s(step * n + step / 2))
                .map(|rate| rate * step.as_secs_f64())
                .sum();
            // Each of the jumps of a square may fall inside a step.
            let highest = 2e7 * step.as_secs_f64();
            let jumps = match schedule {
                Schedule::Square { period, .. } => 2.0 + 2.0 * span.as_secs_f64() / period.as_secs_f64(),
                _ => 1.0,
            };
            // A period of a few steps is sampled too coarsely to be summed.
            let coarse = matches!(schedule,
                Schedule::Square { period, .. } | Schedule::Sine { period, .. } if period < step * 20);
            let offered = schedule.events_offered(span);
            prop_assert!(coarse || (offered - sum).abs() <= jumps * highest + offered * 1e-3, "{offered} {sum}");
        }
    }

    #[test]
    fn constant_rate_is_exact() {
        let schedule = Schedule::Constant(10_000_000.0);
        assert_eq!(schedule.events_due(Duration::ZERO), 0);
        assert_eq!(schedule.events_due(180 * SECOND), 1_800_000_000);
        assert_eq!(schedule.due(0), Duration::ZERO);
        assert_eq!(schedule.due(1_800_000_000), 180 * SECOND);
        // A whole number of microseconds between events would give 0 here.
        assert_eq!(schedule.due(1), Duration::from_nanos(100));
    }

    #[test]
    fn square_takes_the_rates_in_turn() {
        let schedule = Schedule::Square { first: 100.0, next: 0.0, period: 2 * SECOND };
        assert_eq!(schedule.events_due(SECOND), 100);
        assert_eq!(schedule.events_due(2 * SECOND), 100);
        assert_eq!(schedule.events_due(3 * SECOND), 200);
        assert_eq!(schedule.due(99), Duration::from_millis(990));
        assert_eq!(schedule.due(101), Duration::from_millis(2010));
    }

    #[test]
    fn sine_runs_from_first_to_next_and_back() {
        let schedule = Schedule::Sine { first: 100.0, next: 300.0, period: 4 * SECOND };
        let rate = |ms| schedule.events_per_s(Duration::from_millis(ms)).unwrap();
        assert!((rate(0) - 100.0).abs() < 1e-9 && (rate(2000) - 300.0).abs() < 1e-9);
        assert!((rate(1000) - 200.0).abs() < 1e-9 && (rate(4000) - 100.0).abs() < 1e-9);
        assert!((schedule.events_offered(4 * SECOND) - 800.0).abs() < 1e-9);
        assert_eq!(schedule.events_per_s_mean(4 * SECOND, 8 * SECOND).map(f64::round), Some(200.0));
    }

    #[test]
    fn unlimited_is_due_at_once() {
        assert_eq!(Schedule::Unlimited.events_due(Duration::ZERO), u64::MAX);
        assert_eq!(Schedule::Unlimited.due(u64::MAX), Duration::ZERO);
        assert_eq!(Schedule::Unlimited.events_per_s_mean(Duration::ZERO, SECOND), None);
    }

    #[test]
    fn values_out_of_range_are_named() {
        let refused = |schedule: Schedule| schedule.check().unwrap_err().to_string();
        assert!(refused(Schedule::Constant(0.0)).starts_with("rate is 0 events/s"));
        assert!(refused(Schedule::Constant(f64::NAN)).starts_with("rate is NaN events/s"));
        assert!(refused(Schedule::Constant(f64::INFINITY)).starts_with("rate is inf events/s"));
        let period = SECOND;
        assert!(refused(Schedule::Square { first: -1.0, next: 1.0, period }).starts_with("first is -1"));
        assert!(refused(Schedule::Sine { first: 0.0, next: 0.0, period }).starts_with("next is 0"));
        let period = Duration::ZERO;
        assert!(refused(Schedule::Sine { first: 1.0, next: 0.0, period }).starts_with("period is 0ns"));
        assert_eq!(Schedule::Square { first: 1.0, next: 0.0, period: SECOND }.check(), Ok(()));
        assert_eq!(Schedule::Unlimited.check(), Ok(()));
    }
}
