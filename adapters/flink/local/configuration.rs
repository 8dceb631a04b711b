//! What a local Flink is told: its configuration, and the arguments of its two Java processes. It is the set-up of the
//! reference benchmark on one machine: RocksDB, mini-batch, split distinct aggregates. A job may override all of it.

use std::path::Path;

use reqwest::Url;

/// Where everybody listens.
pub(super) const HOST: &str = "127.0.0.1";

/// What differs from one local Flink to another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape<'a> {
    /// Port of the REST interface.
    pub(super) port: u16,
    /// Port over which the TaskManager finds the JobManager.
    pub(super) rpc_port: u16,
    /// Task slots.
    pub(super) slots: usize,
    /// Memory of the TaskManager's process.
    pub(super) memory_bytes: u64,
    /// Absolute folder for everything that Flink writes.
    pub(super) data: &'a Path,
}

impl Shape<'_> {
    /// The text of `config.yaml`.
    pub(super) fn config(&self) -> String {
        let path = |name: &str| quoted(&self.data.join(name).display().to_string());
        let url = |name: &str| {
            let path = self.data.join(name);
            quoted(
                Url::from_file_path(&path)
                    .map_or_else(|()| path.display().to_string(), String::from)
                    .as_str(),
            )
        };
        let values = [
            ("jobmanager.rpc.address", HOST.to_owned()),
            ("jobmanager.rpc.port", self.rpc_port.to_string()),
            ("jobmanager.bind-host", HOST.to_owned()),
            ("jobmanager.memory.process.size", "1600m".to_owned()),
            ("taskmanager.host", HOST.to_owned()),
            ("taskmanager.bind-host", HOST.to_owned()),
            ("taskmanager.numberOfTaskSlots", self.slots.to_string()),
            ("taskmanager.memory.process.size", format!("{}b", self.memory_bytes)),
            ("parallelism.default", self.slots.to_string()),
            ("rest.address", HOST.to_owned()),
            ("rest.bind-address", HOST.to_owned()),
            ("rest.port", self.port.to_string()),
            ("web.upload.dir", path("web")),
            // With the defaults, 3 s and 10 s, what is shown of a job is that old.
            ("web.refresh-interval", "500".to_owned()),
            ("metrics.fetcher.update-interval", "500".to_owned()),
            // A TaskManager that dies owing its metrics keeps Flink from asking anyone again for so long: by default 10 minutes,
            // in which all metrics stand still.
            ("web.timeout", "10000".to_owned()),
            ("io.tmp.dirs", path("tmp")),
            ("state.backend.type", "rocksdb".to_owned()),
            ("state.backend.incremental", "true".to_owned()),
            ("state.backend.rocksdb.localdir", path("rocksdb")),
            ("execution.checkpointing.dir", url("checkpoints")),
            ("execution.checkpointing.savepoint-dir", url("savepoints")),
            ("execution.checkpointing.interval", "3min".to_owned()),
            ("execution.checkpointing.mode", "EXACTLY_ONCE".to_owned()),
            // A job that fails ends as failed; one that is to start again says so itself.
            ("restart-strategy.type", "disable".to_owned()),
            ("table.exec.mini-batch.enabled", "true".to_owned()),
            ("table.exec.mini-batch.allow-latency", "2s".to_owned()),
            ("table.exec.mini-batch.size", "50000".to_owned()),
            ("table.optimizer.distinct-agg.split.enabled", "true".to_owned()),
        ];
        values.iter().map(|(key, value)| format!("{key}: {value}\n")).collect()
    }
}

/// A JSON string is one of YAML, too.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The text of `log4j.properties`. Each process writes to the file that it is started with.
pub(super) const LOGGING: &str = "\
rootLogger.level = INFO
rootLogger.appenderRef.file.ref = file
appender.file.name = file
appender.file.type = File
appender.file.fileName = ${sys:log.file}
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %d{yyyy-MM-dd HH:mm:ss,SSS} %-5p %c - %m%n
";

/// Modules of the JDK that Flink reaches into; the value of `env.java.opts.all` in the configuration that comes with it,
/// which only its start scripts read.
pub(super) fn module_options() -> impl Iterator<Item = String> {
    let exports = [
        "java.base/sun.net.util",
        "java.rmi/sun.rmi.registry",
        "jdk.compiler/com.sun.tools.javac.api",
        "jdk.compiler/com.sun.tools.javac.file",
        "jdk.compiler/com.sun.tools.javac.parser",
        "jdk.compiler/com.sun.tools.javac.tree",
        "jdk.compiler/com.sun.tools.javac.util",
        "java.security.jgss/sun.security.krb5",
    ];
    let opens = [
        "java.lang",
        "java.net",
        "java.io",
        "java.nio",
        "sun.nio.ch",
        "java.lang.reflect",
        "java.text",
        "java.time",
        "java.util",
        "java.util.concurrent",
        "java.util.concurrent.atomic",
        "java.util.concurrent.locks",
    ];
    let exports = exports.into_iter().map(|package| format!("--add-exports={package}=ALL-UNNAMED"));
    exports.chain(opens.into_iter().map(|package| format!("--add-opens=java.base/{package}=ALL-UNNAMED")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_listens_on_loopback_and_paths_may_hold_blanks() {
        let data = Path::new("/home/a b/flink");
        let shape = Shape { port: 8081, rpc_port: 4000, slots: 3, memory_bytes: 1 << 32, data };
        let config = shape.config();
        for line in [
            "rest.port: 8081",
            "rest.bind-address: 127.0.0.1",
            "jobmanager.bind-host: 127.0.0.1",
            "taskmanager.bind-host: 127.0.0.1",
            "taskmanager.numberOfTaskSlots: 3",
            "taskmanager.memory.process.size: 4294967296b",
            "web.upload.dir: \"/home/a b/flink/web\"",
            "execution.checkpointing.dir: \"file:///home/a%20b/flink/checkpoints\"",
        ] {
            assert!(config.lines().any(|found| found == line), "{line} is not in\n{config}");
        }
    }
}
