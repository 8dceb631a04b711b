//! `hosts`: the hosts of a run, and whether they are fit for one.

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use nexmark_driver::config::Config;
use nexmark_driver::engine::Watch;
use nexmark_driver::remote::check::{self, HostFacts, HostReport};
use nexmark_driver::remote::{HostError, HostList, SshFiles, Station, Step};

use crate::args::{Global, HostOptions, HostsArguments, HostsCommand};
use crate::engines;
use crate::printer::{self, Tone};
use crate::quantity::si;
use crate::run::{NOT_PASSED, runtime};
use crate::table::{Align, Cell, Table};

/// Longest wait for an engine to say what is watched.
const DESCRIBE: Duration = Duration::from_secs(10);

/// Runs what is asked for.
pub(crate) fn command(global: &Global, arguments: &HostsArguments) -> Result<ExitCode> {
    let HostsCommand::Check(options) = &arguments.command;
    let config = crate::config::load(global)?;
    let stations = stations(&config, options)?;
    if stations.is_empty() {
        bail!("no hosts are listed: give --hosts FILE, or --config FILE with [[host]] tables");
    }
    let reports = runtime()?.block_on(async {
        let watches = watches(global, &config).await?;
        Ok::<_, anyhow::Error>(check::check(&stations, &watches).await)
    })?;
    printer::data(table(&reports).terminal())?;
    let fit = reports.iter().all(HostReport::is_fit);
    Ok(if fit { ExitCode::SUCCESS } else { ExitCode::from(NOT_PASSED) })
}

/// The hosts of a run: of the file that is given, or else of the configuration.
pub(crate) fn stations(config: &Config, options: &HostOptions) -> Result<Vec<Station>> {
    let list = match &options.hosts {
        Some(path) => HostList::read(path)?,
        None => config.hosts().clone(),
    };
    if options.keep_collector && list.hosts.is_empty() {
        bail!("--keep-collector has no effect without hosts: give --hosts FILE");
    }
    let own = std::env::current_exe().context("cannot find this program")?;
    let own = [own.to_string_lossy().into_owned(), "collect".to_owned()];
    let files = SshFiles::own();
    Ok(list.hosts.iter().map(|host| host.station(&files, &own, options.keep_collector)).collect())
}

/// What the engine asks to be watched everywhere; one that cannot be asked now asks for nothing.
async fn watches(global: &Global, config: &Config) -> Result<Vec<Watch>> {
    let mut engine = engines::create(engines::find(global.engine())?, config)?;
    Ok(match tokio::time::timeout(DESCRIBE, engine.describe()).await {
        Ok(Ok(description)) => description.watches,
        Ok(Err(error)) => unasked(global.engine(), &error),
        Err(_late) => unasked(global.engine(), &format!("no answer within {DESCRIBE:?}")),
    })
}

fn unasked(engine: &str, why: &dyn std::fmt::Display) -> Vec<Watch> {
    printer::warning(format!(
        "engine {engine} cannot be asked what to watch, so only roles of the list are looked for: {why}"
    ));
    Vec::new()
}

fn table(reports: &[HostReport]) -> Table {
    let found = reports.iter().filter_map(|report| report.found.as_ref().ok());
    let roles: BTreeSet<&str> = found.flat_map(|facts| facts.processes.keys().map(String::as_str)).collect();
    let mut columns = vec![
        ("host", Align::Left),
        ("fit", Align::Left),
        ("reachable", Align::Left),
        ("key", Align::Left),
        ("clock ms", Align::Right),
        ("cores", Align::Right),
        ("memory B", Align::Right),
    ];
    columns.extend(roles.iter().map(|role| (*role, Align::Right)));
    columns.push(("notes", Align::Wrapped));
    let mut table = Table::new(&columns);
    for report in reports {
        let mut row = vec![report.name.as_str().into(), yes(report.is_fit()), reachable(report), key(report)];
        row.extend(match &report.found {
            Ok(facts) => known(facts, &roles),
            Err(error) => unknown(error, roles.len()),
        });
        table.push(row);
    }
    table
}

fn yes(is_so: bool) -> Cell {
    if is_so { Cell::toned(Tone::Good, "yes") } else { Cell::toned(Tone::Bad, "no") }
}

fn reachable(report: &HostReport) -> Cell {
    yes(report.found.as_ref().err().is_none_or(|error| error.step != Step::Connect))
}

/// What proved the user, or which of the two proofs failed.
fn key(report: &HostReport) -> Cell {
    match report.found.as_ref().map_err(|error| error.step) {
        Err(Step::HostKey) => Cell::toned(Tone::Bad, "host's not known"),
        Err(Step::Authenticate) => Cell::toned(Tone::Bad, "refused"),
        Err(Step::Connect) => "".into(),
        _ => report.proof.clone().unwrap_or_else(|| "none needed".to_owned()).into(),
    }
}

fn known(facts: &HostFacts, roles: &BTreeSet<&str>) -> Vec<Cell> {
    let clock = facts
        .clock
        .map(|clock| format!("{:+.2} ± {:.2}", clock.wall_seconds * 1e3, clock.error_seconds * 1e3));
    let mut cells: Vec<Cell> = vec![
        clock.unwrap_or_default().into(),
        facts.cores.map(|cores| cores.to_string()).unwrap_or_default().into(),
        facts.memory_bytes.map(|bytes| si(bytes as f64)).unwrap_or_default().into(),
    ];
    cells.extend(roles.iter().map(|role| match facts.processes.get(*role) {
        Some(0) => Cell::toned(Tone::Doubtful, "0"),
        Some(count) => count.to_string().into(),
        None => "".into(),
    }));
    let missing = facts.roles_missing.iter().map(|role| format!("no process of role {role}"));
    cells.push(missing.collect::<Vec<_>>().join("; ").into());
    cells
}

fn unknown(error: &HostError, roles: usize) -> Vec<Cell> {
    let mut cells = vec![Cell::from(""); 3 + roles];
    cells.push(error.message.as_str().into());
    cells
}
