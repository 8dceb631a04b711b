//! Apache Flink, 1.20 and 2.x, as an engine: a session cluster somewhere, driven over its REST interface. Nothing is copied
//! into the cluster but one jar, which is uploaded with the job; jobs of other people are left alone.

mod answer;
mod cause;
mod check;
mod cluster;
mod credentials;
mod engine;
mod flink_config;
mod http;
mod jar;
mod job;
pub mod local;
mod metrics;
mod moment;
mod program;
mod replies;
mod rest;
mod support;
mod transport;

#[cfg(test)]
mod lives;
#[cfg(test)]
mod recorded;

use nexmark_driver::config::{Allowed, EngineFactory, Key};

/// Declares keys, one a line: name, default, what is allowed, meaning.
macro_rules! keys {
    ($($name:literal $default:literal $allowed:expr; $meaning:literal)*) => {
        &[$(Key { name: $name, default: $default, allowed: $allowed, meaning: $meaning }),*]
    };
}

/// The engine's row in the table of engines.
pub static FACTORY: EngineFactory = EngineFactory {
    name: "flink",
    title: "Apache Flink session cluster, over its REST interface",
    keys: keys! {
        "address" "http://localhost:8081" Allowed::Text; "address of the REST interface: http or https, host, port, base path"
        "ca.file" "" Allowed::Text; "certificates in PEM form that are trusted beside the system's, for https"
        "headers" "" Allowed::Text; "headers of every request, as a proxy may want them: \"Name: value\", several joined by ;"
        "credentials.file" "" Allowed::Text; "file of mode 0600 with user:password or \"Bearer TOKEN\"; empty: the variable NEXMARK_FLINK_CREDENTIALS"
        "deadline.connect" "5s" Allowed::Duration; "longest wait for a connection"
        "deadline.reply" "20s" Allowed::Duration; "longest wait for a reply"
        "deadline.submit" "60s" Allowed::Duration; "longest wait for the upload of the jar, and for the acceptance of a job"
        "jar" "" Allowed::Text; "the jar; empty: beside the program, or else where the build leaves it"
        "object-reuse" "false" Allowed::Switch; "rows are handed from operator to operator without a copy"
        "checkpoint.interval" "3m" Allowed::Duration; "time between two checkpoints, 0s for none"
        "checkpoint.mode" "exactly-once" Allowed::Choice(&["exactly-once", "at-least-once"]); "what a job that restarts does with events after its last checkpoint"
        "checkpoint.incremental" "true" Allowed::Switch; "a checkpoint holds only what has changed, where the state backend can"
        "checkpoint.dir" "" Allowed::Text; "directory or address that all processes share; empty: the cluster's own"
        "state.backend" "rocksdb" Allowed::Choice(&["rocksdb", "hashmap"]); "where state is"
        "mini-batch.enabled" "true" Allowed::Switch; "aggregates are updated for many rows at once"
        "mini-batch.latency" "2s" Allowed::Duration; "longest time that a row waits for others"
        "mini-batch.size" "50000" Allowed::Count { min: 1, max: 1 << 31 }; "rows that wait at most"
        "distinct.split" "true" Allowed::Switch; "distinct counts are split over several tasks"
        "restart" "cluster" Allowed::Choice(&["cluster", "disable", "fixed-delay", "exponential-delay", "failure-rate"]); "what happens to a job that fails; cluster: what the cluster is set to"
        "settings" "" Allowed::Text; "other settings of Flink for the job: KEY=VALUE, several joined by ;"
        "files.dir" "" Allowed::Text; "directory or address that all TaskManagers share, for the files of q10; empty: the system's for temporary ones, if the cluster is on this machine"
        "files.keep" "false" Allowed::Switch; "files that a run has written are not removed at its end"
        "watch.taskmanager" "TaskManagerRunner" Allowed::Text; "what the command line of a TaskManager holds, whose costs are counted"
        "watch.jobmanager" "SessionClusterEntrypoint" Allowed::Text; "what the command line of the JobManager holds; empty: it is not counted"
    },
    create: |settings| Ok(Box::new(engine::Flink::new(settings)?)),
};
