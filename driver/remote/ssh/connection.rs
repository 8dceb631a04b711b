//! Makes a connection: address, greeting, the host's key, the user's key. Blocks, each step with a deadline.

use std::io;
use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::Duration;

use ssh2::Session;

use super::authentication::authenticate;
use super::known_hosts::KnownHosts;
use super::target::Target;
use super::words;
use crate::remote::error::Step;

/// Longest waits while a connection is made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// For each address of the host.
    pub(super) connect: Duration,
    /// For each answer of the host.
    pub(super) answer: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { connect: Duration::from_secs(5), answer: Duration::from_secs(5) }
    }
}

/// A connection on which commands can be started.
pub(super) struct Connection {
    pub(super) session: Session,
    pub(super) stream: TcpStream,
    /// What proved the user.
    pub(super) proof: String,
}

impl Connection {
    pub(super) fn open(target: &Target, limits: Limits) -> Result<Self, (Step, String)> {
        let stream = connect(target, limits.connect).map_err(|error| {
            (Step::Connect, format!("cannot connect to {target}: {}", reason(&error, limits.connect)))
        })?;
        let failed = |error: ssh2::Error| {
            let what = format!("{target} does not speak SSH: {}", words(&error, limits.answer));
            (Step::Connect, what)
        };
        let mut session = Session::new().map_err(failed)?;
        session.set_timeout(u32::try_from(limits.answer.as_millis()).unwrap_or(u32::MAX));
        let copy = stream.try_clone().map_err(|error| (Step::Connect, error.to_string()))?;
        session.set_tcp_stream(copy);
        let proof = {
            let known = KnownHosts::read(&session, target);
            known.prefer_known_kinds().map_err(failed)?;
            let mut greeting = session.clone();
            greeting.handshake().map_err(failed)?;
            known.check().map_err(|message| (Step::HostKey, message))?;
            authenticate(&session, target, limits.answer).map_err(|message| (Step::Authenticate, message))?
        };
        Ok(Self { session, stream, proof })
    }
}

fn connect(target: &Target, limit: Duration) -> io::Result<TcpStream> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "its name has no address");
    for address in (target.host.as_str(), target.port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, limit) {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                return Ok(stream);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn reason(error: &io::Error, limit: Duration) -> String {
    match error.kind() {
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => format!("no answer within {limit:?}"),
        _ => error.to_string(),
    }
}
