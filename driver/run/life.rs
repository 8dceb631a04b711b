//! The life of one run, from the first call of the engine to the last. Phases are entered here and told to the
//! listener; every call of the engine is bounded.

use std::time::{Duration, Instant};

use nexmark_queries::answer::Row;

use super::bounded::{self, Wait};
use super::costs::CostRecord;
use super::observed::{Observed, state_name};
use super::series::Series;
use super::summary::{self, Moments};
use super::{Ending, Interrupt, Outcome, Phase, RunRequest, Workload, now};
use crate::engine::{Engine, EngineError, Output, Progress, Support, Watch};
use crate::listener::{Listener, RunEvent, RunProgress};
use crate::metrics::resources::AfterEnd;
use crate::result::{self, Keep, RunResult, RunSample, State};

/// Shortest time between two polls, whatever an engine says about changes.
const POLL_INTERVAL_MIN: Duration = Duration::from_millis(1);
/// Longest wait for the configuration of the job, which is told beside its result.
const CONFIG_WAIT: Duration = Duration::from_secs(5);

/// A run that goes on.
pub(super) struct Life<'a> {
    engine: &'a mut dyn Engine,
    request: &'a RunRequest,
    listener: &'a mut dyn Listener,
    interrupt: &'a mut Interrupt,
    began: Instant,
    observed: Observed<'a>,
    costs: CostRecord,
    result: RunResult,
    phase: Option<Phase>,
    /// Whether the engine may have something to clean up.
    submitted: bool,
    samples: Series<RunSample>,
}

impl<'a> Life<'a> {
    pub(super) fn new(
        engine: &'a mut dyn Engine,
        request: &'a RunRequest,
        listener: &'a mut dyn Listener,
        interrupt: &'a mut Interrupt,
        result: RunResult,
    ) -> Self {
        let began = now();
        let costs = CostRecord::new(began, host(request), Vec::new());
        let observed = Observed::new(request, began);
        Self {
            engine,
            request,
            listener,
            interrupt,
            began,
            observed,
            costs,
            result,
            phase: None,
            submitted: false,
            samples: Series::default(),
        }
    }

    /// From the first call to the end of the job.
    pub(super) async fn live(&mut self) -> Ending {
        self.enter(Phase::Submit);
        match self.start().await {
            Ok(()) => self.follow().await,
            Err(ending) => ending,
        }
    }

    async fn start(&mut self) -> Result<(), Ending> {
        self.describe().await?;
        match self.engine.support(self.request.query) {
            Support::Supported => {}
            Support::Deviates(deviation) => self.result.deviations.push(deviation),
            Support::Unsupported(reason) => return Err(Ending::new(State::Unsupported, reason)),
        }
        self.submit().await
    }

    async fn describe(&mut self) -> Result<(), Ending> {
        let described =
            bounded::until(self.observed.deadline(), self.interrupt, self.engine.describe()).await;
        let description = self.done(described, "did not describe itself")?;
        self.costs = CostRecord::new(self.began, host(self.request), description.watches.clone());
        let engine = result::Engine {
            name: description.name,
            version: description.version,
            config: description.config,
        };
        self.listener.event(&RunEvent::Described(&engine));
        self.result.engine = Some(engine);
        self.start_collectors(&description.watches).await
    }

    /// A host that cannot be watched ends the run before it begins: its costs would be unknown.
    async fn start_collectors(&mut self, watches: &[Watch]) -> Result<(), Ending> {
        let stations = &self.request.stations;
        let start = self.costs.start(stations, watches);
        match bounded::until(self.observed.deadline(), self.interrupt, start).await {
            Wait::Done(Ok(())) => Ok(()),
            Wait::Done(Err(errors)) => {
                let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
                Err(Ending::new(State::Failed, errors.join("; ")))
            }
            Wait::Interrupted => Err(Ending::interrupted()),
            Wait::Late => {
                let waited = now().saturating_duration_since(self.began);
                Err(Ending::new(State::TimedOut, format!("the hosts were not ready within {waited:?}")))
            }
        }
    }

    async fn submit(&mut self) -> Result<(), Ending> {
        let job = self.request.job(&self.result.name);
        self.submitted = true;
        self.costs.sample();
        let accepted =
            bounded::until(self.observed.deadline(), self.interrupt, self.engine.submit(&job)).await;
        self.done(accepted, "did not accept the job")?;
        self.observed.submitted = Some(now());
        self.enter(Phase::Starting);
        Ok(())
    }

    /// What an engine's call before the first poll returned, or how its failure ends the run.
    fn done<T>(&self, wait: Wait<Result<T, EngineError>>, failure: &str) -> Result<T, Ending> {
        match wait {
            Wait::Done(done) => done.map_err(|error| Ending::new(State::Failed, error.message)),
            Wait::Interrupted => Err(Ending::interrupted()),
            Wait::Late => {
                let waited = now().saturating_duration_since(self.began);
                Err(Ending::new(State::TimedOut, format!("the engine {failure} within {waited:?}")))
            }
        }
    }

    /// Polls until the run is over.
    async fn follow(&mut self) -> Ending {
        loop {
            // Before a poll: one that begins at a deadline could not be answered, and would hide what the last one told.
            if let Some(ending) = self.observed.overdue(now()) {
                return ending;
            }
            if let Some(ending) = self.poll().await {
                return ending;
            }
            if self.pause().await == Wait::Interrupted {
                return Ending::interrupted();
            }
        }
    }

    async fn poll(&mut self) -> Option<Ending> {
        if self.observed.boundary().is_some_and(|boundary| now() >= boundary) {
            self.costs.sample();
        } else {
            self.costs.sample_when_due();
        }
        for news in self.costs.news() {
            self.listener.event(&RunEvent::Warning(news));
        }
        let asked = now();
        match bounded::until(self.observed.deadline(), self.interrupt, self.engine.poll()).await {
            Wait::Done(Ok(progress)) => self.take(progress),
            Wait::Done(Err(error)) => {
                self.poll_failed(error.message);
                None
            }
            Wait::Late => {
                let waited = now().saturating_duration_since(asked).as_secs_f64();
                self.observed.poll_error.get_or_insert_with(|| format!("not answered within {waited:.1} s"));
                None
            }
            Wait::Interrupted => Some(Ending::interrupted()),
        }
    }

    fn take(&mut self, progress: Progress) -> Option<Ending> {
        let ending = self.observed.take(progress, now());
        if let Some(from) = self.observed.from {
            self.costs.open(from.at);
        }
        self.enter(self.observed.phase());
        self.keep_sample(ending.is_some());
        if let Some(event) = self.progress_event() {
            self.listener.event(&RunEvent::Progress(event));
        }
        ending
    }

    /// The first of several failures in a row is told at once; they end the run only when a deadline passes.
    fn poll_failed(&mut self, error: String) {
        if self.observed.poll_error.is_none() {
            self.listener.event(&RunEvent::Warning(format!("cannot poll the engine, trying again: {error}")));
        }
        self.observed.poll_error = Some(error);
    }

    /// Waits until the next poll: until the engine says that something changed, the clock begins or ends the measured
    /// phase, or a deadline passes.
    async fn pause(&mut self) -> Wait<()> {
        let start = now();
        // A boundary that has passed is reached with the next count, which an engine may give late.
        let boundary = self.observed.boundary().filter(|boundary| *boundary > start);
        let latest = [Some(start + self.request.poll_interval), boundary];
        let next = latest.into_iter().flatten().fold(self.observed.deadline(), Instant::min);
        let limit = next.saturating_duration_since(start).max(POLL_INTERVAL_MIN);
        let engine = &mut *self.engine;
        let change = async {
            tokio::join!(engine.changed(limit), tokio::time::sleep(POLL_INTERVAL_MIN));
        };
        bounded::until(start + limit, self.interrupt, change).await
    }

    /// Tells a new phase; phases that passed between two polls are told as well.
    fn enter(&mut self, phase: Phase) {
        const ALL: [Phase; 6] = [
            Phase::Submit,
            Phase::Starting,
            Phase::Warmup,
            Phase::Measured,
            Phase::Draining,
            Phase::Stopping,
        ];
        for next in ALL {
            let passed = self.phase.is_some_and(|current| next <= current);
            // A run without a warm-up, or one that failed early, has no such phases to tell.
            let skipped = next != phase && !self.was_in(next);
            if next <= phase && !passed && !skipped {
                self.phase = Some(next);
                self.listener.event(&RunEvent::Phase(next));
            }
        }
    }

    fn was_in(&self, phase: Phase) -> bool {
        match phase {
            Phase::Submit | Phase::Draining | Phase::Stopping => true,
            Phase::Starting => self.observed.submitted.is_some(),
            Phase::Warmup => self.observed.first != self.observed.from,
            Phase::Measured => self.observed.from.is_some(),
        }
    }

    fn progress_event(&self) -> Option<RunProgress> {
        let last = self.observed.last.as_ref()?;
        Some(RunProgress {
            phase: self.observed.phase(),
            state: state_name(&last.state),
            elapsed: now().saturating_duration_since(self.began),
            share: self.observed.share(now()),
            events_in: last.events_in,
            events_asked: self.request.events_asked(),
            rows_out: last.rows_out,
            events_per_s: self.observed.events_per_s_live,
            behind_events: last.behind_events,
            watermark_ms: last.watermark_ms,
            state_bytes: last.state_bytes,
            restarts: last.restarts,
        })
    }

    /// Keeps a sample once an interval, and the last one.
    fn keep_sample(&mut self, last: bool) {
        let Some(progress) = &self.observed.last else { return };
        let seconds = progress.at.saturating_duration_since(self.began).as_secs_f64();
        let due = self.samples.is_due(seconds);
        if !due && !last {
            return;
        }
        let sample = RunSample {
            seconds,
            events_in: progress.events_in,
            rows_out: progress.rows_out,
            watermark_ms: progress.watermark_ms,
            behind_events: progress.behind_events,
            late_rows: progress.late_rows,
            state_bytes: progress.state_bytes,
            events_per_s_reported: progress.events_per_s_reported,
            cpu_seconds: self.costs.cpu_seconds_so_far(),
            rss_bytes: self.costs.rss_bytes_now(),
        };
        self.samples.push(seconds, sample);
    }

    /// The last costs were read after the last poll.
    fn refresh_last_sample(&mut self) {
        if let Some(sample) = self.samples.last_mut() {
            sample.cpu_seconds = self.costs.cpu_seconds_so_far();
            sample.rss_bytes = self.costs.rss_bytes_now();
        }
    }

    /// From the end of the job to the end of the clean-up. The result is kept before the clean-up begins.
    pub(super) async fn end(mut self, ending: Ending, keep: &mut dyn Keep) -> Outcome {
        let ended = now();
        // In rate mode a sample was taken at the end of the measured time.
        if ending.state != State::Passed || self.request.events_asked().is_some() {
            self.costs.sample();
        }
        self.enter(Phase::Draining);
        self.costs.settle().await;
        self.refresh_last_sample();
        let (ending, rows) = self.rows(ending).await;
        if self.submitted {
            self.read_job_config().await;
            self.result.notes.extend(self.engine.notes());
            self.result.files = self.engine.kept_files().map(|path| path.display().to_string());
        }
        self.summarise(ending);
        let stopping = now();
        let moments = Moments { began: self.began, ended, stopping, stopped: stopping };
        self.result.phases = summary::phases(&self.observed, moments);
        let mut keep_error = self.keep(keep);
        if self.submitted {
            self.enter(Phase::Stopping);
            self.stop().await;
        }
        self.costs.stop().await;
        if self.submitted {
            self.result.phases = summary::phases(&self.observed, Moments { stopped: now(), ..moments });
            keep_error = self.keep(keep);
        }
        self.listener.event(&RunEvent::Finished(&self.result));
        Outcome { result: self.result, rows, keep_error }
    }

    /// Fetches the rows of a passed run that asked for them.
    async fn rows(&mut self, ending: Ending) -> (Ending, Option<Vec<Row>>) {
        if ending.state != State::Passed || self.request.output != Output::Rows {
            return (ending, None);
        }
        let stall = self.request.deadlines.stall;
        match bounded::until(now() + stall, self.interrupt, self.engine.rows()).await {
            Wait::Done(Ok(rows)) => (ending, Some(rows)),
            Wait::Done(Err(error)) => (Ending::new(State::Failed, error.message), None),
            Wait::Late => {
                let message = format!("the engine did not give the rows of the answer within {stall:?}");
                (Ending::new(State::TimedOut, message), None)
            }
            Wait::Interrupted => (Ending::interrupted(), None),
        }
    }

    /// Adds what the engine says about the job's own configuration to its description.
    async fn read_job_config(&mut self) {
        if self.observed.submitted.is_none() {
            return;
        }
        let read = bounded::until(now() + CONFIG_WAIT, self.interrupt, self.engine.job_config()).await;
        match (read, &mut self.result.engine) {
            (Wait::Done(Ok(config)), Some(engine)) => engine.config.extend(config),
            (Wait::Done(Err(error)), _) => {
                self.result.notes.push(format!("configuration of the job unknown: {error}"));
            }
            (Wait::Late, _) => {
                self.result
                    .notes
                    .push(format!("configuration of the job unknown: no answer within {CONFIG_WAIT:?}"));
            }
            (Wait::Interrupted | Wait::Done(Ok(_)), _) => {}
        }
    }

    fn summarise(&mut self, ending: Ending) {
        if ending.state == State::Passed {
            self.observed.close_short();
        }
        self.observed.close_early();
        let ending = self.observed.confirm(ending);
        summary::fill_progress(&mut self.result, self.request, &self.observed);
        if let (Some(from), Some(to)) = (self.observed.from, self.observed.to) {
            self.costs.open(from.at);
            let after_end = match self.request.workload {
                Workload::Events { .. } => AfterEnd::Idle,
                Workload::Rate { .. } => AfterEnd::GoesOn,
            };
            let stall = self.request.deadlines.stall;
            if let Some(costs) = self.costs.costs(from.at, to.at, stall, after_end) {
                summary::fill_costs(&mut self.result, costs, |host| self.costs.silence(host));
            }
        }
        self.result.notes.extend(self.costs.error().map(str::to_owned));
        summary::add_notes(&mut self.result);
        self.result.samples = std::mem::take(&mut self.samples).into_entries();
        self.result.host_samples = self.costs.take_series();
        self.result.state = ending.state;
        self.result.message = ending.message;
    }

    fn keep(&mut self, keep: &mut dyn Keep) -> Option<String> {
        super::keep_result(keep, self.listener, &self.result)
    }

    /// Stops the engine. A user who interrupted the run still wants nothing left behind, so only the deadline ends this.
    async fn stop(&mut self) {
        let limit = self.request.deadlines.stop;
        let failure = match tokio::time::timeout(limit, self.engine.stop()).await {
            Ok(Ok(())) => return,
            Ok(Err(error)) => format!("clean-up failed: {error}"),
            Err(_late) => format!("clean-up failed: the engine did not stop within {limit:?}"),
        };
        self.listener.event(&RunEvent::Warning(failure.clone()));
        self.result.message.get_or_insert_with(|| failure.clone());
        self.result.notes.push(failure);
    }
}

fn host(request: &RunRequest) -> String {
    request.environment.hosts.first().cloned().unwrap_or_else(|| "localhost".to_owned())
}
