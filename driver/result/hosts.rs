//! What is kept of each host of a run.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::RoleResources;

/// What a host spent in the measured phase.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostResources {
    /// Processors that are on.
    pub cores: Option<u64>,
    /// Memory of the machine.
    pub memory_bytes: Option<u64>,
    /// Highest memory that was in use, whoever used it.
    pub memory_bytes_used_max: Option<u64>,
    /// CPU seconds of all processes of the machine.
    pub cpu_seconds: Option<f64>,
    /// CPU seconds that a hypervisor gave to others.
    pub cpu_seconds_stolen: Option<f64>,
    /// Bytes read from the machine's disks.
    pub disk_read_bytes: Option<u64>,
    /// Bytes written to the machine's disks.
    pub disk_written_bytes: Option<u64>,
    /// Traffic of each network interface.
    #[serde(default)]
    pub networks: BTreeMap<String, NetworkTraffic>,
    /// Each role on this host.
    #[serde(default)]
    pub roles: BTreeMap<String, RoleResources>,
    /// How its clocks stand to the driver's; `None` for the driver's own machine.
    #[serde(default)]
    pub clock: Option<ClockOffset>,
}

/// Bytes over a network interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkTraffic {
    /// Bytes that came in.
    pub received_bytes: u64,
    /// Bytes that went out.
    pub sent_bytes: u64,
}

/// A host's clocks, compared with the driver's when its collector started and when the run had ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClockOffset {
    /// The host's wall clock less the driver's, seconds, at the begin.
    pub wall_seconds: f64,
    /// Half the time that the slower of the two questions took, seconds: each comparison is true to this.
    pub error_seconds: f64,
    /// How much the host's monotonic clock gained on the driver's from begin to end, seconds; `None` when it was not compared
    /// at the end.
    pub drift_seconds: Option<f64>,
}

/// A host at one moment. Counters are since its first sample in the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostSample {
    /// Seconds since the run began, on the driver's clock.
    pub seconds: f64,
    /// CPU seconds of all processes of the machine.
    pub cpu_seconds: Option<f64>,
    /// Mean number of runnable threads over the last minute.
    pub load_1m: Option<f64>,
    /// Memory in use, whoever uses it.
    pub memory_bytes_used: Option<u64>,
    /// Each role.
    pub roles: BTreeMap<String, RoleSample>,
}

/// A role on a host at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RoleSample {
    /// CPU seconds of its processes.
    pub cpu_seconds: f64,
    /// Their resident memory.
    pub rss_bytes: u64,
}
