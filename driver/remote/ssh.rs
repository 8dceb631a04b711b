//! A host behind SSH: one connection, opened with the first command and again when it was lost, served by a thread of its
//! own, since libssh2 blocks.

mod authentication;
mod connection;
mod known_hosts;
mod target;
mod worker;

use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::{Mutex, mpsc, oneshot};

use super::address::Address;
use super::error::{HostError, Step};
use super::host::{Host, Input, Process};
use connection::Limits;
pub use target::SshFiles;
use target::Target;
use worker::{Job, Worker};

/// Longest wait for a thread that has deadlines of its own: a look-up of a name has none.
const SLACK: Duration = Duration::from_secs(5);

/// A host behind SSH.
#[derive(Debug)]
pub struct Ssh {
    name: String,
    address: Address,
    key: Option<PathBuf>,
    files: SshFiles,
    limits: Limits,
    connection: Mutex<Option<Worker>>,
    proof: std::sync::Mutex<Option<String>>,
}

impl Ssh {
    /// A host at an address, with a key file that is tried first. Nothing is connected yet.
    pub fn new(address: Address, key: Option<PathBuf>, files: SshFiles) -> Self {
        Self {
            name: address.to_string(),
            address,
            key,
            files,
            limits: Limits::default(),
            connection: Mutex::new(None),
            proof: std::sync::Mutex::default(),
        }
    }

    async fn connect(&self) -> Result<Worker, HostError> {
        let target = Target::resolve(&self.address, self.key.as_deref(), &self.files)
            .map_err(|message| HostError::new(&self.name, Step::Connect, message))?;
        let shown = target.to_string();
        let (ready, connected) = oneshot::channel();
        let worker = Worker::start(self.name.clone(), target, self.limits, ready)
            .map_err(|error| HostError::new(&self.name, Step::Connect, error))?;
        let limit = self.limits.connect + 3 * self.limits.answer + SLACK;
        let proof = match tokio::time::timeout(limit, connected).await {
            Ok(Ok(connected)) => connected?,
            Ok(Err(_gone)) => return Err(HostError::new(&self.name, Step::Connect, "its thread has ended")),
            Err(_late) => {
                let message = format!("cannot connect to {shown}: not done within {limit:?}");
                return Err(HostError::new(&self.name, Step::Connect, message));
            }
        };
        *self.proof.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(proof);
        Ok(worker)
    }
}

#[async_trait]
impl Host for Ssh {
    fn name(&self) -> &str {
        &self.name
    }

    fn proof(&self) -> Option<String> {
        self.proof.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }

    async fn spawn(&self, command: &str) -> Result<Process, HostError> {
        let mut connection = self.connection.lock().await;
        if connection.as_ref().is_none_or(Worker::has_ended) {
            *connection = None;
            *connection = Some(self.connect().await?);
        }
        let worker =
            connection.as_ref().ok_or_else(|| HostError::new(&self.name, Step::Connect, "no connection"))?;
        let (sender, input) = mpsc::unbounded_channel();
        let (output, received) = mpsc::unbounded_channel();
        let (started, answer) = oneshot::channel();
        // The shell of the user may be any; the commands are those of sh.
        let command = format!("exec sh -c {}", super::quote::quoted(command));
        worker.submit(Job { command, input, output, started });
        let failed =
            |what: String| HostError::new(&self.name, Step::Run, format!("cannot start a command: {what}"));
        match tokio::time::timeout(self.limits.answer + SLACK, answer).await {
            Ok(Ok(Ok(()))) => {
                Ok(Process { input: Input::new(sender, Some(worker.waker())), output: received })
            }
            Ok(Ok(Err(message))) => Err(failed(message)),
            Ok(Err(_gone)) => Err(failed("the connection was lost".to_owned())),
            Err(_late) => Err(failed("no answer".to_owned())),
        }
    }
}

/// An error of libssh2, in words that tell a time-out.
fn words(error: &ssh2::Error, limit: Duration) -> String {
    // LIBSSH2_ERROR_TIMEOUT and LIBSSH2_ERROR_SOCKET_TIMEOUT.
    match error.code() {
        ssh2::ErrorCode::Session(-9 | -30) => format!("no answer within {limit:?}"),
        _ => error.message().to_owned(),
    }
}
