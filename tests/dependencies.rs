//! Dependencies go one way, bin -> adapters -> driver -> queries and collector, and adapters do not know each other.

use std::fs;
use std::path::{Path, PathBuf};

use crate::program::root;

/// A crate of the workspace: its folder and the crates of ours that it may use.
struct Layer {
    folder: PathBuf,
    allowed: &'static [&'static str],
}

fn layers() -> Vec<Layer> {
    let layer = |folder: &str, allowed| Layer { folder: root().join(folder), allowed };
    let mut layers = vec![
        layer("queries", &[][..]),
        layer("collector", &[]),
        layer("driver", &["nexmark-queries", "nexmark-collector"]),
    ];
    for entry in fs::read_dir(root().join("adapters")).unwrap() {
        let folder = entry.unwrap().path();
        if folder.join("Cargo.toml").exists() {
            layers.push(Layer { folder, allowed: &["nexmark-queries", "nexmark-driver"] });
        }
    }
    layers
}

/// Every file of a folder with this extension, at any depth; what builds leave is passed over.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let hidden = path.file_name().unwrap().to_string_lossy().starts_with('.');
        if path.is_dir() && !hidden && !path.ends_with("target") {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|found| found == extension) {
            found.push(path);
        }
    }
    found
}

/// Names of our crates in a manifest's tables of dependencies.
fn ours_in_manifest(folder: &Path) -> Vec<String> {
    let text = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    let manifest: toml::Table = text.parse().unwrap();
    let tables = ["dependencies", "dev-dependencies", "build-dependencies"];
    let tables = tables.iter().filter_map(|name| manifest.get(*name)?.as_table());
    tables.flat_map(|table| table.keys()).filter(|name| name.starts_with("nexmark")).cloned().collect()
}

/// Names of our crates that a source file uses.
fn ours_in_source(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap();
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let words =
        code.flat_map(|line| line.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_'));
    words.filter(|word| word.starts_with("nexmark_")).map(|word| word.replace('_', "-")).collect()
}

fn own_name(folder: &Path) -> String {
    let text = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    let manifest: toml::Table = text.parse().unwrap();
    manifest["package"]["name"].as_str().unwrap().to_owned()
}

#[test]
fn manifests_keep_the_direction() {
    for layer in layers() {
        for used in ours_in_manifest(&layer.folder) {
            assert!(layer.allowed.contains(&used.as_str()), "{} depends on {used}", layer.folder.display());
        }
    }
}

#[test]
fn sources_keep_the_direction() {
    let crates: Vec<String> = layers().iter().map(|layer| own_name(&layer.folder)).collect();
    for layer in layers() {
        let own = own_name(&layer.folder);
        for file in files(&layer.folder, "rs") {
            for used in ours_in_source(&file).iter().filter(|used| crates.contains(used)) {
                let allowed = *used == own || layer.allowed.contains(&used.as_str());
                assert!(allowed, "{} uses {used}", file.display());
            }
        }
    }
}

#[test]
fn only_the_printer_and_the_table_of_engines_know_their_things() {
    for file in files(&root().join("bin"), "rs") {
        let text = fs::read_to_string(&file).unwrap();
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        assert!(name == "engines.rs" || !text.contains("nexmark_native"), "{name} knows an engine");
        let prints = ["println!", "eprintln!", "anstream::stdout", "io::stdout("];
        assert!(name == "printer.rs" || !prints.iter().any(|print| text.contains(print)), "{name} prints");
    }
}

#[test]
fn every_file_says_what_it_is() {
    for file in files(root(), "rs") {
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.starts_with("//! "), "{} does not begin with //!", file.display());
    }
}
