//! The jar: where it is here, and whether the cluster has it already. In the cluster it bears a hash of its content in its name,
//! so that the same jar is uploaded once and another one never taken for it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use nexmark_driver::engine::EngineError;
use sha2::{Digest as _, Sha256};

use crate::replies::{Jar, Jars, Uploaded};
use crate::rest::{Rest, encoded};
use crate::transport::Body;

/// Name of the file that the build makes.
const FILE: &str = "nexmark-flink.jar";
/// Begin of the name that the jar has in a cluster.
const PREFIX: &str = "nexmark-flink-";
/// Bytes of the hash that are in its name.
const HASH_BYTES: usize = 8;

/// A jar that can be uploaded.
#[derive(Clone, Debug)]
pub(crate) struct LocalJar {
    pub(crate) path: PathBuf,
    /// Name in the cluster.
    pub(crate) name: String,
    bytes: Vec<u8>,
}

/// A jar in the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ClusterJar {
    pub(crate) id: String,
    /// Uploaded by this engine, which removes it at its end.
    pub(crate) is_ours: bool,
}

impl LocalJar {
    /// The jar of that path, or else beside the program, or else where the build leaves it.
    pub(crate) fn find(path: &str) -> Result<Self, EngineError> {
        let places = if path.is_empty() { usual_places() } else { vec![PathBuf::from(path)] };
        match places.iter().find(|place| place.is_file()) {
            Some(place) => Self::read(place),
            None => {
                let places: Vec<_> = places.iter().map(|place| place.display().to_string()).collect();
                Err(EngineError::new(format!(
                    "there is no {FILE} at {}; build it with: mvn -f adapters/flink/java/pom.xml package (JDK 11 or \
                     later and Maven), or set engine.flink.jar to its path",
                    places.join(" nor at ")
                )))
            }
        }
    }

    fn read(path: &Path) -> Result<Self, EngineError> {
        let bytes = std::fs::read(path)
            .map_err(|error| EngineError::new(format!("cannot read the jar {}: {error}", path.display())))?;
        let hash: String =
            Sha256::digest(&bytes).iter().take(HASH_BYTES).map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { path: path.to_owned(), name: format!("{PREFIX}{hash}.jar"), bytes })
    }

    /// The jar in the cluster, uploaded if it is not there.
    pub(crate) async fn provide(&self, rest: &Rest, limit: Duration) -> Result<ClusterJar, EngineError> {
        let jars: Jars = rest.get("/jars").await?;
        match jars.files.into_iter().find(|jar| jar.name == self.name) {
            Some(jar) => Ok(ClusterJar { id: jar.id, is_ours: false }),
            None => self.upload(rest, limit).await,
        }
    }

    pub(crate) async fn upload(&self, rest: &Rest, limit: Duration) -> Result<ClusterJar, EngineError> {
        let body = Body::File { name: self.name.clone(), bytes: self.bytes.clone() };
        let uploaded: Uploaded = rest.post("/jars/upload", body, limit).await?;
        let id = uploaded.filename.rsplit(['/', '\\']).next().unwrap_or_default();
        Ok(ClusterJar { id: id.to_owned(), is_ours: true })
    }
}

/// Removes a jar; one that is gone already is as good as removed.
pub(crate) async fn remove(rest: &Rest, id: &str) -> Result<(), EngineError> {
    let removed = rest.delete(&format!("/jars/{}", encoded(id))).await;
    match removed {
        Err(error) if !error.is_not_found() && !error.to_string().contains("does not exist") => {
            Err(error.into())
        }
        _ => Ok(()),
    }
}

/// Jars of this program in the cluster, of any content.
pub(crate) async fn all(rest: &Rest) -> Result<Vec<Jar>, EngineError> {
    let jars: Jars = rest.get("/jars").await?;
    Ok(jars.files.into_iter().filter(|jar| jar.name.starts_with(PREFIX)).collect())
}

fn usual_places() -> Vec<PathBuf> {
    let beside = std::env::current_exe().ok().and_then(|program| Some(program.parent()?.join(FILE)));
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("java/target").join(FILE);
    beside.into_iter().chain([built]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_follows_the_content() {
        let directory = tempfile::tempdir().unwrap();
        let name = |content: &str| {
            let path = directory.path().join("a.jar");
            std::fs::write(&path, content).unwrap();
            LocalJar::find(path.to_str().unwrap()).unwrap().name
        };
        assert_eq!(name("abc"), "nexmark-flink-ba7816bf8f01cfea.jar");
        assert_ne!(name("abd"), name("abc"));
    }

    #[test]
    fn a_missing_jar_says_how_to_build_it() {
        let message = LocalJar::find("/no/such.jar").unwrap_err().message;
        assert!(message.contains("at /no/such.jar;") && message.contains("mvn -f"), "{message}");
    }
}
