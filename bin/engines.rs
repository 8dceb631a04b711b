//! The engines that can be measured, one row each.

use anyhow::{Result, anyhow};
use nexmark_driver::config::{Config, EngineFactory};
use nexmark_driver::engine::{Engine, Support};
use nexmark_queries::Query;

/// Every engine.
pub(crate) static ENGINES: &[&EngineFactory] =
    &[&nexmark_native::FACTORY, &nexmark_flink::FACTORY, &nexmark_ksqldb::FACTORY];

/// The engine of that name; nothing else is ever taken in its place.
pub(crate) fn find(name: &str) -> Result<&'static EngineFactory> {
    ENGINES.iter().copied().find(|engine| engine.name == name).ok_or_else(|| {
        let known = ENGINES.iter().map(|engine| engine.name);
        let hint =
            nexmark_queries::nearest(name, known.clone()).map(|near| format!(", did you mean {near:?}?"));
        let known = known.collect::<Vec<_>>().join(", ");
        anyhow!("unknown engine {name:?}, known are {known}{}", hint.unwrap_or_default())
    })
}

/// A fresh engine with its section of the configuration.
pub(crate) fn create(engine: &EngineFactory, config: &Config) -> Result<Box<dyn Engine>> {
    (engine.create)(&config.engine(engine.name)).map_err(|error| anyhow!("engine {}: {error}", engine.name))
}

/// A word, and a text where there is more to say.
pub(crate) fn support(engine: &dyn Engine, query: &Query) -> (&'static str, Option<String>) {
    match engine.support(query) {
        Support::Supported => ("yes", None),
        Support::Deviates(text) => ("deviates", Some(text)),
        Support::Unsupported(reason) => ("no", Some(reason)),
    }
}
