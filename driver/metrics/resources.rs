//! What the watched processes cost between two moments: differences of raw counters, told apart by role. A host or role
//! that did not report makes a total unknown, never smaller.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::time::Duration;

use super::sample::{ProcessCounters, Sample};
use super::sampler::DRIVER_ROLE;
use crate::result::RoleResources;

/// Samples that are kept until the measured phase is known to have begun: it is noticed a few polls late at most.
const RECENT_MAX: usize = 64;

/// Share of the measured phase that may lie between its begin or end and the reading that stands for it.
const OFF_SHARE_MAX: f64 = 0.05;

/// Whose costs are expected, and how old a host's last sample may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expectation {
    /// Hosts that must report throughout.
    pub hosts: Vec<String>,
    /// Roles of the engine that must have been seen.
    pub roles: Vec<String>,
    /// Longest time without a sample of a host.
    pub stale: Duration,
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
    /// Hosts that were missing or stale.
    pub hosts_missing: Vec<String>,
    /// Roles of which no process was seen.
    pub roles_missing: Vec<String>,
    /// Whether the phase was too short for the readings that were taken near its begin and end.
    pub too_coarse: bool,
}

/// Collects samples before and in the measured phase.
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    recent: VecDeque<(Duration, Sample)>,
    whole: Account,
    measured: Option<Account>,
}

impl Recorder {
    /// Takes a sample that was read at a moment of the run.
    pub fn add(&mut self, at: Duration, sample: Sample) {
        self.whole.add(at, &sample);
        if let Some(account) = &mut self.measured {
            account.add(at, &sample);
            return;
        }
        if self.recent.len() == RECENT_MAX {
            self.recent.pop_front();
        }
        self.recent.push_back((at, sample));
    }

    /// Begins the measured phase at a moment that may have passed. The base of a host is the sample nearest to it.
    pub fn open(&mut self, from: Duration) {
        let mut account = Account::default();
        let mut bases: BTreeMap<&str, Duration> = BTreeMap::new();
        for (at, sample) in &self.recent {
            let base = bases.entry(&sample.host).or_insert(*at);
            if at.abs_diff(from) <= base.abs_diff(from) {
                *base = *at;
            }
        }
        for (at, sample) in &self.recent {
            if bases.get(sample.host.as_str()).is_none_or(|base| at >= base) {
                account.add(*at, sample);
            }
        }
        self.measured = Some(account);
        self.recent.clear();
    }

    /// CPU seconds of the engine's roles since the first sample, for show.
    pub fn cpu_seconds_so_far(&self) -> Option<f64> {
        let mut roles = self.whole.roles.iter().filter(|(role, _)| *role != DRIVER_ROLE).peekable();
        roles.peek()?;
        Some(seconds(roles.map(|(_, account)| account.cpu_ns).sum()))
    }

    /// Resident memory of the engine's processes at the last sample, for show.
    pub fn rss_bytes_now(&self) -> Option<u64> {
        self.whole.engine_seen().then(|| self.whole.engine_rss_bytes())
    }

    /// Costs of the measured phase; `None` if it did not begin.
    pub fn costs(&self, expectation: &Expectation, from: Duration, to: Duration) -> Option<Costs> {
        self.measured.as_ref().map(|account| account.costs(expectation, from, to))
    }
}

/// Identity of a process or thread on its host. Ids are used again, start times with them are not.
type Identity = (u32, Option<u32>, u64);

/// Sums of differences since each host's first sample.
#[derive(Clone, Debug, Default)]
struct Account {
    hosts: BTreeMap<String, HostAccount>,
    roles: BTreeMap<String, RoleAccount>,
    rss_bytes_max: u64,
}

#[derive(Clone, Debug, Default)]
struct HostAccount {
    first_at: Duration,
    last_at: Duration,
    gap_max: Duration,
    base_boot_ticks: u64,
    last: HashMap<Identity, ProcessCounters>,
    memory: BTreeMap<String, Memory>,
    engine_rss_bytes: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Memory {
    rss_bytes: u64,
    rss_bytes_peak: Option<u64>,
    processes: u64,
}

#[derive(Clone, Debug, Default)]
struct RoleAccount {
    cpu_ns: u64,
    user_ns: u64,
    system_ns: u64,
    read_bytes: Option<u64>,
    write_bytes: Option<u64>,
    context_switches: Option<u64>,
    memory_max: Memory,
    dropped: u64,
}

impl Account {
    fn add(&mut self, at: Duration, sample: &Sample) {
        let host = self.hosts.entry(sample.host.clone()).or_insert_with(|| HostAccount::new(at, sample));
        host.gap_max = host.gap_max.max(at.saturating_sub(host.last_at));
        host.last_at = host.last_at.max(at);
        for process in &sample.processes {
            let before = host.replace(process);
            let role = self.roles.entry(process.role.clone()).or_default();
            role.add(&before, process, sample.ticks_per_second);
        }
        host.memory = memory_by_role(sample);
        host.engine_rss_bytes = engine_rss_bytes(sample);
        self.keep_maxima();
    }

    fn keep_maxima(&mut self) {
        self.rss_bytes_max = self.rss_bytes_max.max(self.engine_rss_bytes());
        for (name, role) in &mut self.roles {
            let memories = self.hosts.values().filter_map(|host| host.memory.get(name));
            role.memory_max =
                role.memory_max.max(memories.fold(Memory::default(), |sum, one| sum.plus(*one)));
        }
    }

    fn engine_rss_bytes(&self) -> u64 {
        self.hosts.values().map(|host| host.engine_rss_bytes).sum()
    }

    fn engine_seen(&self) -> bool {
        self.roles.keys().any(|role| role != DRIVER_ROLE)
    }

    fn costs(&self, expectation: &Expectation, from: Duration, to: Duration) -> Costs {
        let late = |name: &&String| {
            self.hosts.get(*name).is_none_or(|host| !host.reported(from, to, expectation.stale))
        };
        let hosts_missing: Vec<_> = expectation.hosts.iter().filter(late).cloned().collect();
        let unseen = |role: &&String| !self.roles.contains_key(*role);
        let roles_missing: Vec<_> = expectation.roles.iter().filter(unseen).cloned().collect();
        let off_max = to.saturating_sub(from).mul_f64(OFF_SHARE_MAX);
        let reporting = expectation.hosts.iter().filter_map(|name| self.hosts.get(name));
        let too_coarse =
            hosts_missing.is_empty() && reporting.into_iter().any(|host| host.off(from, to) > off_max);
        let complete = hosts_missing.is_empty() && roles_missing.is_empty() && !expectation.roles.is_empty();
        let engine = self.roles.iter().filter(|(role, _)| *role != DRIVER_ROLE);
        let known = |role: &str| role == DRIVER_ROLE || hosts_missing.is_empty();
        let roles = self.roles.iter().map(|(name, role)| {
            let mut resources = if known(name) { role.resources() } else { RoleResources::default() };
            resources.cpu_seconds = resources.cpu_seconds.filter(|_| !too_coarse);
            (name.clone(), resources)
        });
        Costs {
            cpu_seconds: (complete && !too_coarse)
                .then(|| seconds(engine.map(|(_, role)| role.cpu_ns).sum())),
            rss_bytes_max: complete.then_some(self.rss_bytes_max),
            roles: roles.collect(),
            hosts_missing,
            roles_missing,
            too_coarse,
        }
    }
}

impl HostAccount {
    fn new(at: Duration, base: &Sample) -> Self {
        let last = base.processes.iter().map(|process| (identity(process), process.clone())).collect();
        Self { first_at: at, last_at: at, base_boot_ticks: base.boot_ticks, last, ..Self::default() }
    }

    /// The counters from which a process counts: its last ones, nothing if it started since the base, else what it has
    /// now.
    fn replace(&mut self, process: &ProcessCounters) -> ProcessCounters {
        let before = self.last.insert(identity(process), process.clone());
        before.unwrap_or_else(|| {
            if process.start_ticks >= self.base_boot_ticks { nothing() } else { process.clone() }
        })
    }

    /// How far the first and the last sample lie from the begin and the end of a phase. A last sample after the end is none of
    /// that: the engine is idle then.
    fn off(&self, from: Duration, to: Duration) -> Duration {
        self.first_at.abs_diff(from).max(to.saturating_sub(self.last_at))
    }

    fn reported(&self, from: Duration, to: Duration, stale: Duration) -> bool {
        self.first_at <= from + stale && self.last_at + stale >= to && self.gap_max <= stale
    }
}

impl RoleAccount {
    fn add(&mut self, before: &ProcessCounters, now: &ProcessCounters, ticks_per_second: u64) {
        let user = self.grown(Some(before.user_ticks), Some(now.user_ticks)).unwrap_or(0);
        let system = self.grown(Some(before.system_ticks), Some(now.system_ticks)).unwrap_or(0);
        let (user_ns, system_ns) = (as_ns(user, ticks_per_second), as_ns(system, ticks_per_second));
        self.user_ns = self.user_ns.saturating_add(user_ns);
        self.system_ns = self.system_ns.saturating_add(system_ns);
        let cpu_ns = match (before.cpu_ns, now.cpu_ns) {
            (Some(_), Some(_)) => self.grown(before.cpu_ns, now.cpu_ns).unwrap_or(0),
            _ => user_ns.saturating_add(system_ns),
        };
        self.cpu_ns = self.cpu_ns.saturating_add(cpu_ns);
        let read_bytes = self.grown(before.read_bytes, now.read_bytes);
        let write_bytes = self.grown(before.write_bytes, now.write_bytes);
        let context_switches = self.grown(before.context_switches, now.context_switches);
        add_known(&mut self.read_bytes, read_bytes);
        add_known(&mut self.write_bytes, write_bytes);
        add_known(&mut self.context_switches, context_switches);
    }

    /// Growth of a counter; one that went backwards is dropped and counted as dropped.
    fn grown(&mut self, before: Option<u64>, now: Option<u64>) -> Option<u64> {
        let (before, now) = (before?, now?);
        if now < before {
            self.dropped += 1;
        }
        now.checked_sub(before)
    }

    fn resources(&self) -> RoleResources {
        RoleResources {
            cpu_seconds: Some(seconds(self.cpu_ns)),
            cpu_seconds_user: Some(seconds(self.user_ns)),
            cpu_seconds_system: Some(seconds(self.system_ns)),
            rss_bytes_max: Some(self.memory_max.rss_bytes),
            rss_bytes_peak: self.memory_max.rss_bytes_peak,
            read_bytes: self.read_bytes,
            write_bytes: self.write_bytes,
            context_switches: self.context_switches,
            processes_max: self.memory_max.processes,
            counters_dropped: self.dropped,
        }
    }
}

impl Memory {
    fn plus(self, other: Self) -> Self {
        Self {
            rss_bytes: self.rss_bytes.saturating_add(other.rss_bytes),
            rss_bytes_peak: match (self.rss_bytes_peak, other.rss_bytes_peak) {
                (Some(one), Some(two)) => Some(one.saturating_add(two)),
                (one, two) => one.or(two),
            },
            processes: self.processes + other.processes,
        }
    }

    /// The highest of each; they need not have been seen together.
    fn max(self, other: Self) -> Self {
        Self {
            rss_bytes: self.rss_bytes.max(other.rss_bytes),
            rss_bytes_peak: self.rss_bytes_peak.max(other.rss_bytes_peak),
            processes: self.processes.max(other.processes),
        }
    }
}

fn identity(process: &ProcessCounters) -> Identity {
    (process.pid, process.thread_of, process.start_ticks)
}

/// Counters of a process at its start.
fn nothing() -> ProcessCounters {
    ProcessCounters {
        cpu_ns: Some(0),
        read_bytes: Some(0),
        write_bytes: Some(0),
        context_switches: Some(0),
        ..ProcessCounters::default()
    }
}

fn as_ns(ticks: u64, ticks_per_second: u64) -> u64 {
    let ns = u128::from(ticks) * 1_000_000_000 / u128::from(ticks_per_second.max(1));
    u64::try_from(ns).unwrap_or(u64::MAX)
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

fn add_known(sum: &mut Option<u64>, part: Option<u64>) {
    if let Some(part) = part {
        *sum = Some(sum.unwrap_or(0).saturating_add(part));
    }
}

/// Threads share the memory of their process, which counts once in a role.
fn memory_by_role(sample: &Sample) -> BTreeMap<String, Memory> {
    let mut roles: BTreeMap<String, Memory> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for process in &sample.processes {
        let role = roles.entry(process.role.clone()).or_default();
        role.processes += 1;
        if seen.insert((&process.role, process.memory_of())) {
            let (rss_bytes, rss_bytes_peak) = (process.rss_bytes, process.rss_bytes_peak);
            *role = role.plus(Memory { rss_bytes, rss_bytes_peak, processes: 0 });
        }
    }
    roles
}

/// A process whose threads have several roles counts once in the engine.
fn engine_rss_bytes(sample: &Sample) -> u64 {
    let engine = sample.processes.iter().filter(|process| process.role != DRIVER_ROLE);
    let memories: BTreeMap<u32, u64> =
        engine.map(|process| (process.memory_of(), process.rss_bytes)).collect();
    memories.values().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// A process with that many user ticks, of 100 in a second.
    fn process(pid: u32, start_ticks: u64, user_ticks: u64) -> ProcessCounters {
        ProcessCounters {
            pid,
            start_ticks,
            role: "workers".to_owned(),
            user_ticks,
            rss_bytes: 1_000,
            ..ProcessCounters::default()
        }
    }

    fn sample(host: &str, boot_ticks: u64, processes: &[ProcessCounters]) -> Sample {
        Sample {
            host: host.to_owned(),
            ticks_per_second: 100,
            boot_ticks,
            processes: processes.to_vec(),
            ..Sample::default()
        }
    }

    fn expectation(hosts: &[&str]) -> Expectation {
        let hosts = hosts.iter().map(|host| (*host).to_owned()).collect();
        Expectation { hosts, roles: vec!["workers".to_owned()], stale: 3 * SECOND }
    }

    /// Costs over samples a second apart, the first of which is the base.
    fn costs_of(samples: Vec<Sample>) -> Costs {
        let mut recorder = Recorder::default();
        let to = SECOND * u32::try_from(samples.len() - 1).unwrap();
        for (sample, second) in samples.into_iter().zip(0..) {
            recorder.add(SECOND * second, sample);
        }
        recorder.open(Duration::ZERO);
        recorder.costs(&expectation(&["a"]), Duration::ZERO, to).unwrap()
    }

    #[test]
    fn cpu_is_the_difference_since_the_base() {
        let costs = costs_of(vec![
            sample("a", 1_000, &[process(1, 10, 500)]),
            sample("a", 1_100, &[process(1, 10, 550)]),
            sample("a", 1_200, &[process(1, 10, 650)]),
        ]);
        assert_eq!(costs.cpu_seconds, Some(1.5));
        assert_eq!(costs.rss_bytes_max, Some(1_000));
        assert_eq!(costs.roles["workers"].cpu_seconds_user, Some(1.5));
    }

    #[test]
    fn a_process_that_started_since_counts_whole_and_one_that_ended_counts_to_its_last_sample() {
        let costs = costs_of(vec![
            sample("a", 1_000, &[process(1, 10, 500)]),
            sample("a", 1_100, &[process(1, 10, 550), process(2, 1_050, 40)]),
            sample("a", 1_200, &[process(2, 1_050, 60)]),
        ]);
        assert_eq!(costs.cpu_seconds, Some(1.1));
        assert_eq!(costs.roles["workers"].processes_max, 2);
        assert_eq!(costs.rss_bytes_max, Some(2_000));
    }

    #[test]
    fn a_restarted_process_with_the_same_id_counts_anew() {
        let costs = costs_of(vec![
            sample("a", 1_000, &[process(1, 10, 500)]),
            sample("a", 1_100, &[process(1, 1_050, 20)]),
            sample("a", 1_200, &[process(1, 1_050, 30)]),
        ]);
        assert_eq!(costs.cpu_seconds, Some(0.3));
        assert_eq!(costs.roles["workers"].counters_dropped, 0);
    }

    #[test]
    fn an_old_process_that_is_found_late_counts_from_there() {
        let costs = costs_of(vec![
            sample("a", 1_000, &[]),
            sample("a", 1_100, &[process(1, 10, 9_000)]),
            sample("a", 1_200, &[process(1, 10, 9_050)]),
        ]);
        assert_eq!(costs.cpu_seconds, Some(0.5));
    }

    #[test]
    fn a_counter_that_goes_back_is_dropped() {
        let costs = costs_of(vec![
            sample("a", 1_000, &[process(1, 10, 500)]),
            sample("a", 1_100, &[process(1, 10, 400)]),
            sample("a", 1_200, &[process(1, 10, 450)]),
        ]);
        assert_eq!(costs.cpu_seconds, Some(0.5));
        assert_eq!(costs.roles["workers"].counters_dropped, 1);
    }

    #[test]
    fn threads_count_in_nanoseconds_and_share_memory() {
        let thread = |pid, role: &str, cpu_ns| ProcessCounters {
            thread_of: Some(7),
            role: role.to_owned(),
            cpu_ns: Some(cpu_ns),
            ..process(pid, 10, 0)
        };
        let both = |ns| [thread(8, "workers", ns), thread(9, "sources", ns), thread(7, DRIVER_ROLE, ns)];
        let costs =
            costs_of(vec![sample("a", 1_000, &both(5_000_000)), sample("a", 1_001, &both(9_000_000))]);
        assert!((costs.cpu_seconds.unwrap() - 0.008).abs() < 1e-9, "{costs:?}");
        assert_eq!(costs.rss_bytes_max, Some(1_000));
        assert!((costs.roles[DRIVER_ROLE].cpu_seconds.unwrap() - 0.004).abs() < 1e-9, "{costs:?}");
    }

    #[test]
    fn only_the_measured_phase_counts() {
        let mut recorder = Recorder::default();
        for (second, ticks) in [(0, 0), (1, 100), (2, 250), (3, 300)] {
            let sample = sample("a", 1_000 + u64::from(second) * 100, &[process(1, 10, ticks)]);
            recorder.add(SECOND * second, sample);
        }
        recorder.open(SECOND + SECOND / 20);
        let costs = recorder.costs(&expectation(&["a"]), SECOND + SECOND / 20, SECOND * 3).unwrap();
        assert_eq!(costs.cpu_seconds, Some(2.0));
        assert_eq!(recorder.cpu_seconds_so_far(), Some(3.0));
    }

    #[test]
    fn the_base_is_the_reading_nearest_to_the_begin() {
        let mut recorder = Recorder::default();
        // Building took 60 ticks before the first event at 0.1 s.
        for (ms, ticks) in [(0, 0), (101, 60), (200, 70), (400, 90)] {
            let boot_ticks = 1_000 + ms / 10;
            recorder.add(Duration::from_millis(ms), sample("a", boot_ticks, &[process(1, 1_001, ticks)]));
        }
        let (from, to) = (Duration::from_millis(100), Duration::from_millis(400));
        recorder.open(from);
        let costs = recorder.costs(&expectation(&["a"]), from, to).unwrap();
        assert_eq!((costs.cpu_seconds, costs.too_coarse), (Some(0.3), false));
    }

    #[test]
    fn a_phase_that_is_too_short_for_its_readings_has_no_cpu() {
        let mut recorder = Recorder::default();
        for (ms, ticks) in [(0, 0), (101, 60), (110, 61)] {
            recorder.add(Duration::from_millis(ms), sample("a", 1_000, &[process(1, 1_001, ticks)]));
        }
        let from = Duration::from_millis(100);
        recorder.open(from);
        let costs = |to| recorder.costs(&expectation(&["a"]), from, Duration::from_millis(to)).unwrap();
        let short = costs(103);
        assert_eq!((short.cpu_seconds, short.too_coarse), (None, true));
        assert_eq!((short.roles["workers"].cpu_seconds, short.rss_bytes_max), (None, Some(1_000)));
        let unfinished = costs(150);
        assert!(unfinished.too_coarse, "the last reading lies 40 ms before the end");
    }

    #[test]
    fn a_missing_or_stale_host_makes_the_total_unknown() {
        let mut recorder = Recorder::default();
        recorder.add(Duration::ZERO, sample("a", 0, &[process(1, 0, 0)]));
        recorder.add(Duration::ZERO, sample("b", 0, &[process(1, 0, 0)]));
        recorder.open(Duration::ZERO);
        for second in 1..10 {
            recorder.add(SECOND * second, sample("a", 0, &[process(1, 0, 10)]));
        }
        let costs = |hosts: &[&str]| recorder.costs(&expectation(hosts), Duration::ZERO, SECOND * 9).unwrap();
        assert_eq!(costs(&["a"]).cpu_seconds, Some(0.1));
        let stale = costs(&["a", "b"]);
        assert_eq!((stale.cpu_seconds, stale.rss_bytes_max), (None, None));
        assert_eq!(stale.hosts_missing, ["b"]);
        assert_eq!(stale.roles["workers"].cpu_seconds, None);
        assert_eq!(costs(&["a", "c"]).hosts_missing, ["c"]);
    }

    #[test]
    fn a_role_that_was_never_seen_makes_the_total_unknown() {
        let costs = costs_of(vec![sample("a", 0, &[]), sample("a", 100, &[])]);
        assert_eq!((costs.cpu_seconds, costs.roles_missing), (None, vec!["workers".to_owned()]));
    }
}
