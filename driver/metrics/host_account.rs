//! What one host spent: its roles, and the machine as a whole, since its first sample.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use nexmark_collector::machine::MachineCounters;
use nexmark_collector::sample::{ProcessCounters, Sample};

use super::own_threads::DRIVER_ROLE;
use super::role_account::{Memory, RoleAccount, as_ns, seconds};
use crate::result::{HostResources, HostSample, NetworkTraffic, RoleResources, RoleSample};

/// Identity of a process or thread on its host. Ids are used again, start times with them are not.
pub(super) type Identity = (u32, Option<u32>, u64);

/// Sums of differences since a host's first sample.
#[derive(Clone, Debug, Default)]
pub(super) struct HostAccount {
    pub(super) first_at: Duration,
    pub(super) last_at: Duration,
    gap_max: Duration,
    base_boot_ticks: u64,
    ticks_per_second: u64,
    last: HashMap<Identity, ProcessCounters>,
    pub(super) roles: BTreeMap<String, RoleAccount>,
    pub(super) memory: BTreeMap<String, Memory>,
    pub(super) engine_rss_bytes: u64,
    machine_first: Option<MachineCounters>,
    machine_last: Option<MachineCounters>,
    memory_bytes_used_max: Option<u64>,
}

impl HostAccount {
    /// An account that begins with a sample.
    pub(super) fn new(at: Duration, base: &Sample) -> Self {
        let last = base.processes.iter().map(|process| (identity(process), process.clone())).collect();
        Self {
            first_at: at,
            last_at: at,
            base_boot_ticks: base.boot_ticks,
            last,
            machine_first: base.machine.clone(),
            ..Self::default()
        }
    }

    /// Adds a sample, of which some processes may count elsewhere.
    pub(super) fn add(&mut self, at: Duration, sample: &Sample, processes: &[&ProcessCounters]) {
        self.gap_max = self.gap_max.max(at.saturating_sub(self.last_at));
        self.last_at = self.last_at.max(at);
        self.ticks_per_second = sample.ticks_per_second;
        for process in &sample.processes {
            // Seen, even where it counts elsewhere.
            self.roles.entry(process.role.clone()).or_default();
        }
        for process in processes {
            let before = self.replace(process);
            let role = self.roles.entry(process.role.clone()).or_default();
            role.add(&before, process, sample.ticks_per_second);
        }
        self.memory = memory_by_role(processes);
        for (name, memory) in &self.memory {
            let role = self.roles.entry(name.clone()).or_default();
            role.memory_max = role.memory_max.max(*memory);
        }
        self.engine_rss_bytes = engine_rss_bytes(processes);
        if let Some(machine) = &sample.machine {
            self.memory_bytes_used_max = self.memory_bytes_used_max.max(memory_bytes_used(machine));
            self.machine_last = Some(machine.clone());
        }
    }

    /// The counters from which a process counts: its last ones, nothing if it started since the base, else what it has
    /// now.
    fn replace(&mut self, process: &ProcessCounters) -> ProcessCounters {
        let before = self.last.insert(identity(process), process.clone());
        before.unwrap_or_else(|| {
            if process.start_ticks >= self.base_boot_ticks { nothing() } else { process.clone() }
        })
    }

    /// How far the first and the last sample lie from the begin and the end of a phase.
    pub(super) fn off(&self, from: Duration, to: Duration, after: AfterEnd) -> Duration {
        let end = match after {
            // A last sample after the end misses nothing and adds nothing.
            AfterEnd::Idle => to.saturating_sub(self.last_at),
            AfterEnd::GoesOn => to.abs_diff(self.last_at),
        };
        self.first_at.abs_diff(from).max(end)
    }

    /// Whether it reported from the begin to the end without a longer gap.
    pub(super) fn reported(&self, from: Duration, to: Duration, stale: Duration) -> bool {
        self.first_at <= from + stale && self.last_at + stale >= to && self.gap_max <= stale
    }

    /// The host's part of a result, over a phase of that many seconds.
    pub(super) fn resources(&self, phase_seconds: f64) -> HostResources {
        let machine = self.machine_last.as_ref();
        let grown = |counter: fn(&MachineCounters) -> u64| {
            counter(machine?).checked_sub(counter(self.machine_first.as_ref()?))
        };
        let roles = self.roles.iter().map(|(name, role)| (name.clone(), role.resources(phase_seconds)));
        HostResources {
            cores: machine.map(|machine| machine.cores),
            memory_bytes: machine.map(|machine| machine.memory_bytes),
            memory_bytes_used_max: self.memory_bytes_used_max,
            cpu_seconds: grown(|machine| machine.busy_ticks).map(|ticks| self.cpu_seconds(ticks)),
            cpu_seconds_stolen: grown(|machine| machine.steal_ticks).map(|ticks| self.cpu_seconds(ticks)),
            disk_read_bytes: grown(|machine| machine.disks.values().map(|disk| disk.read_bytes).sum()),
            disk_written_bytes: grown(|machine| machine.disks.values().map(|disk| disk.written_bytes).sum()),
            networks: self.networks(),
            roles: roles.collect::<BTreeMap<String, RoleResources>>(),
            ..HostResources::default()
        }
    }

    fn cpu_seconds(&self, ticks: u64) -> f64 {
        seconds(as_ns(ticks, self.ticks_per_second))
    }

    /// Traffic of each interface that was there throughout.
    fn networks(&self) -> BTreeMap<String, NetworkTraffic> {
        let (Some(first), Some(last)) = (&self.machine_first, &self.machine_last) else {
            return BTreeMap::new();
        };
        let traffic = last.networks.iter().filter_map(|(name, now)| {
            let before = first.networks.get(name)?;
            let traffic = NetworkTraffic {
                received_bytes: now.received_bytes.checked_sub(before.received_bytes)?,
                sent_bytes: now.sent_bytes.checked_sub(before.sent_bytes)?,
            };
            Some((name.clone(), traffic))
        });
        traffic.collect()
    }

    /// Where the host stands, for a result's series.
    pub(super) fn sample(&self) -> HostSample {
        let machine = self.machine_last.as_ref();
        let roles = self.roles.iter().map(|(name, role)| {
            let rss_bytes = self.memory.get(name).map_or(0, |memory| memory.rss_bytes);
            (name.clone(), RoleSample { cpu_seconds: seconds(role.cpu_ns), rss_bytes })
        });
        let busy = machine.zip(self.machine_first.as_ref());
        let busy = busy.and_then(|(now, first)| now.busy_ticks.checked_sub(first.busy_ticks));
        HostSample {
            seconds: self.last_at.as_secs_f64(),
            cpu_seconds: busy.map(|ticks| self.cpu_seconds(ticks)),
            load_1m: machine.map(|machine| machine.load_1m),
            memory_bytes_used: machine.and_then(memory_bytes_used),
            roles: roles.collect(),
        }
    }
}

/// What an engine does after the end of the measured phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterEnd {
    /// Its job is over.
    Idle,
    /// Its job goes on until it is told to stop.
    GoesOn,
}

fn memory_bytes_used(machine: &MachineCounters) -> Option<u64> {
    machine.memory_bytes.checked_sub(machine.memory_bytes_available?)
}

/// Threads share the memory of their process, which counts once in a role.
fn memory_by_role(processes: &[&ProcessCounters]) -> BTreeMap<String, Memory> {
    let mut roles: BTreeMap<String, Memory> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for process in processes {
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
fn engine_rss_bytes(processes: &[&ProcessCounters]) -> u64 {
    let engine = processes.iter().filter(|process| process.role != DRIVER_ROLE);
    let memories: BTreeMap<u32, u64> =
        engine.map(|process| (process.memory_of(), process.rss_bytes)).collect();
    memories.values().sum()
}

pub(super) fn identity(process: &ProcessCounters) -> Identity {
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
