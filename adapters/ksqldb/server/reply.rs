//! Replies of a ksqlDB server. Fields that are not needed are passed over, and those that some versions lack are optional.

use serde::Deserialize;

/// Reply to `GET /info`.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct InfoReply {
    #[serde(rename = "KsqlServerInfo")]
    pub(super) info: Info,
}

/// What a server says about itself.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Info {
    pub(crate) version: String,
    pub(crate) kafka_cluster_id: String,
    pub(crate) ksql_service_id: String,
    pub(crate) server_status: Option<String>,
}

/// What a server says about one statement, whichever kind it is.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Entity {
    pub(super) command_id: Option<String>,
    pub(super) command_status: Option<CommandStatus>,
    pub(super) command_sequence_number: Option<i64>,
    /// Of a statement that found nothing to do.
    pub(super) message: Option<String>,
    pub(super) properties: Option<Vec<Property>>,
    pub(super) queries: Option<Vec<Running>>,
    pub(super) query_description: Option<QueryDescription>,
    streams: Option<Vec<Listed>>,
    tables: Option<Vec<Listed>>,
}

impl Entity {
    pub(super) fn sources(self) -> Vec<Source> {
        let named = |listed: Option<Vec<Listed>>, table: bool| {
            let listed = listed.unwrap_or_default().into_iter();
            listed.map(move |source| Source { name: source.name, table })
        };
        named(self.streams, false).chain(named(self.tables, true)).collect()
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CommandStatus {
    pub(super) status: String,
    #[serde(default)]
    pub(super) message: String,
    pub(super) query_id: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Property {
    pub(super) name: String,
    pub(super) value: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
struct Listed {
    name: String,
}

/// A stream or table of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Source {
    pub(crate) name: String,
    pub(crate) table: bool,
}

/// A query in the list of those that run.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Running {
    pub(crate) id: String,
    #[serde(default)]
    pub(crate) sinks: Vec<String>,
}

/// What a server knows of a query.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct QueryDescription {
    /// The consumer group through which it reads.
    pub(crate) consumer_group_id: Option<String>,
    #[serde(default)]
    topology: String,
    /// `RUNNING` means no more than `not ERROR`.
    pub(crate) state: Option<String>,
    #[serde(default)]
    query_errors: Vec<QueryError>,
    /// Effective properties that differ from the server's.
    #[serde(default)]
    pub(crate) overridden_properties: serde_json::Map<String, serde_json::Value>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct QueryError {
    #[serde(default)]
    error_message: String,
}

impl QueryDescription {
    /// Topics that the query reads, in the words of its topology: those that it has made for itself lack the name of its group.
    pub(crate) fn topics(&self) -> Vec<&str> {
        let sources = self.topology.lines().filter(|line| line.trim_start().starts_with("Source:"));
        let lists = sources.filter_map(|line| line.split_once("topics: [")?.1.split(']').next());
        lists.flat_map(|list| list.split(',')).map(str::trim).filter(|topic| !topic.is_empty()).collect()
    }

    /// The latest error of the query.
    pub(crate) fn error(&self) -> Option<&str> {
        self.query_errors.last().map(|error| error.error_message.as_str())
    }
}

/// An error's body.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Failure {
    pub(super) error_code: i64,
    #[serde(default)]
    pub(super) message: String,
}
