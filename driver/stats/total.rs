//! The geometric mean of the ratios of many queries.

use fastrand::Rng;

use super::ratio::{ratio_of_medians, resampled_median};
use super::{Interval, Ratio, SEED, TAIL, mean, sorted};

/// Draws of the bootstrap: the ends of the interval then move by a fiftieth of its width from seed to seed.
const DRAWS: usize = 4_000;

/// Geometric mean of the ratios of medians of these pairs of base and other, one a query, with its bootstrap interval.
/// `None` of no pairs, or of one without a ratio.
pub fn geometric_mean_of_ratios(pairs: &[(&[f64], &[f64])]) -> Option<Ratio> {
    if let [(base, other)] = pairs {
        return ratio_of_medians(base, other);
    }
    let ratios: Option<Vec<Ratio>> =
        pairs.iter().map(|(base, other)| ratio_of_medians(base, other)).collect();
    let ratios = ratios.filter(|ratios| !ratios.is_empty())?;
    let value = mean(&ratios.iter().map(|ratio| ratio.value.ln()).collect::<Vec<_>>()).exp();
    let enough = ratios.iter().all(|ratio| ratio.interval.is_some());
    Some(Ratio { value, interval: enough.then(|| stretched(interval(pairs), value, freedom(pairs))) })
}

/// Runs beyond the one that each side needs for its level.
fn freedom(pairs: &[(&[f64], &[f64])]) -> usize {
    pairs.iter().map(|(base, other)| base.len() + other.len() - 2).sum()
}

/// The bootstrap takes the spread of few runs for the true one, which is too narrow: Student's t says by a factor of about
/// 1 + 1.21 / f with f degrees of freedom. Twice as much keeps the error below 5 % with compact noise, too.
fn stretched(interval: Interval, value: f64, freedom: usize) -> Interval {
    let factor = 1.0 + 2.42 / freedom as f64;
    let stretch = |end: f64| value * (end / value).powf(factor);
    Interval { low: stretch(interval.low), high: stretch(interval.high) }
}

fn interval(pairs: &[(&[f64], &[f64])]) -> Interval {
    let mut rng = Rng::with_seed(SEED);
    let sides: Vec<(Side, Side)> =
        pairs.iter().map(|(base, other)| (Side::new(base), Side::new(other))).collect();
    let draws: Vec<f64> = (0..DRAWS)
        .map(|_| {
            let logs = sides.iter().map(|(base, other)| other.draw(&mut rng) - base.draw(&mut rng));
            logs.sum::<f64>() / sides.len() as f64
        })
        .collect();
    let draws = sorted(&draws);
    let cut = (TAIL * DRAWS as f64) as usize;
    Interval { low: draws[cut].exp(), high: draws[DRAWS - 1 - cut].exp() }
}

/// The bootstrap distribution of the logarithm of one side's median.
struct Side {
    logs: Vec<f64>,
    /// Probability of each and those before it.
    reached: Vec<f64>,
}

impl Side {
    fn new(values: &[f64]) -> Self {
        let mut sum = 0.0;
        let weighed = resampled_median(&sorted(values));
        let reached = weighed.iter().map(|(_, weight)| {
            sum += weight;
            sum
        });
        let reached = reached.collect();
        Self { logs: weighed.iter().map(|(value, _)| value.ln()).collect(), reached }
    }

    fn draw(&self, rng: &mut Rng) -> f64 {
        let chance = rng.f64();
        let index = self.reached.partition_point(|reached| *reached <= chance);
        self.logs[index.min(self.logs.len() - 1)]
    }
}
