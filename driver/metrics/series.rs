//! Rates over time, from the cumulative counts that a result keeps: what was counted between two samples, over the time between
//! them.

use crate::result::RunSample;

/// A run over time. All vectors are of one length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Course {
    /// Seconds since the run began.
    pub seconds: Vec<f64>,
    /// Events per second since the moment before.
    pub events_per_s: Vec<Option<f64>>,
    /// CPU seconds per second since the moment before.
    pub cores: Vec<Option<f64>>,
    /// Resident memory, bytes.
    pub rss_bytes: Vec<Option<u64>>,
}

/// The course of a run, from evenly chosen samples such that it has `points_max` points at most.
pub fn course(samples: &[RunSample], points_max: usize) -> Course {
    let step = samples.len().div_ceil(points_max.max(1)).max(1);
    let chosen: Vec<&RunSample> = samples.iter().step_by(step).collect();
    let mut course = Course::default();
    for pair in chosen.windows(2) {
        let [before, now] = [pair[0], pair[1]];
        let seconds = now.seconds - before.seconds;
        if seconds <= 0.0 {
            continue;
        }
        // A counter that went backwards tells nothing about the time between.
        let rate = |difference: Option<f64>| {
            difference.filter(|amount| *amount >= 0.0).map(|amount| amount / seconds)
        };
        let events = now.events_in.zip(before.events_in).map(|(now, before)| now as f64 - before as f64);
        let cpu = now.cpu_seconds.zip(before.cpu_seconds).map(|(now, before)| now - before);
        course.seconds.push(now.seconds);
        course.events_per_s.push(rate(events));
        course.cores.push(rate(cpu));
        course.rss_bytes.push(now.rss_bytes);
    }
    course
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(seconds: f64, events_in: Option<u64>, cpu_seconds: Option<f64>) -> RunSample {
        RunSample { seconds, events_in, cpu_seconds, rss_bytes: Some(7), ..RunSample::default() }
    }

    #[test]
    fn rates_are_differences_over_time() {
        let samples = [
            sample(0.0, None, Some(0.0)),
            sample(1.0, Some(100), Some(1.5)),
            sample(1.0, Some(100), Some(1.5)),
            sample(3.0, Some(500), None),
            sample(4.0, Some(20), Some(9.0)),
        ];
        let course = course(&samples, 100);
        assert_eq!(course.seconds, [1.0, 3.0, 4.0]);
        assert_eq!(course.events_per_s, [None, Some(200.0), None], "a restarted counter is no negative rate");
        assert_eq!(course.cores, [Some(1.5), None, None]);
        assert_eq!(course.rss_bytes, [Some(7); 3]);
    }

    #[test]
    fn long_runs_are_thinned_and_keep_their_rate() {
        let samples: Vec<_> = (0..1000_u32)
            .map(|second| sample(f64::from(second), Some(u64::from(second) * 50), None))
            .collect();
        let thin = course(&samples, 100);
        assert!((90..=100).contains(&thin.seconds.len()), "{}", thin.seconds.len());
        assert!(thin.events_per_s.iter().all(|rate| *rate == Some(50.0)));
        assert_eq!(course(&[], 100), Course::default());
    }
}
