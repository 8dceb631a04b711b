//! Flink's REST interface: requests that are tried again only where that is safe, replies as types, and failures that name the
//! address, the status, and what Flink says about the cause.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use nexmark_driver::engine::EngineError;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::cause;
use crate::transport::{Body, Method, NoReply, Reply, Request, Transport};

/// How often a request is tried that may be sent twice.
const TRIES: u32 = 3;
/// Pause before the second try; it doubles.
const PAUSE: Duration = Duration::from_millis(100);

/// A cluster, by its REST interface.
#[derive(Clone)]
pub(crate) struct Rest {
    transport: Arc<dyn Transport>,
    /// Longest wait for a reply.
    limit: Duration,
}

/// Why a request gave nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{request}: {fault}")]
pub(crate) struct RestError {
    /// Method and address.
    pub(crate) request: String,
    pub(crate) fault: Fault,
}

/// What was wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    NoReply(NoReply),
    /// A status that is no success, and Flink's message.
    Status(u16, String),
    /// A reply that is not what it should be.
    Damaged(String),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoReply(no_reply) => write!(f, "no reply: {}", no_reply.reason),
            Self::Status(status, message) => write!(f, "status {status}: {message}"),
            Self::Damaged(reason) => write!(f, "the reply is damaged: {reason}"),
        }
    }
}

impl RestError {
    /// Flink knows nothing of that name.
    pub(crate) fn is_not_found(&self) -> bool {
        matches!(self.fault, Fault::Status(404, _))
    }

    /// It may be otherwise a moment later.
    fn is_passing(&self) -> bool {
        match &self.fault {
            Fault::NoReply(_) | Fault::Damaged(_) => true,
            Fault::Status(status, _) => matches!(status, 429 | 502 | 503 | 504),
        }
    }

    /// The request cannot have had an effect.
    pub(crate) fn is_without_effect(&self) -> bool {
        match &self.fault {
            Fault::NoReply(no_reply) => no_reply.unsent,
            Fault::Status(status, _) => !matches!(status, 502 | 504),
            Fault::Damaged(_) => false,
        }
    }
}

impl From<RestError> for EngineError {
    fn from(error: RestError) -> Self {
        Self::new(error)
    }
}

impl Rest {
    pub(crate) fn new(transport: Arc<dyn Transport>, limit: Duration) -> Self {
        Self { transport, limit }
    }

    /// The address of the cluster.
    pub(crate) fn address(&self) -> &str {
        self.transport.address()
    }

    pub(crate) async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, RestError> {
        self.repeat(&self.request(Method::Get, path)).await
    }

    /// Cancels a job; cancelling twice is as good as once.
    pub(crate) async fn patch(&self, path: &str) -> Result<Value, RestError> {
        self.repeat(&self.request(Method::Patch, path)).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Result<Value, RestError> {
        self.repeat(&self.request(Method::Delete, path)).await
    }

    /// Sent once: whoever cannot tell whether it had an effect must look.
    pub(crate) async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: Body,
        limit: Duration,
    ) -> Result<T, RestError> {
        self.once(&Request { body, limit, ..self.request(Method::Post, path) }).await
    }

    fn request(&self, method: Method, path: &str) -> Request {
        Request { method, path: path.to_owned(), body: Body::Empty, limit: self.limit }
    }

    async fn repeat<T: DeserializeOwned>(&self, request: &Request) -> Result<T, RestError> {
        let mut pause = PAUSE;
        for _ in 1..TRIES {
            match self.once(request).await {
                Err(error) if error.is_passing() => tokio::time::sleep(pause).await,
                done => return done,
            }
            pause *= 2;
        }
        self.once(request).await
    }

    async fn once<T: DeserializeOwned>(&self, request: &Request) -> Result<T, RestError> {
        let reply = self.transport.send(request).await;
        let read = reply.map_err(Fault::NoReply).and_then(|reply| read(&reply));
        read.map_err(|fault| RestError {
            request: format!("{} {}{}", request.method.name(), self.address(), request.path),
            fault,
        })
    }
}

fn read<T: DeserializeOwned>(reply: &Reply) -> Result<T, Fault> {
    if !(200..300).contains(&reply.status) {
        return Err(Fault::Status(reply.status, cause::of_reply(&reply.body)));
    }
    serde_json::from_slice(&reply.body).map_err(|error| Fault::Damaged(error.to_string()))
}

/// A piece of a path or a value of a query, encoded: names of metrics hold brackets, spaces and more.
pub(crate) fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                encoded.push(char::from(byte))
            }
            _ => encoded += &format!("%{byte:02X}"),
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_encoded() {
        assert_eq!(encoded("0.Source__a b[7].x,y"), "0.Source__a%20b%5B7%5D.x%2Cy");
    }

    #[test]
    fn a_truncated_reply_is_damaged() {
        let reply = |status, body: &str| Reply { status, body: body.as_bytes().to_vec() };
        let fault = read::<Value>(&reply(200, "{\"status\": \"RUN")).unwrap_err();
        assert!(matches!(&fault, Fault::Damaged(reason) if reason.contains("EOF")), "{fault}");
        let fault = read::<Value>(&reply(503, "no leader")).unwrap_err();
        assert_eq!(fault.to_string(), "status 503: no leader");
        assert_eq!(read::<Value>(&reply(202, "{}")).unwrap(), serde_json::json!({}));
    }
}
