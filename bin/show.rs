//! `show`: results of earlier runs, printed again.

use std::process::ExitCode;

use anyhow::Result;
use nexmark_driver::result::{self, RunResult};

use crate::args::{Global, ShowArguments};
use crate::results;
use crate::run::verbosity;

/// Prints the results of all files, or nothing when one cannot be read.
pub(crate) fn command(global: &Global, arguments: &ShowArguments) -> Result<ExitCode> {
    let mut shown: Vec<RunResult> = Vec::new();
    for path in &arguments.files {
        shown.push(result::read(path)?);
    }
    results::print(&shown, arguments.format, verbosity(global))?;
    Ok(ExitCode::SUCCESS)
}
