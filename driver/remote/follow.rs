//! Reads what one collector writes, from its first sample to its end, and asks it for more.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use nexmark_collector::clock;
use nexmark_collector::line::{Line, Request};
use nexmark_collector::sample::Sample;
use nexmark_collector::watch::Watch;
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;

use super::clock::{HostClock, QUESTIONS};
use super::error::{HostError, Step};
use super::host::{Output, Process, ProcessEnd, complaint};
use super::start::Station;
use crate::result::ClockOffset;
use crate::run::now;

/// Longest wait for the first sample of a collector that was started.
const FIRST: Duration = Duration::from_secs(10);
/// Questions for the clocks at the begin.
const FIRST_QUESTIONS: u64 = QUESTIONS as u64;
/// Time between two questions for the clocks. They tell the collector, too, that its reader is there.
const ASK: Duration = Duration::from_secs(5);
/// Longest wait for a collector to end when its reader has gone.
const END: Duration = Duration::from_secs(5);
/// A longer line is none of a collector, bytes.
const LINE_BYTES_MAX: usize = 16 << 20;
/// Lines before the first of the collector that are passed over: what a shell's own start-up prints.
const STRANGE_LINES_MAX: usize = 100;
/// What of stderr is kept, bytes.
const STDERR_BYTES_MAX: usize = 4096;
/// Samples that wait to be taken; a driver that takes none for long loses them, which costs nothing.
const SAMPLES_MAX: usize = 4096;

/// A collector that is read.
#[derive(Debug)]
pub(super) struct Follower {
    pub(super) name: String,
    shared: Arc<Shared>,
    asks: Option<mpsc::UnboundedSender<Ask>>,
    task: JoinHandle<()>,
}

#[derive(Clone, Copy, Debug)]
enum Ask {
    Sample(u64),
    Clocks,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    /// Told whenever the state has changed.
    changed: Notify,
}

#[derive(Debug)]
struct State {
    clock: HostClock,
    /// Samples whose time on the driver's clock is not known yet.
    unplaced: Vec<Sample>,
    samples: Vec<(Instant, Sample)>,
    /// The host was heard last.
    heard: Instant,
    /// Highest number of a request that was answered with a sample.
    answered: u64,
    /// Answers about the clocks, ever.
    clocks: u64,
    /// Why nothing follows.
    end: Option<String>,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the state is as asked for, or nothing follows any more.
    async fn until(&self, done: impl Fn(&State) -> bool, limit: Duration) -> bool {
        let wait = async {
            loop {
                {
                    let state = self.state();
                    if done(&state) || state.end.is_some() {
                        return done(&state);
                    }
                }
                self.changed.notified().await;
            }
        };
        tokio::time::timeout(limit, wait).await.unwrap_or(false)
    }
}

impl Follower {
    /// Starts a collector and returns with its first sample.
    pub(super) async fn start(station: Station, engine: Vec<Watch>) -> Result<Self, HostError> {
        let process = station.start(&engine).await?;
        let name = station.host.name().to_owned();
        let state = State {
            clock: HostClock::new(now()),
            unplaced: Vec::new(),
            samples: Vec::new(),
            heard: now(),
            answered: 0,
            clocks: 0,
            end: None,
        };
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Notify::new() });
        let (asks, asked) = mpsc::unbounded_channel();
        let task = tokio::spawn(Reader::new(Arc::clone(&shared)).follow(process, asked));
        let follower = Self { name, shared, asks: Some(asks), task };
        if follower
            .shared
            .until(|state| !state.samples.is_empty() && state.clock.answers() == QUESTIONS, FIRST)
            .await
        {
            return Ok(follower);
        }
        let end = follower.shared.state().end.clone();
        let why = end.unwrap_or_else(|| format!("no sample within {FIRST:?}"));
        let error =
            HostError::new(&follower.name, Step::Start, format!("its collector does not work: {why}"));
        follower.stop().await;
        Err(error)
    }

    /// Asks for a sample now; it comes when it comes.
    pub(super) fn ask(&self, number: u64) {
        self.send(Ask::Sample(number));
    }

    fn send(&self, ask: Ask) {
        if let Some(asks) = &self.asks {
            // A collector that has ended answers nothing.
            let _ended = asks.send(ask);
        }
    }

    /// Asks for a last sample and the clocks, and waits for them.
    pub(super) async fn settle(&self, number: u64, limit: Duration) {
        let before = self.shared.state().clocks;
        // The clocks first: a sample takes a while, in which a question would wait.
        for _ in 0..QUESTIONS {
            self.send(Ask::Clocks);
        }
        self.ask(number);
        let all = before + FIRST_QUESTIONS;
        self.shared.until(|state| state.answered >= number && state.clocks >= all, limit).await;
    }

    /// Samples that have come since the last call, with their moments on the driver's clock.
    pub(super) fn take(&self) -> Vec<(Instant, Sample)> {
        std::mem::take(&mut self.shared.state().samples)
    }

    /// Why the host is taken for silent, if it is.
    pub(super) fn silence(&self, limit: Duration) -> Option<String> {
        let state = self.shared.state();
        let silent = now().saturating_duration_since(state.heard);
        match &state.end {
            Some(end) => Some(end.clone()),
            None if silent >= limit => {
                Some(format!("nothing was heard of it for {:.0} s", silent.as_secs_f64()))
            }
            None => None,
        }
    }

    pub(super) fn clock(&self) -> Option<ClockOffset> {
        self.shared.state().clock.offset()
    }

    /// Ends the collector, and returns when it has ended or a deadline has passed.
    pub(super) async fn stop(mut self) {
        self.asks = None;
        let mut task = &mut self.task;
        if tokio::time::timeout(END + ASK, &mut task).await.is_err() {
            task.abort();
        }
    }
}

/// What came of a collector.
enum Taken {
    Line,
    Nothing,
}

/// Reads one collector.
struct Reader {
    shared: Arc<Shared>,
    line: Vec<u8>,
    strange: usize,
    stderr: Vec<u8>,
    heard_of: bool,
    questions: u64,
}

impl Reader {
    fn new(shared: Arc<Shared>) -> Self {
        Self { shared, line: Vec::new(), strange: 0, stderr: Vec::new(), heard_of: false, questions: 0 }
    }

    /// Reads until the collector ends, or until nobody asks any more; then the collector is ended.
    async fn follow(mut self, mut process: Process, mut asks: mpsc::UnboundedReceiver<Ask>) {
        let mut timer = tokio::time::interval(ASK);
        timer.reset();
        let end = loop {
            tokio::select! {
                output = process.output.recv() => match self.take(output) {
                    // One question after the other, as soon as the collector is there to answer.
                    Ok(Taken::Line) if self.questions < FIRST_QUESTIONS => self.ask_clocks(&process),
                    Ok(_) => {}
                    Err(end) => break Some(end),
                },
                ask = asks.recv() => match ask {
                    Some(Ask::Sample(number)) => process.input.write(Request::Sample(number).to_string().as_bytes()),
                    Some(Ask::Clocks) => self.ask_clocks(&process),
                    None => break None,
                },
                _ = timer.tick() => self.ask_clocks(&process),
            }
        };
        if let Some(end) = end {
            self.shared.state().end = Some(end);
            self.shared.changed.notify_one();
        } else {
            let Process { input, mut output } = process;
            drop(input);
            let ended = async { while !matches!(output.recv().await, None | Some(Output::End(_))) {} };
            let _late = tokio::time::timeout(END, ended).await;
        }
    }

    fn ask_clocks(&mut self, process: &Process) {
        self.questions += 1;
        self.shared.state().clock.ask(self.questions, now());
        process.input.write(Request::Clock(self.questions).to_string().as_bytes());
    }

    /// Takes what came; an error is the end.
    fn take(&mut self, output: Option<Output>) -> Result<Taken, String> {
        match output {
            Some(Output::Stdout(bytes)) => self.bytes(&bytes),
            Some(Output::Stderr(bytes)) => {
                let room = STDERR_BYTES_MAX.saturating_sub(self.stderr.len());
                self.stderr.extend(bytes.iter().take(room));
                Ok(Taken::Nothing)
            }
            Some(Output::End(end)) => Err(self.last_words(&end)),
            None => Err(self.last_words(&ProcessEnd::Lost("it was given up".to_owned()))),
        }
    }

    fn last_words(&self, end: &ProcessEnd) -> String {
        complaint(&String::from_utf8_lossy(&self.stderr), end)
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result<Taken, String> {
        let mut taken = Taken::Nothing;
        let at = now();
        let wall_ns = clock::wall_ns();
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if self.line.len() > LINE_BYTES_MAX {
                return Err(format!("it wrote a line of more than {LINE_BYTES_MAX} bytes"));
            }
            if part.ends_with(b"\n") {
                let line = std::mem::take(&mut self.line);
                taken = self.take_line(&line, at, wall_ns)?;
            }
        }
        Ok(taken)
    }

    fn take_line(&mut self, text: &[u8], at: Instant, wall_ns: i64) -> Result<Taken, String> {
        match Line::parse(text) {
            Ok(line) => {
                self.heard_of = true;
                self.shared.state().take(line, at, wall_ns);
                self.shared.changed.notify_one();
                Ok(Taken::Line)
            }
            Err(_strange) if !self.heard_of && self.strange < STRANGE_LINES_MAX => {
                self.strange += 1;
                Ok(Taken::Nothing)
            }
            Err(error) => {
                let begin: String = String::from_utf8_lossy(text).trim_end().chars().take(80).collect();
                Err(format!("it wrote what is no sample ({error}): {begin:?}"))
            }
        }
    }
}

impl State {
    fn take(&mut self, line: Line, at: Instant, wall_ns: i64) {
        self.heard = at;
        match line {
            Line::Sample(sample) => {
                self.answered = self.answered.max(sample.request.unwrap_or(0));
                self.unplaced.push(*sample);
            }
            Line::Clock(clocks) => {
                self.clocks += 1;
                self.clock.answer(&clocks, at, wall_ns);
            }
        }
        // The first sample may come before the first answer about the clocks.
        let clock = &self.clock;
        let placed = self.unplaced.iter().map_while(|sample| clock.instant(sample.monotonic_ns));
        let placed: Vec<Instant> = placed.collect();
        let samples = self.unplaced.drain(..placed.len());
        self.samples.extend(placed.into_iter().zip(samples));
        let excess = self.samples.len().saturating_sub(SAMPLES_MAX);
        self.samples.drain(..excess);
    }
}

#[cfg(test)]
mod tests;
