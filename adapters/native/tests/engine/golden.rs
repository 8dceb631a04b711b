//! The streams of the golden answers.

use nexmark_queries::event::Event;
use nexmark_queries::generator::{Generator, Options};
use serde_json::Value;

/// The stream of a golden file of answers.
pub(crate) struct Golden {
    pub(crate) events: u64,
    options: Options,
}

impl Golden {
    /// Reads `answers-NAME.json`.
    pub(crate) fn read(name: &str) -> Self {
        let path = format!("{}/../../tests/golden/answers-{name}.json", env!("CARGO_MANIFEST_DIR"));
        let file = std::fs::read_to_string(path).expect("the golden file");
        let file: Value = serde_json::from_str(&file).expect("JSON");
        let mut options = Options { seed: file["seed"].as_u64().expect("seed"), ..Options::default() };
        for (name, value) in file["options"].as_object().expect("options") {
            options.set(name, &value.to_string()).expect("a known option");
        }
        Self { events: file["events"].as_u64().expect("events"), options }
    }

    pub(crate) fn generator(&self) -> Generator {
        Generator::new(self.options.clone()).expect("golden options")
    }
}

/// The first events of a stream.
pub(crate) fn events(generator: &Generator, count: u64) -> Vec<Event> {
    (0..count).map(|position| generator.event(position)).collect()
}
