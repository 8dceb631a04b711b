//! The program that is copied to hosts: writes samples to stdout until nobody reads them any more.

use std::io::{self, Write as _};
use std::process::ExitCode;

use nexmark_collector::collect::{self, Collection};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            // Nobody is left to be told that stderr is closed.
            let _ = writeln!(io::stderr(), "nexmark-collector: {message}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<(), String> {
    if std::env::args().nth(1).as_deref() == Some("--version") {
        let version = env!("CARGO_PKG_VERSION");
        return writeln!(io::stdout(), "nexmark-collector {version}").map_err(|error| error.to_string());
    }
    let collection = Collection::parse(std::env::args().skip(1))?;
    match collection.run(io::stdin(), io::stdout().lock()) {
        Err(error) if !collect::is_closed(&error) => Err(format!("cannot collect: {error}")),
        _ => Ok(()),
    }
}
