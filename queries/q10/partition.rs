//! A partition of the files: the minute of its bids, in UTC, as two directories.

use crate::operators::utc::date;

pub(super) const MS_PER_MINUTE: i64 = 60_000;
const MINUTES_PER_DAY: i64 = 24 * 60;

/// The bids of one minute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Partition {
    minute: i64,
    path: String,
}

impl Partition {
    /// The partition of a minute, counted from the epoch.
    pub(super) fn new(minute: i64) -> Self {
        let (year, month, day) = date(minute.div_euclid(MINUTES_PER_DAY));
        let of_day = minute.rem_euclid(MINUTES_PER_DAY);
        let sign = if year < 0 { "-" } else { "" };
        let path = format!(
            "dt={sign}{:04}-{month:02}-{day:02}/hm={:02}:{:02}",
            year.abs(),
            of_day / 60,
            of_day % 60
        );
        Self { minute, path }
    }

    /// The minute, counted from the epoch.
    pub(super) fn minute(&self) -> i64 {
        self.minute
    }

    /// Relative path of its directory.
    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// First moment after it, epoch ms; `None` where that is beyond all times.
    pub(super) fn end(&self) -> Option<i64> {
        (self.minute + 1).checked_mul(MS_PER_MINUTE)
    }

    /// Whether a time, epoch ms, belongs to it.
    #[inline]
    pub(super) fn holds(&self, epoch_ms: i64) -> bool {
        epoch_ms.div_euclid(MS_PER_MINUTE) == self.minute
    }

    /// Values of the columns dt and hm behind the path of a partition.
    pub(super) fn names(path: &str) -> Option<(String, String)> {
        let (dt, hm) = path.strip_prefix("dt=")?.split_once("/hm=")?;
        Some((dt.to_owned(), hm.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(epoch_ms: i64) -> Partition {
        Partition::new(epoch_ms.div_euclid(MS_PER_MINUTE))
    }

    #[test]
    fn paths_name_day_and_minute() {
        assert_eq!(of(1_436_918_400_000).path(), "dt=2015-07-15/hm=00:00");
        assert_eq!(of(-1).path(), "dt=1969-12-31/hm=23:59");
        assert_eq!(of(i64::MAX).path(), "dt=292278994-08-17/hm=07:12");
        assert_eq!(of(i64::MIN).path(), "dt=-292275055-05-16/hm=16:47");
    }

    #[test]
    fn a_minute_is_closed_at_its_start_and_open_at_its_end() {
        let partition = of(0);
        assert_eq!([-1, 0, 59_999, 60_000].map(|time| partition.holds(time)), [false, true, true, false]);
        assert_eq!(partition.end(), Some(60_000));
        assert_eq!(of(i64::MAX).end(), None);
    }

    proptest! {
        #[test]
        fn names_are_those_of_the_oracle(epoch_ms in prop_oneof![any::<i64>(), -10_i64.pow(14)..10_i64.pow(14)]) {
            let names = Partition::names(of(epoch_ms).path()).expect("a path of its own");
            prop_assert_eq!(names, (crate::oracle::day(epoch_ms), crate::oracle::minute(epoch_ms)));
        }
    }
}
