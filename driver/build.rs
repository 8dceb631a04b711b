//! Builds the collector that is copied to hosts and puts it into this crate: static, so that it runs on any Linux of the same
//! architecture. Where its target is not installed, everything else works, and whoever needs a collector is told why there is
//! none.

use std::env;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Variables by which the outer cargo tells how to build for itself, which is not how to build the collector.
const OUTER: [&str; 6] = [
    "CARGO_ENCODED_RUSTFLAGS",
    "RUSTFLAGS",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTC_WRAPPER",
    "CARGO_BUILD_TARGET",
    "CARGO_TARGET_DIR",
];

fn main() -> Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=../collector");
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let target = format!("{}-unknown-linux-musl", env::var("CARGO_CFG_TARGET_ARCH")?);
    let expression = match build(&out, &target) {
        Ok(program) => {
            fs::copy(program, out.join("collector"))?;
            "Ok(include_bytes!(concat!(env!(\"OUT_DIR\"), \"/collector\")))".to_owned()
        }
        Err(why) => format!("Err({:?})", why.to_string()),
    };
    fs::write(out.join("collector.rs"), expression)?;
    Ok(())
}

/// Builds the collector, or tells why there is none and what to do.
fn build(out: &Path, target: &str) -> Result<PathBuf> {
    let library = sysroot()?.join("lib/rustlib");
    let components = library.join("components");
    if components.exists() {
        // Written whenever a target is installed.
        println!("cargo::rerun-if-changed={}", components.display());
    }
    if !library.join(target).exists() {
        return Err(format!(
            "this program was built without a collector for other hosts: install the target with `rustup target add \
             {target}` and build again"
        )
        .into());
    }
    // All profiles share it: the folder of the target is that of build/PACKAGE/out in a profile.
    let folder = out.ancestors().nth(4).ok_or("OUT_DIR is not where cargo puts it")?.join("collector");
    let mut cargo = Command::new(env::var("CARGO")?);
    cargo
        .args(["build", "--quiet", "--locked", "--offline", "--package", "nexmark-collector"])
        .args([
            "--profile",
            "collector",
            "--target",
            target,
            "--manifest-path",
            "../Cargo.toml",
            "--target-dir",
        ])
        .arg(&folder);
    for name in OUTER {
        cargo.env_remove(name);
    }
    let output = cargo.output()?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        let line = message.lines().find(|line| line.starts_with("error")).unwrap_or("cargo gave no reason");
        println!("cargo::warning=the collector for other hosts was not built: {line}");
        return Err(format!(
            "this program was built without a collector for other hosts, since building one failed: {line}"
        )
        .into());
    }
    Ok(folder.join(target).join("collector/nexmark-collector"))
}

fn sysroot() -> Result<PathBuf> {
    let output = Command::new(env::var("RUSTC")?).args(["--print", "sysroot"]).output()?;
    Ok(PathBuf::from(String::from_utf8(output.stdout)?.trim()))
}
