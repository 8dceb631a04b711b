//! Moments of a cluster's life on the driver's clock. Flink tells states and their times by the clock of its JobManager, and
//! in the same reply what that clock shows: an age, which needs no two clocks to agree.

use std::time::{Duration, Instant};

/// Now, on the driver's clock. Tokio's, so that tests can let time fly; it is the system's otherwise.
pub(crate) fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

/// A request and its reply.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exchange {
    pub(crate) asked: Instant,
    pub(crate) replied: Instant,
}

impl Exchange {
    /// When something happened whose age the reply told, epoch ms of the cluster's clock both. The reply was made between the
    /// two ends of the exchange, most likely in the middle.
    pub(crate) fn moment(&self, now_ms: i64, then_ms: i64) -> Instant {
        let age = Duration::from_millis(u64::try_from(now_ms.saturating_sub(then_ms)).unwrap_or(0));
        let made = self.asked + self.replied.saturating_duration_since(self.asked) / 2;
        made.checked_sub(age).unwrap_or(self.asked)
    }
}

/// A counter that is read from the JobManager's store of metrics. The store is filled in intervals, at the request that finds
/// it too old, and never says how old it is; so a new value holds for the look before the one that brought it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stored {
    value: Option<u64>,
    at: Instant,
    looked: Instant,
}

impl Stored {
    /// Nothing is known yet; `looked` is when the metrics began to be.
    pub(crate) fn new(looked: Instant) -> Self {
        Self { value: None, at: looked, looked }
    }

    /// Takes what a look at `looked` found.
    pub(crate) fn look(&mut self, value: Option<u64>, looked: Instant) {
        if value.is_some() && value != self.value {
            (self.value, self.at) = (value, self.looked);
        }
        self.looked = looked;
    }

    /// The last value and the moment for which it holds.
    pub(crate) fn reading(&self) -> Option<(u64, Instant)> {
        self.value.map(|value| (value, self.at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn an_age_is_taken_off_the_middle_of_the_exchange() {
        let start = Instant::now() + Duration::from_secs(100);
        let exchange = Exchange { asked: start, replied: start + 20 * MS };
        assert_eq!(exchange.moment(5_000, 4_000), start + 10 * MS - 1_000 * MS);
        assert_eq!(exchange.moment(5_000, 6_000), start + 10 * MS, "nothing lies in the future");
    }

    #[test]
    fn a_value_holds_for_the_look_before() {
        let start = Instant::now();
        let mut stored = Stored::new(start);
        assert_eq!(stored.reading(), None);
        let looks =
            [(None, 200), (Some(7), 400), (Some(7), 600), (None, 800), (Some(9), 1_000), (Some(3), 1_200)];
        let read: Vec<_> = looks
            .into_iter()
            .map(|(value, ms)| {
                stored.look(value, start + ms * MS);
                stored.reading().map(|(value, at)| (value, (at - start).as_millis()))
            })
            .collect();
        let seven = Some((7, 200));
        assert_eq!(read, [None, seven, seven, seven, Some((9, 800)), Some((3, 1_000))]);
    }
}
