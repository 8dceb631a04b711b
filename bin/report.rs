//! `report`: an HTML page of results, for those who measure or for people outside.

use std::collections::HashSet;
use std::process::ExitCode;

use anyhow::{Result, anyhow};
use nexmark_driver::report::{Audience, History, METRICS, Page, Side};
use nexmark_driver::result::{Detail, Library, RunResult};

use crate::args::ReportArguments;
use crate::compare::{created_at, percentage, told, write};
use crate::run::command_line;

/// Writes the page.
pub(crate) fn command(arguments: &ReportArguments) -> Result<ExitCode> {
    let threshold = percentage("--threshold", &arguments.threshold)?;
    let mut results: Vec<RunResult> = Vec::new();
    let mut library = Library::new(&arguments.results, Detail::Whole);
    let mut known = HashSet::new();
    for name in &arguments.names {
        for result in told(library.find(name)?) {
            // A directory and a file of it may both be named.
            if known.insert(result.name.clone()) {
                results.push(result);
            }
        }
    }
    let history = History::new(&results, &METRICS[0], threshold);
    let sides = sides(results);
    let page = Page {
        title: arguments.title.clone(),
        audience: if arguments.vendor { Audience::Vendor } else { Audience::Team },
        baseline: baseline(&sides, arguments.baseline.as_deref())?,
        sides: &sides,
        threshold,
        history: Some(&history),
        command: command_line(),
        created_at: created_at(),
    };
    write(&page.html(), Some(&arguments.output))?;
    Ok(ExitCode::SUCCESS)
}

/// Results by label, or by engine and version where they have none; in the order of their first run.
fn sides(results: Vec<RunResult>) -> Vec<Side> {
    let mut sides: Vec<Side> = Vec::new();
    for result in results {
        let name = match (&result.label, &result.engine) {
            (Some(label), _) => label.clone(),
            (None, Some(engine)) => format!("{} {}", engine.name, engine.version),
            (None, None) => "unknown engine".to_owned(),
        };
        match sides.iter_mut().find(|side| side.name == name) {
            Some(side) => side.results.push(result),
            None => sides.push(Side { name, results: vec![result] }),
        }
    }
    sides
}

fn baseline<'a>(sides: &'a [Side], asked: Option<&str>) -> Result<&'a str> {
    let Some(asked) = asked else { return Ok(sides.first().map_or("", |side| &side.name)) };
    let known = || sides.iter().map(|side| side.name.as_str());
    known().find(|name| *name == asked).ok_or_else(|| {
        let hint = nexmark_queries::nearest(asked, known());
        let hint = hint.map(|near| format!(", did you mean {near:?}?")).unwrap_or_default();
        let known: Vec<String> = known().map(|name| format!("{name:?}")).collect();
        anyhow!("--baseline is {asked:?}, allowed is {}{hint}", known.join(", "))
    })
}
