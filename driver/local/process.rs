//! The processes of a server. Each has a file with its id and the time at which it started: both together name one process
//! for ever, so that another one that has got the id since is never stopped.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use procfs::process::{Process, Stat};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::error::{LocalError, Tried as _};

/// Time to end by itself after it was asked to.
const END_LIMIT: Duration = Duration::from_secs(15);
/// Time in which the kernel ends what it is told to end.
const KILL_LIMIT: Duration = Duration::from_secs(5);

/// What has become of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    /// It was never started, or it was stopped.
    Absent,
    /// It runs, under this id.
    Runs(u32),
    /// It was started under this id and has ended, though nobody stopped it.
    Died(u32),
}

/// A process, as its file tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Started {
    id: u32,
    /// Clock ticks after the boot.
    start_ticks: u64,
}

/// The file of a process.
fn file(directory: &Path, name: &str) -> PathBuf {
    directory.join(format!("{name}.pid"))
}

/// Writes down a process that has just been started and was not waited for.
///
/// # Errors
/// The file cannot be written.
pub fn record(directory: &Path, name: &str, id: u32) -> Result<(), LocalError> {
    let stat = stat(id).ok_or_else(|| {
        LocalError::failed(format!("cannot start the {name}"), "its process is not in /proc")
    })?;
    let path = file(directory, name);
    fs::write(&path, format!("{id} {}\n", stat.starttime)).tried_with("write", &path)
}

/// What has become of the process that was started under that name.
///
/// # Errors
/// Its file cannot be read.
pub fn life(directory: &Path, name: &str) -> Result<Life, LocalError> {
    Ok(match read(&file(directory, name))? {
        None => Life::Absent,
        Some(started) if start_ticks(started.id) == Some(started.start_ticks) => Life::Runs(started.id),
        Some(started) => Life::Died(started.id),
    })
}

/// Ends the process that was started under that name, waits until it is gone, and removes its file. Says what had become
/// of it before.
///
/// # Errors
/// It does not end, or its file cannot be removed.
pub fn stop(directory: &Path, name: &str) -> Result<Life, LocalError> {
    let found = life(directory, name)?;
    let path = file(directory, name);
    if let Some(started) = read(&path)? {
        end(started).tried(|| format!("stop the {name}, process {}", started.id))?;
        fs::remove_file(&path).tried_with("remove", &path)?;
    }
    Ok(found)
}

fn read(path: &Path) -> Result<Option<Started>, LocalError> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).tried_with("read", path),
    };
    let started = text.trim().split_once(' ').and_then(|(id, start_ticks)| {
        Some(Started { id: id.parse().ok()?, start_ticks: start_ticks.parse().ok()? })
    });
    let damaged = || LocalError::failed(format!("{} is damaged", path.display()), "remove it");
    started.map(Some).ok_or_else(damaged)
}

/// When a process started; `None` if there is none of that id, or only its exit code.
fn start_ticks(id: u32) -> Option<u64> {
    let stat = stat(id)?;
    (!matches!(stat.state, 'Z' | 'X')).then_some(stat.starttime)
}

fn stat(id: u32) -> Option<Stat> {
    Process::new(i32::try_from(id).ok()?).ok()?.stat().ok()
}

fn end(started: Started) -> io::Result<()> {
    let id = i32::try_from(started.id).ok().and_then(Pid::from_raw);
    // From here on the handle is that process or none, whoever gets the id.
    let Some(Ok(handle)) = id.map(|id| pidfd_open(id, PidfdFlags::empty())) else { return Ok(()) };
    if start_ticks(started.id) != Some(started.start_ticks) {
        return Ok(());
    }
    for (signal, limit) in [(Signal::TERM, END_LIMIT), (Signal::KILL, KILL_LIMIT)] {
        match pidfd_send_signal(&handle, signal) {
            Err(rustix::io::Errno::SRCH) => return Ok(()),
            sent => sent?,
        }
        if has_ended(&handle, limit)? {
            return Ok(());
        }
    }
    Err(io::Error::new(io::ErrorKind::TimedOut, format!("it still runs after {:?}", END_LIMIT + KILL_LIMIT)))
}

/// Waits until the process has ended, that long at most.
fn has_ended(handle: &OwnedFd, limit: Duration) -> io::Result<bool> {
    let limit = Timespec::try_from(limit).map_err(io::Error::other)?;
    loop {
        match poll(&mut [PollFd::new(handle, PollFlags::IN)], Some(&limit)) {
            Err(rustix::io::Errno::INTR) => {}
            ended => return Ok(ended? > 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command};

    use super::*;

    fn sleeper() -> Child {
        Command::new("sleep").arg("100").spawn().unwrap()
    }

    #[test]
    fn a_process_that_was_started_is_stopped_once() {
        let directory = tempfile::tempdir().unwrap();
        let mut child = sleeper();
        record(directory.path(), "taskmanager", child.id()).unwrap();
        assert_eq!(life(directory.path(), "jobmanager").unwrap(), Life::Absent);
        assert_eq!(life(directory.path(), "taskmanager").unwrap(), Life::Runs(child.id()));
        assert_eq!(stop(directory.path(), "taskmanager").unwrap(), Life::Runs(child.id()));
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&child.wait().unwrap()), Some(15));
        assert_eq!(stop(directory.path(), "taskmanager").unwrap(), Life::Absent);
    }

    #[test]
    fn one_that_has_ended_is_known_though_nobody_waited_for_it() {
        let directory = tempfile::tempdir().unwrap();
        let mut child = sleeper();
        record(directory.path(), "jobmanager", child.id()).unwrap();
        child.kill().unwrap();
        let handle =
            pidfd_open(Pid::from_raw(child.id().try_into().unwrap()).unwrap(), PidfdFlags::empty()).unwrap();
        assert!(has_ended(&handle, KILL_LIMIT).unwrap());
        assert_eq!(life(directory.path(), "jobmanager").unwrap(), Life::Died(child.id()));
        assert_eq!(stop(directory.path(), "jobmanager").unwrap(), Life::Died(child.id()));
        assert!(!file(directory.path(), "jobmanager").exists());
        child.wait().unwrap();
    }

    #[test]
    fn another_process_under_the_same_id_is_left_alone() {
        let directory = tempfile::tempdir().unwrap();
        let mut child = sleeper();
        let earlier = start_ticks(child.id()).unwrap() - 1;
        fs::write(file(directory.path(), "taskmanager"), format!("{} {earlier}\n", child.id())).unwrap();
        assert_eq!(life(directory.path(), "taskmanager").unwrap(), Life::Died(child.id()));
        assert_eq!(stop(directory.path(), "taskmanager").unwrap(), Life::Died(child.id()));
        assert_eq!(child.try_wait().unwrap(), None);
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn a_damaged_file_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let path = file(directory.path(), "jobmanager");
        fs::write(&path, "12x").unwrap();
        let error = stop(directory.path(), "jobmanager").unwrap_err().to_string();
        assert_eq!(error, format!("{} is damaged: remove it", path.display()));
    }
}
