//! `bench`: two sides in turn, as fresh jobs, until their ratio is known; then their comparison.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use async_trait::async_trait;
use nexmark_driver::bench::{Bench, BenchReport, Measure};
use nexmark_driver::config::{count, duration};
use nexmark_driver::engine::EngineError;
use nexmark_driver::listener::{Listener, RunEvent, Silent};
use nexmark_driver::result::{RunResult, State, Store};
use nexmark_driver::run::{Interrupt, Place, RunRequest};
use nexmark_driver::suite;
use nexmark_queries::Query;

use crate::args::{BenchArguments, Global};
use crate::compare::Judge;
use crate::interrupt::{self, INTERRUPTED};
use crate::printer;
use crate::progress::{Progress, Verbosity};
use crate::run::{self, NOT_PASSED, runtime, verbosity};
use crate::side::{Side, sides};
use crate::table::{Align, Table};
use crate::{child, engines, hosts, memory, selection};

/// Runs a side that are the least when nothing else is said.
const ROUNDS_MIN: u32 = 5;
/// Runs a side that are the most when nothing else is said.
const ROUNDS_MAX: u32 = 30;

/// Runs both sides and compares them. Whatever can be wrong with the usage is found before anything starts.
pub(crate) fn command(global: &Global, arguments: &BenchArguments) -> Result<ExitCode> {
    let judge = Judge::new(&arguments.judge)?;
    let bench = bench(arguments, judge.threshold())?;
    let sides = sides(global, arguments)?;
    let mut requests = Vec::new();
    for side in &sides {
        let stations = hosts::stations(&side.config, &arguments.hosts)?;
        let label = Some(side.label.as_str());
        requests.push(run::requests(&bench.queries, &side.config, &arguments.workload, label, &stations)?);
        engines::create(side.engine, &side.config)?;
    }
    if arguments.dry_run {
        return plan(&bench, &sides);
    }
    let mut runs = Runs {
        programs: programs(&sides)?,
        sides: &sides,
        requests,
        store: Store::open(&arguments.out)?,
        out: std::path::absolute(&arguments.out)?,
        verbosity: verbosity(global),
        keep_errors: Vec::new(),
    };
    let report = runtime()?.block_on(async {
        let mut interrupt = interrupt::listen("stopping the engine and keeping what was measured")?;
        Ok::<_, anyhow::Error>(bench.run(&mut runs, &mut interrupt).await)
    })?;
    finish(report, &sides, &judge, &runs.keep_errors)
}

fn bench(arguments: &BenchArguments, threshold: f64) -> Result<Bench> {
    let rounds = |flag: &str, text: &Option<String>, default: u32| match text {
        None => Ok(default),
        Some(text) => match count(text).and_then(|rounds| u32::try_from(rounds).ok()) {
            Some(rounds) if (3..=1000).contains(&rounds) => Ok(rounds),
            _ => bail!("{flag} is {text:?}, allowed is a whole number from 3 to 1000"),
        },
    };
    let rounds_min = rounds("--repeat", &arguments.repeat, ROUNDS_MIN)?;
    let rounds_max = rounds("--repeat-max", &arguments.repeat_max, ROUNDS_MAX.max(rounds_min))?;
    if rounds_max < rounds_min {
        bail!("--repeat-max is {rounds_max}, allowed is from {rounds_min}, which is --repeat");
    }
    let Some(budget) = duration(&arguments.budget) else {
        bail!("--budget is {:?}, allowed is a duration such as 90s, 10m or 2h", arguments.budget);
    };
    let queries = selection::select(&arguments.queries)?;
    Ok(Bench { queries, rounds_min, rounds_max, budget, threshold })
}

/// The programs that run the sides: none where this one does. If one side has a binary both run as processes of their own, or they
/// would not be on an equal footing.
fn programs(sides: &[Side; 2]) -> Result<Option<[PathBuf; 2]>> {
    if sides.iter().all(|side| side.binary.is_none()) {
        return Ok(None);
    }
    let own = std::env::current_exe().context("cannot find this program's file")?;
    Ok(Some([0, 1].map(|side: usize| sides[side].binary.clone().unwrap_or_else(|| own.clone()))))
}

fn plan(bench: &Bench, sides: &[Side; 2]) -> Result<ExitCode> {
    let columns = [("side", Align::Left), ("engine", Align::Left), ("label", Align::Left)];
    let more = [("runs of each query", Align::Left), ("program", Align::Wrapped)];
    let mut table = Table::new(&[&columns[..], &more].concat());
    for side in sides {
        let program =
            side.binary.as_ref().map_or_else(|| "this one".to_owned(), |path| path.display().to_string());
        table.push(vec![
            side.name.as_str().into(),
            side.engine.name.into(),
            side.label.as_str().into(),
            format!("{} to {}", bench.rounds_min, bench.rounds_max).into(),
            program.into(),
        ]);
    }
    printer::data(table.terminal())?;
    Ok(ExitCode::SUCCESS)
}

fn finish(
    report: BenchReport,
    sides: &[Side; 2],
    judge: &Judge<'_>,
    keep_errors: &[String],
) -> Result<ExitCode> {
    for error in keep_errors {
        printer::error(error);
    }
    if report.interrupted {
        printer::note("interrupted: nothing is compared");
        return Ok(ExitCode::from(INTERRUPTED));
    }
    if !report.open.is_empty() {
        printer::note(format!("the intervals are still wider than --threshold: {}", report.open.join(", ")));
    }
    let passed = report.results.iter().flatten().all(|run| run.state == State::Passed);
    let code = judge.judge(&report.sides([&sides[0].name, &sides[1].name]))?;
    Ok(if passed && keep_errors.is_empty() { code } else { ExitCode::from(NOT_PASSED) })
}

/// Runs of both sides, in this process or by other programs.
struct Runs<'a> {
    sides: &'a [Side; 2],
    requests: Vec<Vec<RunRequest>>,
    programs: Option<[PathBuf; 2]>,
    store: Store,
    out: PathBuf,
    verbosity: Verbosity,
    keep_errors: Vec<String>,
}

#[async_trait]
impl Measure for Runs<'_> {
    async fn measure(
        &mut self,
        query: &'static Query,
        side: usize,
        place: Place,
        interrupt: &mut Interrupt,
    ) -> RunResult {
        let sides = self.sides;
        let mut listener = SideListener { side: &sides[side].name, progress: Progress::new(self.verbosity) };
        // There is a request for each query of the bench.
        let number = self.requests[side].iter().position(|request| request.query.name == query.name);
        let request = self.requests[side][number.unwrap_or_default()].clone();
        match &self.programs {
            Some(programs) => {
                let program = programs[side].clone();
                self.by_program(&program, side, &request, place, &mut listener, interrupt).await
            }
            None => {
                let (config, engine) = (&sides[side].config, sides[side].engine);
                let mut new_engine = |_request: &RunRequest| {
                    memory::give_back();
                    (engine.create)(&config.engine(engine.name))
                };
                let store = &mut self.store;
                let run = suite::run_one(&request, place, &mut new_engine, store, &mut listener, interrupt);
                let outcome = run.await;
                self.keep_errors.extend(outcome.keep_error);
                outcome.result
            }
        }
    }
}

impl Runs<'_> {
    /// A run by another program; one that gives no result has failed with its words.
    async fn by_program(
        &mut self,
        program: &Path,
        side: usize,
        request: &RunRequest,
        place: Place,
        listener: &mut SideListener<'_>,
        interrupt: &mut Interrupt,
    ) -> RunResult {
        let (query, Place { repeat, run, runs }) = (request.query.name, place);
        listener.event(&RunEvent::Started { name: query, query, repeat, run, runs });
        let result = match child::run(program, &self.sides[side].arguments, request, &self.out, interrupt)
            .await
        {
            Ok(result) => RunResult { repeat, ..result },
            Err(error) => {
                let mut new_engine = |_request: &RunRequest| Err(EngineError::new(&error));
                let (store, silent) = (&mut self.store, &mut Silent);
                let outcome = suite::run_one(request, place, &mut new_engine, store, silent, interrupt).await;
                self.keep_errors.extend(outcome.keep_error);
                outcome.result
            }
        };
        listener.event(&RunEvent::Finished(&result));
        result
    }
}

/// Progress that names the side.
struct SideListener<'a> {
    side: &'a str,
    progress: Progress,
}

impl Listener for SideListener<'_> {
    fn event(&mut self, event: &RunEvent<'_>) {
        match event {
            RunEvent::Started { name, query, repeat, run, runs } => {
                let query = &format!("{query} {}", self.side);
                let (repeat, run, runs) = (*repeat, *run, *runs);
                self.progress.event(&RunEvent::Started { name, query, repeat, run, runs });
            }
            other => self.progress.event(other),
        }
    }
}
