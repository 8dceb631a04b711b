//! The REST interface of a ksqlDB server. Statements are sent one by one; a reply of 200 can still be a failure, or say that
//! the statement is not done yet.

mod reply;

use std::path::Path;
use std::time::Duration;

use nexmark_driver::engine::EngineError;
use reqwest::{Method, StatusCode, Url};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use reply::{CommandStatus, Entity, Failure, InfoReply};
pub(crate) use reply::{Info, QueryDescription, Running, Source};

use crate::settings::Access;

/// Longest wait for one reply: the server itself gives a statement 5 s before it answers with what it has.
const REPLY_LIMIT: Duration = Duration::from_secs(30);
/// Longest wait for a statement to be carried out, and for a server that is starting.
const STATEMENT_LIMIT: Duration = Duration::from_secs(60);
/// Time between two looks at a statement that is not done.
const STATUS_INTERVAL: Duration = Duration::from_millis(200);

/// The server had no time for a statement that it did not begin: it waits for an earlier one, or is starting.
const NOT_BEGUN: [i64; 2] = [50301, 50302];

/// A ksqlDB server.
#[derive(Debug)]
pub(crate) struct Server {
    client: reqwest::Client,
    url: Url,
    access: Access,
    /// Sent with every statement.
    properties: Map<String, Value>,
    /// Number of the last statement that the server told; the next one waits for it, on whichever server it is.
    sequence_number: Option<i64>,
}

/// What came of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Done {
    /// Id of the query that it began, if it did.
    pub(crate) query_id: Option<String>,
    pub(crate) message: String,
}

/// Why a request was in vain.
#[derive(Debug)]
enum Refusal {
    /// The server could not be reached or did not answer as it should.
    Transport(String),
    /// The server's own error.
    Answered { code: i64, message: String },
}

impl Server {
    pub(crate) fn new(
        url: &str,
        access: Access,
        properties: Map<String, Value>,
    ) -> Result<Self, EngineError> {
        let bad = |problem: String| EngineError::new(format!("url is {url:?}, {problem}"));
        let parsed: Url = url.parse().map_err(|error| bad(format!("no URL: {error}")))?;
        if !matches!(parsed.scheme(), "http" | "https") || !parsed.has_host() {
            return Err(bad("allowed is http://HOST:PORT or https://HOST:PORT".to_owned()));
        }
        if !parsed.username().is_empty() || parsed.password().is_some() {
            return Err(EngineError::new(
                "url holds a user or password; give them through the environment or a file of credentials",
            ));
        }
        let client = client(access.ca_file.as_deref())?;
        Ok(Self { client, url: parsed, access, properties, sequence_number: None })
    }

    pub(crate) fn url(&self) -> &Url {
        &self.url
    }

    /// Version, cluster and service id.
    pub(crate) async fn info(&self) -> Result<Info, EngineError> {
        let reply: InfoReply =
            self.get(&["info"]).await.map_err(|refusal| self.failed("GET /info", refusal))?;
        Ok(reply.info)
    }

    /// What a server says that is not fit to work; `None` when it is healthy.
    pub(crate) async fn illness(&self) -> Result<Option<String>, EngineError> {
        let health: Value =
            self.get(&["healthcheck"]).await.map_err(|refusal| self.failed("GET /healthcheck", refusal))?;
        Ok((health["isHealthy"] != true).then(|| health.to_string()))
    }

    /// Properties of the server, `SHOW PROPERTIES`.
    pub(crate) async fn properties(&self) -> Result<Vec<(String, String)>, EngineError> {
        let entities = self.ask("SHOW PROPERTIES;").await?;
        let listed = entities.into_iter().flat_map(|entity| entity.properties.unwrap_or_default());
        Ok(listed.map(|property| (property.name, property.value.unwrap_or_default())).collect())
    }

    /// Every stream and table, in no order.
    pub(crate) async fn sources(&self) -> Result<Vec<Source>, EngineError> {
        let entities = self.ask("SHOW STREAMS; SHOW TABLES;").await?;
        Ok(entities.into_iter().flat_map(Entity::sources).collect())
    }

    /// Every query that runs.
    pub(crate) async fn queries(&self) -> Result<Vec<Running>, EngineError> {
        let entities = self.ask("SHOW QUERIES;").await?;
        Ok(entities.into_iter().flat_map(|entity| entity.queries.unwrap_or_default()).collect())
    }

    /// What the server knows of a query; `None` if there is none of that id.
    pub(crate) async fn describe(&self, query_id: &str) -> Result<Option<QueryDescription>, EngineError> {
        let statement = format!("EXPLAIN {query_id};");
        match self.send(&statement).await {
            Ok(entities) => Ok(entities.into_iter().find_map(|entity| entity.query_description)),
            Err(Refusal::Answered { message, .. }) if message.contains("does not exist") => Ok(None),
            Err(refusal) => Err(self.failed(&statement, refusal)),
        }
    }

    /// Carries a statement out, and returns when the server says that it has.
    pub(crate) async fn execute(&mut self, statement: &str) -> Result<Done, EngineError> {
        let deadline = Instant::now() + STATEMENT_LIMIT;
        let entities = loop {
            match self.send(statement).await {
                Ok(entities) => break entities,
                Err(Refusal::Answered { code, .. })
                    if NOT_BEGUN.contains(&code) && Instant::now() < deadline =>
                {
                    tokio::time::sleep(STATUS_INTERVAL).await;
                }
                Err(refusal) => return Err(self.failed(statement, refusal)),
            }
        };
        let Some(entity) = entities.into_iter().next() else {
            return Err(self.error(statement, "the server says nothing about it"));
        };
        self.sequence_number = entity.command_sequence_number.or(self.sequence_number);
        match (entity.command_status, entity.command_id) {
            (Some(status), Some(command)) => self.wait(statement, &command, status, deadline).await,
            // As for an IF EXISTS that found nothing.
            _ => Ok(Done { query_id: None, message: entity.message.unwrap_or_default() }),
        }
    }

    async fn wait(
        &self,
        statement: &str,
        command: &str,
        mut status: CommandStatus,
        deadline: Instant,
    ) -> Result<Done, EngineError> {
        loop {
            match status.status.as_str() {
                "SUCCESS" => return Ok(Done { query_id: status.query_id, message: status.message }),
                "ERROR" | "TERMINATED" => {
                    return Err(
                        self.error(statement, &format!("{}: {}", status.status, root_cause(&status.message)))
                    );
                }
                _ => {}
            }
            if Instant::now() >= deadline {
                let late = format!("not done after {STATEMENT_LIMIT:?}, its status is {}", status.status);
                return Err(self.error(statement, &late));
            }
            tokio::time::sleep(STATUS_INTERVAL).await;
            let mut path = vec!["status"];
            path.extend(command.splitn(3, '/'));
            match self.get(&path).await {
                Ok(newer) => status = newer,
                // The server forgets nothing that it has accepted, but may be restarting.
                Err(_not_now) if Instant::now() < deadline => {}
                Err(refusal) => return Err(self.failed(statement, refusal)),
            }
        }
    }

    /// Replies to a statement that changes nothing.
    async fn ask(&self, statement: &str) -> Result<Vec<Entity>, EngineError> {
        self.send(statement).await.map_err(|refusal| self.failed(statement, refusal))
    }

    async fn send(&self, statement: &str) -> Result<Vec<Entity>, Refusal> {
        let mut body = json!({ "ksql": statement, "streamsProperties": self.properties });
        if let Some(number) = self.sequence_number {
            body["commandSequenceNumber"] = number.into();
        }
        self.request(Method::POST, &["ksql"], Some(body)).await
    }

    async fn get<T: DeserializeOwned>(&self, path: &[&str]) -> Result<T, Refusal> {
        self.request(Method::GET, path, None).await
    }

    async fn request<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &[&str],
        body: Option<Value>,
    ) -> Result<T, Refusal> {
        let mut url = self.url.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        let mut request = self.client.request(method, url).header("Accept", "application/json");
        if let Some((user, password)) = &self.access.basic {
            request = request.basic_auth(user, Some(password));
        }
        if let Some(body) = body {
            request = request.json(&body);
        }
        let reply = request.send().await.map_err(|error| Refusal::Transport(chain(&error)))?;
        let status = reply.status();
        let text = reply.text().await.map_err(|error| Refusal::Transport(chain(&error)))?;
        if status.is_success() {
            return serde_json::from_str(&text).map_err(|error| {
                Refusal::Transport(format!("no such reply as expected: {error}: {}", start(&text)))
            });
        }
        Err(refusal(status, &text))
    }

    fn failed(&self, what: &str, refusal: Refusal) -> EngineError {
        match refusal {
            Refusal::Transport(problem) => self.error(what, &problem),
            Refusal::Answered { code, message } => self.error(what, &format!("{message} (error {code})")),
        }
    }

    fn error(&self, what: &str, problem: &str) -> EngineError {
        EngineError::new(format!("ksqlDB at {}: {}: {problem}", self.url, one_line(what)))
    }
}

fn client(ca_file: Option<&Path>) -> Result<reqwest::Client, EngineError> {
    // An error says that there is a provider already.
    let _there = rustls::crypto::ring::default_provider().install_default();
    let mut builder = reqwest::Client::builder().timeout(REPLY_LIMIT);
    if let Some(path) = ca_file {
        let bad =
            |error: String| EngineError::new(format!("cannot take ca.file {}: {error}", path.display()));
        let text = std::fs::read(path).map_err(|error| bad(error.to_string()))?;
        let certificates =
            reqwest::Certificate::from_pem_bundle(&text).map_err(|error| bad(chain(&error)))?;
        if certificates.is_empty() {
            return Err(bad("there is no certificate in it".to_owned()));
        }
        builder = builder.tls_certs_merge(certificates);
    }
    builder
        .build()
        .map_err(|error| EngineError::new(format!("cannot make a client of ksqlDB: {}", chain(&error))))
}

fn refusal(status: StatusCode, text: &str) -> Refusal {
    match serde_json::from_str::<Failure>(text) {
        Ok(failure) => Refusal::Answered { code: failure.error_code, message: one_line(&failure.message) },
        Err(_other_text) => Refusal::Transport(format!("HTTP {status}: {}", start(text))),
    }
}

/// An error with all its causes: the outermost one alone says little.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let said = error.to_string();
        if !text.contains(&said) {
            text += &format!(": {said}");
        }
        cause = error.source();
    }
    text
}

/// The line of a stack trace that says most.
fn root_cause(message: &str) -> String {
    let cause = message.lines().rev().find_map(|line| line.trim().strip_prefix("Caused by: "));
    one_line(cause.unwrap_or(message))
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The start of a text of unknown length.
fn start(text: &str) -> String {
    const LONG: usize = 300;
    let line = one_line(text);
    match line.char_indices().nth(LONG) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
