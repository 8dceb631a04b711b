//! What the processes of one role cost: sums of the differences of their counters.

use nexmark_collector::sample::ProcessCounters;

use crate::result::RoleResources;

/// Sums of one role on one host, or over several.
#[derive(Clone, Debug, Default)]
pub(super) struct RoleAccount {
    pub(super) cpu_ns: u64,
    user_ns: u64,
    system_ns: u64,
    read_bytes: Option<u64>,
    write_bytes: Option<u64>,
    context_switches: Option<u64>,
    pub(super) memory_max: Memory,
    dropped: u64,
}

/// Memory of some processes together, and how many they are.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Memory {
    pub(super) rss_bytes: u64,
    pub(super) rss_bytes_peak: Option<u64>,
    pub(super) processes: u64,
}

impl RoleAccount {
    /// Adds what a process has spent since an earlier reading.
    pub(super) fn add(&mut self, before: &ProcessCounters, now: &ProcessCounters, ticks_per_second: u64) {
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

    /// Adds the same role on another host. The highest memory of several hosts is no sum of theirs, and stays.
    pub(super) fn add_host(&mut self, other: &Self) {
        self.cpu_ns = self.cpu_ns.saturating_add(other.cpu_ns);
        self.user_ns = self.user_ns.saturating_add(other.user_ns);
        self.system_ns = self.system_ns.saturating_add(other.system_ns);
        add_known(&mut self.read_bytes, other.read_bytes);
        add_known(&mut self.write_bytes, other.write_bytes);
        add_known(&mut self.context_switches, other.context_switches);
        self.dropped += other.dropped;
    }

    /// Growth of a counter; one that went backwards is dropped and counted as dropped.
    fn grown(&mut self, before: Option<u64>, now: Option<u64>) -> Option<u64> {
        let (before, now) = (before?, now?);
        if now < before {
            self.dropped += 1;
        }
        now.checked_sub(before)
    }

    /// The sums with their units, over a phase of that many seconds.
    pub(super) fn resources(&self, phase_seconds: f64) -> RoleResources {
        let cpu_seconds = seconds(self.cpu_ns);
        RoleResources {
            cpu_seconds: Some(cpu_seconds),
            cores: (phase_seconds > 0.0).then(|| cpu_seconds / phase_seconds),
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
    pub(super) fn plus(self, other: Self) -> Self {
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
    pub(super) fn max(self, other: Self) -> Self {
        Self {
            rss_bytes: self.rss_bytes.max(other.rss_bytes),
            rss_bytes_peak: self.rss_bytes_peak.max(other.rss_bytes_peak),
            processes: self.processes.max(other.processes),
        }
    }
}

pub(super) fn as_ns(ticks: u64, ticks_per_second: u64) -> u64 {
    let ns = u128::from(ticks) * 1_000_000_000 / u128::from(ticks_per_second.max(1));
    u64::try_from(ns).unwrap_or(u64::MAX)
}

pub(super) fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

fn add_known(sum: &mut Option<u64>, part: Option<u64>) {
    if let Some(part) = part {
        *sum = Some(sum.unwrap_or(0).saturating_add(part));
    }
}
