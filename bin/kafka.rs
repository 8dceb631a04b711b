//! `kafka`: a Kafka of one's own on this machine: up, down, status.

use std::process::ExitCode;

use anyhow::{Result, bail};
use nexmark_driver::config::bytes;
use nexmark_ksqldb::local::{Began, Life, Local, Request};

use crate::args::{KafkaAction, KafkaArguments, KafkaUpArguments};
use crate::printer;
use crate::run::NOT_PASSED;

/// Does what is asked.
pub(crate) fn command(arguments: &KafkaArguments) -> Result<ExitCode> {
    match &arguments.action {
        KafkaAction::Up(up) => start(&Local::new(up.port.port)?, &request(up)?),
        KafkaAction::Down(port) => stop(&Local::new(port.port)?),
        KafkaAction::Status(port) => status(&Local::new(port.port)?),
    }
}

fn request(arguments: &KafkaUpArguments) -> Result<Request> {
    let memory_bytes = arguments.memory.as_ref().map(|text| match bytes(text) {
        Some(bytes) => Ok(bytes),
        None => bail!("--memory is {text:?}, allowed is a number of bytes such as 1GiB"),
    });
    Ok(Request { version: arguments.version.clone(), memory_bytes: memory_bytes.transpose()? })
}

fn start(local: &Local, request: &Request) -> Result<ExitCode> {
    let (version, began) = local.up(request)?;
    let state = match began {
        Began::Broker => "is up",
        Began::Nothing => "runs already",
    };
    printer::data(format!("Kafka {version} at {} {state}", local.address()))?;
    printer::note(format!("log of the broker: {}", local.log().display()));
    Ok(ExitCode::SUCCESS)
}

fn stop(local: &Local) -> Result<ExitCode> {
    match local.down()? {
        Life::Absent => printer::data(format!("no Kafka was up at {}", local.address()))?,
        Life::Runs(id) => printer::data(format!("stopped the broker, process {id}"))?,
        Life::Died(id) => printer::data(format!("the broker, process {id}, had died"))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn status(local: &Local) -> Result<ExitCode> {
    let (life, version) = local.status()?;
    let text = match life {
        Life::Absent => format!("no Kafka is up at {}", local.address()),
        Life::Died(id) => format!("the broker, process {id}, has died; its log is {}", local.log().display()),
        Life::Runs(id) => {
            let version = version.unwrap_or_default();
            printer::data(format!("Kafka {version} at {} runs, process {id}", local.address()))?;
            printer::note(format!("log of the broker: {}", local.log().display()));
            return Ok(ExitCode::SUCCESS);
        }
    };
    printer::data(text)?;
    Ok(ExitCode::from(NOT_PASSED))
}
