//! `run`: measures queries one after the other, keeps a result file a run, and prints them all at the end.

use std::num::NonZero;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use nexmark_driver::config::{Config, EngineFactory, WorkloadSettings};
use nexmark_driver::engine::{Input, Output};
use nexmark_driver::pace::Schedule;
use nexmark_driver::remote::{Station, quoted};
use nexmark_driver::result::{Environment, Store};
use nexmark_driver::run::{Interrupt, RunRequest, Workload};
use nexmark_driver::suite::{Order, Suite, SuiteReport};
use nexmark_queries::Query;

use crate::args::{Global, RunArguments, WorkloadArguments};
use crate::engines;
use crate::hosts;
use crate::interrupt::{self, INTERRUPTED};
use crate::memory;
use crate::printer;
use crate::progress::{Progress, Verbosity};
use crate::quantity::si;
use crate::results;
use crate::selection;
use crate::table::{Align, Table};

/// Exit code when a run did not pass.
pub(crate) const NOT_PASSED: u8 = 1;

/// Measures the queries. Whatever can be wrong with the usage is found before anything starts.
pub(crate) fn command(global: &Global, arguments: &RunArguments) -> Result<ExitCode> {
    let queries = selection::select(&arguments.queries)?;
    let engine = engines::find(global.engine())?;
    let config = configure(global, engine, arguments)?;
    let settings = config.workload()?;
    let stations = hosts::stations(&config, &arguments.hosts)?;
    let suite = Suite {
        requests: requests(&queries, &config, &arguments.workload, arguments.label.as_deref(), &stations)?,
        repeats: settings.repeat,
        order: Order::default(),
    };
    engines::create(engine, &config)?;
    if arguments.dry_run {
        return plan(&suite, engine, &config);
    }
    let mut store = Store::open(&arguments.out)?;
    let report = runtime()?.block_on(async {
        let mut interrupt = interrupt::listen("stopping the engine and keeping what was measured")?;
        Ok::<_, anyhow::Error>(
            measure(&suite, engine, &config, &mut store, verbosity(global), &mut interrupt).await,
        )
    })?;
    finish(&report, arguments, verbosity(global))
}

/// Flags lie over everything else. One of the flags of a mode chooses that mode.
fn configure(global: &Global, engine: &EngineFactory, arguments: &RunArguments) -> Result<Config> {
    let mut config = crate::config::load(global)?;
    apply(&mut config, &arguments.workload)?;
    if let Some(repeat) = &arguments.repeat {
        config.apply_flag("--repeat", "workload.repeat", repeat)?;
    }
    if arguments.keep_files {
        keep_files(&mut config, engine)?;
    }
    Ok(config)
}

/// Lays the flags of the workload over the settings.
pub(crate) fn apply(config: &mut Config, arguments: &WorkloadArguments) -> Result<()> {
    for (flag, key, value, mode) in arguments.given() {
        config.apply_flag(flag, key, value)?;
        if let Some(mode) = mode {
            config.apply_flag(flag, "workload.mode", mode)?;
        }
    }
    Ok(())
}

/// Only an engine with a key for it keeps files.
fn keep_files(config: &mut Config, engine: &EngineFactory) -> Result<()> {
    const KEY: &str = "files.keep";
    if !engine.keys.iter().any(|key| key.name == KEY) {
        bail!("--keep-files has no effect on engine {}, which has no key {KEY}", engine.name);
    }
    Ok(config.apply_flag("--keep-files", &format!("engine.{}.{KEY}", engine.name), "true")?)
}

/// A run of each query.
pub(crate) fn requests(
    queries: &[&'static Query],
    config: &Config,
    arguments: &WorkloadArguments,
    label: Option<&str>,
    stations: &[Station],
) -> Result<Vec<RunRequest>> {
    let input = Input::Generated(config.options()?);
    let settings = config.workload()?;
    let mut environment = Environment::read();
    environment.hosts.extend(stations.iter().map(|station| station.host.name().to_owned()));
    let request = |query: &&'static Query| RunRequest {
        output: if arguments.digest { Output::Digest } else { Output::Count },
        label: label.map(str::to_owned),
        stations: stations.to_vec(),
        environment: environment.clone(),
        ..request(query, input.clone(), settings.workload.clone(), &settings)
    };
    Ok(queries.iter().map(request).collect())
}

/// A run of one query with the settings that all commands share.
pub(crate) fn request(
    query: &'static Query,
    input: Input,
    workload: Workload,
    settings: &WorkloadSettings,
) -> RunRequest {
    RunRequest {
        watermark_delay_ms: settings.watermark_delay_ms,
        workers: workers(settings),
        memory_budget_bytes: settings.memory_budget_bytes,
        deadlines: settings.deadlines,
        command: command_line(),
        ..RunRequest::new(query, input, workload)
    }
}

/// Workers of a run: as many as there are cores if nothing is said.
pub(crate) fn workers(settings: &WorkloadSettings) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, NonZero::get);
    settings.workers.unwrap_or_else(cores)
}

async fn measure(
    suite: &Suite,
    engine: &EngineFactory,
    config: &Config,
    store: &mut Store,
    verbosity: Verbosity,
    interrupt: &mut Interrupt,
) -> SuiteReport {
    let section = config.engine(engine.name);
    let create = engine.create;
    let mut new_engine = |_request: &RunRequest| {
        memory::give_back();
        create(&section)
    };
    let mut progress = Progress::new(verbosity);
    suite.run(&mut new_engine, store, &mut progress, interrupt).await
}

fn finish(report: &SuiteReport, arguments: &RunArguments, verbosity: Verbosity) -> Result<ExitCode> {
    for error in &report.keep_errors {
        printer::error(error);
    }
    printer::note(saved(report.results.len(), &arguments.out));
    results::print(&report.results, arguments.format, verbosity)?;
    Ok(match report {
        report if report.interrupted => ExitCode::from(INTERRUPTED),
        report if report.passed() => ExitCode::SUCCESS,
        _ => ExitCode::from(NOT_PASSED),
    })
}

fn saved(results: usize, directory: &Path) -> String {
    let files = if results == 1 { "1 result file".to_owned() } else { format!("{results} result files") };
    format!("{files} in {}", directory.display())
}

/// Says what would be run.
fn plan(suite: &Suite, engine: &EngineFactory, config: &Config) -> Result<ExitCode> {
    let engine = engines::create(engine, config)?;
    let columns = [("query", Align::Left), ("workload", Align::Left), ("workers", Align::Right)];
    let mut table =
        Table::new(&[&columns[..], &[("runs", Align::Right), ("supported", Align::Wrapped)]].concat());
    for request in &suite.requests {
        let (word, text) = engines::support(engine.as_ref(), request.query);
        table.push(vec![
            request.query.name.into(),
            workload(&request.workload).into(),
            request.workers.to_string().into(),
            suite.repeats.to_string().into(),
            text.map_or_else(|| word.to_owned(), |text| format!("{word}: {text}")).into(),
        ]);
    }
    printer::data(table.terminal())?;
    Ok(ExitCode::SUCCESS)
}

fn workload(workload: &Workload) -> String {
    match workload {
        Workload::Events { events, warmup_events: 0 } => format!("{} events", si(*events as f64)),
        Workload::Events { events, warmup_events } => {
            format!("{} events after {} of warm-up", si(*events as f64), si(*warmup_events as f64))
        }
        Workload::Rate { duration, warmup, schedule } => {
            format!("{duration:?} after {warmup:?} of warm-up, {}", offered(schedule))
        }
    }
}

fn offered(schedule: &Schedule) -> String {
    match *schedule {
        Schedule::Unlimited => "as fast as it goes".to_owned(),
        Schedule::Constant(rate) => format!("{} events/s", si(rate)),
        Schedule::Square { first, next, period } => {
            format!("{} and {} events/s in turn, period {period:?}", si(first), si(next))
        }
        Schedule::Sine { first, next, period } => {
            format!("{} to {} events/s and back, period {period:?}", si(first), si(next))
        }
    }
}

/// More than one thread, so that signals are heard while an engine blocks one.
pub(crate) fn runtime() -> Result<tokio::runtime::Runtime> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(2).thread_name("driver").enable_all();
    builder.build().context("cannot start the driver's threads")
}

/// How much progress says.
pub(crate) fn verbosity(global: &Global) -> Verbosity {
    if global.verbose > 0 { Verbosity::More } else { Verbosity::Normal }
}

/// The command line in a form that a shell reads back.
pub(crate) fn command_line() -> String {
    let arguments = std::env::args_os().map(|argument| quoted(&argument.to_string_lossy()));
    arguments.collect::<Vec<_>>().join(" ")
}
