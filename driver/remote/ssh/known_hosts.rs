//! Whether a host shows the key that is known for it. Nothing is ever accepted or written here: an unknown or changed key is
//! an error that says what the user can do.

use std::fs;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use ssh2::{CheckResult, HashType, KnownHostFileKind, MethodType, Session};

use super::target::Target;

/// One entry of a file of known hosts.
struct Line {
    place: String,
    revoked: bool,
    text: String,
}

/// Entries of all files of known hosts, those that cannot be read left out.
pub(super) struct KnownHosts<'a> {
    session: &'a Session,
    target: &'a Target,
    lines: Vec<Line>,
}

impl<'a> KnownHosts<'a> {
    pub(super) fn read(session: &'a Session, target: &'a Target) -> Self {
        let lines = target.known_hosts.iter().flat_map(|path| {
            let text =
                fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
            lines(path, &text)
        });
        Self { session, target, lines: lines.collect() }
    }

    /// Asks the host for a key of a kind that is known for it: it has several, and an unknown one would tell nothing.
    pub(super) fn prefer_known_kinds(&self) -> Result<(), ssh2::Error> {
        // The key of no host: a line that concerns this one says that it differs.
        let concerning =
            self.lines.iter().filter(|line| self.compare(line, &self.name(), b"\0") == Some(false));
        let mut kinds: Vec<String> = concerning.flat_map(|line| algorithms(&line.text)).collect();
        if kinds.is_empty() {
            return Ok(());
        }
        kinds.extend(self.session.supported_algs(MethodType::HostKey)?.into_iter().map(str::to_owned));
        self.session.method_pref(MethodType::HostKey, &kinds.join(","))
    }

    /// Checks the key that the host has shown.
    pub(super) fn check(&self) -> Result<(), String> {
        let (key, _kind) = self.session.host_key().ok_or("it has shown no key")?;
        let mut differing = None;
        let mut known = false;
        for line in &self.lines {
            let exact = self.compare(line, &self.name(), key);
            // A key that is known without a port holds for every port, as with ssh.
            let matches = exact == Some(true) || self.compare(line, &self.target.host, key) == Some(true);
            if matches && line.revoked {
                return Err(format!("its key {} is revoked by {}", self.fingerprint(), line.place));
            }
            known |= matches;
            if exact == Some(false) && !line.revoked {
                differing.get_or_insert(&line.place);
            }
        }
        let (name, fingerprint) = (self.name(), self.fingerprint());
        match (known, differing) {
            (true, _) => Ok(()),
            (false, Some(place)) => Err(format!(
                "its key has changed: it shows {fingerprint}, and {place} knows another one. Someone may be in between; if \
                 the host was set up anew, forget the old key with: ssh-keygen -R '{name}'"
            )),
            (false, None) => Err(format!(
                "its key is unknown: {fingerprint}. If that is the host's, accept it with: ssh-keyscan -p {} {} >> {}",
                self.target.port,
                self.target.host,
                self.target
                    .known_hosts
                    .first()
                    .map_or("~/.ssh/known_hosts".into(), |path| path.display().to_string()),
            )),
        }
    }

    /// The name under which the host's key is known.
    fn name(&self) -> String {
        match self.target.port {
            22 => self.target.host.clone(),
            port => format!("[{}]:{port}", self.target.host),
        }
    }

    /// Whether a line has this key for the host of that name; `None` where the line is about other hosts.
    fn compare(&self, line: &Line, name: &str, key: &[u8]) -> Option<bool> {
        let mut one = self.session.known_hosts().ok()?;
        one.read_str(&line.text, KnownHostFileKind::OpenSSH).ok()?;
        match one.check(name, key) {
            CheckResult::Match => Some(true),
            CheckResult::Mismatch => Some(false),
            CheckResult::NotFound | CheckResult::Failure => None,
        }
    }

    fn fingerprint(&self) -> String {
        let hash = self.session.host_key_hash(HashType::Sha256).unwrap_or_default();
        format!("SHA256:{}", STANDARD_NO_PAD.encode(hash))
    }
}

fn lines(path: &Path, text: &str) -> Vec<Line> {
    let entries = text.lines().zip(1..).filter_map(|(text, number)| {
        let text = text.trim();
        let (revoked, text) = match text.strip_prefix("@revoked") {
            Some(rest) => (true, rest.trim()),
            None => (false, text),
        };
        // Certificates of hosts are not supported, so what signs them says nothing.
        let entry = !text.is_empty() && !text.starts_with(['#', '@']) && !text.contains('\0');
        entry.then(|| Line {
            place: format!("{}:{number}", path.display()),
            revoked,
            text: format!("{text}\n"),
        })
    });
    entries.collect()
}

/// Names of the algorithms with which a host proves the key of a line.
fn algorithms(line: &str) -> Vec<String> {
    match line.split_whitespace().nth(1) {
        Some("ssh-rsa") => ["rsa-sha2-512", "rsa-sha2-256", "ssh-rsa"].map(str::to_owned).to_vec(),
        Some(kind) => vec![kind.to_owned()],
        None => Vec::new(),
    }
}
