//! Real SSH servers on addresses of the loopback network, with keys, configuration and cache directories of their own.

use std::fmt::Write as _;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use nexmark_driver::remote::{Ssh, SshFiles};
use tempfile::TempDir;

use crate::program::{Place, Ran};

const SSHD: &str = "/usr/sbin/sshd";

/// Set by `tests/run`: everything is there that can be installed.
const ALL: &str = "NEXMARK_TESTS_ALL";

/// Whether what a test needs is there. Fails where `tests/run` has installed it.
pub(crate) fn available(what: &str, there: bool) -> bool {
    assert!(there || std::env::var_os(ALL).is_none(), "{what} is missing");
    permitted(what, there)
}

/// Whether a test can go on without something that no package brings, as a right. Says so if it cannot.
#[expect(clippy::print_stdout, reason = "whoever runs the tests should know what was passed over")]
pub(crate) fn permitted(what: &str, there: bool) -> bool {
    if !there {
        println!("passed over: {what} is missing");
    }
    there
}

/// Whether there is an SSH server.
pub(crate) fn has_sshd() -> bool {
    let keygen = Command::new("ssh-keygen").arg("-?").output().is_ok();
    available("openssh-server", Path::new(SSHD).exists() && keygen)
}

/// Waits for something that is to come about.
#[track_caller]
pub(crate) fn eventually(what: &str, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < Duration::from_secs(40), "{what}: not so after {:?}", start.elapsed());
        thread::sleep(Duration::from_millis(20));
    }
}

/// A user with a key, and the hosts that know it.
pub(crate) struct Network {
    pub(crate) place: Place,
    pub(crate) user: String,
    directory: TempDir,
}

impl Network {
    pub(crate) fn new() -> Self {
        let network = Self {
            place: Place::new(),
            user: text(Command::new("id").arg("-un")),
            directory: tempfile::tempdir().unwrap(),
        };
        fs::create_dir_all(network.ssh("")).unwrap();
        new_key(&network.ssh("id_ed25519"));
        network
    }

    /// A file in the user's directory for SSH.
    pub(crate) fn ssh(&self, name: &str) -> PathBuf {
        self.directory.path().join("home/.ssh").join(name)
    }

    pub(crate) fn files(&self) -> SshFiles {
        let home = self.directory.path().join("home");
        SshFiles { home, user: Some(self.user.clone()), global_known_hosts: None, agent: false }
    }

    /// A host whose key the user knows.
    pub(crate) fn host(&self) -> Sshd {
        let host = self.stranger(&[]);
        host.make_known(self);
        host
    }

    /// A host whose key nobody knows, with further lines of configuration.
    pub(crate) fn stranger(&self, more: &[&str]) -> Sshd {
        // Addresses of their own, as different hosts have.
        static LAST: AtomicU8 = AtomicU8::new(1);
        let address = format!("127.0.0.{}", 2 + LAST.fetch_add(1, Ordering::Relaxed) % 250);
        let port = TcpListener::bind((address.as_str(), 0)).unwrap().local_addr().unwrap().port();
        Sshd::start(self, &address, port, more, &[])
    }

    /// Runs the program as this user.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        Ran::of(&self.command(arguments).output().unwrap())
    }

    /// The program as this user, not yet started.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.place.command(arguments);
        command
            .env("HOME", self.directory.path().join("home"))
            .env("USER", &self.user)
            .env_remove("SSH_AUTH_SOCK");
        command
    }

    /// Writes a list of hosts, each with its roles as TOML.
    pub(crate) fn list(&self, hosts: &[(&str, &str)]) {
        let mut text = String::new();
        for (address, roles) in hosts {
            writeln!(text, "[[host]]\naddress = \"{address}\"\nroles = {{ {roles} }}").unwrap();
        }
        self.place.write("hosts.toml", text.as_bytes());
    }

    /// Nothing of what was made on a host is left: no process and no file.
    #[track_caller]
    pub(crate) fn is_clean(&self, host: &Sshd) {
        let files = || text(Command::new("find").arg(host.cache()));
        eventually("no file is left", || files().lines().count() <= 1);
        let mark = host.cache().display().to_string();
        eventually("no process is left", || !processes().iter().any(|(_, command)| command.contains(&mark)));
    }
}

/// A server and what belongs to it.
pub(crate) struct Sshd {
    pub(crate) address: String,
    pub(crate) port: u16,
    directory: PathBuf,
    child: Child,
}

impl Sshd {
    /// Starts a server, behind a command that leads to it if there is one.
    pub(crate) fn start(network: &Network, address: &str, port: u16, more: &[&str], before: &[&str]) -> Self {
        let directory = network.directory.path().join(format!("{address}-{port}"));
        fs::create_dir_all(directory.join("cache")).unwrap();
        if !directory.join("host_key").exists() {
            new_key(&directory.join("host_key"));
        }
        fs::copy(network.ssh("id_ed25519.pub"), directory.join("authorized_keys")).unwrap();
        let shown = directory.display();
        let mut config = format!(
            "ListenAddress {address}\nPort {port}\nHostKey {shown}/host_key\nAuthorizedKeysFile {shown}/authorized_keys\n\
             PidFile none\nUsePAM no\nStrictModes no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n\
             PermitRootLogin prohibit-password\n"
        );
        // The first line of its kind is the one that counts.
        for line in more {
            writeln!(config, "{line}").unwrap();
        }
        writeln!(config, "SetEnv XDG_CACHE_HOME={shown}/cache").unwrap();
        fs::write(directory.join("sshd_config"), config).unwrap();
        // Where the server separates its privileges; without it, it does not start as root.
        let _not_root = fs::create_dir_all("/run/sshd");
        let words: Vec<&str> = before.iter().copied().chain([SSHD, "-D", "-e", "-f"]).collect();
        let log = fs::File::create(directory.join("log")).unwrap();
        let child = Command::new(words[0])
            .args(&words[1..])
            .arg(directory.join("sshd_config"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        let server = Self { address: address.to_owned(), port, directory, child };
        eventually("the server listens", || server.log().contains("listening"));
        server
    }

    /// As in a list of hosts.
    pub(crate) fn name(&self) -> String {
        format!("{}:{}", self.address, self.port)
    }

    pub(crate) fn ssh(&self, network: &Network) -> Ssh {
        Ssh::new(self.name().parse().unwrap(), None, network.files())
    }

    /// Where programs are kept on this host.
    pub(crate) fn cache(&self) -> PathBuf {
        self.directory.join("cache")
    }

    /// What the server has to say.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.directory.join("log")).unwrap_or_default()
    }

    /// The line by which the host is known.
    pub(crate) fn known_line(&self) -> String {
        let key = fs::read_to_string(self.directory.join("host_key.pub")).unwrap();
        format!("[{}]:{} {key}", self.address, self.port)
    }

    pub(crate) fn make_known(&self, network: &Network) {
        let path = network.ssh("known_hosts");
        let known = fs::read_to_string(&path).unwrap_or_default();
        fs::write(path, known + &self.known_line()).unwrap();
    }

    /// Ends the server and every session of it, as a host does that goes down.
    pub(crate) fn kill(&mut self) {
        let mut ids = vec![self.child.id()];
        let mut next = 0;
        while let Some(parent) = ids.get(next).copied() {
            let children =
                processes().into_iter().map(|(id, _)| id).filter(|id| parent_of(*id) == Some(parent));
            // Only the server's own; what it started is told by the end of its streams.
            ids.extend(children.filter(|id| {
                fs::read_to_string(format!("/proc/{id}/comm")).is_ok_and(|name| name.starts_with("sshd"))
            }));
            next += 1;
        }
        for id in ids {
            // SAFETY: kill takes no pointers; the ids are those of our own server, which was not waited for yet, and of its
            // sessions.
            unsafe { libc::kill(libc::pid_t::try_from(id).unwrap(), libc::SIGKILL) };
        }
        self.child.wait().unwrap();
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        if self.child.try_wait().is_ok_and(|ended| ended.is_none()) {
            self.kill();
        }
    }
}

/// Makes a pair of keys.
pub(crate) fn new_key(path: &Path) {
    let made =
        Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(path).status().unwrap();
    assert!(made.success(), "{}", path.display());
}

/// Stdout of a command, trimmed.
pub(crate) fn text(command: &mut Command) -> String {
    String::from_utf8_lossy(&command.output().unwrap().stdout).trim().to_owned()
}

/// Every process with its command line.
pub(crate) fn processes() -> Vec<(u32, String)> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    entries
        .filter_map(|entry| {
            let id = entry.file_name().to_str()?.parse().ok()?;
            let command = fs::read(entry.path().join("cmdline")).ok()?;
            Some((id, String::from_utf8_lossy(&command).replace('\0', " ")))
        })
        .collect()
}

fn parent_of(id: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}
