//! Counters of the whole machine, whoever spends them.

use std::collections::BTreeMap;
use std::path::Path;

use procfs::{Current as _, CurrentSI as _, KernelStats, LoadAverage, Meminfo};
use serde::{Deserialize, Serialize};

/// Bytes of a sector in `/proc/diskstats`, whatever the disk's own are.
const SECTOR_BYTES: u64 = 512;

/// Counters of a machine since its boot.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MachineCounters {
    /// Processors that are on.
    pub cores: u64,
    /// Time of all processors at work, clock ticks: user, system and interrupts.
    pub busy_ticks: u64,
    /// Time of all processors idle or waiting for a disk, clock ticks.
    pub idle_ticks: u64,
    /// Time that a hypervisor gave to others, clock ticks.
    pub steal_ticks: u64,
    /// Mean number of runnable threads over the last minute.
    pub load_1m: f64,
    /// Memory.
    pub memory_bytes: u64,
    /// Memory that programs could still have.
    pub memory_bytes_available: Option<u64>,
    /// Each network interface, the loopback one included.
    pub networks: BTreeMap<String, NetworkCounters>,
    /// Each disk. Parts of disks, and devices that lie on others, are left out, so that nothing counts twice.
    pub disks: BTreeMap<String, DiskCounters>,
}

/// Counters of a network interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkCounters {
    /// Bytes that came in.
    pub received_bytes: u64,
    /// Bytes that went out.
    pub sent_bytes: u64,
}

/// Counters of a disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskCounters {
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
}

impl MachineCounters {
    /// Reads the counters now.
    ///
    /// # Errors
    /// The kernel does not tell its processors, load or memory. Networks and disks that it does not tell are left out.
    pub fn read() -> Result<Self, procfs::ProcError> {
        let cpu = KernelStats::current()?;
        let memory = Meminfo::current()?;
        let total = &cpu.total;
        let some = |ticks: Option<u64>| ticks.unwrap_or(0);
        Ok(Self {
            cores: u64::try_from(cpu.cpu_time.len()).unwrap_or(u64::MAX),
            // The time of guests is in that of the user, too.
            busy_ticks: total.user + total.nice + total.system + some(total.irq) + some(total.softirq),
            idle_ticks: total.idle + some(total.iowait),
            steal_ticks: some(total.steal),
            load_1m: f64::from(LoadAverage::current()?.one),
            memory_bytes: memory.mem_total,
            memory_bytes_available: memory.mem_available,
            networks: networks(),
            disks: disks(),
        })
    }
}

fn networks() -> BTreeMap<String, NetworkCounters> {
    let status = procfs::net::dev_status().unwrap_or_default();
    let counters = |status: procfs::net::DeviceStatus| NetworkCounters {
        received_bytes: status.recv_bytes,
        sent_bytes: status.sent_bytes,
    };
    status.into_iter().map(|(name, status)| (name, counters(status))).collect()
}

fn disks() -> BTreeMap<String, DiskCounters> {
    let stats = procfs::diskstats().unwrap_or_default();
    let real =
        stats.into_iter().filter(|disk| Path::new("/sys/block").join(&disk.name).join("device").exists());
    real.map(|disk| {
        let counters = DiskCounters {
            read_bytes: disk.sectors_read.saturating_mul(SECTOR_BYTES),
            written_bytes: disk.sectors_written.saturating_mul(SECTOR_BYTES),
        };
        (disk.name, counters)
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_counters() {
        let before = MachineCounters::read().unwrap();
        assert!(before.cores > 0 && before.busy_ticks > 0 && before.idle_ticks > 0, "{before:?}");
        assert!(before.memory_bytes > 1 << 20 && before.memory_bytes_available <= Some(before.memory_bytes));
        assert!(before.networks.contains_key("lo"), "{before:?}");
        let start = std::time::Instant::now();
        while start.elapsed() < std::time::Duration::from_millis(100) {
            std::hint::spin_loop();
        }
        let after = MachineCounters::read().unwrap();
        assert!(after.busy_ticks > before.busy_ticks, "{before:?} {after:?}");
    }
}
