//! Where a connection goes and what proves the user: the address, and what the user's SSH configuration says about it.

use std::fmt;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use ssh2_config::{DefaultAlgorithms, ParseRule, SshConfig};

use crate::remote::address::Address;

/// Port of SSH when nothing else is said.
const PORT: u16 = 22;

/// Key files that are tried when nothing else is said.
const DEFAULT_KEYS: [&str; 3] = ["id_ed25519", "id_ecdsa", "id_rsa"];

/// The user's files for SSH.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SshFiles {
    /// Home of the user, to which `~` leads.
    pub home: PathBuf,
    /// User to log in as when nothing else is said.
    pub user: Option<String>,
    /// Known hosts of all users.
    pub global_known_hosts: Option<PathBuf>,
    /// Whether the agent is asked for keys.
    pub agent: bool,
}

impl SshFiles {
    /// Those of the user who runs this program.
    pub fn own() -> Self {
        let text = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        let root = rustix::process::getuid().is_root().then(|| "root".to_owned());
        Self {
            home: text("HOME").map(PathBuf::from).unwrap_or_default(),
            user: text("USER").or_else(|| text("LOGNAME")).or(root),
            global_known_hosts: Some(PathBuf::from("/etc/ssh/ssh_known_hosts")),
            agent: text("SSH_AUTH_SOCK").is_some(),
        }
    }

    /// The path with `~` led home.
    pub(in crate::remote) fn expand(&self, path: &Path) -> PathBuf {
        path.strip_prefix("~").map_or_else(|_other| path.to_owned(), |rest| self.home.join(rest))
    }

    fn directory(&self) -> PathBuf {
        self.home.join(".ssh")
    }
}

/// Where a connection goes.
#[derive(Clone, Debug)]
pub(super) struct Target {
    /// Name or address to connect to, by which its key is known.
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) user: String,
    /// Key files that are tried before the agent.
    pub(super) first_keys: Vec<PathBuf>,
    /// Key files that are tried after the agent.
    pub(super) last_keys: Vec<PathBuf>,
    pub(super) known_hosts: Vec<PathBuf>,
    pub(super) agent: bool,
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { user, host, port, .. } = self;
        write!(f, "{user}@{}", Address { user: None, host: host.clone(), port: Some(*port) })
    }
}

impl Target {
    /// What is given with the host goes before the configuration of SSH.
    pub(super) fn resolve(address: &Address, key: Option<&Path>, files: &SshFiles) -> Result<Self, String> {
        let path = files.directory().join("config");
        let config = read(&path, files)?;
        let params = config.query(&address.host);
        if let Some(jump) = params.proxy_jump.as_ref().filter(|jump| !jump.iter().any(|host| host == "none"))
        {
            return Err(format!(
                "{} has ProxyJump {} for it, which is not supported",
                path.display(),
                jump.join(",")
            ));
        }
        let unread = |name: &str| params.unsupported_fields.get(name).filter(|words| !is(words, "none"));
        if let Some(command) = unread("proxycommand") {
            return Err(format!(
                "{} has ProxyCommand {} for it, which is not supported",
                path.display(),
                command.join(" ")
            ));
        }
        let host = params.host_name.unwrap_or_else(|| address.host.clone()).replace("%h", &address.host);
        let user = address.user.clone().or(params.user).or_else(|| files.user.clone());
        let user = user.ok_or("no user is known to log in as: give USER@HOST")?;
        if [&host, &user]
            .iter()
            .any(|word| word.chars().any(|letter| letter.is_control() || letter.is_whitespace()))
        {
            return Err(format!("{} leads to {host:?} as {user:?}, which is no name", path.display()));
        }
        let own_known_hosts = match unread("userknownhostsfile") {
            Some(words) => words.iter().map(|word| files.expand(Path::new(word))).collect(),
            None => ["known_hosts", "known_hosts2"].map(|name| files.directory().join(name)).to_vec(),
        };
        let given = key.map(|key| vec![files.expand(key)]);
        let configured = params.identity_file.unwrap_or_default();
        Ok(Self {
            host: host.to_lowercase(),
            port: address.port.or(params.port).unwrap_or(PORT),
            user,
            first_keys: given.unwrap_or_else(|| configured.iter().map(|key| files.expand(key)).collect()),
            last_keys: DEFAULT_KEYS.map(|name| files.directory().join(name)).to_vec(),
            known_hosts: [own_known_hosts, files.global_known_hosts.iter().cloned().collect()].concat(),
            agent: files.agent,
        })
    }
}

fn is(words: &[String], word: &str) -> bool {
    words.len() == 1 && words[0].eq_ignore_ascii_case(word)
}

/// The user's configuration; an empty one where there is none.
fn read(path: &Path, files: &SshFiles) -> Result<SshConfig, String> {
    let empty = SshConfig::default().home_dir(&files.home).default_algorithms(DefaultAlgorithms::empty());
    let rules = ParseRule::ALLOW_UNKNOWN_FIELDS | ParseRule::ALLOW_UNSUPPORTED_FIELDS;
    let failed = |error: &dyn fmt::Display| format!("cannot read {}: {error}", path.display());
    match File::open(path) {
        Ok(file) => empty.parse(&mut BufReader::new(file), rules).map_err(|error| failed(&error)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(empty),
        Err(error) => Err(failed(&error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(address: &str, config: &str) -> Result<Target, String> {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join(".ssh")).unwrap();
        std::fs::write(home.path().join(".ssh/config"), config).unwrap();
        let files =
            SshFiles { home: home.path().to_owned(), user: Some("me".to_owned()), ..SshFiles::default() };
        let target = Target::resolve(&address.parse().unwrap(), None, &files)?;
        let shorten = |path: &PathBuf| Path::new("~").join(path.strip_prefix(home.path()).unwrap());
        let first_keys = target.first_keys.iter().map(shorten).collect();
        let known_hosts = target.known_hosts.iter().map(shorten).collect();
        Ok(Target { first_keys, known_hosts, ..target })
    }

    const CONFIG: &str = "\
# A comment
Host fast slow-?
    HostName %h.example.org
    User bench
    Port 2222
    IdentityFile ~/.ssh/bench
    ForwardX11 yes
    SomethingNew 7

Host far
    ProxyJump gate

Host farther
    ProxyCommand ssh gate -W %h:%p

Host *
    User other
    UserKnownHostsFile ~/hosts
";

    #[test]
    fn the_configuration_of_ssh_is_heeded() {
        let target = resolve("fast", CONFIG).unwrap();
        assert_eq!(target.to_string(), "bench@fast.example.org:2222");
        assert_eq!(target.first_keys, [Path::new("~/.ssh/bench")]);
        assert_eq!(target.known_hosts, [Path::new("~/hosts")]);
        assert_eq!(resolve("you@slow-1:22", CONFIG).unwrap().to_string(), "you@slow-1.example.org:22");
        assert_eq!(resolve("::1", CONFIG).unwrap().to_string(), "other@[::1]:22");
        let plain = resolve("Host", "").unwrap();
        assert_eq!(
            (plain.to_string().as_str(), plain.first_keys.len(), plain.last_keys.len()),
            ("me@host:22", 0, 3)
        );
    }

    #[test]
    fn a_way_over_another_host_is_refused() {
        let error = resolve("far", CONFIG).unwrap_err();
        assert!(error.contains("ProxyJump gate") && error.contains("not supported"), "{error}");
        let error = resolve("farther", CONFIG).unwrap_err();
        assert!(error.contains("ProxyCommand ssh gate") && error.contains("not supported"), "{error}");
    }
}
