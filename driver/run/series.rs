//! A series over time that never grows beyond a length: then every other entry is dropped and the interval doubled.

use std::time::Duration;

/// Time between two entries, at first.
const INTERVAL: Duration = Duration::from_secs(1);
/// Longest series.
const LENGTH_MAX: usize = 2_000;

/// A series with the moments of its entries, in seconds.
#[derive(Clone, Debug)]
pub(super) struct Series<T> {
    entries: Vec<(f64, T)>,
    interval: Duration,
}

impl<T> Default for Series<T> {
    fn default() -> Self {
        Self { entries: Vec::new(), interval: INTERVAL }
    }
}

impl<T> Series<T> {
    /// Whether an entry is due at a moment.
    pub(super) fn is_due(&self, seconds: f64) -> bool {
        self.entries.last().is_none_or(|(last, _)| seconds >= last + self.interval.as_secs_f64())
    }

    /// Appends an entry.
    pub(super) fn push(&mut self, seconds: f64, entry: T) {
        self.entries.push((seconds, entry));
        if self.entries.len() >= LENGTH_MAX {
            let mut keep = false;
            self.entries.retain(|_| {
                keep = !keep;
                keep
            });
            self.interval *= 2;
        }
    }

    /// The last entry.
    pub(super) fn last_mut(&mut self) -> Option<&mut T> {
        self.entries.last_mut().map(|(_, entry)| entry)
    }

    /// All entries in order.
    pub(super) fn into_entries(self) -> Vec<T> {
        self.entries.into_iter().map(|(_, entry)| entry).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_series_is_thinned() {
        let mut series = Series::default();
        let mut offered = 0;
        for tenth in 0..100_000u32 {
            let seconds = f64::from(tenth) / 10.0;
            if series.is_due(seconds) {
                offered += 1;
                series.push(seconds, tenth);
            }
        }
        let entries = series.into_entries();
        assert!(offered > 2_000 && (1_000..2_000).contains(&entries.len()), "{offered} {}", entries.len());
        assert!(entries[0] == 0 && entries.is_sorted() && entries.last() > Some(&99_000));
    }
}
