//! A Flink on disk: the one of `FLINK_HOME`, or the one inside the Python package `apache-flink-libraries`, which pip
//! fetches once into a cache of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use nexmark_driver::local::{LocalError, Tried as _};
use tokio::process::Command;

/// Version that is taken when none is asked for.
pub const DEFAULT_VERSION: &str = "2.3.0";

const PACKAGE: &str = "apache-flink-libraries";
/// 330 MB over a slow line.
const INSTALL_LIMIT: Duration = Duration::from_secs(1800);
const DIST_JAR: &str = "flink-dist-";

/// A Flink on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Distribution {
    /// The folder with `lib`, `bin` and `plugins`.
    pub(super) home: PathBuf,
    /// As its main jar is named.
    pub(super) version: String,
}

impl Distribution {
    /// The Flink of `home`, which is `FLINK_HOME`, else that version from the cache, where it is installed if it is not there.
    pub(super) async fn find(
        home: Option<&Path>,
        version: Option<&str>,
        cache: &Path,
    ) -> Result<Self, LocalError> {
        if let Some(home) = home {
            return Self::of_home(home, version);
        }
        let version = version.unwrap_or(DEFAULT_VERSION);
        check_version(version)?;
        let home = cache.join(version);
        if !home.exists() {
            install(version, cache).await?;
        }
        Self::open(&home).ok_or_else(|| {
            LocalError::failed(
                format!("{} is no Flink", home.display()),
                "remove the folder, and it is installed anew",
            )
        })
    }

    fn of_home(home: &Path, version: Option<&str>) -> Result<Self, LocalError> {
        let not_allowed = |allowed: String| LocalError::NotAllowed {
            name: "FLINK_HOME",
            value: home.display().to_string(),
            allowed,
        };
        let found = Self::open(home).ok_or_else(|| {
            not_allowed(format!(
                "a folder of Flink, with one lib/{DIST_JAR}*.jar and bin/bash-java-utils.jar"
            ))
        })?;
        match version {
            Some(version) if version != found.version => Err(not_allowed(format!(
                "a Flink {version}, since --version asks for it, not {}",
                found.version
            ))),
            _ => Ok(found),
        }
    }

    /// `None` where there is no Flink.
    fn open(home: &Path) -> Option<Self> {
        let home = home.canonicalize().ok()?;
        let jars = jars(&home).ok()?;
        let mut versions = jars.iter().filter_map(|jar| {
            jar.file_name()?.to_str()?.strip_prefix(DIST_JAR)?.strip_suffix(".jar").map(str::to_owned)
        });
        let version = versions.next().filter(|_| versions.next().is_none())?;
        let distribution = Self { home, version };
        distribution.memory_tool().exists().then_some(distribution)
    }

    /// All jars of `lib`, the main one last, as Flink's own scripts have it.
    pub(super) fn class_path(&self) -> Result<String, LocalError> {
        let mut jars = jars(&self.home).tried_with("read", &self.home.join("lib"))?;
        jars.sort_by_key(|jar| (jar == &self.main_jar(), jar.clone()));
        let jars: Vec<String> = jars.iter().map(|jar| jar.display().to_string()).collect();
        Ok(jars.join(":"))
    }

    /// The jar that holds Flink itself.
    pub(super) fn main_jar(&self) -> PathBuf {
        self.home.join("lib").join(format!("{DIST_JAR}{}.jar", self.version))
    }

    /// The program that divides the memory of a process as a configuration says.
    pub(super) fn memory_tool(&self) -> PathBuf {
        self.home.join("bin/bash-java-utils.jar")
    }
}

fn jars(home: &Path) -> std::io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(home.join("lib"))?;
    let paths = entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
    Ok(paths
        .into_iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "jar"))
        .collect())
}

/// A version is part of a path, and of what pip is asked for.
fn check_version(version: &str) -> Result<(), LocalError> {
    let parts: Vec<&str> = version.split('.').collect();
    let digits = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if parts.len() == 3 && parts.iter().all(digits) {
        return Ok(());
    }
    Err(LocalError::NotAllowed {
        name: "--version",
        value: version.to_owned(),
        allowed: format!("a release of Flink such as 1.20.5 or {DEFAULT_VERSION}"),
    })
}

/// Puts the distribution at its place in the cache, whole or not at all.
async fn install(version: &str, cache: &Path) -> Result<(), LocalError> {
    fs::create_dir_all(cache).tried_with("make", cache)?;
    let unpacked =
        tempfile::Builder::new().prefix(".installing-").tempdir_in(cache).tried_with("write to", cache)?;
    pip(version, unpacked.path()).await?;
    let home = cache.join(version);
    match fs::rename(unpacked.path().join("pyflink"), &home) {
        // Somebody else was faster.
        Err(_) if home.exists() => Ok(()),
        renamed => renamed.tried_with("make", &home),
    }
}

async fn pip(version: &str, target: &Path) -> Result<(), LocalError> {
    let mut command = Command::new("python3");
    command.args([
        "-m",
        "pip",
        "install",
        "--no-input",
        "--disable-pip-version-check",
        "--no-deps",
        "--no-compile",
    ]);
    command.arg("--target").arg(target).arg(format!("{PACKAGE}=={version}"));
    command.stdin(Stdio::null()).kill_on_drop(true);
    let what = || format!("cannot install {PACKAGE} {version} with pip");
    let ended = tokio::time::timeout(INSTALL_LIMIT, command.output());
    let output = match ended.await {
        Ok(Ok(output)) => output,
        Ok(Err(_)) => {
            return Err(missing("python3", "install it, as in: apt-get install python3 python3-pip"));
        }
        Err(_) => return Err(LocalError::failed(what(), format!("it took longer than {INSTALL_LIMIT:?}"))),
    };
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("No module named pip") {
        return Err(missing("pip", "install it, as in: apt-get install python3-pip"));
    }
    let line = said.lines().rev().find_map(|line| line.strip_prefix("ERROR: "));
    let line = line.or_else(|| said.lines().last()).unwrap_or_default();
    let offline = "; where there is no network, set FLINK_HOME to the folder of an unpacked Flink";
    Err(LocalError::failed(what(), format!("{line}{offline}")))
}

fn missing(program: &str, remedy: &'static str) -> LocalError {
    LocalError::Missing { program: program.to_owned(), remedy }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder that looks like a Flink.
    fn fake(versions: &[&str]) -> tempfile::TempDir {
        let home = tempfile::tempdir().unwrap();
        for folder in ["lib", "bin"] {
            fs::create_dir(home.path().join(folder)).unwrap();
        }
        for version in versions {
            fs::write(home.path().join(format!("lib/{DIST_JAR}{version}.jar")), "").unwrap();
        }
        for other in ["lib/a.jar", "lib/log4j-api-2.jar", "lib/notes.txt", "bin/bash-java-utils.jar"] {
            fs::write(home.path().join(other), "").unwrap();
        }
        home
    }

    #[tokio::test]
    async fn a_home_is_taken_as_it_is() {
        let home = fake(&["1.20.5"]);
        let cache = Path::new("/nonexistent");
        let found = Distribution::find(Some(home.path()), None, cache).await.unwrap();
        assert_eq!(found.version, "1.20.5");
        let class_path = found.class_path().unwrap();
        let names: Vec<&str> = class_path.split(':').map(|jar| jar.rsplit('/').next().unwrap()).collect();
        assert_eq!(names, ["a.jar", "log4j-api-2.jar", "flink-dist-1.20.5.jar"]);

        let error =
            Distribution::find(Some(home.path()), Some("2.3.0"), cache).await.unwrap_err().to_string();
        assert!(error.ends_with("a Flink 2.3.0, since --version asks for it, not 1.20.5"), "{error}");
        for wrong in [fake(&[]), fake(&["1.20.5", "2.3.0"])] {
            let error = Distribution::find(Some(wrong.path()), None, cache).await.unwrap_err().to_string();
            assert!(
                error.starts_with("FLINK_HOME is ") && error.contains("one lib/flink-dist-*.jar"),
                "{error}"
            );
        }
    }

    #[tokio::test]
    async fn the_cache_is_used_without_asking_anybody() {
        let cache = tempfile::tempdir().unwrap();
        fs::rename(fake(&["2.3.0"]).keep(), cache.path().join(DEFAULT_VERSION)).unwrap();
        let found = Distribution::find(None, None, cache.path()).await.unwrap();
        assert_eq!(found.version, DEFAULT_VERSION);
    }

    #[tokio::test]
    async fn a_version_is_three_numbers() {
        for version in ["", "2", "2.3", "2.3.x", "../2.3.0", "2.3.0 ", "1.2.3.4"] {
            let error = Distribution::find(None, Some(version), Path::new("/nonexistent")).await.unwrap_err();
            assert!(
                error.to_string().starts_with(&format!("--version is {version:?}, allowed is ")),
                "{error}"
            );
        }
    }
}
