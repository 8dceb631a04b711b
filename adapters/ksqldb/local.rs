//! A Kafka of one's own on this machine, for a first look and for tests: one broker, which is its own controller, on loopback
//! only, found by its port. Only what was started here is ever stopped.

mod distribution;

use std::fs::{self, File};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use nexmark_driver::local::{self, LocalError, Place, Tried as _, port, process, remove_all};

use distribution::Distribution;

pub use distribution::DEFAULT_VERSION;
pub use nexmark_driver::local::Life;

/// As in the command and in paths.
const NAME: &str = "kafka";
/// As in the names of files, and for the reader.
const BROKER: &str = "broker";
/// A busy machine takes 20 s.
const READY_LIMIT: Duration = Duration::from_secs(120);
const READY_POLL: Duration = Duration::from_millis(200);
/// Formatting an empty directory takes two seconds.
const FORMAT_LIMIT: Duration = Duration::from_secs(120);
/// Memory of the broker's heap when nothing is said.
const MEMORY_BYTES: u64 = 1 << 30;
/// File in which the release is remembered while it runs.
const VERSION_FILE: &str = "version";

/// What is asked for; what is not said is taken as it runs, or by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// Release of Kafka.
    pub version: Option<String>,
    /// Memory of the broker's heap, bytes.
    pub memory_bytes: Option<u64>,
}

/// What [`Local::up`] had to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Began {
    /// It ran already.
    Nothing,
    /// It was started, with no topics.
    Broker,
}

/// The local Kafka of a port.
#[derive(Clone, Debug)]
pub struct Local {
    place: Place,
}

impl Local {
    /// The one that listens on that port, whether it runs or not. It has its files below the user's directory for state,
    /// distributions below the one for caches; `KAFKA_HOME` names another distribution.
    ///
    /// # Errors
    /// The user has no home directory.
    pub fn new(port: u16) -> Result<Self, LocalError> {
        Ok(Self { place: Place::new(NAME, port)? })
    }

    /// Address for clients.
    pub fn address(&self) -> String {
        format!("{}:{}", Ipv4Addr::LOCALHOST, self.place.port)
    }

    /// The file to which the broker writes.
    pub fn log(&self) -> PathBuf {
        self.place.directory.join("broker.log")
    }

    /// Starts it where it does not run, and returns its release when it takes connections.
    ///
    /// # Errors
    /// A program is missing, the port is taken, another release than asked for runs already, or it does not come up in time;
    /// then what was started is stopped again.
    pub fn up(&self, request: &Request) -> Result<(String, Began), LocalError> {
        self.up_with(request, "")
    }

    /// The same with lines of configuration that outdo ours.
    pub(crate) fn up_with(&self, request: &Request, config: &str) -> Result<(String, Began), LocalError> {
        let _lock = local::lock(&self.place.directory)?;
        if let Life::Runs(_) = process::life(&self.place.directory, BROKER)? {
            let running = self.version()?;
            return match request.version.as_ref().filter(|asked| **asked != running) {
                Some(asked) => Err(LocalError::RunsOtherwise {
                    server: NAME,
                    port: self.place.port,
                    name: "version",
                    asked: asked.clone(),
                    running,
                }),
                None => Ok((running, Began::Nothing)),
            };
        }
        self.clear()?;
        port::check_free(self.place.port)?;
        let distribution =
            Distribution::find(self.place.home.as_deref(), request.version.as_deref(), &self.place.cache)?;
        let started = self.start(&distribution, request.memory_bytes.unwrap_or(MEMORY_BYTES), config);
        if started.is_err() {
            self.clear()?;
        }
        started.map(|()| (distribution.version, Began::Broker))
    }

    /// Stops it, and removes all but its log. Says what had become of it.
    ///
    /// # Errors
    /// It does not end, or a file cannot be removed.
    pub fn down(&self) -> Result<Life, LocalError> {
        if !self.place.directory.exists() {
            return Ok(Life::Absent);
        }
        let _lock = local::lock(&self.place.directory)?;
        self.clear()
    }

    /// What has become of it, and its release while it runs.
    ///
    /// # Errors
    /// A file of it cannot be read.
    pub fn status(&self) -> Result<(Life, Option<String>), LocalError> {
        let life = process::life(&self.place.directory, BROKER)?;
        let version = if let Life::Runs(_) = life { Some(self.version()?) } else { None };
        Ok((life, version))
    }

    fn version(&self) -> Result<String, LocalError> {
        let path = self.place.directory.join(VERSION_FILE);
        fs::read_to_string(&path).tried_with("read", &path)
    }

    fn clear(&self) -> Result<Life, LocalError> {
        let life = process::stop(&self.place.directory, BROKER)?;
        remove_all(&self.place.directory.join("data"))?;
        Ok(life)
    }

    fn start(&self, distribution: &Distribution, memory_bytes: u64, more: &str) -> Result<(), LocalError> {
        let data = self.place.directory.join("data");
        fs::create_dir_all(&data).tried_with("make", &data)?;
        let config = self.place.directory.join("server.properties");
        let text = configuration(self.place.port, port::free()?, &data) + more;
        let logging = self.place.directory.join("log4j2.properties");
        for (path, text) in [
            (&config, text.as_str()),
            (&logging, LOGGING),
            (&self.place.directory.join(VERSION_FILE), distribution.version.as_str()),
        ] {
            fs::write(path, text).tried_with("write", path)?;
        }
        let java = Java {
            class_path: &distribution.class_path,
            logging: &logging,
            directory: &self.place.directory,
        };
        java.format(&config)?;
        let mut child = java.broker(&config, memory_bytes, &self.log())?;
        process::record(&self.place.directory, BROKER, child.id())?;
        self.wait_until_ready(&mut child)
    }

    fn wait_until_ready(&self, child: &mut Child) -> Result<(), LocalError> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, self.place.port));
        let start = Instant::now();
        while start.elapsed() < READY_LIMIT {
            if let Some(status) = child.try_wait().tried(|| "wait for the broker".to_owned())? {
                let log = self.log();
                let said = last_error(&fs::read_to_string(&log).unwrap_or_default());
                let message = format!("see {}{said}", log.display());
                return Err(LocalError::failed(format!("the broker ended with {status}"), message));
            }
            if TcpStream::connect_timeout(&address, READY_POLL).is_ok() {
                return Ok(());
            }
            std::thread::sleep(READY_POLL);
        }
        let message = format!("it takes no connections after {READY_LIMIT:?}; see {}", self.log().display());
        Err(LocalError::failed(format!("Kafka at {} is not ready", self.address()), message))
    }
}

/// The last line of a log that tells of an error.
fn last_error(log: &str) -> String {
    let marks = ["ERROR", "FATAL", "Exception", "Error"];
    let line = log.lines().rev().find(|line| marks.iter().any(|mark| line.contains(mark)));
    line.map(|line| format!(": {}", line.trim())).unwrap_or_default()
}

/// What the broker and the tools say goes to where their output goes.
const LOGGING: &str = "\
status = error
appender.out.type = Console
appender.out.name = out
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = %d{ISO8601} %p %m (%c)%n
rootLogger.level = WARN
rootLogger.appenderRef.out.ref = out
";

/// One node that is broker and controller, and keeps one copy of everything.
fn configuration(port: u16, controller_port: u16, data: &Path) -> String {
    format!(
        "\
process.roles=broker,controller
node.id=1
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller_port}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
controller.quorum.voters=1@127.0.0.1:{controller_port}
log.dirs={}
offsets.topic.replication.factor=1
offsets.topic.num.partitions=8
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=8
group.initial.rebalance.delay.ms=0
auto.create.topics.enable=false
",
        data.display()
    )
}

/// Starts Java programs of Kafka.
struct Java<'a> {
    class_path: &'a str,
    logging: &'a Path,
    directory: &'a Path,
}

impl Java<'_> {
    fn command(&self) -> Command {
        let home = std::env::var_os("JAVA_HOME").filter(|home| !home.is_empty());
        let program = home.map_or_else(|| "java".into(), |home| Path::new(&home).join("bin/java"));
        let mut command = Command::new(program);
        command.arg(format!("-Dlog4j2.configurationFile={}", self.logging.display()));
        command.arg("-cp").arg(self.class_path).stdin(Stdio::null()).current_dir(self.directory);
        command
    }

    /// Makes the directory of data one of a new cluster.
    fn format(&self, config: &Path) -> Result<(), LocalError> {
        let mut command = self.command();
        command.args(["kafka.tools.StorageTool", "format", "-t", &cluster_id(), "-c"]).arg(config);
        let output = distribution::run(&mut command, "format the directory of the broker", FORMAT_LIMIT)?;
        succeeded(&output, "cannot format the directory of the broker")
    }

    /// Starts the broker, which then lives on by itself.
    fn broker(&self, config: &Path, memory_bytes: u64, log: &Path) -> Result<Child, LocalError> {
        let output = File::create(log).tried_with("write", log)?;
        let errors = output.try_clone().tried_with("write", log)?;
        let mut command = self.command();
        // The options of the JVM stand before the class.
        command.env("JDK_JAVA_OPTIONS", format!("-Xmx{memory_bytes} -Xms{memory_bytes} -XX:+UseG1GC"));
        command.arg("kafka.Kafka").arg(config).stdout(output).stderr(errors);
        // A group of its own, so that Ctrl-C in this terminal does not reach it.
        command.process_group(0);
        command.spawn().map_err(|error| distribution::not_started(&command, error))
    }
}

/// A failure in the program's own last words.
fn succeeded(output: &Output, what: &str) -> Result<(), LocalError> {
    if output.status.success() {
        return Ok(());
    }
    let said =
        [&output.stdout, &output.stderr].map(|said| String::from_utf8_lossy(said).into_owned()).concat();
    let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it said nothing");
    Err(LocalError::failed(what, format!("{}: {}", output.status, last.trim())))
}

/// A new random id, 16 bytes as Kafka writes them.
fn cluster_id() -> String {
    let random = || std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), 0);
    let bytes = [random().to_be_bytes(), random().to_be_bytes()].concat();
    let text = URL_SAFE_NO_PAD.encode(bytes);
    // An id that begins with a dash would be an option.
    text.replacen('-', "A", if text.starts_with('-') { 1 } else { 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_error_of_a_log_is_told() {
        let log = "x INFO fine\nx ERROR Exiting Kafka due to fatal exception\njava.lang.IllegalStateException: no\n\tat a.b\n";
        assert_eq!(last_error(log), ": java.lang.IllegalStateException: no");
        assert_eq!(last_error("all is well\n"), "");
    }

    #[test]
    fn cluster_ids_are_22_characters_and_no_option() {
        for _ in 0..200 {
            let id = cluster_id();
            assert!(id.len() == 22 && !id.starts_with('-'), "{id}");
        }
    }

    #[test]
    fn the_configuration_listens_on_loopback_only() {
        let text = configuration(9092, 9093, Path::new("/data"));
        let listeners = text.lines().find(|line| line.starts_with("listeners=")).unwrap();
        assert_eq!(listeners, "listeners=PLAINTEXT://127.0.0.1:9092,CONTROLLER://127.0.0.1:9093");
        assert!(text.contains("log.dirs=/data\n"));
    }
}
