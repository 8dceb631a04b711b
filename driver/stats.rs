//! Statistics of repeated runs: robust summaries, the ratio of two sides with its interval, verdicts, change points. Pure:
//! the same numbers in give the same out, since what is drawn is drawn from a fixed seed.
//!
//! A run of a job is one observation; samples within a run are none, for they share whatever made that run fast or slow.
//!
//! # Sources
//! - Interval of the ratio: the percentile bootstrap (Efron 1979) of the ratio of two medians. The bootstrap distribution of
//!   a median is known exactly (Maritz and Jarrett 1978, Efron 1979), so nothing has to be drawn for it.
//! - Whether that interval excludes 1 depends on the ranks alone, hence two sides with one distribution are told apart equally
//!   often whatever the distribution is: skewed, with outliers, or of two humps. The tests count all rank orders of small sides.
//! - Change points: Pettitt's statistic (1979), with its significance from permutations.

mod change;
mod ratio;
#[cfg(test)]
mod tests;
mod total;

use serde::Serialize;

pub use change::change_points;
pub use ratio::ratio_of_medians;
pub use total::geometric_mean_of_ratios;

/// Runs a side, below which there is no verdict.
pub const RUNS_MIN: usize = 3;
/// Confidence of every interval, %.
pub const CONFIDENCE_PERCENT: u32 = 95;
/// Probability on each side of an interval.
const TAIL: f64 = 0.025;
/// Where drawing begins: any number would do, as long as it stays.
const SEED: u64 = 0x6e65_786d_6172_6b00;

/// From one value to another, both included.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// The smaller end.
    pub low: f64,
    /// The larger end.
    pub high: f64,
}

impl Interval {
    /// Whether a value lies in it.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

/// How one side stands to another, its base: 1.1 is a tenth more.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Ratio {
    /// The ratio.
    pub value: f64,
    /// Its interval of 95 % confidence; `None` where a side has fewer than [`RUNS_MIN`] runs.
    pub interval: Option<Interval>,
}

/// Which way a metric is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
}

/// What a comparison says about a side, against its base.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Better: the interval excludes 1, and the ratio is at least the smallest effect.
    Better,
    /// Worse, in the same sense.
    Worse,
    /// The whole interval is nearer to 1 than the smallest effect.
    Same,
    /// Anything else: more runs or a quieter machine are needed to say.
    Inconclusive,
}

impl Verdict {
    /// As in documents.
    pub fn name(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Same => "same",
            Self::Inconclusive => "inconclusive",
        }
    }
}

impl Ratio {
    /// The verdict on a ratio, where `threshold` is the smallest effect that matters, as a share: 0.05 makes ratios
    /// from 1 / 1.05 to 1.05 the same.
    pub fn verdict(&self, better: Better, threshold: f64) -> Verdict {
        let Some(interval) = self.interval else { return Verdict::Inconclusive };
        let (up, down) = (1.0 + threshold, 1.0 / (1.0 + threshold));
        if interval.high < up && interval.low > down {
            Verdict::Same
        } else if interval.contains(1.0) || (down < self.value && self.value < up) {
            Verdict::Inconclusive
        } else if (self.value > 1.0) == (better == Better::Higher) {
            Verdict::Better
        } else {
            Verdict::Worse
        }
    }

    /// By how much a side is worse than its base, as a share; negative when it is better.
    pub fn loss(&self, better: Better) -> f64 {
        match better {
            Better::Higher => 1.0 / self.value - 1.0,
            Better::Lower => self.value - 1.0,
        }
    }
}

/// The middle value, or the mean of the two; `None` of nothing.
pub fn median(values: &[f64]) -> Option<f64> {
    let sorted = sorted(values);
    let upper = *sorted.get(sorted.len() / 2)?;
    let lower = sorted[(sorted.len() - 1) / 2];
    Some(f64::midpoint(lower, upper))
}

/// Median absolute deviation from the median, in the unit of the values: half of them lie nearer to it. `None` of nothing.
pub fn median_absolute_deviation(values: &[f64]) -> Option<f64> {
    let middle = median(values)?;
    median(&values.iter().map(|value| (value - middle).abs()).collect::<Vec<_>>())
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut values = values.to_vec();
    values.sort_unstable_by(f64::total_cmp);
    values
}

/// Whether ratios of these values mean anything.
fn positive(values: &[f64]) -> bool {
    values.iter().all(|value| value.is_finite() && *value > 0.0)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}
