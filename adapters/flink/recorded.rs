//! Replies of a real Flink 2.3, for tests.

use std::path::Path;

use serde::de::DeserializeOwned;
use serde_json::Value;

/// What Flink replied.
pub(crate) fn response(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/recorded/{name}.json"));
    let text = std::fs::read_to_string(path).unwrap();
    let recorded: Value = serde_json::from_str(&text).unwrap();
    recorded["response"].clone()
}

/// The same, read as the adapter reads it.
pub(crate) fn read<T: DeserializeOwned>(name: &str) -> T {
    serde_json::from_value(response(name)).unwrap()
}
