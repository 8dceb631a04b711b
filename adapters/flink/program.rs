//! The arguments of the jar for a job: statements, options of their tables, settings. Pure.

use std::time::Duration;

use nexmark_driver::engine::{Input, Job, Output};
use nexmark_driver::pace::Schedule;
use nexmark_queries::{Query, source};

use crate::flink_config::FlinkConfig;

/// How far the watermark stays behind in the tables' own definition, ms.
const WATERMARK_DELAY_MS: u64 = 4_000;
/// More than the window of q12, which is one of the clock: its last rows come only from a source that outlives it.
const END_DELAY: Duration = Duration::from_secs(11);

/// The arguments of the job that runs the query; `directory` is where its files go, if it writes any.
pub(crate) fn of_query(job: &Job, config: &FlinkConfig, directory: Option<&str>) -> Vec<String> {
    let mut arguments = Arguments::default();
    arguments.sql(source::FLINK);
    if job.watermark_delay_ms != WATERMARK_DELAY_MS {
        arguments.sql(&watermark(job.watermark_delay_ms));
    }
    arguments.sql(job.query.flink_sql.first().copied().unwrap_or_default());
    arguments.source(job);
    match directory {
        Some(directory) => arguments.option("log", "path", directory),
        None => arguments.option("answer", "answer", output(job.output)),
    }
    arguments.settings(config)
}

/// The arguments of the job that reads the answer back from files, for a query that leaves it there.
pub(crate) fn of_answer(job: &Job, config: &FlinkConfig, directory: &str) -> Option<Vec<String>> {
    let statements = job.query.flink_sql.get(1)?;
    let mut arguments = Arguments::default();
    arguments.sql(statements);
    arguments.option("log", "path", directory);
    arguments.option("answer", "answer", output(job.output));
    Some(arguments.settings(config))
}

/// Whether the query writes files.
pub(crate) fn writes_files(query: &Query) -> bool {
    query.flink_sql.len() > 1
}

/// How long the source outlives its last event.
pub(crate) fn end_delay(job: &Job) -> Duration {
    let is_asked = job.output != Output::Count && job.events.is_some() && job.query.name == "q12";
    if is_asked { END_DELAY } else { Duration::ZERO }
}

fn output(output: Output) -> &'static str {
    match output {
        Output::Count => "count",
        Output::Digest => "digest",
        Output::Rows => "rows",
    }
}

fn watermark(delay_ms: u64) -> String {
    let (seconds, ms) = (delay_ms / 1_000, delay_ms % 1_000);
    let digits = seconds.to_string().len();
    format!(
        "ALTER TABLE nexmark MODIFY WATERMARK FOR `dateTime` AS `dateTime` - INTERVAL '{seconds}.{ms:03}' SECOND({digits}, 3)"
    )
}

#[derive(Default)]
struct Arguments(Vec<String>);

impl Arguments {
    fn sql(&mut self, statements: &str) {
        self.0.extend(["--sql".to_owned(), statements.to_owned()]);
    }

    fn option(&mut self, table: &str, key: &str, value: impl std::fmt::Display) {
        self.0.extend(["--option".to_owned(), table.to_owned(), format!("{key}={value}")]);
    }

    /// All options of the stream, also those at their defaults, so that nothing is left to the jar's.
    fn source(&mut self, job: &Job) {
        if let Input::Generated(options) = &job.input {
            for (name, value) in options.entries() {
                self.option("nexmark", name, value);
            }
        }
        if let Some(events) = job.events {
            self.option("nexmark", "events", events);
        }
        self.schedule(&job.schedule);
        let delay = end_delay(job);
        if !delay.is_zero() {
            self.option("nexmark", "end.delay", format!("{} ms", delay.as_millis()));
        }
    }

    fn schedule(&mut self, schedule: &Schedule) {
        let (shape, first, second) = match *schedule {
            Schedule::Unlimited => return,
            Schedule::Constant(rate) => ("constant", rate, None),
            Schedule::Square { first, next, period } => ("square", first, Some((next, period))),
            Schedule::Sine { first, next, period } => ("sine", first, Some((next, period))),
        };
        self.option("nexmark", "rate", first);
        self.option("nexmark", "shape", shape);
        if let Some((next, period)) = second {
            self.option("nexmark", "next-rate", next);
            self.option("nexmark", "period", format!("{} ns", period.as_nanos()));
        }
    }

    fn settings(mut self, config: &FlinkConfig) -> Vec<String> {
        for (key, value) in &config.table {
            self.0.extend(["--set".to_owned(), format!("{key}={value}")]);
        }
        self.0
    }
}

#[cfg(test)]
mod tests {
    use nexmark_queries::generator::Options;

    use super::*;

    fn job(query: &str) -> Job {
        Job {
            name: "x".to_owned(),
            query: nexmark_queries::find(query).unwrap(),
            input: Input::Generated(Options::default()),
            events: Some(1_000),
            warmup_events: 0,
            schedule: Schedule::Unlimited,
            watermark_delay_ms: 4_000,
            workers: 2,
            output: Output::Digest,
            memory_budget_bytes: None,
        }
    }

    /// The options of a table, and the statements.
    fn read(arguments: &[String]) -> (Vec<String>, Vec<String>) {
        let (mut options, mut statements) = (Vec::new(), Vec::new());
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let mut next = || rest.next().unwrap().clone();
            match argument.as_str() {
                "--sql" => statements.push(next()),
                "--option" => options.push(format!("{} {}", next(), next())),
                "--set" => options.push(format!("set {}", next())),
                other => panic!("{other}"),
            }
        }
        (options, statements)
    }

    fn options(job: &Job, directory: Option<&str>) -> Vec<String> {
        read(&of_query(job, &FlinkConfig::default(), directory)).0
    }

    #[test]
    fn the_source_is_told_everything() {
        let told = options(&job("q5"), None);
        for (name, value) in Options::default().entries() {
            assert!(told.contains(&format!("nexmark {name}={value}")), "{name}");
        }
        assert!(told.contains(&"nexmark events=1000".to_owned()));
        assert!(told.contains(&"answer answer=digest".to_owned()));
        assert!(
            !told.iter().any(|option| option.contains("rate=") && !option.contains("event.rate")),
            "{told:?}"
        );
    }

    #[test]
    fn a_schedule_becomes_options() {
        let period = Duration::from_millis(1_500);
        let sine =
            Job { schedule: Schedule::Sine { first: 2.5e6, next: 100.0, period }, events: None, ..job("q0") };
        let told = options(&sine, None);
        for option in ["rate=2500000", "shape=sine", "next-rate=100", "period=1500000000 ns"] {
            assert!(told.contains(&format!("nexmark {option}")), "{option}: {told:?}");
        }
        assert!(!told.iter().any(|option| option.starts_with("nexmark events=")));
    }

    #[test]
    fn a_watermark_of_its_own_is_a_statement_between() {
        let slow = Job { watermark_delay_ms: 12_500, ..job("q5") };
        let (_, statements) = read(&of_query(&slow, &FlinkConfig::default(), None));
        assert_eq!(statements.len(), 3);
        assert!(statements[1].ends_with("INTERVAL '12.500' SECOND(2, 3)"), "{}", statements[1]);
        assert_eq!(read(&of_query(&job("q5"), &FlinkConfig::default(), None)).1.len(), 2);
    }

    #[test]
    fn only_an_answer_of_q12_needs_the_source_to_linger() {
        assert!(options(&job("q12"), None).contains(&"nexmark end.delay=11000 ms".to_owned()));
        let counted = Job { output: Output::Count, ..job("q12") };
        let endless = Job { events: None, ..job("q12") };
        assert_eq!([end_delay(&counted), end_delay(&endless), end_delay(&job("q11"))], [Duration::ZERO; 3]);
    }

    #[test]
    fn an_answer_in_files_is_read_back_by_a_second_job() {
        let files = job("q10");
        assert!(writes_files(files.query) && !writes_files(job("q9").query));
        let told = options(&files, Some("file:///d"));
        assert!(
            told.contains(&"log path=file:///d".to_owned()) && !told.iter().any(|o| o.starts_with("answer"))
        );
        let second = of_answer(&files, &FlinkConfig::default(), "file:///d").unwrap();
        assert_eq!(read(&second).0, ["log path=file:///d", "answer answer=digest"]);
        assert_eq!(of_answer(&job("q9"), &FlinkConfig::default(), ""), None);
    }
}
