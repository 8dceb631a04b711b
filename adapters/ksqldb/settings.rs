//! The section `[engine.ksqldb]` as the adapter uses it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use nexmark_driver::config::{Allowed, Key, Settings};
use nexmark_driver::credentials::Credentials;
use nexmark_driver::engine::EngineError;
use serde_json::{Map, Value};

/// Names of the secrets.
const SECRETS: &[&str] =
    &["NEXMARK_KSQLDB_USER", "NEXMARK_KSQLDB_PASSWORD", "NEXMARK_KAFKA_USER", "NEXMARK_KAFKA_PASSWORD"];

/// Every key of the section.
pub(crate) const KEYS: &[Key] = &[
    Key {
        name: "url",
        default: "http://127.0.0.1:8088",
        allowed: Allowed::Text,
        meaning: "the ksqlDB server's REST interface",
    },
    Key {
        name: "kafka.brokers",
        default: "127.0.0.1:9092",
        allowed: Allowed::Text,
        meaning: "brokers of the same Kafka, as this program reaches them: HOST:PORT, more after commas",
    },
    Key {
        name: "kafka.security",
        default: "plaintext",
        allowed: Allowed::Choice(&["plaintext", "ssl", "sasl_plaintext", "sasl_ssl"]),
        meaning: "how this program speaks to Kafka",
    },
    Key {
        name: "kafka.mechanism",
        default: "PLAIN",
        allowed: Allowed::Choice(&["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]),
        meaning: "how it says who it is, with kafka.security sasl_plaintext or sasl_ssl",
    },
    Key {
        name: "ca.file",
        default: "",
        allowed: Allowed::Text,
        meaning: "certificates, PEM, of whoever vouches for server and brokers; empty: whom the system trusts",
    },
    Key {
        name: "credentials",
        default: "",
        allowed: Allowed::Text,
        meaning: "file of mode 600 with NEXMARK_KSQLDB_USER=…, …_PASSWORD, NEXMARK_KAFKA_USER and …_PASSWORD; empty: the environment",
    },
    Key {
        name: "prefix",
        default: "nexmark",
        allowed: Allowed::Text,
        meaning: "begin of the name of everything that is made; letters, digits and _, a letter first",
    },
    Key {
        name: "partitions",
        default: "1",
        allowed: Allowed::Count { min: 1, max: 10_000 },
        meaning: "partitions of the topics of events",
    },
    Key {
        name: "replication",
        default: "1",
        allowed: Allowed::Count { min: 1, max: 100 },
        meaning: "copies of each partition",
    },
    Key {
        name: "feed",
        default: "auto",
        allowed: Allowed::Choice(&["auto", "prefilled", "live"]),
        meaning: "prefilled: events are in Kafka before the query begins; live: they come while it runs; auto: live in mode rate",
    },
    Key {
        name: "compression",
        default: "lz4",
        allowed: Allowed::Choice(&["none", "lz4", "snappy", "zstd"]),
        meaning: "compression of the records of events",
    },
    Key {
        name: "properties",
        default: "commit.interval.ms=200",
        allowed: Allowed::Text,
        meaning: "properties of the queries for Kafka Streams: NAME=VALUE, more after commas",
    },
    Key {
        name: "server.process",
        default: "KsqlServerMain",
        allowed: Allowed::Text,
        meaning: "text in the command line of the server's process, whose costs are those of the workers",
    },
    Key {
        name: "broker.process",
        default: "kafka.Kafka",
        allowed: Allowed::Text,
        meaning: "text in the command line of the brokers' processes, whose costs are told apart",
    },
    Key {
        name: "delivery.timeout",
        default: "30s",
        allowed: Allowed::Duration,
        meaning: "longest wait for Kafka to acknowledge an event or to answer",
    },
];

/// How events get into Kafka.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Feeding {
    /// All of them, before the query begins.
    Prefilled,
    /// By their schedule, while the query runs.
    Live,
}

impl Feeding {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Prefilled => "prefilled",
            Self::Live => "live",
        }
    }
}

/// What it takes to be let in by the server.
#[derive(Clone, Default)]
pub(crate) struct Access {
    pub(crate) ca_file: Option<PathBuf>,
    /// User and password.
    pub(crate) basic: Option<(String, String)>,
}

impl std::fmt::Debug for Access {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let user = self.basic.as_ref().map(|(user, _secret)| user);
        f.debug_struct("Access").field("ca_file", &self.ca_file).field("user", &user).finish()
    }
}

/// What it takes to reach Kafka.
#[derive(Clone, Debug)]
pub(crate) struct KafkaAccess {
    /// Settings of librdkafka, without the secret ones.
    pub(crate) config: Vec<(&'static str, String)>,
    /// Secret ones.
    pub(crate) credentials: Credentials,
    pub(crate) compression: String,
    pub(crate) limit: Duration,
}

impl KafkaAccess {
    /// User and password, where the brokers want them.
    pub(crate) fn sasl(&self) -> Option<(&str, &str)> {
        let credentials = &self.credentials;
        Some((credentials.get("NEXMARK_KAFKA_USER")?, credentials.get("NEXMARK_KAFKA_PASSWORD")?))
    }
}

/// Everything that is set.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) url: String,
    pub(crate) access: Access,
    pub(crate) kafka: KafkaAccess,
    pub(crate) prefix: String,
    pub(crate) partitions: u32,
    pub(crate) replication: u32,
    /// `None`: as the workload asks for.
    pub(crate) feeding: Option<Feeding>,
    pub(crate) properties: Map<String, Value>,
    pub(crate) server_process: String,
    pub(crate) broker_process: String,
}

impl Options {
    pub(crate) fn new(settings: &Settings) -> Result<Self, EngineError> {
        let file = |name: &str| Some(settings.text(name)).filter(|path| !path.is_empty()).map(PathBuf::from);
        let credentials =
            Credentials::read(file("credentials").as_deref(), SECRETS).map_err(EngineError::new)?;
        let ca_file = file("ca.file");
        let basic = pair(&credentials, "NEXMARK_KSQLDB_USER", "NEXMARK_KSQLDB_PASSWORD")?;
        Ok(Self {
            url: settings.text("url").to_owned(),
            kafka: kafka(settings, credentials, ca_file.as_deref())?,
            access: Access { ca_file, basic },
            prefix: prefix(settings.text("prefix"))?,
            partitions: u32::try_from(settings.count("partitions")).unwrap_or(u32::MAX),
            replication: u32::try_from(settings.count("replication")).unwrap_or(u32::MAX),
            feeding: match settings.text("feed") {
                "prefilled" => Some(Feeding::Prefilled),
                "live" => Some(Feeding::Live),
                _ => None,
            },
            properties: properties(settings.text("properties"))?,
            server_process: settings.text("server.process").to_owned(),
            broker_process: settings.text("broker.process").to_owned(),
        })
    }
}

fn kafka(
    settings: &Settings,
    credentials: Credentials,
    ca_file: Option<&Path>,
) -> Result<KafkaAccess, EngineError> {
    let security = settings.text("kafka.security");
    let mut config = vec![
        ("bootstrap.servers", settings.text("kafka.brokers").to_owned()),
        ("security.protocol", security.to_owned()),
    ];
    if let (Some(path), "ssl" | "sasl_ssl") = (ca_file, security) {
        config.push(("ssl.ca.location", path.display().to_string()));
    }
    let sasl = pair(&credentials, "NEXMARK_KAFKA_USER", "NEXMARK_KAFKA_PASSWORD")?;
    if security.starts_with("sasl") {
        if sasl.is_none() {
            return Err(EngineError::new(format!(
                "kafka.security is {security:?}, which needs NEXMARK_KAFKA_USER and NEXMARK_KAFKA_PASSWORD in the \
                 environment or in the file of credentials"
            )));
        }
        config.push(("sasl.mechanism", settings.text("kafka.mechanism").to_owned()));
    }
    let limit = settings.duration("delivery.timeout");
    if limit < Duration::from_secs(1) {
        return Err(EngineError::new(format!("delivery.timeout is {limit:?}, allowed is 1s or more")));
    }
    Ok(KafkaAccess { config, credentials, compression: settings.text("compression").to_owned(), limit })
}

/// User and password, both or none.
fn pair(
    credentials: &Credentials,
    user: &str,
    password: &str,
) -> Result<Option<(String, String)>, EngineError> {
    match (credentials.get(user), credentials.get(password)) {
        (Some(user), Some(password)) => Ok(Some((user.to_owned(), password.to_owned()))),
        (None, None) => Ok(None),
        (Some(_), None) => Err(EngineError::new(format!("{user} is given without {password}"))),
        (None, Some(_)) => Err(EngineError::new(format!("{password} is given without {user}"))),
    }
}

fn prefix(text: &str) -> Result<String, EngineError> {
    let begins = text.starts_with(|first: char| first.is_ascii_alphabetic());
    let fits = text.len() <= 40 && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if begins && fits {
        return Ok(text.to_owned());
    }
    let allowed = "up to 40 letters, digits and _, a letter first";
    Err(EngineError::new(format!("prefix is {text:?}, allowed is {allowed}")))
}

/// Properties that are sent with every statement. `auto.offset.reset` is always there, since the events that were in Kafka
/// before the query would be passed over without it.
fn properties(text: &str) -> Result<Map<String, Value>, EngineError> {
    let mut properties = Map::new();
    for entry in text.split(',').map(str::trim).filter(|entry| !entry.is_empty()) {
        let Some((name, value)) = entry.split_once('=') else {
            return Err(EngineError::new(format!("properties has {entry:?}, allowed is NAME=VALUE")));
        };
        if name.trim().ends_with("auto.offset.reset") {
            return Err(EngineError::new(format!("properties has {entry:?}; it is always earliest")));
        }
        if properties.insert(name.trim().to_owned(), value.trim().into()).is_some() {
            return Err(EngineError::new(format!("properties has {:?} twice", name.trim())));
        }
    }
    properties.insert("auto.offset.reset".to_owned(), "earliest".into());
    Ok(properties)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_allowed() {
        let options = Options::new(&Settings::defaults(KEYS)).unwrap();
        assert_eq!(options.feeding, None);
        assert_eq!(options.properties["auto.offset.reset"], "earliest");
        assert_eq!(options.properties["commit.interval.ms"], "200");
        for key in KEYS {
            assert!(key.allowed.accepts(key.default), "{}", key.name);
        }
    }

    #[test]
    fn bad_values_are_named() {
        for (text, problem) in [
            ("commit.interval.ms", "allowed is NAME=VALUE"),
            ("ksql.streams.auto.offset.reset=latest", "always earliest"),
            ("a=1, a=2", "\"a\" twice"),
        ] {
            let error = properties(text).unwrap_err().to_string();
            assert!(error.contains(problem), "{error}");
        }
        for text in ["", "1a", "a-b", "ä", &"a".repeat(41)] {
            let error = prefix(text).unwrap_err().to_string();
            assert!(error.contains(&format!("{text:?}")) && error.contains("a letter first"), "{error}");
        }
        assert_eq!(prefix("Team_7").unwrap(), "Team_7");
    }
}
