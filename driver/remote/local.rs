//! The driver's own machine as a host.

use std::os::unix::process::ExitStatusExt as _;
use std::process::{ExitStatus, Stdio};

use async_trait::async_trait;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{ChildStdin, Command};
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};

use super::address::Address;
use super::error::{HostError, Step};
use super::host::{Host, Input, Output, Process, ProcessEnd};

/// The driver's own machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Local;

#[async_trait]
impl Host for Local {
    fn name(&self) -> &str {
        Address::LOCALHOST
    }

    async fn spawn(&self, command: &str) -> Result<Process, HostError> {
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(command).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let failed = |what: &str| HostError::new(self.name(), Step::Run, format!("cannot start sh: {what}"));
        let mut child = shell.spawn().map_err(|error| failed(&error.to_string()))?;
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(failed("it has no streams"));
        };
        let (sender, bytes) = mpsc::unbounded_channel();
        let (events, output) = mpsc::unbounded_channel();
        tokio::spawn(write(stdin, bytes));
        tokio::spawn(async move {
            tokio::join!(read(stdout, &events, Output::Stdout), read(stderr, &events, Output::Stderr));
            let end = child.wait().await.map_or_else(|error| ProcessEnd::Lost(error.to_string()), end);
            let _unheard = events.send(Output::End(end));
        });
        Ok(Process { input: Input::new(sender, None), output })
    }
}

async fn write(mut stdin: ChildStdin, mut bytes: UnboundedReceiver<Vec<u8>>) {
    while let Some(block) = bytes.recv().await {
        // A command that reads no more has a reason, which its end tells.
        if stdin.write_all(&block).await.is_err() {
            return;
        }
    }
}

/// Hands on a stream until its end, or until nobody listens: then it is closed, so that whoever writes to it is told.
async fn read(
    mut stream: impl AsyncRead + Unpin,
    events: &UnboundedSender<Output>,
    wrap: fn(Vec<u8>) -> Output,
) {
    let mut block = vec![0; 1 << 16];
    loop {
        let read = tokio::select! {
            read = stream.read(&mut block) => read,
            () = events.closed() => return,
        };
        match read {
            Ok(read) if read > 0 => {
                let _unheard = events.send(wrap(block[..read].to_vec()));
            }
            _ => return,
        }
    }
}

fn end(status: ExitStatus) -> ProcessEnd {
    match (status.code(), status.signal()) {
        (Some(code), _) => ProcessEnd::Code(code),
        (None, Some(signal)) => ProcessEnd::Signal(signal.to_string()),
        (None, None) => ProcessEnd::Lost("it did not end".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;
    use std::time::Duration;

    use super::*;

    const LIMIT: Duration = Duration::from_secs(20);

    #[tokio::test]
    async fn a_command_runs_to_its_end() {
        let finished = Local.run("echo out; echo err >&2; exit 3", LIMIT).await.unwrap();
        assert_eq!((finished.stdout.as_str(), finished.stderr.as_str()), ("out\n", "err\n"));
        assert_eq!((finished.end.clone(), finished.complaint().as_str()), (ProcessEnd::Code(3), "err"));
        let killed = Local.run("kill -9 $$", LIMIT).await.unwrap();
        assert_eq!(killed.complaint(), "it was ended by signal 9");
        let late = Local.run("sleep 77.5", Duration::from_millis(50)).await.unwrap_err();
        assert!(
            late.to_string().contains("host localhost: a command did not end within 50ms: sleep"),
            "{late}"
        );
        let much = Local.run("yes | head -c 3000000", LIMIT).await.unwrap_err().to_string();
        assert!(much.contains("more than 1048576 bytes"), "{much}");
    }

    #[tokio::test]
    async fn a_file_is_copied_whole_or_not_at_all() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a b/c'd/program");
        let content: Vec<u8> = (0..300_000u32).map(|byte| byte.to_le_bytes()[0]).collect();
        let made = Local.copy_in(&content, path.to_str().unwrap(), LIMIT).await.unwrap();
        let parents = path.ancestors().skip(1).take(2);
        let expected: Vec<_> =
            [path.as_path()].into_iter().chain(parents).map(|path| path.to_str().unwrap()).collect();
        assert_eq!(made, expected);
        assert_eq!(std::fs::read(&path).unwrap(), content);
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
        let again = Local.copy_in(b"other", path.to_str().unwrap(), LIMIT).await.unwrap();
        assert_eq!(again.len(), 1, "directories that were there are not made");
        assert_eq!(std::fs::read(&path).unwrap(), b"other");

        let file = directory.path().join("file");
        std::fs::write(&file, b"x").unwrap();
        let error = Local.copy_in(b"x", file.join("under/x").to_str().unwrap(), LIMIT).await.unwrap_err();
        assert!(error.step == Step::Copy && error.message.contains("cannot copy to"), "{error}");
    }

    #[tokio::test]
    async fn a_dropped_process_gets_the_end_of_its_input() {
        let directory = tempfile::tempdir().unwrap();
        let mark = directory.path().join("ended");
        let process = Local.spawn(&format!("cat > /dev/null; touch {}", mark.display())).await.unwrap();
        drop(process);
        let start = std::time::Instant::now();
        while !mark.exists() {
            assert!(start.elapsed() < LIMIT, "the command goes on");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}
