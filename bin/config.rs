//! `config`: the effective values and where each came from. Every command gets its configuration here.

use std::process::ExitCode;

use anyhow::Result;
use nexmark_driver::config::{Config, Origin};

use crate::args::Global;
use crate::engines::{self, ENGINES};
use crate::printer::{self, Tone};
use crate::table::{Align, Cell, Table};

/// Built-in defaults, profile, file and `--set`; a command adds its own flags.
pub(crate) fn load(global: &Global) -> Result<Config> {
    engines::find(global.engine())?;
    let mut config = Config::new(ENGINES);
    if let Some(profile) = &global.profile {
        config.apply_profile(profile)?;
    }
    if let Some(path) = &global.config {
        config.apply_file(path)?;
    }
    for assignment in &global.set {
        config.apply_set(assignment)?;
    }
    Ok(config)
}

/// Prints every key.
pub(crate) fn command(global: &Global) -> Result<ExitCode> {
    let config = load(global)?;
    config.options()?;
    config.workload()?;
    let mut table = Table::new(&[("key", Align::Left), ("value", Align::Right), ("from", Align::Left)]);
    for entry in config.entries() {
        let tone = if entry.origin == Origin::Default { Tone::Quiet } else { Tone::Good };
        table.push(vec![
            entry.path().into(),
            entry.value.as_str().into(),
            Cell::toned(tone, entry.origin.to_string()),
        ]);
    }
    printer::data(table.terminal())?;
    Ok(ExitCode::SUCCESS)
}
