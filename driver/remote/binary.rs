//! The program that is copied to hosts.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::Path;

use sha2::{Digest as _, Sha256};

/// The collector for this program's own architecture, or why it is missing.
const EMBEDDED: Result<&[u8], &str> = include!(concat!(env!("OUT_DIR"), "/collector.rs"));

/// Architectures by their number in an ELF header, as `uname -m` names them.
const MACHINES: [(u16, &str); 7] = [
    (3, "i686"),
    (21, "ppc64le"),
    (22, "s390x"),
    (40, "armv7l"),
    (62, "x86_64"),
    (183, "aarch64"),
    (243, "riscv64"),
];

/// A program for hosts.
#[derive(Clone, PartialEq, Eq)]
pub struct Binary {
    bytes: Cow<'static, [u8]>,
    /// SHA-256 of the bytes, hexadecimal.
    pub(super) hash: String,
    /// Architecture, as `uname -m` names it.
    pub(super) machine: &'static str,
}

impl std::fmt::Debug for Binary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { hash, machine, bytes } = self;
        write!(f, "Binary({machine}, {} bytes, {hash})", bytes.len())
    }
}

/// There is no program that could be copied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BinaryError(String);

impl Binary {
    /// The one that was built with this program.
    ///
    /// # Errors
    /// It was built without; the message says what to do.
    pub fn embedded() -> Result<Self, BinaryError> {
        let bytes = EMBEDDED.map_err(|why| BinaryError(why.to_owned()))?;
        Self::new(Cow::Borrowed(bytes))
            .ok_or_else(|| BinaryError("the built-in collector is no program".to_owned()))
    }

    /// One that was built for another architecture.
    ///
    /// # Errors
    /// The file cannot be read, or is no program of Linux.
    pub fn read(path: &Path) -> Result<Self, BinaryError> {
        let bytes = std::fs::read(path)
            .map_err(|error| BinaryError(format!("cannot read collector {}: {error}", path.display())))?;
        Self::new(Cow::Owned(bytes)).ok_or_else(|| {
            let known: Vec<&str> = MACHINES.iter().map(|(_, name)| *name).collect();
            BinaryError(format!("collector {} is no ELF program for {}", path.display(), known.join(", ")))
        })
    }

    fn new(bytes: Cow<'static, [u8]>) -> Option<Self> {
        let machine = machine(&bytes)?;
        let mut hash = String::new();
        for byte in Sha256::digest(&bytes) {
            // Writing to a string cannot fail.
            let _ = write!(hash, "{byte:02x}");
        }
        Some(Self { bytes, hash, machine })
    }

    /// The program itself.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Architecture of an ELF program.
fn machine(bytes: &[u8]) -> Option<&'static str> {
    let header: [u8; 20] = bytes.get(..20)?.try_into().ok()?;
    if !header.starts_with(b"\x7fELF") {
        return None;
    }
    let number = match header[5] {
        1 => u16::from_le_bytes([header[18], header[19]]),
        2 => u16::from_be_bytes([header[18], header[19]]),
        _ => return None,
    };
    MACHINES.iter().find(|(known, _)| *known == number).map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_known_by_its_header() {
        let own = Binary::read(Path::new("/proc/self/exe")).unwrap();
        assert_eq!((own.machine, own.hash.len()), (std::env::consts::ARCH, 64));
        let directory = tempfile::tempdir().unwrap();
        let text = directory.path().join("text");
        std::fs::write(&text, b"#!/bin/sh\necho I am no program for hosts\n").unwrap();
        let error = Binary::read(&text).unwrap_err().to_string();
        assert!(error.contains("is no ELF program for i686") && error.contains("text"), "{error}");
        let error = Binary::read(Path::new("/none")).unwrap_err().to_string();
        assert!(error.contains("cannot read collector /none: No such file"), "{error}");
    }

    #[test]
    fn the_built_in_one_is_small_or_says_how_to_get_it() {
        match Binary::embedded() {
            Ok(binary) => {
                assert_eq!(binary.machine, std::env::consts::ARCH);
                assert!(binary.bytes().len() < 1_000_000, "{binary:?}");
            }
            Err(error) => assert!(error.to_string().contains("without a collector"), "{error}"),
        }
    }
}
