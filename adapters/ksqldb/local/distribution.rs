//! Where a Kafka comes from: a distribution of the user's, or the jars in Maven Central, which are fetched once.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use nexmark_driver::local::{LocalError, Tried as _};

/// Release that is taken when nothing is said.
pub const DEFAULT_VERSION: &str = "4.1.0";

/// Maven fetches 45 jars, 43 MB.
const FETCH_LIMIT: Duration = Duration::from_secs(600);
const POLL: Duration = Duration::from_millis(50);
const JAVA: &str = "install Java 17 or later, as in: apt-get install openjdk-17-jre-headless";
const MAVEN: &str = "install it, as in: apt-get install maven; or unpack a release of Kafka and name its folder in KAFKA_HOME";

/// The jars of a release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Distribution {
    pub(super) version: String,
    pub(super) class_path: String,
}

impl Distribution {
    /// The one of the user's folder, or the one that was fetched before, or is now.
    pub(super) fn find(home: Option<&Path>, version: Option<&str>, cache: &Path) -> Result<Self, LocalError> {
        match home {
            Some(home) => Self::of_home(home, version),
            None => Self::of_cache(version.unwrap_or(DEFAULT_VERSION), cache),
        }
    }

    fn of_home(home: &Path, asked: Option<&str>) -> Result<Self, LocalError> {
        let libs = home.join("libs");
        let version = jar_version(&libs).ok_or_else(|| LocalError::NotAllowed {
            name: "KAFKA_HOME",
            value: home.display().to_string(),
            allowed: "the folder of a release, which has libs/kafka-clients-VERSION.jar".to_owned(),
        })?;
        if let Some(asked) = asked.filter(|asked| *asked != version) {
            return Err(LocalError::NotAllowed {
                name: "--version",
                value: asked.to_owned(),
                allowed: format!("{version}, which is in KAFKA_HOME"),
            });
        }
        Ok(Self { version, class_path: class_path(&libs) })
    }

    fn of_cache(version: &str, cache: &Path) -> Result<Self, LocalError> {
        if version.is_empty() || !version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
            return Err(LocalError::NotAllowed {
                name: "--version",
                value: version.to_owned(),
                allowed: format!("a release of Kafka such as {DEFAULT_VERSION}"),
            });
        }
        let libs = cache.join(version);
        if jar_version(&libs).is_none() {
            fetch(version, cache, &libs)?;
        }
        Ok(Self { version: version.to_owned(), class_path: class_path(&libs) })
    }
}

fn class_path(libs: &Path) -> String {
    format!("{}/*", libs.display())
}

/// Release of the jars in a folder.
fn jar_version(libs: &Path) -> Option<String> {
    let entries = fs::read_dir(libs).ok()?.flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names
        .filter_map(|name| Some(name.strip_prefix("kafka-clients-")?.strip_suffix(".jar")?.to_owned()))
        .find(|version| version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'))
}

/// Has Maven copy the jars of a release into a new folder, which appears whole or not at all.
fn fetch(version: &str, cache: &Path, libs: &Path) -> Result<(), LocalError> {
    fs::create_dir_all(cache).tried_with("make", cache)?;
    let place =
        tempfile::Builder::new().prefix("fetch-").tempdir_in(cache).tried_with("make a folder in", cache)?;
    let project = place.path().join("pom.xml");
    fs::write(&project, pom(version)).tried_with("write", &project)?;
    let jars = place.path().join("libs");
    let mut command = Command::new("mvn");
    command.args(["-B", "-q", "-ntp", "-f"]).arg(&project);
    command.arg("org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies");
    command.arg(format!("-DoutputDirectory={}", jars.display()));
    let output = run(&mut command, "fetch Kafka with Maven", FETCH_LIMIT)?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() || jar_version(&jars).is_none() {
        let line = said.lines().find(|line| line.contains("ERROR")).unwrap_or("it said nothing");
        return Err(LocalError::failed(format!("cannot fetch Kafka {version} with Maven"), line.trim()));
    }
    match fs::rename(&jars, libs) {
        // Another command was faster.
        Err(_) if jar_version(libs).is_some() => Ok(()),
        renamed => renamed.tried_with("make", libs),
    }
}

/// A project that needs a broker, and what its log needs.
fn pom(version: &str) -> String {
    format!(
        "<project xmlns=\"http://maven.apache.org/POM/4.0.0\"><modelVersion>4.0.0</modelVersion>\n\
         <groupId>nexmark</groupId><artifactId>kafka</artifactId><version>1</version><packaging>pom</packaging>\n\
         <dependencies>\n\
         <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>{version}</version></dependency>\n\
         <dependency><groupId>org.apache.logging.log4j</groupId><artifactId>log4j-slf4j-impl</artifactId><version>2.24.3</version></dependency>\n\
         </dependencies></project>\n"
    )
}

/// Runs a program to its end, that long at most, and gives what it said.
pub(super) fn run(command: &mut Command, what: &str, limit: Duration) -> Result<Output, LocalError> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| not_started(command, error))?;
    let start = Instant::now();
    // What these programs say fits into the pipes.
    while child.try_wait().tried(|| what.to_owned())?.is_none() {
        if start.elapsed() >= limit {
            child.kill().and_then(|()| child.wait()).tried(|| what.to_owned())?;
            return Err(LocalError::failed(format!("cannot {what}"), format!("not done after {limit:?}")));
        }
        std::thread::sleep(POLL);
    }
    child.wait_with_output().tried(|| what.to_owned())
}

pub(super) fn not_started(command: &Command, error: std::io::Error) -> LocalError {
    let program = PathBuf::from(command.get_program());
    match error.kind() {
        std::io::ErrorKind::NotFound => LocalError::Missing {
            remedy: if program.file_name() == Some(OsStr::new("mvn")) { MAVEN } else { JAVA },
            program: program.display().to_string(),
        },
        _ => LocalError::System { what: format!("start {}", program.display()), error },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_the_user_is_taken_as_it_is() {
        let home = tempfile::tempdir().unwrap();
        let error = Distribution::find(Some(home.path()), None, Path::new("/none")).unwrap_err().to_string();
        assert!(
            error.starts_with("KAFKA_HOME is") && error.contains("libs/kafka-clients-VERSION.jar"),
            "{error}"
        );
        fs::create_dir(home.path().join("libs")).unwrap();
        fs::write(home.path().join("libs/kafka-clients-3.9.1.jar"), "").unwrap();
        fs::write(home.path().join("libs/kafka-clients-3.9.1-test.jar"), "").unwrap();
        let found = Distribution::find(Some(home.path()), None, Path::new("/none")).unwrap();
        assert_eq!(found.version, "3.9.1");
        assert!(found.class_path.ends_with("/libs/*"));
        let error =
            Distribution::find(Some(home.path()), Some("4.1.0"), Path::new("/none")).unwrap_err().to_string();
        assert_eq!(error, "--version is \"4.1.0\", allowed is 3.9.1, which is in KAFKA_HOME");
    }

    #[test]
    fn a_version_is_digits_and_dots() {
        for version in ["", "latest", "4.1.0</version>"] {
            let error = Distribution::find(None, Some(version), Path::new("/none")).unwrap_err().to_string();
            assert!(error.starts_with(&format!("--version is {version:?}, allowed is a release")), "{error}");
        }
    }

    #[test]
    fn a_program_that_is_missing_is_named_with_what_to_install() {
        let error = run(&mut Command::new("/none/mvn"), "try", FETCH_LIMIT).unwrap_err().to_string();
        assert_eq!(error, format!("/none/mvn is missing: {MAVEN}"));
        let error =
            run(Command::new("sleep").arg("9"), "try", Duration::from_millis(100)).unwrap_err().to_string();
        assert_eq!(error, "cannot try: not done after 100ms");
    }
}
