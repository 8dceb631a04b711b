//! What is kept of a run: one self-describing document with units in its names, raw numbers, and null for what is not
//! known. An old file stays readable: fields may be added, and never change their meaning within a format version.

mod environment;
mod gather;
mod hosts;
mod skim;
mod store;

use std::collections::BTreeMap;

use nexmark_queries::answer::Digest;
use serde::{Deserialize, Serialize};

pub use environment::Environment;
pub use gather::{GatherError, Gathered, Library, gather_directory};
pub use hosts::{ClockOffset, HostResources, HostSample, NetworkTraffic, RoleSample};
pub use store::{Detail, Discard, Keep, Store, StoreError, read};

/// Version of the format that is written; newer ones are refused when read.
pub const FORMAT_VERSION: u32 = 1;

/// One run: what was asked, what ran, and what it cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunResult {
    /// Version of this format.
    pub format_version: u32,
    /// Name of the run, unique.
    pub name: String,
    /// The user's own mark.
    #[serde(default)]
    pub label: Option<String>,
    /// Number of the repeat, from 1.
    #[serde(default)]
    pub repeat: u32,
    /// When the run began, RFC 3339, UTC.
    pub started_at: String,
    /// The exact command line.
    #[serde(default)]
    pub command: String,

    /// The query.
    pub query: String,
    /// How it ended. Only a passed run enters averages and totals.
    pub state: State,
    /// Why it did not pass.
    #[serde(default)]
    pub message: Option<String>,
    /// What a reader of the numbers should know, as `too short`.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Where the engine's query differs from the query's page.
    #[serde(default)]
    pub deviations: Vec<String>,
    /// The engine, as it described itself; `None` when it could not be asked.
    pub engine: Option<Engine>,

    /// What was asked for.
    pub workload: Workload,
    /// Seed of the event stream; `None` for recorded events.
    pub seed: Option<u64>,
    /// Every option of the event stream; empty for recorded events.
    #[serde(default)]
    pub options: BTreeMap<String, u64>,

    /// Events counted in the measured phase.
    pub events: Option<u64>,
    /// Events counted since the start, warm-up included.
    #[serde(default)]
    pub events_total: Option<u64>,
    /// Length of the measured phase over which `events` were counted.
    pub seconds: Option<f64>,
    /// Throughput: `events` / `seconds`.
    pub events_per_s: Option<f64>,
    /// Mean offered rate in the measured phase; `None` when unlimited.
    #[serde(default)]
    pub events_per_s_offered: Option<f64>,
    /// Throughput / offered rate.
    #[serde(default)]
    pub achieved_share: Option<f64>,

    /// CPU time of the engine's processes on all hosts in the measured phase; `None` when a host did not report.
    pub cpu_seconds: Option<f64>,
    /// `cpu_seconds` / `seconds`.
    pub cores: Option<f64>,
    /// Throughput / `cores`.
    pub events_per_s_per_core: Option<f64>,
    /// Highest resident memory of the engine's processes together.
    pub rss_bytes_max: Option<u64>,
    /// Costs of each role, the driver's own under `driver`, which is in no total.
    #[serde(default)]
    pub resources: BTreeMap<String, RoleResources>,
    /// Each host that reported, the driver's own machine included.
    #[serde(default)]
    pub hosts: BTreeMap<String, HostResources>,
    /// Hosts that were missing or stale in the measured phase.
    #[serde(default)]
    pub hosts_missing: Vec<String>,

    /// Rows handed to the sink since the start.
    pub rows_out: Option<u64>,
    /// Rows dropped since they came after the watermark.
    #[serde(default)]
    pub late_rows: Option<u64>,
    /// Largest size of the state that was seen.
    #[serde(default)]
    pub state_bytes_max: Option<u64>,
    /// Restarts of the job.
    #[serde(default)]
    pub restarts: u32,
    /// Readings of the event counter that went backwards and were left out.
    #[serde(default)]
    pub counters_dropped: u64,
    /// Digest of the answer, where it was taken.
    pub answer: Option<Digest>,
    /// Last values of the engine's further numbers, under its own names.
    #[serde(default)]
    pub extras: BTreeMap<String, f64>,

    /// Directory of the files that the job has written and that were kept.
    #[serde(default)]
    pub files: Option<String>,

    /// How long each phase took.
    pub phases: Phases,
    /// Progress and costs over time.
    #[serde(default)]
    pub samples: Vec<RunSample>,
    /// Costs of each host over time, warm-up included.
    #[serde(default)]
    pub host_samples: BTreeMap<String, Vec<HostSample>>,
    /// Where the driver ran.
    pub environment: Environment,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// Ran through, and its numbers agree.
    Passed,
    /// The engine failed.
    Failed,
    /// A wait was longer than its deadline.
    TimedOut,
    /// Someone else cancelled the job, or the user interrupted the run.
    Cancelled,
    /// The engine does not run this query.
    Unsupported,
    /// The numbers contradict each other.
    Invalid,
}

impl State {
    /// As in the result file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::TimedOut => "timed-out",
            Self::Cancelled => "cancelled",
            Self::Unsupported => "unsupported",
            Self::Invalid => "invalid",
        }
    }
}

/// The engine as it described itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Engine {
    /// Name.
    pub name: String,
    /// Version.
    pub version: String,
    /// Effective configuration.
    #[serde(default)]
    pub config: BTreeMap<String, String>,
}

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Workload {
    /// `events` or `rate`.
    pub mode: String,
    /// Measured events asked for, in events mode.
    #[serde(default)]
    pub events: Option<u64>,
    /// Events before the measured ones, in events mode.
    #[serde(default)]
    pub warmup_events: Option<u64>,
    /// Measured time asked for, in rate mode.
    #[serde(default)]
    pub duration_seconds: Option<f64>,
    /// Time before the measured one, in rate mode.
    #[serde(default)]
    pub warmup_seconds: Option<f64>,
    /// `unlimited`, `constant`, `square` or `sine`.
    pub shape: String,
    /// Offered rate, or the first of two.
    #[serde(default)]
    pub events_per_s: Option<f64>,
    /// Second rate of a square or sine.
    #[serde(default)]
    pub events_per_s_next: Option<f64>,
    /// Length of a period of a square or sine.
    #[serde(default)]
    pub period_seconds: Option<f64>,
    /// `generated` or `recorded`.
    pub input: String,
    /// How far the watermark stays behind.
    #[serde(default)]
    pub watermark_delay_ms: u64,
    /// Workers, or the parallelism.
    pub workers: usize,
    /// `count`, `digest` or `rows`.
    pub output: String,
    /// State size at which the run was to fail.
    #[serde(default)]
    pub memory_budget_bytes: Option<u64>,
}

/// Lengths of the phases, seconds. The first six add up to `wall_seconds`; a phase that was not reached is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Phases {
    /// Until the engine accepted the job; describing itself included.
    pub submit_seconds: f64,
    /// From there to the first event.
    pub starting_seconds: f64,
    /// From there to the end of the warm-up.
    pub warmup_seconds: f64,
    /// From there to the end of the job or of the measured time.
    pub measured_seconds: f64,
    /// From there to the stop: the end is noticed, rows are fetched, the result is written.
    pub draining_seconds: f64,
    /// The engine stops the job and removes what was made for it.
    pub stop_seconds: f64,
    /// All of it.
    pub wall_seconds: f64,
}

/// Progress and costs at one moment. Counts are since the start.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunSample {
    /// Seconds since the run began.
    pub seconds: f64,
    /// Events generated.
    pub events_in: Option<u64>,
    /// Rows handed to the sink.
    pub rows_out: Option<u64>,
    /// Watermark, epoch ms.
    pub watermark_ms: Option<i64>,
    /// Events due and not yet generated.
    pub behind_events: Option<u64>,
    /// Rows dropped as late.
    pub late_rows: Option<u64>,
    /// Size of the state.
    pub state_bytes: Option<u64>,
    /// The engine's own live rate.
    pub events_per_s_reported: Option<f64>,
    /// CPU seconds of the engine's processes since the run began.
    pub cpu_seconds: Option<f64>,
    /// Resident memory of the engine's processes.
    pub rss_bytes: Option<u64>,
}

/// What a role cost in the measured phase, over all hosts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RoleResources {
    /// CPU seconds, user and system together.
    pub cpu_seconds: Option<f64>,
    /// `cpu_seconds` / length of the measured phase.
    #[serde(default)]
    pub cores: Option<f64>,
    /// CPU seconds in user mode, to a clock tick.
    pub cpu_seconds_user: Option<f64>,
    /// CPU seconds in the kernel, to a clock tick.
    pub cpu_seconds_system: Option<f64>,
    /// Highest resident memory of its processes together; a thread's is that of its process.
    pub rss_bytes_max: Option<u64>,
    /// Highest resident memory that the kernel saw, summed over its processes.
    pub rss_bytes_peak: Option<u64>,
    /// Bytes read from storage.
    pub read_bytes: Option<u64>,
    /// Bytes written to storage.
    pub write_bytes: Option<u64>,
    /// Context switches.
    pub context_switches: Option<u64>,
    /// Most processes or threads that were seen at once.
    pub processes_max: u64,
    /// Counters that went backwards and were left out.
    pub counters_dropped: u64,
}
