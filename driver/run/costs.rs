//! Takes samples of the watched processes while a run goes on, on this machine and on the hosts of the run.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::series::Series;
use crate::engine::Watch;
use crate::metrics::own_threads::OwnSampler;
use crate::metrics::resources::{AfterEnd, Costs, Expectation, ExpectedHost, Recorder};
use crate::remote::{Fleet, HostError, STALE, Station};
use crate::result::HostSample;

/// Time between two samples in the measured phase. Counters are cumulative, so that only the ends of the phase must be
/// exact, and there a sample is taken in any case.
const INTERVAL: Duration = Duration::from_secs(1);

/// Samples of one run.
#[derive(Debug)]
pub(super) struct CostRecord {
    began: Instant,
    sampler: OwnSampler,
    recorder: Recorder,
    fleet: Fleet,
    /// Name of this machine.
    host: String,
    /// Roles of the engine.
    roles: Vec<String>,
    /// Roles of each host's own.
    host_roles: BTreeMap<String, Vec<String>>,
    series: BTreeMap<String, Series<HostSample>>,
    last: Option<Instant>,
    opened: bool,
    error: Option<String>,
}

impl CostRecord {
    /// A record of this machine alone, until hosts are added.
    pub(super) fn new(began: Instant, host: String, watches: Vec<Watch>) -> Self {
        Self {
            began,
            roles: roles(&watches),
            sampler: OwnSampler::new(host.clone(), watches),
            recorder: Recorder::default(),
            fleet: Fleet::default(),
            host,
            host_roles: BTreeMap::new(),
            series: BTreeMap::new(),
            last: None,
            opened: false,
            error: None,
        }
    }

    /// Starts the collectors of a run's hosts, and returns when all of them work.
    pub(super) async fn start(
        &mut self,
        stations: &[Station],
        watches: &[Watch],
    ) -> Result<(), Vec<HostError>> {
        if stations.iter().any(|station| station.local) {
            // The collector of this machine looks for its processes; what is left are threads and processes by their id.
            let own = watches.iter().filter(|watch| !watch.target.is_everywhere()).cloned().collect();
            self.sampler = OwnSampler::new(self.host.clone(), own);
        }
        let everywhere: Vec<Watch> =
            watches.iter().filter(|watch| watch.target.is_everywhere()).cloned().collect();
        let host = |station: &Station| (station.host.name().to_owned(), roles(&station.roles));
        self.host_roles = stations.iter().map(host).collect();
        self.fleet = Fleet::begin(stations, &everywhere);
        self.fleet.ready().await
    }

    /// Takes a sample if one is due: at every poll until the measured phase has begun, then once a second.
    pub(super) fn sample_when_due(&mut self) {
        let rests = self.opened && self.last.is_some_and(|last| super::now() < last + INTERVAL);
        if rests {
            self.take();
        } else {
            self.sample();
        }
    }

    /// Takes a sample now. One that fails is lost; the counters of the next make up for it.
    pub(super) fn sample(&mut self) {
        self.fleet.ask();
        // The clock is read first: counters may be younger than their time, never older.
        let at = super::now();
        match self.sampler.sample() {
            Ok(sample) => self.add(at, sample),
            Err(error) => self.error = Some(format!("cannot sample costs: {error}")),
        }
        self.last = Some(at);
        self.take();
    }

    /// Takes what has come from the hosts.
    fn take(&mut self) {
        for (at, sample) in self.fleet.take() {
            self.add(at, sample);
        }
    }

    fn add(&mut self, at: Instant, sample: nexmark_collector::sample::Sample) {
        let host = sample.host.clone();
        self.recorder.add(at.saturating_duration_since(self.began), sample);
        let Some(sample) = self.recorder.host_sample(&host) else { return };
        let series = self.series.entry(host).or_default();
        if series.is_due(sample.seconds) {
            series.push(sample.seconds, sample);
        }
    }

    /// What the user should know of the hosts by now.
    pub(super) fn news(&mut self) -> Vec<String> {
        self.fleet.news()
    }

    /// Takes the last samples of the hosts.
    pub(super) async fn settle(&mut self) {
        self.fleet.settle().await;
        self.take();
    }

    /// Ends the collectors.
    pub(super) async fn stop(&mut self) {
        self.fleet.stop().await;
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

    /// The hosts over time.
    pub(super) fn take_series(&mut self) -> BTreeMap<String, Vec<HostSample>> {
        let series = std::mem::take(&mut self.series).into_iter();
        series.map(|(host, series)| (host, series.into_entries())).collect()
    }

    /// Why a host did not report, where that is known.
    pub(super) fn silence(&self, host: &str) -> Option<String> {
        self.fleet.silence(host)
    }

    /// Costs between two moments; `stale` is the longest time without a sample of this machine.
    pub(super) fn costs(
        &self,
        from: Instant,
        to: Instant,
        stale: Duration,
        after_end: AfterEnd,
    ) -> Option<Costs> {
        let own = (self.host.clone(), ExpectedHost { stale, roles: Vec::new() });
        let others = self
            .host_roles
            .iter()
            .map(|(name, roles)| (name.clone(), ExpectedHost { stale: STALE, roles: roles.clone() }));
        let hosts = others.chain([own]).collect();
        let expectation = Expectation { hosts, roles: self.roles.clone(), after_end };
        let since = |at: Instant| at.saturating_duration_since(self.began);
        let mut costs = self.recorder.costs(&expectation, since(from), since(to))?;
        for (name, host) in &mut costs.hosts {
            host.clock = self.fleet.clock(name);
        }
        Some(costs)
    }
}

fn roles(watches: &[Watch]) -> Vec<String> {
    let mut roles: Vec<_> = watches.iter().map(|watch| watch.role.clone()).collect();
    roles.sort_unstable();
    roles.dedup();
    roles
}
