//! Whether hosts are fit for a run: each is tried as a run would do it, all side by side.

use std::collections::BTreeMap;

use nexmark_collector::watch::Watch;

use super::error::HostError;
use super::follow::Follower;
use super::start::Station;
use crate::result::ClockOffset;

/// What was found of a host.
#[derive(Clone, Debug, PartialEq)]
pub struct HostReport {
    /// Name of the host.
    pub name: String,
    /// What proved the user to it.
    pub proof: Option<String>,
    /// What it is, or why it cannot be used.
    pub found: Result<HostFacts, HostError>,
}

/// What a host is.
#[derive(Clone, Debug, PartialEq)]
pub struct HostFacts {
    /// How its clocks stand to the driver's.
    pub clock: Option<ClockOffset>,
    /// Processors; `None` where its kernel does not tell.
    pub cores: Option<u64>,
    /// Memory of the machine.
    pub memory_bytes: Option<u64>,
    /// Processes of each role that is watched on it.
    pub processes: BTreeMap<String, usize>,
    /// Roles that its entry names and of which it has no process.
    pub roles_missing: Vec<String>,
}

impl HostReport {
    /// Whether a run could use it.
    pub fn is_fit(&self) -> bool {
        self.found.as_ref().is_ok_and(|facts| facts.roles_missing.is_empty())
    }
}

/// Tries every host, and leaves nothing on it. `engine` is what an engine asks to be watched everywhere.
pub async fn check(stations: &[Station], engine: &[Watch]) -> Vec<HostReport> {
    let everywhere: Vec<Watch> =
        engine.iter().filter(|watch| watch.target.is_everywhere()).cloned().collect();
    let try_one = |station: &Station| tokio::spawn(try_host(station.clone(), everywhere.clone()));
    let tries: Vec<_> = stations.iter().map(try_one).collect();
    let mut reports = Vec::new();
    for (station, one) in stations.iter().zip(tries) {
        let found = match one.await {
            Ok(found) => found,
            Err(error) => Err(HostError::new(station.host.name(), super::error::Step::Start, error)),
        };
        reports.push(HostReport { name: station.host.name().to_owned(), proof: station.host.proof(), found });
    }
    reports
}

async fn try_host(station: Station, engine: Vec<Watch>) -> Result<HostFacts, HostError> {
    let follower = Follower::start(station.clone(), engine.clone()).await?;
    let (clock, samples) = (follower.clock(), follower.take());
    follower.stop().await;
    let sample = samples.into_iter().map(|(_at, sample)| sample).next_back().unwrap_or_default();
    let watches = station.watches(&engine);
    let mut processes: BTreeMap<String, usize> = watches
        .iter()
        .filter(|watch| watch.argument().is_some())
        .map(|watch| (watch.role.clone(), 0))
        .collect();
    for process in &sample.processes {
        *processes.entry(process.role.clone()).or_default() += 1;
    }
    let missing =
        station.roles.iter().map(|watch| &watch.role).filter(|role| processes.get(*role) == Some(&0));
    Ok(HostFacts {
        clock,
        cores: sample.machine.as_ref().map(|machine| machine.cores),
        memory_bytes: sample.machine.as_ref().map(|machine| machine.memory_bytes),
        roles_missing: missing.cloned().collect(),
        processes,
    })
}
