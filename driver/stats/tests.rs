//! Proofs by simulation: how often chance is taken for a difference, and a difference is found. Seeded, so that they
//! hold always or never.

use fastrand::Rng;

use super::*;

const TRIALS: usize = 1_000;
const THRESHOLD: f64 = 0.05;

/// Noise of a run: what it is called, and a factor around 1 that is drawn.
type Noise = (&'static str, fn(&mut Rng) -> f64);

const NOISES: [Noise; 7] = [
    ("normal, 3 %", |rng| 1.0 + 0.03 * normal(rng)),
    ("normal, 15 %", |rng| (1.0 + 0.15 * normal(rng)).max(0.1)),
    ("skewed to slow runs", |rng| 1.0 / (1.0 + 0.2 * exponential(rng))),
    ("log-normal", |rng| (0.5 * normal(rng)).exp()),
    ("one of ten is an outlier", |rng| {
        let noise = 1.0 + 0.03 * normal(rng);
        if rng.f64() < 0.1 { noise * (0.3 + rng.f64()) } else { noise }
    }),
    ("two humps", |rng| if rng.bool() { 1.0 } else { 1.4 } * (1.0 + 0.01 * normal(rng))),
    ("uniform", |rng| 0.8 + 0.4 * rng.f64()),
];

/// Irwin and Hall's: the sum of twelve uniform numbers is all but normal.
fn normal(rng: &mut Rng) -> f64 {
    (0..12).map(|_| rng.f64()).sum::<f64>() - 6.0
}

fn exponential(rng: &mut Rng) -> f64 {
    -(1.0 - rng.f64()).ln()
}

fn runs(count: usize, level: f64, noise: Noise, rng: &mut Rng) -> Vec<f64> {
    (0..count).map(|_| level * noise.1(rng)).collect()
}

fn different(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Better | Verdict::Worse)
}

/// How many of `trials` hold.
fn count(trials: usize, mut holds: impl FnMut() -> bool) -> usize {
    (0..trials).filter(|_| holds()).count()
}

fn verdict_of(base: &[f64], other: &[f64], threshold: f64) -> Verdict {
    ratio_of_medians(base, other).unwrap().verdict(Better::Higher, threshold)
}

#[test]
fn equal_sides_are_called_different_in_at_most_5_of_100_trials() {
    for noise in NOISES {
        for (bases, others) in [(3, 3), (3, 4), (3, 7), (4, 4), (5, 5), (5, 12), (6, 6), (7, 7), (10, 10)] {
            let mut rng = Rng::with_seed(1);
            // Without a smallest effect, nothing but the interval keeps them together.
            for threshold in [0.0, THRESHOLD] {
                let wrong = count(TRIALS, || {
                    let (base, other) =
                        (runs(bases, 7.0, noise, &mut rng), runs(others, 7.0, noise, &mut rng));
                    different(verdict_of(&base, &other, threshold))
                });
                assert!(wrong <= TRIALS / 20, "{}, {bases} and {others} runs: {wrong}", noise.0);
            }
        }
    }
}

/// All ways of dealing ranks to a side; bit `i` says whether it has rank `i`.
fn dealt(base: usize, other: usize) -> impl Iterator<Item = u32> {
    (0..1_u32 << (base + other)).filter(move |ranks| ranks.count_ones() as usize == base)
}

#[test]
fn of_all_orders_of_ranks_at_most_5_of_100_are_called_different() {
    for bases in 3..=7 {
        for others in bases..=7 {
            if bases + others < 8 {
                continue; // Needs more than ranks; the simulation above covers it.
            }
            let (mut all, mut wrong) = (0, 0);
            for ranks in dealt(bases, others) {
                let (base, other): (Vec<usize>, Vec<usize>) =
                    (0..bases + others).partition(|rank| ranks & (1 << rank) != 0);
                let values =
                    |ranks: Vec<usize>| ranks.iter().map(|rank| 1.0 + *rank as f64).collect::<Vec<_>>();
                let interval = ratio_of_medians(&values(base), &values(other)).unwrap().interval.unwrap();
                all += 1;
                wrong += usize::from(!interval.contains(1.0));
            }
            assert!(wrong * 20 <= all, "{bases} and {others} runs: {wrong} of {all}");
            assert!(wrong >= 2, "{bases} and {others} runs: nothing is ever called different");
        }
    }
}

#[test]
fn a_tenth_is_found_with_5_runs_at_3_percent_noise() {
    for (level, expected) in [(1.1, Verdict::Better), (1.0 / 1.1, Verdict::Worse)] {
        for (runs_a_side, at_least) in [(3, 650), (4, 850), (5, 930), (10, 990)] {
            let mut rng = Rng::with_seed(2);
            let found = count(TRIALS, || {
                let (base, other) = (
                    runs(runs_a_side, 1.0, NOISES[0], &mut rng),
                    runs(runs_a_side, level, NOISES[0], &mut rng),
                );
                verdict_of(&base, &other, THRESHOLD) == expected
            });
            assert!(found >= at_least, "{runs_a_side} runs, {level}: {found}");
        }
    }
}

#[test]
fn the_interval_holds_the_true_ratio() {
    for noise in NOISES {
        for runs_a_side in [3, 5, 10, 40] {
            let mut rng = Rng::with_seed(3);
            let held = count(TRIALS, || {
                let (base, other) =
                    (runs(runs_a_side, 2.0, noise, &mut rng), runs(runs_a_side, 3.0, noise, &mut rng));
                ratio_of_medians(&base, &other).unwrap().interval.unwrap().contains(1.5)
            });
            assert!(held >= TRIALS * 95 / 100, "{}, {runs_a_side} runs: {held}", noise.0);
        }
    }
}

#[test]
fn equal_sides_are_the_same_once_there_are_enough_runs() {
    let mut rng = Rng::with_seed(4);
    let same = count(TRIALS, || {
        let (base, other) = (runs(20, 1.0, NOISES[0], &mut rng), runs(20, 1.0, NOISES[0], &mut rng));
        verdict_of(&base, &other, THRESHOLD) == Verdict::Same
    });
    assert!(same >= 900, "{same}");
}

#[test]
fn large_spread_between_runs_is_inconclusive() {
    // Each is the rate of a run whose own samples may be as even as they like.
    let (base, other) = ([100.0, 131.0, 84.0, 118.0, 92.0], [109.0, 88.0, 137.0, 97.0, 126.0]);
    assert_eq!(verdict_of(&base, &other, THRESHOLD), Verdict::Inconclusive);
    // A clear difference below the smallest effect is none, a small one that may be above it is open.
    assert_eq!(verdict_of(&[100.0; 5], &[103.0; 5], THRESHOLD), Verdict::Same);
    assert_eq!(
        verdict_of(&[100.0, 100.5, 101.0, 99.5, 99.0], &[102.0, 107.0, 104.0, 103.0, 106.5], THRESHOLD),
        Verdict::Inconclusive
    );
}

#[test]
fn the_mean_of_equal_queries_is_called_different_in_at_most_5_of_100_trials() {
    for noise in NOISES {
        for (queries, runs_a_side) in [(1, 3), (2, 3), (2, 5), (5, 4), (24, 3), (24, 5)] {
            let mut rng = Rng::with_seed(5);
            let trials = 200;
            let wrong = count(trials, || {
                let sides: Vec<_> = (0..queries)
                    .map(|_| {
                        (runs(runs_a_side, 1.0, noise, &mut rng), runs(runs_a_side, 1.0, noise, &mut rng))
                    })
                    .collect();
                let pairs: Vec<(&[f64], &[f64])> =
                    sides.iter().map(|(base, other)| (&base[..], &other[..])).collect();
                !geometric_mean_of_ratios(&pairs).unwrap().interval.unwrap().contains(1.0)
            });
            assert!(wrong * 20 <= trials, "{}, {queries} queries, {runs_a_side} runs: {wrong}", noise.0);
        }
    }
}

#[test]
fn the_mean_of_ratios_is_geometric_and_has_a_narrower_interval() {
    let double = (&[1.0, 1.0, 1.0][..], &[2.0, 2.0, 2.0][..]);
    let half = (&[4.0, 4.0, 4.0][..], &[2.0, 2.0, 2.0][..]);
    let mean = geometric_mean_of_ratios(&[double, half]).unwrap();
    assert!((mean.value - 1.0).abs() < 1e-12, "{mean:?}");
    let mut rng = Rng::with_seed(6);
    let sides: Vec<_> =
        (0..16).map(|_| (runs(5, 1.0, NOISES[0], &mut rng), runs(5, 1.2, NOISES[0], &mut rng))).collect();
    let pairs: Vec<(&[f64], &[f64])> = sides.iter().map(|(base, other)| (&base[..], &other[..])).collect();
    let width = |ratio: Ratio| ratio.interval.unwrap().high - ratio.interval.unwrap().low;
    let all = geometric_mean_of_ratios(&pairs).unwrap();
    assert_eq!(Some(all), geometric_mean_of_ratios(&pairs), "the same numbers give the same interval");
    assert!(all.interval.unwrap().contains(1.2), "{all:?}");
    assert!(width(all) < width(geometric_mean_of_ratios(&pairs[..1]).unwrap()) / 2.0, "{all:?}");
    assert_eq!(geometric_mean_of_ratios(&[]), None);
    assert_eq!(geometric_mean_of_ratios(&[double, (&[0.0], &[1.0])]), None);
    assert_eq!(geometric_mean_of_ratios(&[double, (&[1.0], &[1.0])]).unwrap().interval, None);
}

#[test]
fn series_without_a_change_show_one_in_at_most_5_of_100_trials() {
    for noise in NOISES {
        for length in [8, 20, 60] {
            let mut rng = Rng::with_seed(7);
            let trials = 300;
            let wrong =
                count(trials, || !change_points(&runs(length, 1.0, noise, &mut rng), THRESHOLD).is_empty());
            assert!(wrong * 20 <= trials, "{}, {length} runs: {wrong}", noise.0);
        }
    }
}

#[test]
fn changes_are_found_where_they_are() {
    let mut rng = Rng::with_seed(8);
    let found = count(200, || {
        let levels = [(12, 1.0), (10, 1.15), (12, 0.95)];
        let series: Vec<f64> =
            levels.iter().flat_map(|(length, level)| runs(*length, *level, NOISES[0], &mut rng)).collect();
        let found = change_points(&series, THRESHOLD);
        found.len() == 2 && found[0].abs_diff(12) <= 1 && found[1].abs_diff(22) <= 1
    });
    assert!(found >= 180, "{found}");
    let steps = [1.0, 1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0, 2.0];
    assert_eq!(change_points(&steps, THRESHOLD), [5]);
    assert!(change_points(&steps, 1.5).is_empty(), "smaller than what matters");
    assert!(change_points(&[1.0, 1.0, 2.0, 2.0], THRESHOLD).is_empty(), "too few runs");
    assert!(change_points(&[], THRESHOLD).is_empty());
}

#[test]
fn medians_and_deviations_of_few_values() {
    assert_eq!((median(&[]), median(&[3.0]), median(&[4.0, 1.0])), (None, Some(3.0), Some(2.5)));
    assert_eq!(median(&[9.0, 1.0, 2.0]), Some(2.0));
    assert_eq!(median_absolute_deviation(&[1.0, 2.0, 3.0, 100.0]), Some(1.0));
    assert_eq!(median_absolute_deviation(&[]), None);
}

#[test]
fn verdicts_follow_the_direction_of_the_metric() {
    let ratio = |value, low, high| Ratio { value, interval: Some(Interval { low, high }) };
    for (ratio, expected) in [
        (ratio(1.2, 1.1, 1.3), Verdict::Better),
        (ratio(0.8, 0.7, 0.9), Verdict::Worse),
        (ratio(1.0, 0.98, 1.02), Verdict::Same),
        (ratio(1.03, 1.02, 1.04), Verdict::Same),
        (ratio(1.04, 1.01, 1.07), Verdict::Inconclusive),
        (ratio(1.5, 0.9, 2.0), Verdict::Inconclusive),
        (Ratio { value: 2.0, interval: None }, Verdict::Inconclusive),
    ] {
        assert_eq!(ratio.verdict(Better::Higher, THRESHOLD), expected, "{ratio:?}");
        let mirrored = match expected {
            Verdict::Better => Verdict::Worse,
            Verdict::Worse => Verdict::Better,
            other => other,
        };
        assert_eq!(ratio.verdict(Better::Lower, THRESHOLD), mirrored, "{ratio:?}");
    }
    assert!((ratio(0.5, 0.4, 0.6).loss(Better::Higher) - 1.0).abs() < 1e-12);
    assert!((ratio(1.5, 1.4, 1.6).loss(Better::Lower) - 0.5).abs() < 1e-12);
}

#[test]
fn values_that_have_no_ratio_give_none() {
    for (base, other) in [
        (&[][..], &[1.0][..]),
        (&[1.0], &[]),
        (&[0.0, 1.0, 2.0], &[1.0, 1.0, 1.0]),
        (&[1.0], &[-1.0]),
        (&[f64::NAN], &[1.0]),
        (&[1.0], &[f64::INFINITY]),
    ] {
        assert_eq!(ratio_of_medians(base, other), None, "{base:?} {other:?}");
    }
    let few = ratio_of_medians(&[1.0, 2.0, 3.0], &[4.0, 4.0]).unwrap();
    assert_eq!(few, Ratio { value: 2.0, interval: None });
}

#[test]
fn thousands_of_runs_take_no_time() {
    let mut rng = Rng::with_seed(9);
    let (base, other) = (runs(5_000, 1.0, NOISES[0], &mut rng), runs(5_000, 1.1, NOISES[0], &mut rng));
    let begin = std::time::Instant::now();
    let ratio = ratio_of_medians(&base, &other).unwrap();
    assert!(begin.elapsed() < std::time::Duration::from_secs(5), "{:?}", begin.elapsed());
    let interval = ratio.interval.unwrap();
    assert!(interval.contains(1.1) && interval.high / interval.low < 1.01, "{ratio:?}");
}
