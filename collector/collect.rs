//! Writes samples until nobody reads them any more: at their time, and whenever the reader asks.

use std::fs;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::FileType;
use rustix::process::getppid;

use crate::clock::Clocks;
use crate::line::{Line, Request};
use crate::sampler::Sampler;
use crate::watch::Watch;

/// Longest time without a look whether the parent is still there.
const LOOK: Duration = Duration::from_secs(1);

/// A request is a word and a number; what goes on for longer without an end of line is none.
const REQUEST_LENGTH_MAX: usize = 64;

/// What is collected, and for how long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collection {
    /// What is watched.
    pub watches: Vec<Watch>,
    /// Time between two samples.
    pub interval: Duration,
    /// Name under which the host's samples are written.
    pub host: String,
    /// Longest time without a request, after which the reader is taken for gone; `None` for a reader that asks nothing.
    pub silence_max: Option<Duration>,
    /// Files and empty directories that are removed at once: what was copied to the host to start this.
    pub remove: Vec<PathBuf>,
}

impl Collection {
    /// Writes lines to `output` until it closes, `input` does (if it is a pipe or a socket), or the parent has gone.
    ///
    /// # Errors
    /// A sample cannot be read, or a line not be written.
    pub fn run(&self, input: impl AsFd, output: impl AsFd + Write) -> io::Result<()> {
        self.remove();
        let sampler = Sampler::new(self.host.clone(), self.watches.clone());
        let heard = self.silence_max.map(watch_silence);
        let mut writer = Writer { sampler, output };
        let mut requests = Requests::new(input.as_fd());
        let parent = getppid();
        let mut due = Instant::now();
        while getppid() == parent {
            if Instant::now() >= due {
                writer.sample(None)?;
                // What was missed is not made up for: counters are cumulative.
                due += self.interval;
                due = due.max(Instant::now());
            }
            let wait = due.saturating_duration_since(Instant::now()).min(LOOK);
            match requests.wait(writer.output.as_fd(), wait)? {
                Heard::End => return Ok(()),
                Heard::Requests(asked) => {
                    if let (Some(heard), false) = (&heard, asked.is_empty()) {
                        heard.now();
                    }
                    for request in asked {
                        writer.answer(request)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn remove(&self) {
        for path in &self.remove {
            // A directory that holds something of others stays.
            let _ = fs::remove_file(path).or_else(|_directory| fs::remove_dir(path));
        }
    }
}

/// Whether an error says that nobody reads any more.
pub fn is_closed(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::BrokenPipe
}

struct Writer<W> {
    sampler: Sampler,
    output: W,
}

impl<W: Write> Writer<W> {
    fn sample(&mut self, request: Option<u64>) -> io::Result<()> {
        let mut sample = self.sampler.sample()?;
        sample.request = request;
        self.line(&Line::Sample(Box::new(sample)))
    }

    fn answer(&mut self, request: Request) -> io::Result<()> {
        match request {
            Request::Sample(number) => self.sample(Some(number)),
            Request::Clock(number) => self.line(&Line::Clock(Clocks::read(number))),
        }
    }

    fn line(&mut self, line: &Line) -> io::Result<()> {
        self.output.write_all(&line.bytes()?)?;
        self.output.flush()
    }
}

/// What was heard of the reader.
enum Heard {
    /// It has gone.
    End,
    /// It asks for these.
    Requests(Vec<Request>),
}

/// Requests of the reader.
struct Requests<'a> {
    input: BorrowedFd<'a>,
    /// Whether the end of the input is that of the reader: only of a pipe or a socket, since a terminal, a file or
    /// `/dev/null` may be given to a collector that is to go on.
    ends: bool,
    open: bool,
    text: Vec<u8>,
}

impl<'a> Requests<'a> {
    fn new(input: BorrowedFd<'a>) -> Self {
        let kind = rustix::fs::fstat(input).map(|stat| FileType::from_raw_mode(stat.st_mode));
        let ends = matches!(kind, Ok(FileType::Fifo | FileType::Socket));
        Self { input, ends, open: true, text: Vec::new() }
    }

    /// Waits for requests, or for the end of either side.
    fn wait(&mut self, output: BorrowedFd<'_>, limit: Duration) -> io::Result<Heard> {
        // Whether nobody reads the output is told without being asked for.
        let mut both = [
            PollFd::from_borrowed_fd(output, PollFlags::empty()),
            PollFd::from_borrowed_fd(self.input, PollFlags::IN),
        ];
        let asked = if self.open { &mut both[..] } else { &mut both[..1] };
        let limit = Timespec::try_from(limit).map_err(io::Error::other)?;
        match poll(asked, Some(&limit)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        if both[0].revents().intersects(PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL) {
            return Ok(Heard::End);
        }
        if !self.open || both[1].revents().is_empty() {
            return Ok(Heard::Requests(Vec::new()));
        }
        self.read()
    }

    fn read(&mut self) -> io::Result<Heard> {
        let mut block = [0; 1024];
        let read = match rustix::io::read(self.input, &mut block) {
            Err(rustix::io::Errno::INTR) => return Ok(Heard::Requests(Vec::new())),
            // A terminal whose other end has gone gives an error.
            other => other.unwrap_or(0),
        };
        if read == 0 {
            self.open = false;
            return Ok(if self.ends { Heard::End } else { Heard::Requests(Vec::new()) });
        }
        self.text.extend_from_slice(&block[..read]);
        let lines = self.text.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let complete: Vec<u8> = self.text.drain(..lines).collect();
        if self.text.len() > REQUEST_LENGTH_MAX {
            self.text.clear();
        }
        Ok(Heard::Requests(complete.split(|byte| *byte == b'\n').filter_map(Request::parse).collect()))
    }
}

/// When the reader was last heard.
struct LastHeard {
    begin: Instant,
    ms: Arc<AtomicU64>,
}

impl LastHeard {
    fn now(&self) {
        self.ms.store(elapsed_ms(self.begin), Ordering::Relaxed);
    }
}

/// Ends this process when the reader was not heard for so long: a connection that is cut without a word leaves a writer
/// waiting for ever, so this is a thread of its own.
fn watch_silence(limit: Duration) -> LastHeard {
    let begin = Instant::now();
    let ms = Arc::new(AtomicU64::new(0));
    let last = Arc::clone(&ms);
    thread::spawn(move || {
        let limit_ms = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
        loop {
            let silent_ms = elapsed_ms(begin).saturating_sub(last.load(Ordering::Relaxed));
            if silent_ms >= limit_ms {
                quit();
            }
            thread::sleep(Duration::from_millis(limit_ms - silent_ms));
        }
    });
    LastHeard { begin, ms }
}

#[expect(clippy::exit, reason = "the thread that writes may wait for ever")]
fn quit() -> ! {
    std::process::exit(0)
}

fn elapsed_ms(begin: Instant) -> u64 {
    u64::try_from(begin.elapsed().as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
