//! An engine for tests whose life is a script: what it answers is a function of the time since it accepted the job. With tokio's
//! clock paused, minutes of it pass in no time.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use nexmark_queries::Query;
use nexmark_queries::answer::{Digest, Row, Value};
use nexmark_queries::generator::Options;

use crate::engine::{Description, Engine, EngineError, Input, Job, JobState, Progress, Support, Watch};
use crate::listener::{Listener, RunEvent};
use crate::result::{self, Keep, RunResult, State, StoreError};
use crate::run::{Phase, Place, RunRequest, Workload, summary};

/// How a call goes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Call {
    Works,
    Fails(&'static str),
    Hangs,
    Takes(Duration),
}

/// What happened, in order, over engine, keeper and listener.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<String>>>);

type Script = Box<dyn FnMut(Duration) -> Reply + Send>;

/// Answer to a poll; `None` never comes.
pub(crate) type Reply = Option<Result<Progress, EngineError>>;

pub(crate) struct Fake {
    pub(crate) support: Support,
    pub(crate) describe: Call,
    pub(crate) submit: Call,
    pub(crate) poll: Call,
    pub(crate) stop: Call,
    pub(crate) watches: Vec<Watch>,
    pub(crate) rows: Result<Vec<Row>, EngineError>,
    pub(crate) job_config: Call,
    pub(crate) notes: Vec<String>,
    pub(crate) script: Script,
    pub(crate) log: Log,
    pub(crate) accepted: Instant,
}

impl Log {
    pub(crate) fn add(&self, what: impl Into<String>) {
        self.0.lock().unwrap().push(what.into());
    }

    pub(crate) fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    pub(crate) fn has(&self, what: &str) -> bool {
        self.0.lock().unwrap().iter().any(|entry| entry == what)
    }
}

impl Fake {
    pub(crate) fn new(script: impl FnMut(Duration) -> Reply + Send + 'static) -> Self {
        Self {
            support: Support::Supported,
            describe: Call::Works,
            submit: Call::Works,
            poll: Call::Works,
            stop: Call::Works,
            watches: Vec::new(),
            rows: Ok(vec![vec![Value::Integer(1)]]),
            job_config: Call::Works,
            notes: Vec::new(),
            script: Box::new(script),
            log: Log::default(),
            accepted: now(),
        }
    }
}

pub(crate) fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

async fn call(call: Call) -> Result<(), EngineError> {
    match call {
        Call::Works => Ok(()),
        Call::Fails(message) => Err(EngineError::new(message)),
        Call::Hangs => std::future::pending().await,
        Call::Takes(time) => {
            tokio::time::sleep(time).await;
            Ok(())
        }
    }
}

#[async_trait]
impl Engine for Fake {
    async fn describe(&mut self) -> Result<Description, EngineError> {
        call(self.describe).await?;
        let (name, version) = ("fake".to_owned(), "1.2.3".to_owned());
        Ok(Description { name, version, watches: self.watches.clone(), ..Description::default() })
    }

    fn support(&self, _query: &Query) -> Support {
        self.support.clone()
    }

    async fn submit(&mut self, _job: &Job) -> Result<(), EngineError> {
        self.log.add("submit");
        call(self.submit).await?;
        self.accepted = now();
        Ok(())
    }

    async fn poll(&mut self) -> Result<Progress, EngineError> {
        call(self.poll).await?;
        match (self.script)(now() - self.accepted) {
            Some(reply) => reply,
            None => std::future::pending().await,
        }
    }

    async fn rows(&mut self) -> Result<Vec<Row>, EngineError> {
        self.rows.clone()
    }

    async fn job_config(&mut self) -> Result<BTreeMap<String, String>, EngineError> {
        call(self.job_config).await?;
        Ok(BTreeMap::from([("parallelism".to_owned(), "2".to_owned())]))
    }

    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    async fn stop(&mut self) -> Result<(), EngineError> {
        self.log.add("stop");
        call(self.stop).await
    }
}

/// An answer of a state and a count.
pub(crate) fn reply(state: JobState, events: u64) -> Reply {
    Some(Ok(progress(state, events)))
}

pub(crate) fn progress(state: JobState, events: u64) -> Progress {
    Progress {
        at: now(),
        events_in: Some(events),
        rows_out: Some(events / 2),
        answer: Some(Digest { rows: 7, sum: 9 }),
        ..Progress::new(state)
    }
}

/// A job that runs at a steady rate until it has generated a number of events.
pub(crate) fn steady(events_per_s: u64, events: u64) -> impl FnMut(Duration) -> Reply + Send {
    move |elapsed| {
        let count = (elapsed.as_secs_f64() * events_per_s as f64) as u64;
        if count >= events { reply(JobState::Finished, events) } else { reply(JobState::Running, count) }
    }
}

/// A run of q0 over that many events.
pub(crate) fn events(events: u64) -> RunRequest {
    request(Workload::Events { events, warmup_events: 0 })
}

pub(crate) fn request(workload: Workload) -> RunRequest {
    RunRequest::new(nexmark_queries::ALL[0], Input::Generated(Options::default()), workload)
}

/// A passed run of a query at that many events a second over 10 s on two cores.
pub(crate) fn result(query: &str, events_per_s: f64) -> RunResult {
    let request = events((events_per_s * 10.0) as u64);
    let result = summary::blank(&request, Place::ALONE, summary::unique_name(query));
    RunResult {
        query: query.to_owned(),
        state: State::Passed,
        engine: Some(result::Engine {
            name: "fake".to_owned(),
            version: "1.2.3".to_owned(),
            ..Default::default()
        }),
        events: request.events_asked(),
        seconds: Some(10.0),
        events_per_s: Some(events_per_s),
        cpu_seconds: Some(20.0),
        cores: Some(2.0),
        events_per_s_per_core: Some(events_per_s / 2.0),
        rss_bytes_max: Some(100_000_000),
        ..result
    }
}

/// Keeps into the log, and the last result of each call.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    pub(crate) log: Log,
    pub(crate) results: Vec<RunResult>,
    pub(crate) fails: bool,
}

impl Keep for Kept {
    fn keep(&mut self, result: &RunResult) -> Result<Option<std::path::PathBuf>, StoreError> {
        self.log.add("keep");
        if self.fails {
            let source = std::io::Error::other("disk full");
            return Err(StoreError::Write { path: "r.json".into(), source });
        }
        self.results.push(result.clone());
        Ok(None)
    }
}

/// Remembers what a run told.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    pub(crate) phases: Vec<Phase>,
    pub(crate) warnings: Vec<String>,
    pub(crate) shares: Vec<f64>,
    pub(crate) started: Vec<(String, u32)>,
    pub(crate) finished: usize,
}

impl Listener for Heard {
    fn event(&mut self, event: &RunEvent<'_>) {
        match event {
            RunEvent::Phase(phase) => self.phases.push(*phase),
            RunEvent::Warning(text) => self.warnings.push(text.clone()),
            RunEvent::Progress(progress) => self.shares.push(progress.share),
            RunEvent::Started { query, repeat, .. } => self.started.push(((*query).to_owned(), *repeat)),
            RunEvent::Finished(_) => self.finished += 1,
            RunEvent::Described(_) | RunEvent::Saved(_) => {}
        }
    }
}
