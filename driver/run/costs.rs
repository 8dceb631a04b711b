//! Takes samples of the watched processes while a run goes on.

use std::time::{Duration, Instant};

use crate::engine::Watch;
use crate::metrics::resources::{Costs, Expectation, Recorder};
use crate::metrics::sampler::Sampler;

/// Time between two samples in the measured phase. Counters are cumulative, so that only the ends of the phase must be
/// exact, and there a sample is taken in any case.
const INTERVAL: Duration = Duration::from_secs(1);

/// Samples of one run.
#[derive(Debug)]
pub(super) struct CostRecord {
    began: Instant,
    sampler: Sampler,
    recorder: Recorder,
    host: String,
    roles: Vec<String>,
    last: Option<Instant>,
    opened: bool,
    error: Option<String>,
}

impl CostRecord {
    pub(super) fn new(began: Instant, host: String, watches: Vec<Watch>) -> Self {
        let mut roles: Vec<_> = watches.iter().map(|watch| watch.role.clone()).collect();
        roles.sort_unstable();
        roles.dedup();
        Self {
            began,
            sampler: Sampler::new(host.clone(), watches),
            recorder: Recorder::default(),
            host,
            roles,
            last: None,
            opened: false,
            error: None,
        }
    }

    /// Takes a sample if one is due: at every poll until the measured phase has begun, then once a second.
    pub(super) fn sample_when_due(&mut self) {
        let rests = self.opened && self.last.is_some_and(|last| super::now() < last + INTERVAL);
        if !rests {
            self.sample();
        }
    }

    /// Takes a sample now. One that fails is lost; the counters of the next make up for it.
    pub(super) fn sample(&mut self) {
        // The clock is read first: counters may be younger than their time, never older.
        let at = super::now();
        match self.sampler.sample() {
            Ok(sample) => self.recorder.add(at.saturating_duration_since(self.began), sample),
            Err(error) => self.error = Some(format!("cannot sample costs: {error}")),
        }
        self.last = Some(at);
    }

    /// Tells when the measured phase began, once that is known.
    pub(super) fn open(&mut self, from: Instant) {
        if !self.opened {
            self.opened = true;
            self.recorder.open(from.saturating_duration_since(self.began));
        }
    }

    pub(super) fn cpu_seconds_so_far(&self) -> Option<f64> {
        self.recorder.cpu_seconds_so_far()
    }

    pub(super) fn rss_bytes_now(&self) -> Option<u64> {
        self.recorder.rss_bytes_now()
    }

    /// The last failure to sample.
    pub(super) fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// Costs between two moments; `stale` is the longest time without a sample.
    pub(super) fn costs(&self, from: Instant, to: Instant, stale: Duration) -> Option<Costs> {
        let expectation = Expectation { hosts: vec![self.host.clone()], roles: self.roles.clone(), stale };
        let since = |at: Instant| at.saturating_duration_since(self.began);
        self.recorder.costs(&expectation, since(from), since(to))
    }
}
