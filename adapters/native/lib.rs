//! The embedded engine: the queries' dataflows on timely workers, one thread each, in the driver's own process. It needs
//! no set-up.

mod cluster;
mod engine;
mod feed;
mod files;
mod source;

pub use cluster::pin;
use nexmark_driver::config::{Allowed, EngineFactory, Key};

/// The engine's row in the table of engines.
pub static FACTORY: EngineFactory = EngineFactory {
    name: "native",
    title: "embedded engine on timely dataflow",
    keys: &[
        Key {
            name: "pinning",
            default: "true",
            allowed: Allowed::Switch,
            meaning: "each worker keeps to one processor, where the system allows it",
        },
        Key {
            name: "block.events",
            default: "4096",
            allowed: Allowed::Count { min: 1, max: 1 << 20 },
            meaning: "events that a source hands over at once",
        },
        Key {
            name: "blocks.ahead",
            default: "32",
            allowed: Allowed::Count { min: 1, max: 1 << 16 },
            meaning: "blocks that a source may be ahead of what the slowest worker has finished",
        },
        Key {
            name: "files.dir",
            default: "",
            allowed: Allowed::Text,
            meaning: "existing directory below which a run makes its own for files; empty: the system's for temporary ones",
        },
        Key {
            name: "files.keep",
            default: "false",
            allowed: Allowed::Switch,
            meaning: "files that a run has written are not removed at its end",
        },
    ],
    create: |settings| Ok(Box::new(engine::Native::new(settings))),
};
