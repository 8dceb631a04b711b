//! Arguments of `bench`, and those of the workload, which it shares with `run`.

use std::path::PathBuf;

use clap::Args;

use super::HostOptions;
use super::reports::JudgeArguments;

/// How many events, how fast, and on how much.
#[derive(Debug, Args)]
pub(crate) struct WorkloadArguments {
    /// Measures the time that N events take, such as 10M [default: 10000000]
    #[arg(long, value_name = "N", allow_hyphen_values = true, conflicts_with_all = ["duration", "warmup", "rate"])]
    pub(crate) events: Option<String>,
    /// Measures for a time, such as 30s or 3m, after a warm-up
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    pub(crate) duration: Option<String>,
    /// Time before the measured one [default: 10s]
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    pub(crate) warmup: Option<String>,
    /// Events offered per second for --duration; 0 for as fast as the engine takes them [default: 0]
    #[arg(long, value_name = "R", allow_hyphen_values = true)]
    pub(crate) rate: Option<String>,
    /// Workers; 0 for the number of cores [default: 0]
    #[arg(long, value_name = "W", allow_hyphen_values = true)]
    pub(crate) workers: Option<String>,
    /// Takes the answer's digest, too; slower, and marked so
    #[arg(long)]
    pub(crate) digest: bool,
    /// Size of the state at which a run fails, such as 2GiB; 0 for no budget [default: 0]
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub(crate) memory_budget: Option<String>,
}

/// A flag, the key it sets, and the mode it chooses.
pub(crate) type Flag<'a> = (&'static str, &'static str, &'a str, Option<&'static str>);

impl WorkloadArguments {
    /// The flags that were given.
    pub(crate) fn given(&self) -> impl Iterator<Item = Flag<'_>> {
        let flags = [
            ("--events", "workload.events", &self.events, Some("events")),
            ("--duration", "workload.duration", &self.duration, Some("rate")),
            ("--warmup", "workload.warmup", &self.warmup, Some("rate")),
            ("--rate", "workload.rate", &self.rate, Some("rate")),
            ("--workers", "workload.workers", &self.workers, None),
            ("--memory-budget", "workload.memory-budget", &self.memory_budget, None),
        ];
        flags.into_iter().filter_map(|(flag, key, value, mode)| Some((flag, key, value.as_deref()?, mode)))
    }
}

#[derive(Debug, Args)]
pub(crate) struct BenchArguments {
    /// all, names such as q0,q5 and ranges such as q5-q9
    #[arg(required = true, value_name = "QUERIES")]
    pub(crate) queries: Vec<String>,
    /// A side, twice: the base, then the one that is judged. NAME=ENGINE, then as many as are needed of ,config=FILE
    /// ,binary=PATH for another build of this program, ,label=LABEL [default: NAME] and ,KEY=VALUE as for --set
    #[arg(long, required = true, value_name = "SIDE")]
    pub(crate) side: Vec<String>,
    #[command(flatten)]
    pub(crate) workload: WorkloadArguments,
    #[command(flatten)]
    pub(crate) hosts: HostOptions,
    /// Runs of each query a side, at least 3; more follow while the intervals are wide [default: 5]
    #[arg(long, value_name = "K", allow_hyphen_values = true)]
    pub(crate) repeat: Option<String>,
    /// Runs of each query a side at most [default: 30]
    #[arg(long, value_name = "K", allow_hyphen_values = true)]
    pub(crate) repeat_max: Option<String>,
    /// Time after which no more runs than --repeat are begun
    #[arg(long, value_name = "D", default_value = "10m", allow_hyphen_values = true)]
    pub(crate) budget: String,
    /// Directory of the result files
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub(crate) out: PathBuf,
    /// Says what would be run, and runs nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) judge: JudgeArguments,
}
