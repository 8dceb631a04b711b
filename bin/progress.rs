//! Progress of runs on stderr: a bar where somebody looks on, else a line a step.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use nexmark_driver::listener::{Listener, RunEvent, RunProgress};
use nexmark_driver::result::{RunResult, State};
use nexmark_driver::run::Phase;

use crate::printer;
use crate::quantity::si;

/// Steps of a whole bar.
const STEPS: u64 = 1000;
/// Time between two drawings of a bar.
const TICK: Duration = Duration::from_millis(200);
const STYLE: &str = "{prefix} {bar:24} {msg}";

/// Shows what a run tells.
pub(crate) struct Progress {
    verbose: bool,
    title: String,
    saved: Option<String>,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Shows progress; with more words when `verbosity` says so.
    pub(crate) fn new(verbosity: Verbosity) -> Self {
        Self { verbose: verbosity == Verbosity::More, title: String::new(), saved: None, bar: None }
    }

    fn start(&mut self, query: &str, run: usize, runs: usize) {
        let width = runs.to_string().len();
        self.title = format!("[{run:>width$}/{runs}] {query:<3}");
        self.bar = printer::bar(STEPS);
        if let Some(bar) = &self.bar {
            // The template is a constant, so it is well-formed.
            bar.set_style(
                ProgressStyle::with_template(STYLE).unwrap_or_else(|_bad| ProgressStyle::default_bar()),
            );
            bar.set_prefix(self.title.clone());
            bar.enable_steady_tick(TICK);
        }
    }

    fn phase(&self, phase: Phase) {
        match &self.bar {
            Some(bar) => bar.set_message(phase.name()),
            None if self.verbose => self.line(phase.name()),
            None => {}
        }
    }

    fn advance(&self, progress: &RunProgress) {
        if let Some(bar) = &self.bar {
            bar.set_position((progress.share * STEPS as f64) as u64);
            bar.set_message(describe(progress));
        }
    }

    fn finish(&mut self, result: &RunResult) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
        self.line(&summary(result));
        if let Some(path) = self.saved.take().filter(|_| self.verbose) {
            self.line(&format!("written to {path}"));
        }
    }

    fn line(&self, text: &str) {
        printer::note(format!("{} {text}", self.title));
    }
}

/// How much is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verbosity {
    Normal,
    More,
}

impl Listener for Progress {
    fn event(&mut self, event: &RunEvent<'_>) {
        match event {
            RunEvent::Started { query, run, runs, .. } => self.start(query, *run, *runs),
            RunEvent::Described(engine) if self.verbose => {
                let config: Vec<String> =
                    engine.config.iter().map(|(key, value)| format!("{key}={value}")).collect();
                self.line(&format!("on {} {} {}", engine.name, engine.version, config.join(" ")));
            }
            RunEvent::Phase(phase) => self.phase(*phase),
            RunEvent::Progress(progress) => self.advance(progress),
            RunEvent::Warning(text) => printer::warning(format!("{} {text}", self.title)),
            // The result is written before the clean-up and again after it; its place stays the same.
            RunEvent::Saved(path) => self.saved = Some(path.display().to_string()),
            RunEvent::Finished(result) => self.finish(result),
            RunEvent::Described(_) => {}
        }
    }
}

fn describe(progress: &RunProgress) -> String {
    let mut text = progress.phase.name().to_owned();
    if let Some(rate) = progress.events_per_s {
        text = format!("{text}  {} events/s", si(rate));
    }
    if let Some(behind) = progress.behind_events.filter(|behind| *behind > 0) {
        text = format!("{text}  {} events behind", si(behind as f64));
    }
    if progress.restarts > 0 {
        text = format!("{text}  {} restarts", progress.restarts);
    }
    text
}

fn summary(result: &RunResult) -> String {
    let state = result.state.name();
    match (result.state, result.events_per_s, &result.message) {
        (State::Passed, Some(rate), _) => format!("{state}  {} events/s", si(rate)),
        (_, _, Some(message)) => format!("{state}: {message}"),
        _ => state.to_owned(),
    }
}
