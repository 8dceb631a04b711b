//! What a run leaves in the server and in Kafka, and its removal: queries, streams and tables, topics, consumer groups.

use std::sync::Arc;
use std::time::Duration;

use nexmark_driver::engine::EngineError;
use tokio::time::Instant;

use crate::kafka::Kafka;
use crate::server::{Running, Server, Source};

/// Longest wait for the server to be done with a query that was told to end.
const END_LIMIT: Duration = Duration::from_secs(15);
/// Time between two attempts.
const RETRY: Duration = Duration::from_millis(500);

/// Whose things are meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// One run, by the prefix of its names.
    Run(String),
    /// Every run whose names begin with this word.
    Prefix(String),
}

impl Owner {
    /// Whether a stream, table or topic of that name is meant.
    fn owns(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        match self {
            Self::Run(prefix) => name.starts_with(&prefix.to_lowercase()),
            Self::Prefix(prefix) => name.strip_prefix(&prefix.to_lowercase()).is_some_and(is_of_a_run),
        }
    }

    /// Whether a consumer group, or a topic that a query has made for itself, is meant: its name holds that of the query.
    fn owns_internal(&self, name: &str) -> bool {
        ["query_CSAS_", "query_CTAS_"]
            .iter()
            .any(|mark| name.split_once(mark).is_some_and(|(_, query)| self.owns(query)))
    }
}

/// Whether a name goes on as those of runs do: `_20261130-…` with its date, time, query and random number.
fn is_of_a_run(rest: &str) -> bool {
    let parts: Vec<&str> = rest.split('_').collect();
    let digits = |part: &str, len: usize| part.len() == len && part.bytes().all(|byte| byte.is_ascii_digit());
    match parts[..] {
        ["", date, time, query, random, _, ..] => {
            digits(date, 8)
                && digits(time, 6)
                && query.strip_prefix('q').is_some_and(|number| digits(number, number.len().clamp(1, 2)))
                && random.len() == 6
                && random.bytes().all(|byte| byte.is_ascii_hexdigit())
        }
        _ => false,
    }
}

/// Names that all things of a run begin with.
pub(crate) fn run_prefix(prefix: &str, run: &str) -> String {
    format!("{prefix}_{}_", run.replace('-', "_"))
}

/// Things of a run that are there.
#[derive(Clone, Debug, Default)]
pub(crate) struct Leftovers {
    queries: Vec<Running>,
    sources: Vec<Source>,
    topics: Vec<String>,
    groups: Vec<String>,
}

impl Leftovers {
    pub(crate) fn is_empty(&self) -> bool {
        self.names().is_empty()
    }

    /// Each with its kind.
    pub(crate) fn names(&self) -> Vec<String> {
        let kinds = [
            ("query", self.queries.iter().map(|query| query.id.as_str()).collect::<Vec<_>>()),
            ("source", self.sources.iter().map(|source| source.name.as_str()).collect()),
            ("topic", self.topics.iter().map(String::as_str).collect()),
            ("group", self.groups.iter().map(String::as_str).collect()),
        ];
        kinds
            .iter()
            .flat_map(|(kind, names)| names.iter().map(move |name| format!("{kind} {name}")))
            .collect()
    }

    /// Finds them.
    ///
    /// # Errors
    /// The server or Kafka does not answer.
    pub(crate) async fn find(
        server: &Server,
        kafka: &Arc<dyn Kafka>,
        owner: &Owner,
    ) -> Result<Self, EngineError> {
        let mut found = Self::in_kafka(kafka, owner).await?;
        found.queries = server.queries().await?;
        found.queries.retain(|query| query.sinks.iter().any(|sink| owner.owns(sink)));
        found.sources = server.sources().await?;
        found.sources.retain(|source| owner.owns(&source.name));
        Ok(found)
    }

    async fn in_kafka(kafka: &Arc<dyn Kafka>, owner: &Owner) -> Result<Self, EngineError> {
        let (topics, groups) = blocking(kafka, |kafka| Ok((kafka.topics()?, kafka.groups()?))).await?;
        let topics = topics.into_iter().map(|(name, _)| name);
        Ok(Self {
            topics: topics.filter(|name| owner.owns(name) || owner.owns_internal(name)).collect(),
            groups: groups.into_iter().filter(|group| owner.owns_internal(group)).collect(),
            ..Self::default()
        })
    }
}

/// Removes everything of an owner; what Kafka has goes even when the server does not answer.
///
/// # Errors
/// What is left, and why.
pub(crate) async fn remove(
    server: &mut Server,
    kafka: &Arc<dyn Kafka>,
    owner: &Owner,
) -> Result<(), EngineError> {
    let (mut problems, mut left) = (Vec::new(), Ok(Leftovers::default()));
    // A statement that was under way when the run was stopped may be carried out after the first round.
    for _round in 0..2 {
        let dropped = drop_sources(server, owner).await;
        let deleted = delete_in_kafka(kafka, owner).await;
        problems =
            [dropped, deleted].into_iter().filter_map(Result::err).map(|error| error.message).collect();
        left = Leftovers::find(server, kafka, owner).await;
        if problems.is_empty() && left.as_ref().is_ok_and(Leftovers::is_empty) {
            return Ok(());
        }
    }
    if problems.is_empty() {
        problems.push("it is there again when it was removed twice".to_owned());
    }
    let left = match left {
        Ok(left) => left.names(),
        Err(_unreachable) => match owner {
            Owner::Run(prefix) | Owner::Prefix(prefix) => {
                vec![format!("everything whose name begins with {prefix}")]
            }
        },
    };
    let left = if left.is_empty() { String::new() } else { format!("; left behind: {}", left.join(", ")) };
    Err(EngineError::new(format!("{}{left}", problems.join("; "))))
}

/// Ends the queries and drops streams and tables. One that another is made from can be dropped only after it, so several rounds
/// may be needed.
async fn drop_sources(server: &mut Server, owner: &Owner) -> Result<(), EngineError> {
    let mut queries = server.queries().await?;
    queries.retain(|query| query.sinks.iter().any(|sink| owner.owns(sink)));
    for query in queries {
        server.execute(&format!("TERMINATE {};", query.id)).await?;
    }
    let mut sources = server.sources().await?;
    sources.retain(|source| owner.owns(&source.name));
    // The longest names are those of what is made last, more often than not.
    sources.sort_by_key(|source| std::cmp::Reverse(source.name.len()));
    while !sources.is_empty() {
        let before = sources.len();
        let mut problem = None;
        let mut left = Vec::new();
        for source in sources {
            let kind = if source.table { "TABLE" } else { "STREAM" };
            // Topics are removed by themselves: the server refuses while another stream reads the topic.
            match server.execute(&format!("DROP {kind} IF EXISTS {};", source.name)).await {
                Ok(_) => {}
                Err(error) => {
                    problem = Some(error);
                    left.push(source);
                }
            }
        }
        sources = left;
        if let (true, Some(problem)) = (sources.len() == before, problem) {
            return Err(problem);
        }
    }
    Ok(())
}

/// Deletes topics and groups. The members of a group leave a moment after their query has ended, and the server removes topics
/// of its own at the same time.
async fn delete_in_kafka(kafka: &Arc<dyn Kafka>, owner: &Owner) -> Result<(), EngineError> {
    let deadline = Instant::now() + END_LIMIT;
    loop {
        let found = Leftovers::in_kafka(kafka, owner).await?;
        if found.is_empty() {
            return Ok(());
        }
        let Leftovers { topics, groups, .. } = found;
        let deleted = blocking(kafka, move |kafka| {
            kafka.delete(&topics)?;
            kafka.delete_groups(&groups)
        })
        .await;
        if Instant::now() >= deadline {
            return deleted.and_then(|()| {
                Err(EngineError::new(format!("topics or groups are still there after {END_LIMIT:?}")))
            });
        }
        tokio::time::sleep(RETRY).await;
    }
}

/// Asks Kafka in a thread that may wait.
pub(crate) async fn blocking<T: Send + 'static>(
    kafka: &Arc<dyn Kafka>,
    ask: impl FnOnce(&dyn Kafka) -> Result<T, EngineError> + Send + 'static,
) -> Result<T, EngineError> {
    let kafka = Arc::clone(kafka);
    let asked = tokio::task::spawn_blocking(move || ask(kafka.as_ref())).await;
    asked.map_err(|error| EngineError::new(format!("cannot ask Kafka: {error}")))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_owns_what_begins_with_its_prefix() {
        let prefix = run_prefix("nexmark", "20261130-021509-q5-ab12cd");
        assert_eq!(prefix, "nexmark_20261130_021509_q5_ab12cd_");
        let owner = Owner::Run(prefix);
        assert!(owner.owns("NEXMARK_20261130_021509_Q5_AB12CD_Q5_COUNTS"));
        assert!(owner.owns("nexmark_20261130_021509_q5_ab12cd_bid"));
        assert!(!owner.owns("nexmark_20261130_021509_q5_ffffff_bid"));
        let group = "_confluent-ksql-nx_query_CTAS_NEXMARK_20261130_021509_Q5_AB12CD_Q5_TOP_239";
        assert!(owner.owns_internal(group));
        assert!(owner.owns_internal(&format!("{group}-Aggregate-GroupBy-repartition")));
        assert!(!owner.owns_internal("_confluent-ksql-nx_query_CTAS_OTHER_1"));
    }

    #[test]
    fn a_prefix_owns_runs_only() {
        let owner = Owner::Prefix("nexmark".to_owned());
        assert!(owner.owns("NEXMARK_20261130_021509_Q12_AB12CD_BID"));
        for other in [
            "nexmark_bid",
            "nexmark",
            "nexmark_20261130_021509_q5_ab12cd",
            "nexmark_20261130_021509_x5_ab12cd_bid",
            "nexmark_2026_021509_q5_ab12cd_bid",
            "nexmark_20261130_021509_q5_ab12cx_bid",
            "nexmarks_20261130_021509_q5_ab12cd_bid",
            "my_nexmark_20261130_021509_q5_ab12cd_bid",
        ] {
            assert!(!owner.owns(other), "{other}");
        }
    }
}
