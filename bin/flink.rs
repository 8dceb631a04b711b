//! `flink`: a Flink of one's own on this machine: up, down, status.

use std::process::ExitCode;

use anyhow::{Result, bail};
use nexmark_driver::config::{bytes, count};
use nexmark_flink::local::{Began, DEFAULT_PORT, Life, Local, Record, Request, Role};

use crate::args::{FlinkAction, FlinkArguments, FlinkUpArguments};
use crate::interrupt::{self, INTERRUPTED};
use crate::printer::{self, Tone};
use crate::run::{NOT_PASSED, runtime};
use crate::table::{Align, Cell, Table};

/// Does what is asked.
pub(crate) fn command(arguments: &FlinkArguments) -> Result<ExitCode> {
    match &arguments.action {
        FlinkAction::Up(up) => start(&Local::new(up.port.port)?, &request(up)?),
        FlinkAction::Down(port) => stop(&Local::new(port.port)?),
        FlinkAction::Status(port) => status(&Local::new(port.port)?),
    }
}

fn request(arguments: &FlinkUpArguments) -> Result<Request> {
    let slots = arguments.slots.as_ref().map(|text| {
        match count(text).and_then(|slots| usize::try_from(slots).ok()) {
            Some(slots) => Ok(slots),
            None => bail!("--slots is {text:?}, allowed is a whole number"),
        }
    });
    let memory_bytes = arguments.memory.as_ref().map(|text| match bytes(text) {
        Some(bytes) => Ok(bytes),
        None => bail!("--memory is {text:?}, allowed is a number of bytes such as 4GiB"),
    });
    Ok(Request {
        version: arguments.version.clone(),
        slots: slots.transpose()?,
        memory_bytes: memory_bytes.transpose()?,
    })
}

fn start(local: &Local, request: &Request) -> Result<ExitCode> {
    let (before, started) = runtime()?.block_on(async {
        let mut interrupt = interrupt::listen("stopping what was started")?;
        let before = local.status().await?;
        let started = tokio::select! {
            started = local.up(request) => Some(started),
            () = interrupt.wait() => None,
        };
        Ok::<_, anyhow::Error>((before, started))
    })?;
    let Some(started) = started else {
        // One that ran before may have jobs.
        if !before.takes_jobs() {
            local.down()?;
        }
        return Ok(ExitCode::from(INTERRUPTED));
    };
    let (record, began) = started?;
    let what = describe(&record, local);
    printer::data(match began {
        Began::Everything => format!("{what} is up"),
        Began::TaskManager => format!("{what} has a new TaskManager, since its last one had died"),
        Began::Nothing => format!("{what} runs already"),
    })?;
    printer::note(format!("the program finds it with --engine flink{}", address_setting(local)));
    for role in Role::ALL {
        printer::note(format!("log of the {}: {}", role.name(), local.log(role).display()));
    }
    Ok(ExitCode::SUCCESS)
}

/// What to add to a command line where it is not the default.
fn address_setting(local: &Local) -> String {
    match local.port() {
        DEFAULT_PORT => String::new(),
        _ => format!(" --set engine.flink.address={}", local.address()),
    }
}

fn describe(record: &Record, local: &Local) -> String {
    let slots = if record.slots == 1 { "slot" } else { "slots" };
    format!("Flink {} with {} {slots} at {}", record.version, record.slots, local.address())
}

fn stop(local: &Local) -> Result<ExitCode> {
    let lives = local.down()?;
    if lives.iter().all(|(_, life)| *life == Life::Absent) {
        printer::data(format!("no Flink was up at {}", local.address()))?;
    }
    for (role, life) in lives {
        match life {
            Life::Absent => {}
            Life::Runs(id) => printer::data(format!("stopped the {}, process {id}", role.name()))?,
            Life::Died(id) => printer::data(format!("the {}, process {id}, had died", role.name()))?,
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn status(local: &Local) -> Result<ExitCode> {
    let status = runtime()?.block_on(local.status())?;
    let Some(record) = &status.record else {
        printer::data(format!("no Flink is up at {}", local.address()))?;
        return Ok(ExitCode::from(NOT_PASSED));
    };
    let free = match status.slots {
        Some((free, all)) => format!("{free} of {all} slots free"),
        None => "does not answer".to_owned(),
    };
    printer::data(format!("{}, {free}", describe(record, local)))?;
    let columns =
        [("process", Align::Left), ("id", Align::Right), ("state", Align::Left), ("log", Align::Left)];
    let mut table = Table::new(&columns);
    for (role, life) in status.lives {
        let (id, tone, state) = match life {
            Life::Absent => (String::new(), Tone::Bad, "not started"),
            Life::Runs(id) => (id.to_string(), Tone::Good, "runs"),
            Life::Died(id) => (id.to_string(), Tone::Bad, "died"),
        };
        let log = local.log(role).display().to_string();
        table.push(vec![role.name().into(), id.into(), Cell::toned(tone, state), log.into()]);
    }
    printer::data(table.terminal())?;
    Ok(if status.runs() { ExitCode::SUCCESS } else { ExitCode::from(NOT_PASSED) })
}
