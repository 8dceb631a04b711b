//! The collectors of a run: started all at once, read while it goes on, and ended with it.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use nexmark_collector::sample::Sample;
use nexmark_collector::watch::Watch;
use tokio::task::JoinHandle;

use super::error::{HostError, Step};
use super::follow::Follower;
use super::start::Station;
use crate::result::ClockOffset;

/// Longest time without a sample of a host.
pub(crate) const STALE: Duration = Duration::from_secs(10);
/// A host that was not heard of for so long is said to be silent, five samples of it being missed.
const SILENT: Duration = Duration::from_secs(5);
/// Longest wait for the last samples of a run.
const SETTLE: Duration = Duration::from_secs(3);

/// The collectors of a run.
#[derive(Debug, Default)]
pub(crate) struct Fleet {
    starting: Vec<JoinHandle<Result<Follower, HostError>>>,
    followers: Vec<Follower>,
    errors: Vec<HostError>,
    /// Hosts whose silence was told.
    told: BTreeSet<String>,
    asked: u64,
}

impl Fleet {
    /// Begins to start a collector on each host, each in a task that goes on to its end whatever becomes of the run, so that
    /// nothing half done stays on a host.
    pub(crate) fn begin(stations: &[Station], engine: &[Watch]) -> Self {
        let start = |station: &Station| tokio::spawn(Follower::start(station.clone(), engine.to_vec()));
        Self { starting: stations.iter().map(start).collect(), ..Self::default() }
    }

    /// Waits until every collector works.
    ///
    /// # Errors
    /// Those that do not, with the reason.
    pub(crate) async fn ready(&mut self) -> Result<(), Vec<HostError>> {
        while let Some(start) = self.starting.last_mut() {
            let started = start.await;
            self.starting.pop();
            match started {
                Ok(Ok(follower)) => self.followers.push(follower),
                Ok(Err(error)) => self.errors.push(error),
                Err(error) => self.errors.push(HostError::new("?", Step::Start, error)),
            }
        }
        self.errors.reverse();
        if self.errors.is_empty() { Ok(()) } else { Err(std::mem::take(&mut self.errors)) }
    }

    /// Asks every host for a sample now.
    pub(crate) fn ask(&mut self) {
        self.asked += 1;
        for follower in &self.followers {
            follower.ask(self.asked);
        }
    }

    /// Samples that have come since the last call, with their moments on the driver's clock.
    pub(crate) fn take(&mut self) -> Vec<(Instant, Sample)> {
        self.followers.iter().flat_map(Follower::take).collect()
    }

    /// What the user should know of hosts by now, each once: that they are silent, and that they are heard again.
    pub(crate) fn news(&mut self) -> Vec<String> {
        let mut news = Vec::new();
        for follower in &self.followers {
            let name = &follower.name;
            match follower.silence(SILENT) {
                Some(why) if self.told.insert(name.clone()) => {
                    news.push(format!("host {name} is silent, so that cores are unknown: {why}"));
                }
                None if self.told.remove(name) => news.push(format!("host {name} is heard again")),
                _ => {}
            }
        }
        news
    }

    /// Waits for a last sample of every host and for a last look at its clocks.
    pub(crate) async fn settle(&mut self) {
        self.asked += 1;
        let mut waits = tokio::task::JoinSet::new();
        let number = self.asked;
        for follower in std::mem::take(&mut self.followers) {
            waits.spawn(async move {
                follower.settle(number, SETTLE).await;
                follower
            });
        }
        self.followers = waits.join_all().await;
    }

    /// Why a host is silent, if it is.
    pub(crate) fn silence(&self, host: &str) -> Option<String> {
        self.followers.iter().find(|follower| follower.name == host)?.silence(SILENT)
    }

    /// How the clocks of a host stand to the driver's.
    pub(crate) fn clock(&self, host: &str) -> Option<ClockOffset> {
        self.followers.iter().find(|follower| follower.name == host)?.clock()
    }

    /// Ends every collector, those that are being started as soon as they are.
    pub(crate) async fn stop(&mut self) {
        let _told = self.ready().await;
        let mut stops = tokio::task::JoinSet::new();
        for follower in self.followers.drain(..) {
            stops.spawn(follower.stop());
        }
        stops.join_all().await;
    }
}
