//! A machine on which commands run. The driver's own and those behind SSH differ in how a command is started, and in nothing
//! else.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};

use super::error::{HostError, Step};
use super::quote::joined;

/// More output of a command than this is none that was asked for, bytes.
const OUTPUT_BYTES_MAX: usize = 1 << 20;

/// Bytes that are handed to a command at once.
const BLOCK_BYTES: usize = 1 << 16;

/// Makes a file with what comes in: whole or not at all, readable and executable by its owner alone. Says on stdout what it made,
/// the file first and then its directories, the innermost first.
const COPY_IN: &str = r#"
set -f; umask 077; IFS='
'
path=$1; size=$2; part=$1.$$; made=
make() {
    [ -d "$1" ] || { make "$(dirname -- "$1")" && mkdir -- "$1" && made="$1
$made"; }
}
begin() { make "$(dirname -- "$path")" && true > "$part"; }
# Another copy may remove the directory, as long as it is empty, just when this one has found it.
if { begin 2> /dev/null || begin 2> /dev/null || begin; } && cat > "$part" && [ "$(wc -c < "$part")" -eq "$size" ] && chmod 700 "$part" && mv -f -- "$part" "$path"
then printf '%s\n' "$path" $made
else rm -f -- "$part"; for directory in $made; do rmdir -- "$directory"; done; exit 1
fi"#;

/// A machine on which commands run.
#[async_trait]
pub trait Host: fmt::Debug + Send + Sync {
    /// Name, as the user gave it.
    fn name(&self) -> &str;

    /// What proved the user to the host, for people; `None` where nothing had to or nothing has yet.
    fn proof(&self) -> Option<String> {
        None
    }

    /// Starts a command of `sh`.
    ///
    /// # Errors
    /// The host cannot be reached, or refuses.
    async fn spawn(&self, command: &str) -> Result<Process, HostError>;

    /// Runs a command of `sh` to its end.
    ///
    /// # Errors
    /// It cannot be started, or does not end in time; that it fails is none.
    async fn run(&self, command: &str, limit: Duration) -> Result<Finished, HostError> {
        let deadline = Instant::now() + limit;
        let run = async { finish(self.spawn(command).await?, self.name(), &[]).await };
        timeout_at(deadline, run).await.unwrap_or_else(|_late| {
            Err(HostError::new(
                self.name(),
                Step::Run,
                format!("a command did not end within {limit:?}: {command}"),
            ))
        })
    }

    /// Makes a file with this content: whole or not at all, executable by its owner alone, directories as needed. Returns what
    /// was made, in the order in which it can be removed.
    ///
    /// # Errors
    /// The file cannot be made; then nothing of it is left.
    async fn copy_in(&self, content: &[u8], path: &str, limit: Duration) -> Result<Vec<String>, HostError> {
        let failed =
            |why: String| HostError::new(self.name(), Step::Copy, format!("cannot copy to {path}: {why}"));
        let command = format!("set -- {}; {COPY_IN}", joined([path, &content.len().to_string()]));
        let copy = async { finish(self.spawn(&command).await?, self.name(), content).await };
        match tokio::time::timeout(limit, copy).await {
            Err(_late) => Err(failed(format!("not done within {limit:?}"))),
            Ok(Err(error)) => Err(error),
            Ok(Ok(finished)) if finished.end == ProcessEnd::Code(0) => {
                Ok(finished.stdout.lines().map(str::to_owned).collect())
            }
            Ok(Ok(finished)) => Err(failed(finished.complaint())),
        }
    }
}

/// A command that runs. Dropped, it gets the end of its input, and nobody reads its output any more.
#[derive(Debug)]
pub struct Process {
    /// Its input; dropped, it is at its end.
    pub input: Input,
    /// What it writes, and how it ends.
    pub output: mpsc::UnboundedReceiver<Output>,
}

/// The input of a command.
#[derive(Debug)]
pub struct Input {
    sender: Option<mpsc::UnboundedSender<Vec<u8>>>,
    wake: Option<Wake>,
}

/// Tells whoever serves a command that there is input for it.
#[derive(Clone)]
pub(super) struct Wake(pub(super) std::sync::Arc<dyn Fn() + Send + Sync>);

impl fmt::Debug for Wake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Wake")
    }
}

impl Input {
    pub(super) fn new(sender: mpsc::UnboundedSender<Vec<u8>>, wake: Option<Wake>) -> Self {
        Self { sender: Some(sender), wake }
    }

    /// Hands bytes to the command; those for one that has ended are lost.
    pub fn write(&self, bytes: &[u8]) {
        if let Some(sender) = &self.sender {
            let _ended = sender.send(bytes.to_vec());
        }
        self.wake();
    }

    fn wake(&self) {
        if let Some(Wake(wake)) = &self.wake {
            wake();
        }
    }
}

impl Drop for Input {
    fn drop(&mut self) {
        self.sender = None;
        self.wake();
    }
}

/// What comes out of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Written to stdout.
    Stdout(Vec<u8>),
    /// Written to stderr.
    Stderr(Vec<u8>),
    /// It has ended; nothing follows.
    End(ProcessEnd),
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProcessEnd {
    /// With an exit code.
    Code(i32),
    /// By a signal of that name or number.
    Signal(String),
    /// Nobody knows, since the connection was lost.
    Lost(String),
}

impl fmt::Display for ProcessEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "it ended with exit code {code}"),
            Self::Signal(signal) => write!(f, "it was ended by signal {signal}"),
            Self::Lost(why) => write!(f, "the connection was lost: {why}"),
        }
    }
}

/// A command that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// How.
    pub end: ProcessEnd,
    /// What it wrote to stdout.
    pub stdout: String,
    /// What it wrote to stderr.
    pub stderr: String,
}

impl Finished {
    /// Why it failed, on one line: its own words, or how it ended.
    pub fn complaint(&self) -> String {
        complaint(&self.stderr, &self.end)
    }
}

/// What a command that failed wrote to stderr, on one line, or how it ended.
pub(super) fn complaint(stderr: &str, end: &ProcessEnd) -> String {
    let lines: Vec<&str> = stderr.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    match end {
        ProcessEnd::Code(_) | ProcessEnd::Signal(_) if !lines.is_empty() => lines.join("; "),
        end => end.to_string(),
    }
}

/// Hands a command its whole input and collects its output.
async fn finish(process: Process, host: &str, input: &[u8]) -> Result<Finished, HostError> {
    let Process { input: handle, mut output } = process;
    for block in input.chunks(BLOCK_BYTES) {
        handle.write(block);
    }
    drop(handle);
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    loop {
        match output.recv().await {
            Some(Output::Stdout(bytes)) => stdout.extend(bytes),
            Some(Output::Stderr(bytes)) => stderr.extend(bytes),
            Some(Output::End(end)) => {
                let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
                return Ok(Finished { end, stdout: text(stdout), stderr: text(stderr) });
            }
            None => return Err(HostError::new(host, Step::Run, "a command was given up")),
        }
        if stdout.len() + stderr.len() > OUTPUT_BYTES_MAX {
            return Err(HostError::new(
                host,
                Step::Run,
                format!("a command wrote more than {OUTPUT_BYTES_MAX} bytes"),
            ));
        }
    }
}
