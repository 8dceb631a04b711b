//! What can be typed. Numbers and durations stay text here: the configuration reads them, so that a flag, a file and
//! `--set` are checked by the same rules and complain in the same words.

mod bench;
mod reports;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgAction, Args, CommandFactory as _, Parser, Subcommand, ValueEnum};
use nexmark_collector::arguments::INTERVAL_MS_MIN;
use nexmark_collector::watch::Watch;

pub(crate) use bench::{BenchArguments, WorkloadArguments};
pub(crate) use reports::{CompareArguments, HistoryArguments, JudgeArguments, ReportArguments, ReportFormat};

use crate::{USAGE, printer};

const EXIT_CODES: &str = "\
Exit codes:
  0    all runs passed
  1    a run did not pass
  2    usage or configuration is wrong, nothing was started
  130  interrupted; what was measured is kept";

const VERIFY_EXIT_CODES: &str = "\
Exit codes:
  0    no answer differs and no run failed; a query that the engine does not run is neither
  1    an answer differs, or a run failed
  2    usage or configuration is wrong, nothing was started
  130  interrupted";

const CHECK_EXIT_CODES: &str = "\
Exit codes:
  0    runs can begin
  1    something stands in the way of any run
  2    usage or configuration is wrong
  130  interrupted";

const LOCAL_EXIT_CODES: &str = "\
Exit codes:
  0    it runs, or was stopped
  1    status: it does not run, or a process of it has died
  2    it could not be started or stopped
  130  interrupted";

const HOSTS_EXIT_CODES: &str = "\
Exit codes:
  0    every host is fit for a run
  1    a host is not
  2    usage or configuration is wrong, nothing was tried";

/// Benchmark for stream processors: the Nexmark queries on several engines, with checked answers.
#[derive(Debug, Parser)]
#[command(name = "nexmark", version, after_help = EXIT_CODES, disable_help_subcommand = true)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Options of every command.
#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// Engine to measure, see `nexmark list` [default: native]
    #[arg(long, global = true, value_name = "NAME")]
    engine: Option<String>,
    /// Configuration file; conf/nexmark.toml shows every key
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Profile to start from: default, article or heavy
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) profile: Option<String>,
    /// Sets one key of events, workload or engine; may be repeated
    #[arg(long, global = true, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Says more on stderr
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub(crate) verbose: u8,
    /// Colours: auto follows the terminal and NO_COLOR
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
}

impl Global {
    /// Name of the engine to measure.
    pub(crate) fn engine(&self) -> &str {
        self.engine.as_deref().unwrap_or("native")
    }
}

/// When output is coloured.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Lists queries and engines, and which engine runs which query
    List,
    /// Measures queries, and writes a result file a run
    #[command(after_help = EXIT_CODES)]
    Run(RunArguments),
    /// Compares an engine's answers with those of the queries' oracles
    #[command(after_help = VERIFY_EXIT_CODES)]
    Verify(VerifyArguments),
    /// Prints the answer of a query as NDJSON, sorted
    Answer(AnswerArguments),
    /// Says whether the engine is there, has room, and what would be watched
    #[command(after_help = CHECK_EXIT_CODES)]
    Check(CheckArguments),
    /// Prints the events of the stream
    Generate(GenerateArguments),
    /// Prints results again
    Show(ShowArguments),
    /// Runs two sides in turn until their ratio is known, and compares them
    #[command(after_help = reports::COMPARE_EXIT_CODES)]
    Bench(BenchArguments),
    /// Compares two sides, from result files, directories or labels
    #[command(after_help = reports::COMPARE_EXIT_CODES)]
    Compare(CompareArguments),
    /// Writes results as one HTML page
    Report(ReportArguments),
    /// Prints results over time, and where they changed for good
    History(HistoryArguments),
    /// Prints the effective configuration and where each value came from
    Config,
    /// Runs a Flink of one's own on this machine
    #[command(after_help = LOCAL_EXIT_CODES)]
    Flink(FlinkArguments),
    /// Looks after the hosts of a run
    Hosts(HostsArguments),
    /// Writes what this machine spends, a line of JSON a sample, until nobody reads any more
    Collect(CollectArguments),
    /// Runs a Kafka of one's own on this machine
    #[command(after_help = LOCAL_EXIT_CODES)]
    Kafka(KafkaArguments),
}

#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// all, names such as q0,q5 and ranges such as q5-q9
    #[arg(required = true, value_name = "QUERIES")]
    pub(crate) queries: Vec<String>,
    #[command(flatten)]
    pub(crate) workload: WorkloadArguments,
    /// Runs of each query, in turn [default: 1]
    #[arg(long, value_name = "K", allow_hyphen_values = true)]
    pub(crate) repeat: Option<String>,
    /// Leaves the files that a query writes, and says where they are
    #[arg(long)]
    pub(crate) keep_files: bool,
    /// Name under which the results are found later
    #[arg(long, value_name = "LABEL")]
    pub(crate) label: Option<String>,
    #[command(flatten)]
    pub(crate) hosts: HostOptions,
    /// Directory of the result files
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub(crate) out: PathBuf,
    /// How the results are printed
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub(crate) format: TableFormat,
    /// Says what would be run, and runs nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// How results are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TableFormat {
    Table,
    Json,
    Csv,
    Markdown,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArguments {
    /// all, names such as q0,q5 and ranges such as q5-q9
    #[arg(required = true, value_name = "QUERIES")]
    pub(crate) queries: Vec<String>,
    /// Number of events [default: 50000]
    #[arg(long, value_name = "N", allow_hyphen_values = true, conflicts_with = "input")]
    pub(crate) events: Option<String>,
    /// Workers; 0 for the number of cores [default: 0]
    #[arg(long, value_name = "W", allow_hyphen_values = true)]
    pub(crate) workers: Option<String>,
    /// Takes events from NDJSON as `generate` prints it, - for stdin, in the order of its lines
    #[arg(long, value_name = "FILE")]
    pub(crate) input: Option<PathBuf>,
    /// How the verdicts are printed
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub(crate) format: VerdictFormat,
}

/// How verdicts are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum VerdictFormat {
    Table,
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct AnswerArguments {
    /// Name of the query
    #[arg(value_name = "QUERY")]
    pub(crate) query: String,
    /// Number of events [default: 10000000]
    #[arg(long, value_name = "N", allow_hyphen_values = true, conflicts_with = "input")]
    pub(crate) events: Option<String>,
    /// Workers; 0 for the number of cores [default: 0]
    #[arg(long, value_name = "W", allow_hyphen_values = true)]
    pub(crate) workers: Option<String>,
    /// Takes events from NDJSON as `generate` prints it, - for stdin, in the order of its lines
    #[arg(long, value_name = "FILE")]
    pub(crate) input: Option<PathBuf>,
    /// Prints only the number of rows and their digest
    #[arg(long)]
    pub(crate) digest: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// Workers that there should be room for; 0 for the number of cores [default: 0]
    #[arg(long, value_name = "W", allow_hyphen_values = true)]
    pub(crate) workers: Option<String>,
    /// Removes what earlier runs have left behind; no run may be going on
    #[arg(long)]
    pub(crate) clean: bool,
}

#[derive(Debug, Args)]
pub(crate) struct GenerateArguments {
    /// Number of events [default: 10000000]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) events: Option<String>,
    /// Position of the first event
    #[arg(long, value_name = "P", allow_hyphen_values = true, default_value = "0")]
    pub(crate) from: String,
    /// Form of the events
    #[arg(long, value_name = "FORMAT", default_value = "ndjson")]
    pub(crate) format: EventFormat,
    /// Directory for the files person.csv, auction.csv and bid.csv
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

/// Form of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EventFormat {
    Ndjson,
    Csv,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArguments {
    /// Result files
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// How the results are printed
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub(crate) format: TableFormat,
}

#[derive(Debug, Args)]
pub(crate) struct FlinkArguments {
    #[command(subcommand)]
    pub(crate) action: FlinkAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum FlinkAction {
    /// Starts it, and installs it first where FLINK_HOME does not name one
    Up(FlinkUpArguments),
    /// Stops what `up` started
    Down(FlinkPort),
    /// Says whether it runs, and where its logs are
    Status(FlinkPort),
}

#[derive(Debug, Args)]
pub(crate) struct FlinkUpArguments {
    /// Release of Flink [default: 2.3.0, or what FLINK_HOME holds]
    #[arg(long, value_name = "V")]
    pub(crate) version: Option<String>,
    /// Task slots [default: the number of cores]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) slots: Option<String>,
    /// Memory of the TaskManager's process [default: 4GiB]
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub(crate) memory: Option<String>,
    #[command(flatten)]
    pub(crate) port: FlinkPort,
}

#[derive(Debug, Args)]
pub(crate) struct FlinkPort {
    /// Port of its REST interface, on loopback
    #[arg(long, value_name = "P", default_value_t = 8081, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) port: u16,
}

/// Which hosts are watched.
#[derive(Debug, Args)]
pub(crate) struct HostOptions {
    /// List of the hosts whose costs are collected, as conf/hosts.toml; goes before the [[host]] tables of --config
    #[arg(long, value_name = "FILE")]
    pub(crate) hosts: Option<PathBuf>,
    /// Leaves the collector on the hosts, so that it need not be copied the next time
    #[arg(long)]
    pub(crate) keep_collector: bool,
}

#[derive(Debug, Args)]
pub(crate) struct HostsArguments {
    #[command(subcommand)]
    pub(crate) command: HostsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum HostsCommand {
    /// Tries each host as a run would, side by side, and leaves nothing on it
    #[command(after_help = HOSTS_EXIT_CODES)]
    Check(HostOptions),
}

#[derive(Debug, Args)]
pub(crate) struct CollectArguments {
    /// What is watched: ROLE=command:TEXT, ROLE=pid:NUMBER or ROLE=cgroup:DIRECTORY; may be repeated
    #[arg(long, value_name = "WATCH")]
    pub(crate) watch: Vec<Watch>,
    /// Time between two samples, ms
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(INTERVAL_MS_MIN..))]
    pub(crate) interval_ms: u64,
    /// Name of this host in the samples [default: that of the machine]
    #[arg(long, value_name = "NAME")]
    pub(crate) host: Option<String>,
    /// Ends when nothing was asked for so long, ms
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) silence_ms_max: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct KafkaArguments {
    #[command(subcommand)]
    pub(crate) action: KafkaAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KafkaAction {
    /// Starts a broker, and fetches it first where KAFKA_HOME does not name one
    Up(KafkaUpArguments),
    /// Stops what `up` started, and removes its topics
    Down(KafkaPort),
    /// Says whether it runs, and where its log is
    Status(KafkaPort),
}

#[derive(Debug, Args)]
pub(crate) struct KafkaUpArguments {
    /// Release of Kafka [default: 4.1.0, or what KAFKA_HOME holds]
    #[arg(long, value_name = "V")]
    pub(crate) version: Option<String>,
    /// Memory of the broker's heap [default: 1GiB]
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub(crate) memory: Option<String>,
    #[command(flatten)]
    pub(crate) port: KafkaPort,
}

#[derive(Debug, Args)]
pub(crate) struct KafkaPort {
    /// Port for clients, on loopback
    #[arg(long, value_name = "P", default_value_t = 9092, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) port: u16,
}

impl Arguments {
    /// Reads the command line.
    ///
    /// # Errors
    /// Wrong usage, or a wish for help.
    pub(crate) fn read() -> Result<Self, clap::Error> {
        let mut arguments = Self::try_parse()?;
        arguments.global.set = every_set(std::env::args_os());
        arguments.check()?;
        Ok(arguments)
    }

    /// Refuses a global option that would have no effect.
    fn check(&self) -> Result<(), clap::Error> {
        let Global { engine, config, profile, set, .. } = &self.global;
        let given = [
            ("--engine", engine.is_some()),
            ("--config", config.is_some()),
            ("--profile", profile.is_some()),
            ("--set", !set.is_empty()),
        ];
        let (command, taken) = self.command.takes();
        match given.iter().find(|(option, given)| *given && !taken.contains(option)) {
            Some((option, _)) => {
                let message = format!("{option} would have no effect on {command}");
                Err(Self::command().error(ErrorKind::ArgumentConflict, message))
            }
            None => Ok(()),
        }
    }
}

impl Command {
    /// Its name, and which global options that choose what is measured mean something to it.
    fn takes(&self) -> (&'static str, &'static [&'static str]) {
        const ALL: &[&str] = &["--engine", "--config", "--profile", "--set"];
        match self {
            Self::List => ("list", ALL),
            Self::Run(_) => ("run", ALL),
            Self::Verify(_) => ("verify", ALL),
            Self::Answer(_) => ("answer", ALL),
            Self::Check(_) => ("check", ALL),
            Self::Generate(_) => ("generate", ALL),
            Self::Config => ("config", ALL),
            Self::Hosts(_) => ("hosts", ALL),
            // Each side names its engine.
            Self::Bench(_) => ("bench", &["--config", "--profile", "--set"]),
            Self::Show(_) => ("show", &[]),
            Self::Compare(_) => ("compare", &[]),
            Self::Report(_) => ("report", &[]),
            Self::History(_) => ("history", &[]),
            Self::Flink(_) => ("flink", &[]),
            Self::Collect(_) => ("collect", &[]),
            Self::Kafka(_) => ("kafka", &[]),
        }
    }
}

/// The values of all `--set`: of those before the name of the command and those after it, clap keeps the latter only.
fn every_set(words: impl Iterator<Item = OsString>) -> Vec<String> {
    let mut words = words.map(|word| word.to_string_lossy().into_owned());
    let mut values = Vec::new();
    while let Some(word) = words.next() {
        if word == "--set" {
            values.extend(words.next());
        } else if let Some(value) = word.strip_prefix("--set=") {
            values.push(value.to_owned());
        }
    }
    values
}

/// Prints help or the version to stdout, or says on one line of stderr what is wrong with the usage.
pub(crate) fn explain(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        // A closed stdout has nobody to tell.
        let _closed = error.print();
        return ExitCode::SUCCESS;
    }
    match error.kind() {
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let _closed = error.print();
        }
        ErrorKind::InvalidSubcommand => printer::error(unknown_command(error)),
        _ => printer::error(one_line(&error.render().to_string())),
    }
    ExitCode::from(USAGE)
}

/// The message for an unknown command; that of clap names no command when none is near.
fn unknown_command(error: &clap::Error) -> String {
    let name = match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(name)) => name.as_str(),
        _ => "",
    };
    let definition = Arguments::command();
    let usage = error.get(ContextKind::Usage).map(ToString::to_string).unwrap_or_default();
    let inner = |command: &&clap::Command| {
        command.has_subcommands() && usage.contains(&format!("nexmark {} ", command.get_name()))
    };
    let command = definition.get_subcommands().find(inner).unwrap_or(&definition);
    let known: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
    let near = nexmark_queries::nearest(name, known.iter().copied());
    let hint = near.map(|near| format!(", did you mean {near:?}?")).unwrap_or_default();
    format!("unknown command {name:?}, known are {}{hint}", known.join(", "))
}

/// A message of clap as one line: what is wrong and the tip, without the usage text.
fn one_line(message: &str) -> String {
    let said =
        message.lines().take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"));
    let parts: Vec<&str> = said.map(str::trim).filter(|line| !line.is_empty()).collect();
    let joined = parts.join(" ").replace(" tip: ", "; ").replace(" [possible values: ", ", allowed is [");
    joined.trim_start_matches("error: ").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn no_set_is_lost() {
        let words = ["nexmark", "--set", "seed=1", "run", "q0", "--set=rate=2", "--set", "--set"];
        assert_eq!(every_set(words.map(OsString::from).into_iter()), ["seed=1", "rate=2", "--set"]);
    }

    #[test]
    fn messages_become_one_line() {
        let message = "error: invalid value 'xml' for '--format <FORMAT>'\n  [possible values: table, json]\n\n  tip: a \
            similar value exists: 'x'\n\nFor more information, try '--help'.\n";
        assert_eq!(
            one_line(message),
            "invalid value 'xml' for '--format <FORMAT>', allowed is [table, json]; a similar value exists: 'x'"
        );
    }
}
