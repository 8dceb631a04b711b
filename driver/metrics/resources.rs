//! What the watched processes cost between two moments: differences of raw counters, told apart by host and role. A host or
//! role that did not report makes a total unknown, never smaller.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::time::Duration;

use nexmark_collector::sample::{ProcessCounters, Sample};

pub use super::host_account::AfterEnd;
use super::host_account::{HostAccount, Identity, identity};
use super::own_threads::DRIVER_ROLE;
use super::role_account::{Memory, RoleAccount, seconds};
use crate::result::{HostResources, HostSample, RoleResources};

/// Samples of each host that are held back until the measured phase is known to have begun or ended: either is noticed a few
/// polls late at most.
const RECENT_MAX: usize = 64;

/// Share of the measured phase that may lie between its begin or end and the reading that stands for it.
const OFF_SHARE_MAX: f64 = 0.05;

/// Whose costs are expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expectation {
    /// Hosts that must report throughout.
    pub hosts: BTreeMap<String, ExpectedHost>,
    /// Roles of the engine that must have been seen on any host.
    pub roles: Vec<String>,
    /// What the engine does after the measured phase.
    pub after_end: AfterEnd,
}

/// What is expected of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedHost {
    /// Longest time without a sample.
    pub stale: Duration,
    /// Roles that must have been seen on it.
    pub roles: Vec<String>,
}

/// Costs between two moments.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Costs {
    /// CPU seconds of the engine; `None` when anything is missing or nothing is watched.
    pub cpu_seconds: Option<f64>,
    /// Highest resident memory of the engine's processes together.
    pub rss_bytes_max: Option<u64>,
    /// Each role, the driver's own included.
    pub roles: BTreeMap<String, RoleResources>,
    /// Each host that reported.
    pub hosts: BTreeMap<String, HostResources>,
    /// Hosts that were missing or stale.
    pub hosts_missing: Vec<String>,
    /// Roles of which no process was seen, with the host where they belong to one.
    pub roles_missing: Vec<String>,
    /// Whether the phase was too short for the readings that were taken near its begin and end.
    pub too_coarse: bool,
}

/// Collects samples before and in the measured phase.
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    /// In the order of their times: those of some hosts arrive later than those of others.
    recent: VecDeque<(Duration, Sample)>,
    whole: Account,
    measured: Option<Account>,
}

impl Recorder {
    /// Takes a sample that was read at a moment of the run.
    pub fn add(&mut self, at: Duration, sample: Sample) {
        self.whole.add(at, &sample);
        let place = self.recent.partition_point(|(other, _)| *other <= at);
        self.recent.insert(place, (at, sample));
        if self.recent.len() > RECENT_MAX * self.whole.hosts.len()
            && let (Some((at, oldest)), Some(measured)) = (self.recent.pop_front(), &mut self.measured)
        {
            measured.add(at, &oldest);
        }
    }

    /// Begins the measured phase at a moment that may have passed. The base of a host is the sample nearest to it.
    pub fn open(&mut self, from: Duration) {
        let mut bases: BTreeMap<String, Duration> = BTreeMap::new();
        for (at, sample) in &self.recent {
            let base = bases.entry(sample.host.clone()).or_insert(*at);
            if at.abs_diff(from) <= base.abs_diff(from) {
                *base = *at;
            }
        }
        self.recent.retain(|(at, sample)| bases.get(&sample.host).is_none_or(|base| at >= base));
        self.measured = Some(Account::default());
    }

    /// CPU seconds of the engine's roles since the first sample, for show.
    pub fn cpu_seconds_so_far(&self) -> Option<f64> {
        let roles = self.whole.hosts.values().flat_map(|host| &host.roles);
        let mut roles = roles.filter(|(role, _)| *role != DRIVER_ROLE).peekable();
        roles.peek()?;
        Some(seconds(roles.map(|(_, account)| account.cpu_ns).sum()))
    }

    /// Resident memory of the engine's processes at the last sample, for show.
    pub fn rss_bytes_now(&self) -> Option<u64> {
        self.whole.engine_seen().then(|| self.whole.engine_rss_bytes())
    }

    /// Where a host stands since its first sample, for a result's series.
    pub fn host_sample(&self, host: &str) -> Option<HostSample> {
        self.whole.hosts.get(host).map(HostAccount::sample)
    }

    /// Costs of the measured phase; `None` if it did not begin.
    pub fn costs(&self, expectation: &Expectation, from: Duration, to: Duration) -> Option<Costs> {
        let mut account = self.measured.clone()?;
        for (at, sample) in &self.recent {
            if *at <= self.end(&sample.host, to, expectation.after_end) {
                account.add(*at, sample);
            }
        }
        Some(account.costs(expectation, from, to))
    }

    /// The time of the sample that stands for the end of the phase: the nearest one to it, or the first after it where nothing
    /// is spent any more.
    fn end(&self, host: &str, to: Duration, after_end: AfterEnd) -> Duration {
        let times = || self.recent.iter().filter(|(_, sample)| sample.host == host).map(|(at, _)| *at);
        let before = times().rfind(|at| *at < to);
        match (before, times().find(|at| *at >= to)) {
            (Some(before), Some(after)) if after_end == AfterEnd::GoesOn && to - before <= after - to => {
                before
            }
            (before, after) => after.or(before).unwrap_or(to),
        }
    }
}

/// Sums of differences since each host's first sample.
#[derive(Clone, Debug, Default)]
struct Account {
    hosts: BTreeMap<String, HostAccount>,
    /// Highest memory of each role over all hosts.
    memory_max: BTreeMap<String, Memory>,
    rss_bytes_max: u64,
    /// The host on which a process counts. Two hosts may be one machine, as where the driver's own is listed by its name.
    owners: HashMap<(String, Identity), String>,
}

impl Account {
    fn add(&mut self, at: Duration, sample: &Sample) {
        let own: Vec<&ProcessCounters> =
            sample.processes.iter().filter(|process| owns(&mut self.owners, sample, process)).collect();
        let host = self.hosts.entry(sample.host.clone()).or_insert_with(|| HostAccount::new(at, sample));
        host.add(at, sample, &own);
        self.rss_bytes_max = self.rss_bytes_max.max(self.engine_rss_bytes());
        for role in self.hosts.values().flat_map(|host| host.memory.keys()) {
            let memories = self.hosts.values().filter_map(|host| host.memory.get(role));
            let now = memories.fold(Memory::default(), |sum, one| sum.plus(*one));
            let max = self.memory_max.entry(role.clone()).or_default();
            *max = max.max(now);
        }
    }

    fn engine_rss_bytes(&self) -> u64 {
        self.hosts.values().map(|host| host.engine_rss_bytes).sum()
    }

    fn engine_seen(&self) -> bool {
        self.hosts.values().flat_map(|host| host.roles.keys()).any(|role| role != DRIVER_ROLE)
    }

    /// Each role over all hosts.
    fn roles(&self) -> BTreeMap<String, RoleAccount> {
        let mut roles: BTreeMap<String, RoleAccount> = BTreeMap::new();
        for (name, account) in self.hosts.values().flat_map(|host| &host.roles) {
            let role = roles.entry(name.clone()).or_default();
            role.add_host(account);
            role.memory_max = self.memory_max.get(name).copied().unwrap_or_default();
        }
        roles
    }

    fn costs(&self, expectation: &Expectation, from: Duration, to: Duration) -> Costs {
        let hosts_missing = self.hosts_missing(expectation, from, to);
        let all_roles = self.roles();
        let roles_missing = self.roles_missing(expectation, &all_roles);
        let phase = to.saturating_sub(from);
        let reporting = expectation.hosts.keys().filter_map(|name| self.hosts.get(name));
        let too_coarse = hosts_missing.is_empty()
            && reporting.map(|host| host.off(from, to, expectation.after_end)).max()
                > Some(phase.mul_f64(OFF_SHARE_MAX));
        let watched =
            expectation.roles.len() + expectation.hosts.values().map(|host| host.roles.len()).sum::<usize>();
        let complete = hosts_missing.is_empty() && roles_missing.is_empty() && watched > 0;
        let engine = all_roles.iter().filter(|(role, _)| *role != DRIVER_ROLE);
        let engine_ns = engine.map(|(_, role)| role.cpu_ns).sum();
        let phase_seconds = phase.as_secs_f64();
        let known = |role: &str| role == DRIVER_ROLE || hosts_missing.is_empty();
        let roles = all_roles.iter().map(|(name, role)| {
            let resources =
                if known(name) { role.resources(phase_seconds) } else { RoleResources::default() };
            (name.clone(), without_cpu(resources, too_coarse))
        });
        let reported = self.hosts.iter().filter(|(name, _)| !hosts_missing.contains(name));
        let hosts = reported.map(|(name, host)| {
            let mut resources = host.resources(phase_seconds);
            resources.cpu_seconds = resources.cpu_seconds.filter(|_| !too_coarse);
            for role in resources.roles.values_mut() {
                *role = without_cpu(std::mem::take(role), too_coarse);
            }
            (name.clone(), resources)
        });
        Costs {
            cpu_seconds: (complete && !too_coarse).then(|| seconds(engine_ns)),
            rss_bytes_max: complete.then_some(self.rss_bytes_max),
            roles: roles.collect(),
            hosts: hosts.collect(),
            hosts_missing,
            roles_missing,
            too_coarse,
        }
    }

    fn hosts_missing(&self, expectation: &Expectation, from: Duration, to: Duration) -> Vec<String> {
        let reported = |name: &String, expected: &ExpectedHost| {
            self.hosts.get(name).is_some_and(|host| host.reported(from, to, expected.stale))
        };
        let missing = expectation.hosts.iter().filter(|(name, expected)| !reported(name, expected));
        missing.map(|(name, _)| name.clone()).collect()
    }

    fn roles_missing(&self, expectation: &Expectation, seen: &BTreeMap<String, RoleAccount>) -> Vec<String> {
        let unseen = expectation.roles.iter().filter(|role| !seen.contains_key(*role)).cloned();
        let on_hosts = expectation.hosts.iter().flat_map(|(name, expected)| {
            let unseen = expected
                .roles
                .iter()
                .filter(|role| self.hosts.get(name).is_none_or(|host| !host.roles.contains_key(*role)));
            unseen.map(move |role| format!("{role} on {name}"))
        });
        unseen.chain(on_hosts).collect()
    }
}

/// Whether a process counts on the host of a sample: on the one that showed it first.
fn owns(
    owners: &mut HashMap<(String, Identity), String>,
    sample: &Sample,
    process: &ProcessCounters,
) -> bool {
    if sample.process_space.is_empty() {
        return true;
    }
    let key = (sample.process_space.clone(), identity(process));
    *owners.entry(key).or_insert_with(|| sample.host.clone()) == sample.host
}

fn without_cpu(mut resources: RoleResources, too_coarse: bool) -> RoleResources {
    if too_coarse {
        resources.cpu_seconds = None;
        resources.cores = None;
    }
    resources
}

#[cfg(test)]
mod tests;
