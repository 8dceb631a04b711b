//! Raw counters of a host at one moment. Only counters are kept, so that a lost sample costs nothing; differences are
//! made by the reader.

use serde::{Deserialize, Serialize};

use crate::machine::MachineCounters;

/// What was read on one host at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Name of the host.
    pub host: String,
    /// Names the boot of the machine and its name space of processes: within it, the id and the start time of a process are
    /// unique, and a process that two hosts show is one.
    #[serde(default)]
    pub process_space: String,
    /// Number of the request that asked for this sample; `None` for one at its time.
    #[serde(default)]
    pub request: Option<u64>,
    /// The host's monotonic clock.
    pub monotonic_ns: u64,
    /// The host's wall clock, epoch ms.
    pub wall_ms: i64,
    /// Clock ticks in a second on that host.
    pub ticks_per_second: u64,
    /// Time since boot, clock ticks: what `start_ticks` compares with.
    pub boot_ticks: u64,
    /// The whole machine; `None` where the kernel does not tell.
    #[serde(default)]
    pub machine: Option<MachineCounters>,
    /// Every watched process and thread.
    pub processes: Vec<ProcessCounters>,
}

/// Counters of one process or thread since its start.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessCounters {
    /// Id of the process or thread.
    pub pid: u32,
    /// Process of a thread that is watched on its own.
    #[serde(default)]
    pub thread_of: Option<u32>,
    /// Start since boot, clock ticks; with the id it identifies a process in its space, since ids are used again.
    pub start_ticks: u64,
    /// Role under which its costs are collected.
    pub role: String,
    /// Command line, or name of the thread; a long one is cut in its middle.
    pub command: String,
    /// Time in user mode, clock ticks.
    pub user_ticks: u64,
    /// Time in the kernel, clock ticks.
    pub system_ticks: u64,
    /// User and kernel time to the nanosecond, where the kernel tells it: for threads.
    #[serde(default)]
    pub cpu_ns: Option<u64>,
    /// Threads.
    pub threads: u64,
    /// Resident memory; a thread's is that of its process.
    pub rss_bytes: u64,
    /// Highest resident memory since the start of the process.
    #[serde(default)]
    pub rss_bytes_peak: Option<u64>,
    /// Bytes read from storage; `None` where it may not be read.
    #[serde(default)]
    pub read_bytes: Option<u64>,
    /// Bytes written to storage; `None` where it may not be read.
    #[serde(default)]
    pub write_bytes: Option<u64>,
    /// Voluntary and involuntary context switches.
    #[serde(default)]
    pub context_switches: Option<u64>,
}

impl ProcessCounters {
    /// The process whose memory this is.
    pub fn memory_of(&self) -> u32 {
        self.thread_of.unwrap_or(self.pid)
    }
}
