//! Lives of a job: over HTTP against a Flink that replies what a real one was recorded to, and for the long ones over a transport
//! on a clock that flies.

mod checked;
mod encrypted;
mod mock;
mod replayed;
mod simulated;

use std::time::Duration;

use nexmark_driver::config::{Config, Settings};
use nexmark_driver::engine::{Engine, Input};
use nexmark_driver::listener::{Listener, RunEvent};
use nexmark_driver::result::{Discard, RunResult};
use nexmark_driver::run::{self, Deadlines, Interrupt, Outcome, Place, RunRequest, Workload};
use nexmark_queries::generator::Options;
use tempfile::NamedTempFile;

/// The section of an engine with changes to it, and a file that stands for the jar.
fn settings(changes: &[&str]) -> (Settings, NamedTempFile) {
    let jar = NamedTempFile::new().unwrap();
    std::fs::write(jar.path(), "a jar").unwrap();
    let mut config = Config::new(&[&crate::FACTORY]);
    config.apply_set(&format!("engine.flink.jar={}", jar.path().display())).unwrap();
    for change in changes {
        config.apply_set(&format!("engine.flink.{change}")).unwrap();
    }
    (config.engine("flink"), jar)
}

/// A run of q5.
fn request(workload: Workload) -> RunRequest {
    let query = nexmark_queries::find("q5").unwrap();
    RunRequest { workers: 2, ..RunRequest::new(query, Input::Generated(Options::default()), workload) }
}

fn events(events: u64) -> Workload {
    Workload::Events { events, warmup_events: 0 }
}

/// Deadlines that a test can wait for.
fn soon(stall: Duration) -> Deadlines {
    Deadlines { start: Duration::from_secs(2), stall, stop: Duration::from_secs(8), total: None }
}

/// Warnings of a run.
#[derive(Default)]
struct Warnings(Vec<String>);

impl Listener for Warnings {
    fn event(&mut self, event: &RunEvent<'_>) {
        if let RunEvent::Warning(text) = event {
            self.0.push(text.clone());
        }
    }
}

async fn run(engine: &mut dyn Engine, request: &RunRequest) -> (Outcome, Vec<String>) {
    let (mut warnings, mut never) = (Warnings::default(), Interrupt::never());
    let outcome = run::run(engine, request, Place::ALONE, &mut Discard, &mut warnings, &mut never).await;
    (outcome, warnings.0)
}

/// How a run ended, as one text.
fn ending(result: &RunResult) -> String {
    format!("{}: {}", result.state.name(), result.message.as_deref().unwrap_or_default())
}
