//! Starts the Java processes of a Flink as its own scripts would, which the Python package lacks.

use std::fs::{self, File};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use nexmark_driver::local::{LocalError, Tried as _, process};

use super::Role;
use super::configuration::module_options;
use super::distribution::Distribution;
use super::record::Record;

/// The tool takes half a second on a quiet machine.
const MEMORY_LIMIT: Duration = Duration::from_secs(60);
/// Mark of its results in what it prints.
const RESULT: &str = "BASH_JAVA_UTILS_EXEC_RESULT:";

/// Starts processes of one Flink.
pub(super) struct Java<'a> {
    program: PathBuf,
    distribution: Distribution,
    task_manager: String,
    directory: &'a Path,
}

/// How a process divides its memory.
struct Memory {
    /// Arguments of Java.
    java: Vec<String>,
    /// Arguments of Flink.
    flink: Vec<String>,
}

impl<'a> Java<'a> {
    /// For that Flink, with the configuration below that directory.
    pub(super) fn new(record: &Record, directory: &'a Path) -> Self {
        let home = std::env::var_os("JAVA_HOME").filter(|home| !home.is_empty());
        let distribution = Distribution { home: record.home.clone(), version: record.version.clone() };
        Self {
            program: home.map_or_else(|| "java".into(), |home| Path::new(&home).join("bin/java")),
            distribution,
            task_manager: record.task_manager(),
            directory,
        }
    }

    /// Starts a process, which then lives on by itself, and writes down which it is.
    pub(super) async fn start(&self, role: Role, log: &Path) -> Result<Child, LocalError> {
        let memory = self.memory(role).await?;
        let out = log.with_extension("out");
        let output = File::create(&out).tried_with("write", &out)?;
        let mut command = Command::new(&self.program);
        command
            .args(memory.java)
            .arg("-XX:+UseG1GC")
            .arg("-XX:+IgnoreUnrecognizedVMOptions")
            .args(module_options());
        command.arg(property("log.file", log));
        command.arg(property("log4j.configurationFile", &self.configuration().join("log4j.properties")));
        command.arg("-cp").arg(self.distribution.class_path()?);
        command.arg(match role {
            Role::JobManager => "org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint",
            Role::TaskManager => "org.apache.flink.runtime.taskexecutor.TaskManagerRunner",
        });
        command.arg("--configDir").arg(self.configuration()).args(memory.flink);
        if role == Role::TaskManager {
            command.args(["-D", &format!("taskmanager.resource-id={}", self.task_manager)]);
        }
        self.environment(&mut command);
        let errors = output.try_clone().tried_with("write", &out)?;
        // A group of its own, so that Ctrl-C in this terminal does not reach it.
        command
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(errors)
            .current_dir(self.directory)
            .process_group(0);
        let child = command.spawn().map_err(|error| self.not_started(error))?;
        process::record(self.directory, role.name(), child.id())?;
        Ok(child)
    }

    /// Divides the memory of a process as the configuration says, with Flink's own tool.
    async fn memory(&self, role: Role) -> Result<Memory, LocalError> {
        let class_path = [self.distribution.memory_tool(), self.distribution.main_jar()]
            .map(|jar| jar.display().to_string());
        let mut command = Command::new(&self.program);
        command.arg("-cp").arg(class_path.join(":")).arg("org.apache.flink.runtime.util.bash.BashJavaUtils");
        command.arg(match role {
            Role::JobManager => "GET_JM_RESOURCE_PARAMS",
            Role::TaskManager => "GET_TM_RESOURCE_PARAMS",
        });
        command.arg("--configDir").arg(self.configuration()).stdin(Stdio::null());
        self.environment(&mut command);
        let mut command = tokio::process::Command::from(command);
        let what = || format!("cannot divide the memory of the {}", role.name());
        let ended = tokio::time::timeout(MEMORY_LIMIT, command.kill_on_drop(true).output()).await;
        let output =
            ended.map_err(|_| LocalError::failed(what(), format!("no answer within {MEMORY_LIMIT:?}")))?;
        let output = output.map_err(|error| self.not_started(error))?;
        let said = String::from_utf8_lossy(&output.stdout);
        let results: Vec<&str> = said.lines().filter_map(|line| line.strip_prefix(RESULT)).collect();
        match results[..] {
            [java, flink] if output.status.success() => Ok(Memory { java: words(java), flink: words(flink) }),
            _ => {
                let errors = String::from_utf8_lossy(&output.stderr);
                let message = cause(&[said.as_ref(), errors.as_ref()].concat());
                Err(LocalError::failed(what(), message.unwrap_or_else(|| output.status.to_string())))
            }
        }
    }

    fn configuration(&self) -> PathBuf {
        self.directory.join("conf")
    }

    fn environment(&self, command: &mut Command) {
        let home = &self.distribution.home;
        command.env("FLINK_CONF_DIR", self.configuration());
        for (name, folder) in
            [("FLINK_PLUGINS_DIR", "plugins"), ("FLINK_LIB_DIR", "lib"), ("FLINK_OPT_DIR", "opt")]
        {
            command.env(name, home.join(folder));
        }
    }

    fn not_started(&self, error: std::io::Error) -> LocalError {
        match error.kind() {
            std::io::ErrorKind::NotFound => LocalError::Missing {
                program: self.program.display().to_string(),
                remedy: "install Java 11 or later, as in: apt-get install openjdk-17-jre-headless",
            },
            _ => LocalError::System { what: format!("start {}", self.program.display()), error },
        }
    }
}

fn property(name: &str, path: &Path) -> String {
    format!("-D{name}={}", path.display())
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// Why a process has ended, in its own last words.
pub(super) fn explain(role: Role, status: ExitStatus, log: &Path) -> LocalError {
    let texts = [log.with_extension("out"), log.to_owned()].map(|path| fs::read(path).unwrap_or_default());
    let said = texts.iter().find_map(|text| cause(&String::from_utf8_lossy(text)));
    let said = said.map(|said| format!(": {said}")).unwrap_or_default();
    LocalError::failed(
        format!("the {} ended with {status}", role.name()),
        format!("see {}{said}", log.display()),
    )
}

/// The line of a log or a stack trace that says most: the root cause, else the last error.
fn cause(text: &str) -> Option<String> {
    let last = |mark: &str| text.lines().rev().find(|line| line.contains(mark));
    let line = last("Caused by: ").or_else(|| last("Exception")).or_else(|| last("Error"))?;
    let line = line.split_once("Caused by: ").map_or(line, |(_, cause)| cause);
    Some(line.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_cause_is_told() {
        let trace = "2026-11-29 INFO Main - Exception handler set\nException in thread \"main\" a.B: outer\n\tat a.B.c\n\
            Caused by: a.C: middle\nCaused by: a.D: not enough memory\n\tat a.D.e\n";
        assert_eq!(cause(trace).as_deref(), Some("a.D: not enough memory"));
        assert_eq!(
            cause("Error: Could not create the JVM\n").as_deref(),
            Some("Error: Could not create the JVM")
        );
        assert_eq!(cause("all is well\n"), None);
    }
}
