//! How requests travel to Flink: over HTTP, and in tests over nothing at all, so that minutes of a job's life pass in no time.

use std::time::Duration;

use async_trait::async_trait;

/// Sends requests.
#[async_trait]
pub(crate) trait Transport: Send + Sync {
    /// The reply, whatever its status.
    async fn send(&self, request: &Request) -> Result<Reply, NoReply>;

    /// The address below which paths are, for messages; without a slash at its end.
    fn address(&self) -> &str;
}

/// What is asked of Flink.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Request {
    pub(crate) method: Method,
    /// Below the address, with a slash at its begin, encoded.
    pub(crate) path: String,
    pub(crate) body: Body,
    /// Longest wait for the whole reply.
    pub(crate) limit: Duration,
}

/// The methods that Flink knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    Get,
    Post,
    Patch,
    Delete,
}

impl Method {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }
}

/// What a request brings.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Body {
    Empty,
    Json(serde_json::Value),
    /// A file, as a form has it.
    File {
        name: String,
        bytes: Vec<u8>,
    },
}

/// What Flink replied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

/// There was no reply, or only a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NoReply {
    /// Why.
    pub(crate) reason: String,
    /// Whether the request cannot have reached Flink.
    pub(crate) unsent: bool,
}
