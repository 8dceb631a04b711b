//! One job of ours in the cluster, from its submission to its end: what state it is in, when it began and ended, and what it
//! has counted. Everything is asked for by the job's own id, so that no other job is ever taken for it.

mod details;
mod figures;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use nexmark_driver::engine::{EngineError, JobState, Progress};

use crate::moment::{Stored, now};
use crate::replies::{Accumulators, Exceptions, Status};
use crate::rest::{Rest, RestError};
use crate::{answer, cause};
use details::Topology;
use figures::Figures;
pub(crate) use figures::renew;

/// How long a job that was seen before may be unknown to Flink, as while a JobManager takes over, before it counts as lost.
const LOST_AFTER: Duration = Duration::from_secs(5);
/// Flink's other replies lag behind the state of a job by its `web.refresh-interval`, 3 s by default. Longer than that is
/// not waited for what they should say about its end.
const LAG_MAX: Duration = Duration::from_secs(10);

/// A job that is followed.
pub(crate) struct Following {
    rest: Rest,
    pub(crate) id: String,
    takes_answer: bool,
    /// Time between the source's last event and the end of its input.
    end_delay: Duration,
    /// When it was asked for.
    asked: Instant,
    /// The last moment at which it had not ended.
    alive: Instant,
    /// When its end was seen.
    ended: Option<Instant>,
    seen: bool,
    unknown_since: Option<Instant>,
    topology: Option<Topology>,
    /// When the first subtask of a source began to run.
    started: Option<Instant>,
    waits_for: Option<String>,
    events: Stored,
    figures: Figures,
    restarts: u32,
    was_restarting: bool,
    /// That its subtasks never ran all at once.
    pub(crate) apart: Option<String>,
}

/// What is known of a job before it is submitted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expected {
    /// Whether its sink keeps an answer.
    pub(crate) answer: bool,
    /// Time between the source's last event and the end of its input.
    pub(crate) end_delay: Duration,
}

/// The states of a job in Flink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Starting,
    Running,
    Restarting,
    Finished,
    Failed,
    Cancelled,
    Suspended,
}

impl State {
    fn of(word: &str) -> Option<Self> {
        Some(match word {
            "INITIALIZING" | "CREATED" => Self::Starting,
            // The last two are on their way to an end, which they have not reached.
            "RUNNING" | "FAILING" | "CANCELLING" => Self::Running,
            "RESTARTING" | "RECONCILING" => Self::Restarting,
            "FINISHED" => Self::Finished,
            "FAILED" => Self::Failed,
            "CANCELED" => Self::Cancelled,
            "SUSPENDED" => Self::Suspended,
            _ => return None,
        })
    }

    fn is_end(self) -> bool {
        !matches!(self, Self::Starting | Self::Running | Self::Restarting)
    }
}

impl Following {
    /// Follows a job that was asked for at `asked`.
    pub(crate) fn new(rest: Rest, id: String, asked: Instant, expected: Expected) -> Self {
        Self {
            rest,
            id,
            takes_answer: expected.answer,
            end_delay: expected.end_delay,
            asked,
            alive: asked,
            ended: None,
            seen: false,
            unknown_since: None,
            topology: None,
            started: None,
            waits_for: None,
            events: Stored::new(asked),
            figures: Figures::default(),
            restarts: 0,
            was_restarting: false,
            apart: None,
        }
    }

    /// State and counters now.
    pub(crate) async fn poll(&mut self) -> Result<Progress, EngineError> {
        let asked = now();
        let status: Status = match self.rest.get(&self.path("/status")).await {
            Err(error) if error.is_not_found() => return self.unknown(error, asked),
            status => status?,
        };
        (self.seen, self.unknown_since) = (true, None);
        let state = State::of(&status.status).ok_or_else(|| {
            EngineError::new(format!(
                "job {} is in state {:?}, which is none of Flink's",
                self.id, status.status
            ))
        })?;
        if state.is_end() {
            self.ended.get_or_insert_with(now);
        } else {
            self.ended = None;
            self.alive = asked;
        }
        self.count_restart(state);
        match state {
            State::Starting | State::Running | State::Restarting => self.going(state).await,
            State::Finished => self.finished().await,
            State::Failed => self.failed().await,
            State::Cancelled => {
                Ok(self.progress(JobState::Cancelled(format!("someone else cancelled job {}", self.id))))
            }
            State::Suspended => {
                Ok(self.progress(JobState::Failed(format!("Flink suspended job {}", self.id))))
            }
        }
    }

    /// What the finished job's sink has left.
    pub(crate) async fn accumulators(&self) -> Result<Accumulators, RestError> {
        self.rest.get(&self.path("/accumulators")).await
    }

    /// Looks at the end of the measured time whether the job ran as a whole.
    pub(crate) async fn look_back(&mut self) {
        if let Some(topology) = &self.topology {
            // What cannot be read does not spoil the run.
            self.apart = details::apart(&self.rest, &self.id, topology).await.unwrap_or_default();
        }
    }

    fn path(&self, below: &str) -> String {
        format!("/jobs/{}{below}", self.id)
    }

    fn count_restart(&mut self, state: State) {
        let is_restarting = state == State::Restarting;
        self.restarts += u32::from(is_restarting && !self.was_restarting);
        self.was_restarting = is_restarting;
    }

    /// A new job may not be known yet; one that was known is lost.
    fn unknown(&mut self, error: RestError, asked: Instant) -> Result<Progress, EngineError> {
        let since = *self.unknown_since.get_or_insert(asked);
        if !self.seen || asked.saturating_duration_since(since) < LOST_AFTER {
            return Err(error.into());
        }
        let message = format!("Flink does not know job {} any more: {error}", self.id);
        Ok(self.progress(JobState::Failed(message)))
    }

    /// A job that has not ended. Flink calls one running whose tasks still wait for slots.
    async fn going(&mut self, state: State) -> Result<Progress, EngineError> {
        if self.started.is_none() && state != State::Starting {
            self.find_start().await?;
        }
        if let Some(topology) = &mut self.topology {
            let looked = now();
            self.figures.read(&self.rest, topology, &self.id).await?;
            self.events.look(self.figures.events, looked);
            self.restarts = self.restarts.max(self.figures.restarts);
        }
        let state = match (state, self.started) {
            (State::Restarting, _) => JobState::Restarting,
            (State::Running, Some(_)) => JobState::Running,
            _ => JobState::Starting,
        };
        Ok(self.progress(state))
    }

    async fn find_start(&mut self) -> Result<(), RestError> {
        let details = details::read(&self.rest, &self.id).await?.details;
        self.waits_for = details::waits_for(&details);
        if details.vertices.is_empty() {
            return Ok(());
        }
        let topology = Topology::new(&self.id, &details);
        self.started = details::start(&self.rest, &self.id, &topology, self.asked).await?;
        if self.started.is_some() {
            self.waits_for = None;
        }
        self.topology = Some(topology);
        Ok(())
    }

    /// A finished job counts as running until Flink tells the rest, too.
    async fn finished(&mut self) -> Result<Progress, EngineError> {
        let read = details::read(&self.rest, &self.id).await?;
        let topology = Topology::new(&self.id, &read.details);
        let events = topology.events_total(&read.details);
        let waited = self.ended.map_or(Duration::ZERO, |ended| now().saturating_duration_since(ended));
        if (read.details.state != "FINISHED" || events.is_none()) && waited < LAG_MAX {
            return Ok(self.progress(JobState::Running));
        }
        if self.started.is_none() {
            self.started = details::start(&self.rest, &self.id, &topology, self.asked).await?;
        }
        let accumulators = self.accumulators().await?;
        self.figures.read_end(&self.rest, &read.details, &topology, &self.id).await;
        let restarted = read.details.timestamps.get("RESTARTING").is_some_and(|at| *at > 0);
        self.restarts = self.restarts.max(self.figures.restarts).max(u32::from(restarted));
        let end = read.moment("FINISHED").unwrap_or_else(now);
        let end = end.clamp(self.alive, self.ended.unwrap_or_else(now).max(self.alive));
        // The source lingered after its last event only to let windows of the clock fire.
        let end = end.checked_sub(self.end_delay).unwrap_or(end).max(self.started.unwrap_or(self.asked));
        let answer = if self.takes_answer { Some(answer::digest(&accumulators)?) } else { None };
        self.topology.get_or_insert(topology);
        Ok(Progress {
            at: end,
            events_in: events,
            rows_out: answer::records(&accumulators),
            answer,
            ..self.progress(JobState::Finished)
        })
    }

    async fn failed(&mut self) -> Result<Progress, EngineError> {
        let exceptions: Exceptions = self.rest.get(&self.path("/exceptions")).await?;
        let waited = self.ended.map_or(Duration::ZERO, |ended| now().saturating_duration_since(ended));
        let message = match cause::of_job(&exceptions) {
            Some(message) => message,
            None if waited < LAG_MAX => return Ok(self.progress(JobState::Running)),
            None => format!("job {} failed, and Flink tells no reason", self.id),
        };
        Ok(self.progress(JobState::Failed(message)))
    }

    /// What is known, in that state. The counters hold for the moment at which Flink read them.
    fn progress(&self, state: JobState) -> Progress {
        let reading = self.events.reading();
        Progress {
            at: reading.map_or_else(now, |(_, at)| at),
            events_in: reading.map(|(events, _)| events),
            first_event_at: self.started,
            rows_out: self.figures.rows,
            waits_for: self.waits_for.clone().or_else(|| self.figures.waits_for()),
            restarts: self.restarts,
            watermark_ms: self.figures.watermark_ms,
            late_rows: self.figures.late_rows,
            state_bytes: self.figures.state_bytes,
            events_per_s_reported: self.figures.events_per_s,
            extras: self.extras(),
            ..Progress::new(state)
        }
    }

    fn extras(&self) -> BTreeMap<String, f64> {
        self.figures.extras.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
    }
}
