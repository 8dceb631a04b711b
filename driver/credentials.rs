//! Secrets of the user, such as passwords: from the environment, or from a file that nobody else may read. Never from the
//! configuration or a command line, since both are shown and kept with results.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Permission bits that let others than the owner read or write.
const OTHERS: u32 = 0o077;

/// Secrets by their names. They are not shown when this is printed.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Credentials {
    values: BTreeMap<&'static str, String>,
}

/// Why secrets could not be read.
#[derive(Debug, thiserror::Error)]
pub enum CredentialsError {
    /// The file cannot be read.
    #[error("cannot read the credentials in {}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// Others can read or change the file.
    #[error("{} has mode {mode:04o}, so that others have access to the credentials in it; allowed is 0600: chmod 600 {}",
        path.display(), path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// A line is not `NAME=VALUE` with a known name.
    #[error("{} line {line}: {problem}, expected NAME=VALUE with one of the names {}", path.display(), names.join(", "))]
    Line {
        /// The file.
        path: PathBuf,
        /// Number of the line, from 1.
        line: usize,
        /// What is wrong; values are not repeated.
        problem: String,
        /// Names that are known.
        names: &'static [&'static str],
    },
}

impl Credentials {
    /// Reads the secrets of these names: a variable of the environment, else a line `NAME=VALUE` of the file. Blank lines and
    /// those that begin with `#` are passed over.
    ///
    /// # Errors
    /// The file cannot be read, others have access to it, or a line of it is something else.
    pub fn read(file: Option<&Path>, names: &'static [&'static str]) -> Result<Self, CredentialsError> {
        let mut credentials = match file {
            Some(path) => Self { values: parse(path, &private_text(path)?, names)? },
            None => Self::default(),
        };
        for name in names {
            if let Ok(value) = std::env::var(name) {
                credentials.values.insert(name, value);
            }
        }
        Ok(credentials)
    }

    /// A secret, if it was given.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.values.keys()).finish()
    }
}

/// The text of a file, if nobody but its owner has access to it.
///
/// # Errors
/// The file cannot be read, or others have access to it.
pub fn private_text(path: &Path) -> Result<String, CredentialsError> {
    let failed = |error| CredentialsError::File { path: path.to_owned(), error };
    let mut file = File::open(path).map_err(failed)?;
    // Of the open file, so that it cannot be another one than the one that is read.
    let mode = file.metadata().map_err(failed)?.permissions().mode() & 0o777;
    if mode & OTHERS != 0 {
        return Err(CredentialsError::Open { path: path.to_owned(), mode });
    }
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(failed)?;
    Ok(text)
}

fn parse(
    path: &Path,
    text: &str,
    names: &'static [&'static str],
) -> Result<BTreeMap<&'static str, String>, CredentialsError> {
    let mut values = BTreeMap::new();
    for (number, line) in text.lines().enumerate() {
        let wrong = |problem: String| {
            Err(CredentialsError::Line { path: path.to_owned(), line: number + 1, problem, names })
        };
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let Some((name, value)) = line.split_once('=') else { return wrong("there is no =".to_owned()) };
        let Some(name) = names.iter().find(|known| **known == name.trim()) else {
            return wrong(format!("unknown name {:?}", name.trim()));
        };
        if values.insert(*name, value.trim().to_owned()).is_some() {
            return wrong(format!("{name} is given twice"));
        }
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const NAMES: &[&str] = &["NEXMARK_TEST_USER", "NEXMARK_TEST_PASSWORD"];

    fn file(text: &str, mode: u32) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), text).unwrap();
        fs::set_permissions(file.path(), fs::Permissions::from_mode(mode)).unwrap();
        file
    }

    #[test]
    fn a_private_file_is_read_and_its_values_are_not_shown() {
        let file = file("# mine\n\nNEXMARK_TEST_USER = me\nNEXMARK_TEST_PASSWORD=a=b c\n", 0o600);
        let credentials = Credentials::read(Some(file.path()), NAMES).unwrap();
        assert_eq!(credentials.get("NEXMARK_TEST_USER"), Some("me"));
        assert_eq!(credentials.get("NEXMARK_TEST_PASSWORD"), Some("a=b c"));
        let shown = format!("{credentials:?}");
        assert!(shown.contains("NEXMARK_TEST_PASSWORD") && !shown.contains("a=b c"), "{shown}");
        assert_eq!(Credentials::read(None, NAMES).unwrap().get("NEXMARK_TEST_USER"), None);
    }

    #[test]
    fn a_file_that_others_may_read_is_refused() {
        for mode in [0o640, 0o604, 0o620] {
            let file = file("NEXMARK_TEST_USER=me", mode);
            let error = Credentials::read(Some(file.path()), NAMES).unwrap_err().to_string();
            assert!(
                error.contains(&format!("has mode {mode:04o}")) && error.contains("chmod 600"),
                "{error}"
            );
        }
    }

    #[test]
    fn other_lines_are_named_without_their_values() {
        for (line, problem) in [
            ("s3cret", "there is no ="),
            ("USER=s3cret", "unknown name \"USER\""),
            ("NEXMARK_TEST_USER=a\nNEXMARK_TEST_USER=s3cret", "NEXMARK_TEST_USER is given twice"),
        ] {
            let file = file(line, 0o600);
            let error = Credentials::read(Some(file.path()), NAMES).unwrap_err().to_string();
            assert!(error.contains(problem) && !error.contains("s3cret"), "{error}");
            assert!(error.contains("NEXMARK_TEST_USER, NEXMARK_TEST_PASSWORD"), "{error}");
        }
        let error = Credentials::read(Some(Path::new("/nowhere/at/all")), NAMES).unwrap_err().to_string();
        assert!(error.starts_with("cannot read the credentials in /nowhere/at/all: "), "{error}");
    }
}
