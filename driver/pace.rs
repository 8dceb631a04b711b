//! When the next event is due: a pure function from position to time, so that a source that falls behind catches up and
//! never stretches the schedule.

use std::time::Duration;

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
