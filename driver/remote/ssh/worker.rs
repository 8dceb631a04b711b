//! The thread that serves one connection: it starts commands and moves their input and output, all of them in turn, and sleeps
//! while nothing moves.

use std::io::{self, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::mpsc::{self as std_mpsc, TryRecvError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use ssh2::{Channel, DisconnectCode, Session};
use tokio::sync::{mpsc, oneshot};

use super::connection::{Connection, Limits};
use super::target::Target;
use super::words;
use crate::remote::error::HostError;
use crate::remote::host::{Output, ProcessEnd, Wake};

/// Longest sleep when nothing moves.
const SLEEP: Duration = Duration::from_secs(1);
/// Longest sleep with several commands: what one reads from the connection may be for another.
const SLEEP_SHARED: Duration = Duration::from_millis(20);
/// Longest wait for the end of a command whose output has ended.
const CLOSE: Duration = Duration::from_secs(10);

/// A command to start.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) command: String,
    pub(super) input: mpsc::UnboundedReceiver<Vec<u8>>,
    pub(super) output: mpsc::UnboundedSender<Output>,
    pub(super) started: oneshot::Sender<Result<(), String>>,
}

/// The thread of a connection.
#[derive(Debug)]
pub(super) struct Worker {
    jobs: Option<std_mpsc::Sender<Job>>,
    wake: Arc<UnixStream>,
    thread: JoinHandle<()>,
}

impl Worker {
    /// Starts to connect; `ready` is told what proved the user, or why there is no connection.
    pub(super) fn start(
        name: String,
        target: Target,
        limits: Limits,
        ready: oneshot::Sender<Result<String, HostError>>,
    ) -> io::Result<Self> {
        let (jobs, queue) = std_mpsc::channel();
        let (wake, woken) = UnixStream::pair()?;
        wake.set_nonblocking(true)?;
        woken.set_nonblocking(true)?;
        let thread = thread::Builder::new().name("ssh".to_owned()).spawn(move || {
            match Connection::open(&target, limits) {
                Ok(connection) => {
                    let _gone = ready.send(Ok(connection.proof.clone()));
                    serve(&connection, &queue, &woken, limits);
                }
                Err((step, message)) => drop(ready.send(Err(HostError::new(&name, step, message)))),
            }
        })?;
        Ok(Self { jobs: Some(jobs), wake: Arc::new(wake), thread })
    }

    /// Whether the connection was lost.
    pub(super) fn has_ended(&self) -> bool {
        self.thread.is_finished()
    }

    pub(super) fn submit(&self, job: Job) {
        if let Some(jobs) = &self.jobs {
            // A thread that has ended drops the job, and with it its ends.
            let _ended = jobs.send(job);
        }
        wake(&self.wake);
    }

    pub(super) fn waker(&self) -> Wake {
        let stream = Arc::clone(&self.wake);
        Wake(Arc::new(move || wake(&stream)))
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.jobs = None;
        wake(&self.wake);
    }
}

fn wake(mut stream: &UnixStream) {
    // A stream that is full wakes as well, and one that is closed has nobody to wake.
    let _full = stream.write(&[0]);
}

/// Serves commands until nobody can start another one and all have ended, or the connection is lost.
fn serve(connection: &Connection, queue: &std_mpsc::Receiver<Job>, woken: &UnixStream, limits: Limits) {
    let session = &connection.session;
    session.set_blocking(false);
    let mut running: Vec<Running> = Vec::new();
    loop {
        let mut last = false;
        loop {
            match queue.try_recv() {
                Ok(job) => running.extend(start(session, job, limits)),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => {
                    last = true;
                    break;
                }
            }
        }
        let mut moved = false;
        let mut lost = None;
        running.retain_mut(|one| match one.step(&mut moved) {
            Step::GoesOn => true,
            Step::Ended => false,
            Step::Lost(why) => {
                lost = Some(why);
                true
            }
        });
        if let Some(why) = lost {
            for one in &running {
                one.end(ProcessEnd::Lost(why.clone()));
            }
            return;
        }
        if last && running.is_empty() {
            session.set_blocking(true);
            let _lost = session.disconnect(Some(DisconnectCode::ByApplication), "done", None);
            return;
        }
        if !moved {
            let sleep = if running.len() > 1 { SLEEP_SHARED } else { SLEEP };
            if rest(connection, woken, sleep).is_err() {
                return;
            }
        }
    }
}

/// Sleeps until the connection or a caller has something.
fn rest(connection: &Connection, mut woken: &UnixStream, limit: Duration) -> io::Result<()> {
    let mut both = [PollFd::new(&connection.stream, PollFlags::IN), PollFd::new(woken, PollFlags::IN)];
    let limit = Timespec::try_from(limit).map_err(io::Error::other)?;
    match poll(&mut both, Some(&limit)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    let mut bytes = [0; 64];
    while woken.read(&mut bytes).is_ok_and(|read| read > 0) {}
    Ok(())
}

/// Starts a command. This blocks, as nothing else does; the output of others waits meanwhile.
fn start(session: &Session, job: Job, limits: Limits) -> Option<Running> {
    session.set_blocking(true);
    let opened =
        session.channel_session().and_then(|mut channel| channel.exec(&job.command).map(|()| channel));
    session.set_blocking(false);
    match opened {
        Ok(channel) => {
            let _gone = job.started.send(Ok(()));
            Some(Running {
                channel,
                input: job.input,
                output: job.output,
                block: Vec::new(),
                input_ended: false,
                closing: None,
            })
        }
        Err(error) => {
            let _gone = job.started.send(Err(words(&error, limits.answer)));
            None
        }
    }
}

/// How a step went.
enum Step {
    GoesOn,
    Ended,
    Lost(String),
}

/// A command that runs.
struct Running {
    channel: Channel,
    input: mpsc::UnboundedReceiver<Vec<u8>>,
    output: mpsc::UnboundedSender<Output>,
    /// Input that is not sent yet.
    block: Vec<u8>,
    input_ended: bool,
    /// Since when the command has no more output.
    closing: Option<Instant>,
}

impl Running {
    /// Moves what can be moved without waiting.
    fn step(&mut self, moved: &mut bool) -> Step {
        match self.try_step(moved) {
            Ok(step) => step,
            Err(error) => Step::Lost(error.to_string()),
        }
    }

    fn try_step(&mut self, moved: &mut bool) -> io::Result<Step> {
        if self.output.is_closed() {
            // Nobody reads any more. The host tells the command so by closing its streams.
            waits(self.channel.close().map_err(io::Error::from))?;
            return Ok(Step::Ended);
        }
        self.send(moved)?;
        self.receive(moved)?;
        if self.closing.is_none() && self.channel.eof() {
            self.closing = Some(Instant::now());
        }
        let Some(since) = self.closing else { return Ok(Step::GoesOn) };
        if waits(self.channel.close().map_err(io::Error::from))?
            || waits(self.channel.wait_close().map_err(io::Error::from))?
        {
            let late = since.elapsed() > CLOSE;
            if late {
                self.end(ProcessEnd::Lost(format!("its end was not told within {CLOSE:?}")));
            }
            return Ok(if late { Step::Ended } else { Step::GoesOn });
        }
        self.end(self.told_end());
        Ok(Step::Ended)
    }

    fn send(&mut self, moved: &mut bool) -> io::Result<()> {
        while !self.input_ended {
            if self.block.is_empty() {
                match self.input.try_recv() {
                    Ok(block) => self.block = block,
                    Err(mpsc::error::TryRecvError::Empty) => return Ok(()),
                    Err(mpsc::error::TryRecvError::Disconnected) => {
                        if waits(self.channel.send_eof().map_err(io::Error::from))? {
                            return Ok(());
                        }
                        self.input_ended = true;
                        return Ok(());
                    }
                }
            }
            if self.channel.eof() {
                // A command that reads no more has a reason, which its end tells.
                self.block.clear();
                self.input_ended = true;
                return Ok(());
            }
            match self.channel.write(&self.block) {
                Ok(0) => return Ok(()),
                Ok(sent) => {
                    self.block.drain(..sent);
                    *moved = true;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn receive(&mut self, moved: &mut bool) -> io::Result<()> {
        self.receive_stream(0, Output::Stdout, moved)?;
        self.receive_stream(1, Output::Stderr, moved)
    }

    fn receive_stream(
        &mut self,
        stream: i32,
        wrap: fn(Vec<u8>) -> Output,
        moved: &mut bool,
    ) -> io::Result<()> {
        let mut block = [0; 1 << 15];
        loop {
            match self.channel.stream(stream).read(&mut block) {
                Ok(0) => return Ok(()),
                Ok(read) => {
                    let _unheard = self.output.send(wrap(block[..read].to_vec()));
                    *moved = true;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    fn told_end(&self) -> ProcessEnd {
        match self.channel.exit_signal().ok().and_then(|signal| signal.exit_signal) {
            Some(signal) => ProcessEnd::Signal(signal),
            None => self
                .channel
                .exit_status()
                .map_or_else(|error| ProcessEnd::Lost(error.message().to_owned()), ProcessEnd::Code),
        }
    }

    fn end(&self, end: ProcessEnd) {
        let _unheard = self.output.send(Output::End(end));
    }
}

/// Whether something has to be tried again later.
fn waits(result: io::Result<()>) -> io::Result<bool> {
    match result {
        Ok(()) => Ok(false),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(true),
        Err(error) => Err(error),
    }
}
