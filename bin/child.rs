//! A run by another build of this program: a process of its own, which writes its result file and prints it for us.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::Duration;

use nexmark_driver::result::RunResult;
use nexmark_driver::run::{Interrupt, RunRequest, Workload};
use rustix::process::{Pid, Signal, kill_process, set_parent_process_death_signal};
use tokio::process::{Child, Command};
use tokio::time::timeout;

/// Longest run of a number of events when no other limit is set: the child itself ends a run that does not move.
const EVENTS_MAX: Duration = Duration::from_secs(3 * 3600);
/// What a process needs beside its run.
const START_AND_END: Duration = Duration::from_secs(30);

/// Runs one query by the program at `path` and returns its result, or why there is none.
pub(crate) async fn run(
    path: &Path,
    arguments: &[String],
    request: &RunRequest,
    out: &Path,
    interrupt: &mut Interrupt,
) -> Result<RunResult, String> {
    let shown = path.display();
    let child =
        start(path, arguments, request, out).map_err(|error| format!("cannot start {shown}: {error}"))?;
    let limit = limit(request);
    let output = end(child, limit, request.deadlines.stop + START_AND_END, interrupt).await;
    let output = output.map_err(|error| format!("{shown} did not end: {error}"))?;
    let results: Result<Vec<RunResult>, _> = serde_json::from_slice(&output.stdout);
    match results {
        Ok(mut results) if results.len() == 1 => results.pop().ok_or_else(String::new),
        _ => Err(format!("{shown} gave no result: {}", last_words(&output))),
    }
}

fn start(path: &Path, arguments: &[String], request: &RunRequest, out: &Path) -> std::io::Result<Child> {
    let mut command = Command::new(path);
    command.args(["run", request.query.name]).args(arguments);
    command.args([OsString::from("--out"), out.into()]).args(["--format", "json", "--color", "never"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    // A group of its own, so that Ctrl-C reaches it once and through us.
    command.process_group(0);
    // SAFETY: the closure makes one system call, takes no lock and allocates nothing, as is asked of what runs between fork and
    // exec. It keeps a child from outliving a parent that was killed.
    unsafe {
        command.pre_exec(|| Ok(set_parent_process_death_signal(Some(Signal::TERM))?));
    }
    command.spawn()
}

/// How long a run may take.
fn limit(request: &RunRequest) -> Duration {
    let deadlines = &request.deadlines;
    let work = match (deadlines.total, &request.workload) {
        (Some(total), _) => total,
        (None, Workload::Rate { duration, warmup, .. }) => *duration + *warmup + deadlines.stall,
        (None, Workload::Events { .. }) => EVENTS_MAX,
    };
    deadlines.start + work + deadlines.stop + START_AND_END
}

/// Waits for the end; an interrupt and a passed limit ask the child to stop.
async fn end(
    child: Child,
    limit: Duration,
    stop: Duration,
    interrupt: &mut Interrupt,
) -> Result<Output, String> {
    let id = child.id();
    let mut output = std::pin::pin!(child.wait_with_output());
    let why = tokio::select! {
        output = &mut output => return output.map_err(|error| error.to_string()),
        () = interrupt.wait() => "interrupted".to_owned(),
        () = tokio::time::sleep(limit) => format!("it ran for {limit:?}"),
    };
    if let Some(id) = id.and_then(|id| Pid::from_raw(id.cast_signed())) {
        // It may have ended in this moment, which the wait below tells.
        let _ended = kill_process(id, Signal::INT);
    }
    match timeout(stop, output).await {
        Ok(output) => output.map_err(|error| error.to_string()),
        Err(_late) => Err(format!("{why}, and it did not stop within {stop:?}")),
    }
}

/// What a program said last, or how it ended.
fn last_words(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr);
    let last = said.lines().rev().find(|line| !line.trim().is_empty());
    last.map_or_else(|| output.status.to_string(), |line| line.trim().to_owned())
}
