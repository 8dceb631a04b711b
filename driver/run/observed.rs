//! What was observed of a job, and what follows from it: which phase it is in, when it is over, and what it is late
//! for. Pure: it is told every poll, and awaits nothing itself.

use std::time::{Duration, Instant};

use super::{Ending, Phase, RunRequest, Workload};
use crate::engine::{JobState, Progress};
use crate::metrics::throughput::{Meter, Reading, Throughput};
use crate::result::State;

/// Everything observed of one job so far.
#[derive(Debug)]
pub(super) struct Observed<'a> {
    request: &'a RunRequest,
    began: Instant,
    pub(super) submitted: Option<Instant>,
    meter: Meter,
    /// Last poll at which no event was counted yet.
    silent: Option<Instant>,
    /// The first event; the schedule and the warm-up begin here.
    pub(super) first: Option<Reading>,
    /// Whether `first` is the moment that the engine tells.
    first_is_told: bool,
    /// Begin of the measured phase.
    pub(super) from: Option<Reading>,
    /// End of the measured phase.
    pub(super) to: Option<Reading>,
    pub(super) last: Option<Progress>,
    /// When anything last moved, or nothing had to.
    moved: Instant,
    /// When the run began, or records were last written ahead of the job.
    prepared: Instant,
    /// Error of the last poll, if it failed.
    pub(super) poll_error: Option<String>,
    pub(super) events_per_s_live: Option<f64>,
    pub(super) state_bytes_max: Option<u64>,
    pub(super) restarts: u32,
}

impl<'a> Observed<'a> {
    pub(super) fn new(request: &'a RunRequest, began: Instant) -> Self {
        Self {
            request,
            began,
            submitted: None,
            meter: Meter::default(),
            silent: None,
            first: None,
            first_is_told: false,
            from: None,
            to: None,
            last: None,
            moved: began,
            prepared: began,
            poll_error: None,
            events_per_s_live: None,
            state_bytes_max: None,
            restarts: 0,
        }
    }

    /// Takes a poll that was answered at `now`. Returns how the run ends, if it does.
    pub(super) fn take(&mut self, progress: Progress, now: Instant) -> Option<Ending> {
        self.poll_error = None;
        let reading = progress.events_in.map(|events| Reading { at: progress.at.max(self.began), events });
        if let Some(reading) = reading {
            self.events_per_s_live = self.meter.read(reading).or(self.events_per_s_live);
        }
        self.find_first(&progress, reading);
        self.open(&progress);
        self.close(&progress);
        if self.has_moved(&progress, now) {
            self.moved = now;
        }
        let prepared = |progress: &Progress| progress.prepared.unwrap_or(0);
        if prepared(&progress) > self.last.as_ref().map_or(0, prepared) {
            self.prepared = now;
        }
        self.state_bytes_max = self.state_bytes_max.max(progress.state_bytes);
        self.restarts = self.restarts.max(progress.restarts);
        let ending = self.ending(&progress);
        self.last = Some(progress);
        ending
    }

    /// Events counted so far, restarts bridged.
    pub(super) fn counted(&self) -> Option<Reading> {
        self.meter.counted()
    }

    /// Readings of the event counter that went backwards.
    pub(super) fn counters_dropped(&self) -> u64 {
        self.meter.dropped()
    }

    /// The first event was generated at the moment that the engine tells, or else after the last poll without events. Where
    /// no poll was without events, counting begins with the first that told a number.
    fn find_first(&mut self, progress: &Progress, reading: Option<Reading>) {
        if let (Some(at), false) = (progress.first_event_at, self.first_is_told) {
            self.first_is_told = true;
            let told = Reading { at: at.max(self.began), events: 0 };
            // A poll that raced with the first event may have told its count but not its moment.
            let begins_with_it = self.from.is_some() && self.from == self.first;
            self.from = if begins_with_it { Some(told) } else { self.from };
            self.first = Some(told);
        }
        if self.first.is_some() {
            return;
        }
        match reading {
            Some(Reading { at, events: 0 }) => self.silent = Some(at),
            Some(reading) => {
                self.first = Some(self.silent.map_or(reading, |at| Reading { at, events: 0 }));
            }
            None => {}
        }
    }

    fn open(&mut self, progress: &Progress) {
        let (None, Some(first), Some(counted)) = (self.from, self.first, self.counted()) else { return };
        self.from = match self.request.workload {
            Workload::Events { warmup_events: 0, .. } => Some(first),
            Workload::Rate { warmup: Duration::ZERO, .. } => Some(first),
            Workload::Events { warmup_events, .. } => match progress.warmup_ended_at {
                Some(at) => Some(Reading { at: at.max(first.at), events: warmup_events }),
                // A warm-up whose end was seen only with the end of the job cannot be told apart.
                None => (counted.events >= warmup_events && progress.state != JobState::Finished)
                    .then_some(counted),
            },
            Workload::Rate { warmup, .. } => (counted.at >= first.at + warmup).then_some(counted),
        };
    }

    fn close(&mut self, progress: &Progress) {
        let (None, Some(from), Some(counted)) = (self.to, self.from, self.counted()) else { return };
        let over = match self.request.workload {
            Workload::Events { .. } => progress.state == JobState::Finished,
            Workload::Rate { duration, .. } => {
                progress.events_in.is_some() && counted.at >= from.at + duration
            }
        };
        // Events that a restarted job reads again are no more throughput.
        let asked = self.request.events_asked().unwrap_or(u64::MAX);
        self.to = over.then_some(Reading { events: counted.events.min(asked), ..counted });
    }

    /// Whether events, rows or watermark changed, or the schedule offers nothing that could move them.
    fn has_moved(&self, progress: &Progress, now: Instant) -> bool {
        let counts = |progress: &Progress| {
            (progress.events_in, progress.rows_out, progress.watermark_ms, progress.prepared)
        };
        let changed = self.last.as_ref().is_none_or(|last| counts(last) != counts(progress));
        changed || !self.events_are_due(now)
    }

    fn events_are_due(&self, now: Instant) -> bool {
        let (Some(first), Some(counted)) = (self.first, self.counted()) else { return true };
        let elapsed = now.saturating_duration_since(first.at);
        self.request.schedule().events_due(elapsed) > counted.events
    }

    fn ending(&self, progress: &Progress) -> Option<Ending> {
        match &progress.state {
            JobState::Finished => Some(self.finished(progress)),
            JobState::Failed(message) => Some(Ending::new(State::Failed, or(message, "the job failed"))),
            JobState::Cancelled(message) => {
                Some(Ending::new(State::Cancelled, or(message, "someone else cancelled the job")))
            }
            JobState::Restarting if self.to.is_some() => {
                Some(Ending::new(State::Failed, "the job was restarting when its measured time was over"))
            }
            JobState::Starting | JobState::Running | JobState::Restarting => {
                self.to.map(|_over| Ending::passed())
            }
        }
    }

    fn finished(&self, progress: &Progress) -> Ending {
        let Some(asked) = self.request.events_asked() else {
            return self.finished_by_time(progress);
        };
        match progress.events_in {
            Some(events) if events == asked => Ending::passed(),
            Some(events) => Ending::new(State::Invalid, contradiction(events, asked, self.restarts)),
            None => Ending::new(State::Invalid, "the engine does not tell how many events it generated"),
        }
    }

    /// In rate mode the input has no end, so that a job that ends lacks events.
    fn finished_by_time(&self, progress: &Progress) -> Ending {
        if self.to.is_some() {
            return Ending::passed();
        }
        let ran = self.first.map_or(Duration::ZERO, |first| progress.at.saturating_duration_since(first.at));
        Ending::new(
            State::Failed,
            format!(
                "the job ended {:.1} s after its first event, before its time was over",
                ran.as_secs_f64()
            ),
        )
    }

    /// Ends the measured phase with the last count, for a run that did not come to its end.
    pub(super) fn close_early(&mut self) {
        if let (Some(_), None) = (self.from, self.to) {
            self.to = self.counted();
        }
    }

    /// A job in events mode that ended before its measured phase could be seen counts from its submission. With a warm-up
    /// that is no way out, since its events are not to be measured.
    pub(super) fn close_short(&mut self) {
        if !matches!(self.request.workload, Workload::Events { warmup_events: 0, .. }) {
            return;
        }
        let seen = self.throughput().is_some_and(|throughput| throughput.events_per_s.is_some());
        let (false, Some(submitted), Some(counted)) = (seen, self.submitted, self.counted()) else { return };
        self.first = Some(
            self.first
                .filter(|first| first.events == 0)
                .unwrap_or(Reading { at: submitted.min(counted.at), events: 0 }),
        );
        self.from = self.first;
        self.to = Some(counted);
    }

    /// A run that passed by its state, and of which nothing was measured, is none to believe.
    pub(super) fn confirm(&self, ending: Ending) -> Ending {
        let nothing = self.throughput().is_none_or(|throughput| throughput.events == 0);
        if ending.state != State::Passed || !nothing || self.request.events_asked() == Some(0) {
            return ending;
        }
        let why = match self.request.workload {
            Workload::Events { warmup_events: 0, .. } => "",
            Workload::Events { .. } => ": it was over before its begin was seen; take more events",
            Workload::Rate { .. } => ": none was due or generated in it",
        };
        Ending::new(State::Invalid, format!("no event was counted in the measured phase{why}"))
    }

    /// Throughput of the measured phase.
    pub(super) fn throughput(&self) -> Option<Throughput> {
        Some(Throughput::between(self.from?, self.to?))
    }

    /// Mean offered rate in the measured phase, events per second.
    pub(super) fn events_per_s_offered(&self) -> Option<f64> {
        let (first, from, to) = (self.first?, self.from?, self.to?);
        let since = |reading: Reading| reading.at.saturating_duration_since(first.at);
        self.request.schedule().events_per_s_mean(since(from), since(to))
    }

    /// Where the job is.
    pub(super) fn phase(&self) -> Phase {
        match (self.submitted, self.first, self.from) {
            (None, ..) => Phase::Submit,
            (_, None, _) => Phase::Starting,
            (.., None) => Phase::Warmup,
            _ => Phase::Measured,
        }
    }

    /// Share of the workload that is done, 0 to 1.
    pub(super) fn share(&self, now: Instant) -> f64 {
        let (done, all) = match self.request.workload {
            Workload::Events { .. } => {
                let counted = self.counted().map_or(0, |counted| counted.events);
                (counted as f64, self.request.events_asked().unwrap_or(0) as f64)
            }
            Workload::Rate { duration, warmup, .. } => {
                let ran = self.first.map_or(Duration::ZERO, |first| now.saturating_duration_since(first.at));
                (ran.as_secs_f64(), (warmup + duration).as_secs_f64())
            }
        };
        if all > 0.0 { (done / all).min(1.0) } else { 0.0 }
    }

    /// The moment at which the clock alone begins or ends the measured phase.
    pub(super) fn boundary(&self) -> Option<Instant> {
        let Workload::Rate { duration, warmup, .. } = self.request.workload else { return None };
        match (self.first, self.from) {
            (_, Some(from)) => Some(from.at + duration),
            (Some(first), None) => Some(first.at + warmup),
            (None, None) => None,
        }
    }

    /// The next deadline.
    pub(super) fn deadline(&self) -> Instant {
        let deadlines = &self.request.deadlines;
        let next = match self.first {
            None => self.prepared + deadlines.start,
            Some(_) => self.moved + deadlines.stall,
        };
        deadlines.total.map_or(next, |total| next.min(self.began + total))
    }

    /// How the run ends if a deadline has passed: the text says what was awaited.
    pub(super) fn overdue(&self, now: Instant) -> Option<Ending> {
        if now < self.deadline() {
            return None;
        }
        let deadlines = &self.request.deadlines;
        let past_total = deadlines.total.filter(|total| now >= self.began + *total);
        let waited = match (past_total, self.first) {
            (Some(total), _) => format!("not over after {total:?}"),
            (None, None) => format!("no first event within {:?}", deadlines.start),
            (None, Some(_)) => format!("no movement of events, rows or watermark for {:?}", deadlines.stall),
        };
        Some(Ending::new(State::TimedOut, format!("{waited}: {}", self.standing())))
    }

    /// Where the job stands, for messages.
    fn standing(&self) -> String {
        let state = self.last.as_ref().map_or("not answering", |last| state_name(&last.state));
        let mut text = format!("the job is {state}");
        if let Some(counted) = self.counted() {
            text += &format!(", {} events were generated", counted.events);
        }
        if let Some(asked) = self.request.events_asked() {
            text += &format!(", {asked} were asked for");
        }
        if let Some(awaited) = self.last.as_ref().and_then(|last| last.waits_for.as_ref()) {
            text += &format!("; it waits for {awaited}");
        }
        if let Some(error) = &self.poll_error {
            text += &format!("; the last poll failed: {error}");
        }
        text
    }
}

/// A word for a state.
pub(super) fn state_name(state: &JobState) -> &'static str {
    match state {
        JobState::Starting => "starting",
        JobState::Running => "running",
        JobState::Restarting => "restarting",
        JobState::Finished => "finished",
        JobState::Failed(_) => "failed",
        JobState::Cancelled(_) => "cancelled",
    }
}

fn or(message: &str, instead: &str) -> String {
    if message.is_empty() { instead } else { message }.to_owned()
}

fn contradiction(events: u64, asked: u64, restarts: u32) -> String {
    let mut text = format!("the source's counter ended at {events} events, asked for were {asked}");
    if asked.checked_mul(2) == Some(events) {
        text += "; that is twice as many, as of an engine that counts a source's records twice";
    }
    if restarts > 0 {
        text += &format!("; the job restarted {restarts} times");
    }
    text
}
