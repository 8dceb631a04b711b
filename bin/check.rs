//! `check`: whether the engine is there, has room for a run, and what would be watched. Starts nothing.

use std::process::ExitCode;

use anyhow::Result;
use nexmark_driver::config::{Config, WorkloadSettings};
use nexmark_driver::engine::{Checkup, Engine, Finding, Leftovers, Suitability};

use crate::args::{CheckArguments, Global};
use crate::interrupt::{self, INTERRUPTED};
use crate::printer::{self, Tone};
use crate::run::{NOT_PASSED, runtime, workers};
use crate::table::{Align, Cell, Table};
use crate::{config, engines};

/// Prints what was found, a row a finding.
pub(crate) fn command(global: &Global, arguments: &CheckArguments) -> Result<ExitCode> {
    let engine = engines::find(global.engine())?;
    let config = configure(global, arguments)?;
    let settings = config.workload()?;
    let mut engine = engines::create(engine, &config)?;
    let leftovers = if arguments.clean { Leftovers::Removed } else { Leftovers::Named };
    let checkup = Checkup { workers: workers(&settings), leftovers };
    let Some(findings) = runtime()?.block_on(examine(engine.as_mut(), checkup, &settings))? else {
        return Ok(ExitCode::from(INTERRUPTED));
    };
    printer::data(table(&findings).terminal())?;
    let bad = findings.iter().any(|finding| finding.verdict == Suitability::Bad);
    Ok(if bad { ExitCode::from(NOT_PASSED) } else { ExitCode::SUCCESS })
}

fn configure(global: &Global, arguments: &CheckArguments) -> Result<Config> {
    let mut config = config::load(global)?;
    if let Some(workers) = &arguments.workers {
        config.apply_flag("--workers", "workload.workers", workers)?;
    }
    Ok(config)
}

/// What the engine found, or that it could not look; `None` if the user ended it early.
async fn examine(
    engine: &mut dyn Engine,
    checkup: Checkup,
    settings: &WorkloadSettings,
) -> Result<Option<Vec<Finding>>> {
    let mut interrupt = interrupt::listen("leaving the engine as it is")?;
    let limit = settings.deadlines.start;
    let found = tokio::select! {
        () = interrupt.wait() => return Ok(None),
        found = tokio::time::timeout(limit, engine.check(checkup)) => found,
    };
    let bad = |text: String| vec![Finding::new("engine", Suitability::Bad, text)];
    Ok(Some(match found {
        Ok(Ok(findings)) => findings,
        Ok(Err(error)) => bad(error.message),
        Err(_late) => bad(format!("no answer within {limit:?}")),
    }))
}

fn table(findings: &[Finding]) -> Table {
    let mut table =
        Table::new(&[("subject", Align::Left), ("verdict", Align::Left), ("found", Align::Wrapped)]);
    for finding in findings {
        let (tone, word) = match finding.verdict {
            Suitability::Good => (Tone::Good, "ok"),
            Suitability::Doubtful => (Tone::Doubtful, "doubtful"),
            Suitability::Bad => (Tone::Bad, "bad"),
        };
        table.push(vec![
            finding.subject.as_str().into(),
            Cell::toned(tone, word),
            finding.text.as_str().into(),
        ]);
    }
    table
}
