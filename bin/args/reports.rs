//! Arguments of the commands that look at results: `compare`, `report`, `history`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

pub(super) const COMPARE_EXIT_CODES: &str = "\
Exit codes:
  0    nothing is worse
  1    something is worse by more than --fail-above, or does not run any more
  2    usage is wrong, or the sides cannot be compared";

/// How what is said about two sides or a history is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    Table,
    Json,
    Csv,
    Markdown,
    Html,
}

/// How two sides are judged and shown.
#[derive(Debug, Args)]
pub(crate) struct JudgeArguments {
    /// Smallest effect that matters
    #[arg(long, value_name = "PERCENT", default_value = "5%", allow_hyphen_values = true)]
    pub(crate) threshold: String,
    /// Fails when something is worse by more than this [default: that of --threshold]
    #[arg(long, value_name = "PERCENT", allow_hyphen_values = true)]
    pub(crate) fail_above: Option<String>,
    /// Metrics to judge, such as events_per_s,cpu_seconds [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) metric: Vec<String>,
    /// Compares in spite of other workloads or other answers
    #[arg(long)]
    pub(crate) force: bool,
    /// How the comparison is printed
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub(crate) format: ReportFormat,
    /// File to write instead of printing
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct CompareArguments {
    /// What is compared with: a result file, a directory of them, or a label
    #[arg(value_name = "BASE")]
    pub(crate) base: String,
    /// What is judged: a result file, a directory of them, or a label
    #[arg(value_name = "OTHER")]
    pub(crate) other: String,
    /// Directory in which labels are looked for
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub(crate) results: PathBuf,
    #[command(flatten)]
    pub(crate) judge: JudgeArguments,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArguments {
    /// Result files, directories of them, or labels
    #[arg(required = true, value_name = "RESULTS")]
    pub(crate) names: Vec<String>,
    /// The HTML file to write
    #[arg(short, long, value_name = "FILE", default_value = "report.html")]
    pub(crate) output: PathBuf,
    /// Label, or engine and version, that the others are measured by [default: the first]
    #[arg(long, value_name = "SIDE")]
    pub(crate) baseline: Option<String>,
    /// For people outside: the summary first, then method, results, fairness, and how to repeat it
    #[arg(long)]
    pub(crate) vendor: bool,
    /// Title of the report
    #[arg(long, value_name = "TEXT", default_value = "Nexmark results")]
    pub(crate) title: String,
    /// Smallest effect that matters
    #[arg(long, value_name = "PERCENT", default_value = "5%", allow_hyphen_values = true)]
    pub(crate) threshold: String,
    /// Directory in which labels are looked for
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub(crate) results: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct HistoryArguments {
    /// all, names such as q0,q5 and ranges such as q5-q9 [default: all]
    #[arg(value_name = "QUERIES")]
    pub(crate) queries: Vec<String>,
    /// Only results with this label
    #[arg(long, value_name = "LABEL")]
    pub(crate) label: Option<String>,
    /// The metric
    #[arg(long, value_name = "NAME", default_value = "events_per_s")]
    pub(crate) metric: String,
    /// Smallest effect that matters
    #[arg(long, value_name = "PERCENT", default_value = "5%", allow_hyphen_values = true)]
    pub(crate) threshold: String,
    /// Directory of the result files
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub(crate) results: PathBuf,
    /// How the history is printed
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub(crate) format: ReportFormat,
    /// File to write instead of printing
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}
