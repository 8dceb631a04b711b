//! `collect`: what this machine and its watched processes spend, as lines of JSON.

use std::io;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, Result};
use nexmark_collector::collect::{self, Collection};

use crate::args::CollectArguments;
use crate::printer;

/// Writes samples until nobody reads them any more.
pub(crate) fn command(arguments: &CollectArguments) -> Result<ExitCode> {
    let mut collection = Collection {
        watches: arguments.watch.clone(),
        interval: Duration::from_millis(arguments.interval_ms),
        silence_max: arguments.silence_ms_max.map(Duration::from_millis),
        ..Collection::default()
    };
    if let Some(host) = &arguments.host {
        collection.host.clone_from(host);
    }
    match collection.run(io::stdin(), printer::stream()) {
        Err(error) if !collect::is_closed(&error) => Err(error).context("cannot collect"),
        _ => Ok(ExitCode::SUCCESS),
    }
}
