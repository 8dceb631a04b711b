//! The program `nexmark`, as a table of contents: arguments, configuration, then one file a command.

mod answer;
mod args;
mod bench;
mod check;
mod child;
mod collect;
mod compare;
mod comparison;
mod config;
mod engines;
mod flink;
mod generate;
mod history;
mod hosts;
mod interrupt;
mod kafka;
mod list;
mod memory;
mod printer;
mod progress;
mod report;
mod results;
mod run;
mod selection;
mod show;
mod side;
mod table;
mod verify;

use std::process::ExitCode;

use anyhow::Result;
use args::{Arguments, Command};
use nexmark_driver::report::quantity;

/// Exit code of wrong usage or configuration.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    let arguments = match Arguments::read() {
        Ok(arguments) => arguments,
        Err(error) => return args::explain(&error),
    };
    printer::choose(arguments.global.color);
    match command(&arguments) {
        Ok(code) => code,
        // Whoever read stdout has enough.
        Err(error) if printer::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            printer::error(format!("{error:#}"));
            ExitCode::from(USAGE)
        }
    }
}

fn command(arguments: &Arguments) -> Result<ExitCode> {
    let global = &arguments.global;
    match &arguments.command {
        Command::List => list::command(global),
        Command::Run(run) => run::command(global, run),
        Command::Verify(verify) => verify::command(global, verify),
        Command::Answer(answer) => answer::command(global, answer),
        Command::Check(check) => check::command(global, check),
        Command::Generate(generate) => generate::command(global, generate),
        Command::Show(show) => show::command(global, show),
        Command::Bench(bench) => bench::command(global, bench),
        Command::Compare(compare) => compare::command(compare),
        Command::Report(report) => report::command(report),
        Command::History(history) => history::command(history),
        Command::Config => config::command(global),
        Command::Flink(flink) => flink::command(flink),
        Command::Hosts(hosts) => hosts::command(global, hosts),
        Command::Collect(collect) => collect::command(collect),
        Command::Kafka(kafka) => kafka::command(kafka),
    }
}
