//! The list of hosts: `[[host]]` tables in a file of their own or among the settings.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use nexmark_collector::watch::{Target, Watch};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::address::Address;
use super::binary::Binary;
use super::local::Local;
use super::ssh::{Ssh, SshFiles};
use super::start::{Collector, Station};
use crate::config::line_of;

/// Keys of a host.
const KEYS: [&str; 6] = ["address", "user", "port", "key", "collector", "roles"];

/// The key of the list.
pub(crate) const HOST: &str = "host";

/// What is wrong with a list.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ListError(String);

/// Hosts of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostList {
    /// In the order of the list.
    pub hosts: Vec<ListedHost>,
}

/// One host of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedHost {
    /// Where it is.
    pub address: Address,
    /// Key file that is tried first.
    pub key: Option<PathBuf>,
    /// Collector for its architecture.
    pub collector: Option<PathBuf>,
    /// What runs on it, by a text on the command line of its processes.
    pub roles: Vec<Watch>,
    /// Line in its file.
    line: usize,
}

impl HostList {
    /// Reads a file that holds nothing else.
    ///
    /// # Errors
    /// It cannot be read, is no list, or names a host twice.
    pub fn read(path: &Path) -> Result<Self, ListError> {
        let shown = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|error| ListError(format!("cannot read list of hosts {shown}: {error}")))?;
        let list = Self::parse(&text, &shown, &[HOST])?;
        if list.hosts.is_empty() {
            return Err(ListError(format!(
                "{shown}: there is no host in it; a host is a table [[host]] with an address"
            )));
        }
        Ok(list)
    }

    /// Reads the hosts among the settings of a file, whose other sections are read elsewhere.
    pub(crate) fn among_settings(text: &str, path: &str) -> Result<Self, ListError> {
        Self::parse(text, path, &[])
    }

    fn parse(text: &str, path: &str, only: &[&str]) -> Result<Self, ListError> {
        let reader = Reader { text, path };
        let document = DeTable::parse(text).map_err(|error| {
            let message = error.message().lines().collect::<Vec<_>>().join(", ");
            reader.error(error.span().map_or(0, |span| span.start), &message)
        })?;
        let mut hosts: Vec<ListedHost> = Vec::new();
        for (key, value) in document.get_ref() {
            if *key.get_ref() == HOST {
                hosts = reader.hosts(value)?;
            } else if !only.is_empty() {
                return Err(reader.unknown(key.span().start, key.get_ref(), only));
            }
        }
        reader.refuse_twins(&hosts)?;
        Ok(Self { hosts })
    }
}

impl ListedHost {
    /// The host as a run uses it. `own` is the command of a collector on this machine, its arguments left out; `keep` says
    /// whether what is copied stays on the host.
    pub fn station(&self, files: &SshFiles, own: &[String], keep: bool) -> Station {
        if self.address.is_local() {
            let collector = Collector::There(own.to_vec());
            return Station { host: Arc::new(Local), roles: self.roles.clone(), collector, local: true };
        }
        let binary = match &self.collector {
            Some(path) => Binary::read(&files.expand(path)),
            None => Binary::embedded(),
        };
        let collector = binary.map_or_else(
            |error| Collector::Missing(error.to_string()),
            |binary| Collector::Copied { binary: Arc::new(binary), keep },
        );
        let host = Arc::new(Ssh::new(self.address.clone(), self.key.clone(), files.clone()));
        Station { host, roles: self.roles.clone(), collector, local: false }
    }
}

struct Reader<'a> {
    text: &'a str,
    path: &'a str,
}

impl Reader<'_> {
    fn line(&self, offset: usize) -> usize {
        line_of(self.text, offset)
    }

    fn error(&self, offset: usize, message: &str) -> ListError {
        ListError(format!("{}:{}: {message}", self.path, self.line(offset)))
    }

    fn unknown(&self, offset: usize, key: &str, known: &[&str]) -> ListError {
        let near = nexmark_queries::nearest(key, known.iter().copied());
        let hint = near.map_or_else(
            || format!(", known are {}", known.join(", ")),
            |near| format!(", did you mean {near:?}?"),
        );
        self.error(offset, &format!("unknown key {key:?}{hint}"))
    }

    fn hosts(&self, value: &Spanned<DeValue<'_>>) -> Result<Vec<ListedHost>, ListError> {
        let DeValue::Array(tables) = value.get_ref() else {
            return Err(self.error(value.span().start, "host is no list, allowed are tables [[host]]"));
        };
        let host = |table: &Spanned<DeValue<'_>>| match table.get_ref() {
            DeValue::Table(keys) => self.host(table.span().start, keys),
            _ => Err(self.error(table.span().start, "host is no table, allowed are tables [[host]]")),
        };
        tables.iter().map(host).collect()
    }

    fn host(&self, offset: usize, table: &DeTable<'_>) -> Result<ListedHost, ListError> {
        let (mut address, mut user, mut port, mut key, mut collector) = (None, None, None, None, None);
        let mut roles = Vec::new();
        for (name, value) in table {
            match name.get_ref().as_ref() {
                "address" => address = Some((value.span().start, self.words(name, value)?)),
                "user" => user = Some(self.words(name, value)?),
                "port" => port = Some(self.port(value)?),
                "key" => key = Some(PathBuf::from(self.words(name, value)?)),
                "collector" => collector = Some(PathBuf::from(self.words(name, value)?)),
                "roles" => roles = self.roles(value)?,
                other => return Err(self.unknown(name.span().start, other, &KEYS)),
            }
        }
        let (at, text) = address.ok_or_else(|| self.error(offset, "a host lacks its address"))?;
        let mut address: Address =
            text.parse().map_err(|message: String| self.error(at, &format!("host {message}")))?;
        for (given, twice) in [
            ("user", user.is_some() && address.user.is_some()),
            ("port", port.is_some() && address.port.is_some()),
        ] {
            if twice {
                return Err(self.error(
                    at,
                    &format!("host {text:?} has its {given} twice, in its address and as a key"),
                ));
            }
        }
        address.user = address.user.or(user);
        address.port = address.port.or(port);
        Ok(ListedHost { address, key, collector, roles, line: self.line(at) })
    }

    /// A text that is not empty.
    fn words(
        &self,
        name: &Spanned<std::borrow::Cow<'_, str>>,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<String, ListError> {
        match value.get_ref() {
            DeValue::String(text) if !text.trim().is_empty() => Ok(text.to_string()),
            _ => Err(self.error(
                value.span().start,
                &format!("host.{} allows a text that is not empty", name.get_ref()),
            )),
        }
    }

    fn port(&self, value: &Spanned<DeValue<'_>>) -> Result<u16, ListError> {
        let number = match value.get_ref() {
            DeValue::Integer(number) => number.as_str().parse().ok().filter(|port| *port > 0),
            _ => None,
        };
        number
            .ok_or_else(|| self.error(value.span().start, "host.port allows a whole number from 1 to 65535"))
    }

    fn roles(&self, value: &Spanned<DeValue<'_>>) -> Result<Vec<Watch>, ListError> {
        let DeValue::Table(table) = value.get_ref() else {
            let what =
                "host.roles allows names with a text each, as in roles = { workers = \"TaskManager\" }";
            return Err(self.error(value.span().start, what));
        };
        let watch = |(role, pattern): (&Spanned<std::borrow::Cow<'_, str>>, &Spanned<DeValue<'_>>)| {
            let text = self.words(role, pattern)?;
            let role = role.get_ref().to_string();
            if role == crate::metrics::own_threads::DRIVER_ROLE || role.contains('=') || role.is_empty() {
                return Err(self.error(
                    pattern.span().start,
                    &format!("host.roles has the name {role:?}, allowed is any but \"driver\", without ="),
                ));
            }
            Ok(Watch { role, target: Target::CommandLine(text) })
        };
        table.iter().map(watch).collect()
    }

    /// A host that is listed twice would count twice.
    fn refuse_twins(&self, hosts: &[ListedHost]) -> Result<(), ListError> {
        for (index, host) in hosts.iter().enumerate() {
            let same = |other: &&ListedHost| {
                let port = |host: &ListedHost| host.address.port.unwrap_or(22);
                other.address.host.eq_ignore_ascii_case(&host.address.host)
                    && port(other) == port(host)
                    && other.address.is_local() == host.address.is_local()
            };
            if let Some(first) = hosts[..index].iter().find(same) {
                let (path, line, first) = (self.path, host.line, first.line);
                return Err(ListError(format!(
                    "{path}:{line}: host {} is listed twice, first in line {first}",
                    host.address
                )));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> Result<Vec<ListedHost>, String> {
        let list = HostList::parse(text, "hosts.toml", &[HOST]);
        list.map(|list| list.hosts).map_err(|error| error.to_string())
    }

    #[test]
    fn a_list_is_read() {
        let hosts = parse(
            "# workers\n[[host]]\naddress = \"bench@10.0.0.1:2222\" # the first\nkey = \"~/.ssh/k\"\n[host.roles]\nworkers = \
             \"TaskManagerRunner\"\nbroker = \"kafka.Kafka\"\n\n[[host]]\naddress = \"fd00::2\"\nuser = \"x\"\nport = 7\ncollector \
             = \"c\"\n[[host]]\naddress = \"localhost\"\n",
        )
        .unwrap();
        let shown: Vec<String> = hosts.iter().map(|host| host.address.to_string()).collect();
        assert_eq!(shown, ["bench@10.0.0.1:2222", "x@[fd00::2]:7", "localhost"]);
        assert_eq!(hosts[0].roles.len(), 2);
        assert!(hosts[0].roles.contains(&"workers=command:TaskManagerRunner".parse().unwrap()));
        assert_eq!(
            (hosts[0].key.as_deref(), hosts[1].collector.as_deref()),
            (Some(Path::new("~/.ssh/k")), Some(Path::new("c")))
        );
        assert!(hosts[2].address.is_local());
    }

    #[test]
    fn mistakes_name_the_line_and_what_is_allowed() {
        for (text, message) in [
            ("[[host]]\n", "hosts.toml:1: a host lacks its address"),
            ("[[host]]\naddress = \"\"", "hosts.toml:2: host.address allows a text that is not empty"),
            (
                "[[host]]\naddress = \"a:b:c\"",
                "hosts.toml:2: host address is \"a:b:c\", allowed is [USER@]HOST[:PORT]",
            ),
            ("[[host]]\naddres = \"a\"", "hosts.toml:2: unknown key \"addres\", did you mean \"address\"?"),
            (
                "[[host]]\naddress = \"a\"\nport = 0",
                "hosts.toml:3: host.port allows a whole number from 1 to 65535",
            ),
            ("[[host]]\naddress = \"a:1\"\nport = 2", "hosts.toml:2: host \"a:1\" has its port twice"),
            ("[[host]]\naddress = \"a\"\nroles = 3", "hosts.toml:3: host.roles allows names"),
            (
                "[[host]]\naddress = \"a\"\nroles = { driver = \"x\" }",
                "hosts.toml:3: host.roles has the name \"driver\"",
            ),
            (
                "[[host]]\naddress = \"a\"\n\n[[host]]\naddress = \"b@A:22\"",
                "hosts.toml:5: host b@A:22 is listed twice, first in line 2",
            ),
            ("host = 3", "hosts.toml:1: host is no list"),
            ("[host]\naddress = \"a\"", "hosts.toml:1: host is no list, allowed are tables [[host]]"),
            ("[[hosts]]\naddress = \"a\"", "hosts.toml:1: unknown key \"hosts\", did you mean \"host\"?"),
            ("[[host]\n", "hosts.toml:1: "),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.starts_with(message), "{text:?}: {error}");
            assert!(!error.contains('\n'), "{error}");
        }
    }

    proptest! {
        #[test]
        fn garbage_never_panics(text in "(\\[\\[host\\]\\]\n)?[a-z=\"\\[\\]{}.@:0-9 \n#-]{0,60}") {
            let _ = parse(&text);
        }
    }
}
