//! `list`: the queries, the engines, and which engine runs which query.

use std::process::ExitCode;

use anyhow::Result;
use nexmark_driver::engine::Engine;
use nexmark_queries::{ALL, Query};

use crate::args::Global;
use crate::engines::{self, ENGINES};
use crate::printer::{self, Tone};
use crate::table::{Align, Cell, Table};

/// Prints the catalogue.
pub(crate) fn command(global: &Global) -> Result<ExitCode> {
    let config = crate::config::load(global)?;
    let mut made = Vec::new();
    for engine in ENGINES {
        made.push((engine.name, engines::create(engine, &config)?));
    }
    printer::data(queries(&made).terminal())?;
    let mut engines = Table::new(&[("engine", Align::Left), ("what it is", Align::Wrapped)]);
    for engine in ENGINES {
        engines.push(vec![engine.name.into(), engine.title.into()]);
    }
    printer::data(format!("\n{}", engines.terminal()))?;
    for note in notes(&made) {
        printer::data(note)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn queries(engines: &[(&'static str, Box<dyn Engine>)]) -> Table {
    let mut columns = vec![("query", Align::Left), ("name", Align::Left), ("stresses", Align::Wrapped)];
    columns.extend(engines.iter().map(|(name, _)| (*name, Align::Left)));
    let mut table = Table::new(&columns);
    for query in ALL {
        let mut row: Vec<Cell> = vec![query.name.into(), query.title.into(), query.stresses.into()];
        row.extend(engines.iter().map(|(_, engine)| cell(engine.as_ref(), query)));
        table.push(row);
    }
    table
}

fn cell(engine: &dyn Engine, query: &Query) -> Cell {
    let word = engines::support(engine, query).0;
    let tone = match word {
        "yes" => Tone::Good,
        "no" => Tone::Quiet,
        _ => Tone::Doubtful,
    };
    Cell::toned(tone, word)
}

/// Deviations and reasons, a line for each text with all its queries.
fn notes(engines: &[(&'static str, Box<dyn Engine>)]) -> Vec<String> {
    let mut notes: Vec<(String, Vec<&str>)> = Vec::new();
    for (name, engine) in engines {
        for query in ALL {
            let (word, Some(text)) = engines::support(engine.as_ref(), query) else { continue };
            let note = format!("{name}, {word}: {text}");
            match notes.iter_mut().find(|(known, _)| *known == note) {
                Some((_, queries)) => queries.push(query.name),
                None => notes.push((note, vec![query.name])),
            }
        }
    }
    notes.into_iter().map(|(note, queries)| format!("\n{note} ({})", queries.join(", "))).collect()
}
