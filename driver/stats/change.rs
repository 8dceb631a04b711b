//! Where a series of runs changed for good.

use fastrand::Rng;

use super::{Better, RUNS_MIN, SEED, Verdict, ratio_of_medians};

/// Orders of the series that are tried to see what chance does.
const PERMUTATIONS: usize = 999;
/// Share of them that may look as changed as the series itself. A history is of many series, and is looked at often.
const CHANCE_MAX: f64 = 0.02;

/// The first index of every new level of a series in order of time. A change is one that a random order of the same values
/// shows in at most 2 % of cases, and that the comparison of both sides calls better or worse by at least `threshold`.
pub fn change_points(values: &[f64], threshold: f64) -> Vec<usize> {
    let Some(split) = change_point(values, threshold) else { return Vec::new() };
    let (before, after) = values.split_at(split);
    let mut found = change_points(before, threshold);
    found.push(split);
    found.extend(change_points(after, threshold).into_iter().map(|later| split + later));
    found
}

fn change_point(values: &[f64], threshold: f64) -> Option<usize> {
    if values.len() < 2 * RUNS_MIN {
        return None;
    }
    let mut ranks = ranks(values);
    let (split, excess) = largest_excess(&ranks);
    let (before, after) = values.split_at(split);
    // Which way is better makes no difference for whether there is a change.
    let verdict = ratio_of_medians(before, after)?.verdict(Better::Higher, threshold);
    if !matches!(verdict, Verdict::Better | Verdict::Worse) {
        return None;
    }
    let mut rng = Rng::with_seed(SEED);
    let mut alike = 1;
    for _ in 0..PERMUTATIONS {
        rng.shuffle(&mut ranks);
        alike += usize::from(largest_excess(&ranks).1 >= excess);
    }
    let chance = alike as f64 / (PERMUTATIONS + 1) as f64;
    (chance <= CHANCE_MAX).then_some(split)
}

/// Ranks from 1; equal values share the mean of theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by(|one, other| values[*one].total_cmp(&values[*other]));
    let mut ranks = vec![0.0; values.len()];
    let mut first = 0;
    for tied in order.chunk_by(|one, other| values[*one] == values[*other]) {
        let rank = first as f64 + (tied.len() as f64 + 1.0) / 2.0;
        tied.iter().for_each(|index| ranks[*index] = rank);
        first += tied.len();
    }
    ranks
}

/// Where the sum of the ranks so far is farthest from what chance gives, and how far: Pettitt's statistic, among the splits that
/// leave enough runs on both sides.
fn largest_excess(ranks: &[f64]) -> (usize, f64) {
    let middle = (ranks.len() as f64 + 1.0) / 2.0;
    let mut sum = 0.0;
    let mut largest = (RUNS_MIN, -1.0);
    for (index, rank) in ranks.iter().enumerate() {
        sum += rank - middle;
        let split = index + 1;
        if split >= RUNS_MIN && split + RUNS_MIN <= ranks.len() && sum.abs() > largest.1 {
            largest = (split, sum.abs());
        }
    }
    largest
}
