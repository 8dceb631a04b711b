//! The one table of metrics: what is compared, in which unit, and which way is better.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::result::RunResult;
use crate::stats::Better;

/// A number of a run that can be compared.
pub struct Metric {
    /// Name, as in result files.
    pub name: &'static str,
    /// What it is called in a report.
    pub title: &'static str,
    /// Unit of its values.
    pub unit: &'static str,
    /// Which way is better.
    pub better: Better,
    /// Its value in a run; `None` where it is not known, or says nothing.
    pub value: fn(&RunResult) -> Option<f64>,
}

/// Every metric, the most telling first.
pub static METRICS: &[Metric] = &[
    Metric {
        name: "events_per_s",
        title: "throughput",
        unit: "events/s",
        better: Better::Higher,
        value: |result| result.events_per_s,
    },
    Metric {
        name: "events_per_s_per_core",
        title: "throughput per core",
        unit: "events/s/core",
        better: Better::Higher,
        value: |result| result.events_per_s_per_core,
    },
    Metric { name: "cpu_seconds", title: "CPU time", unit: "s", better: Better::Lower, value: cpu_seconds },
    Metric {
        name: "rss_bytes_max",
        title: "memory",
        unit: "B",
        better: Better::Lower,
        value: |result| result.rss_bytes_max.map(|bytes| bytes as f64),
    },
    Metric {
        name: "latency_ms_p50",
        title: "latency, median",
        unit: "ms",
        better: Better::Lower,
        value: |result| result.extras.get("latency_ms_p50").copied(),
    },
    Metric {
        name: "latency_ms_p99",
        title: "latency, 99 of 100",
        unit: "ms",
        better: Better::Lower,
        value: |result| result.extras.get("latency_ms_p99").copied(),
    },
];

/// For a given time and as fast as it goes, the faster side does more and may well take more CPU time for it.
fn cpu_seconds(result: &RunResult) -> Option<f64> {
    let as_much = result.workload.mode == "events" || result.workload.events_per_s.is_some();
    result.cpu_seconds.filter(|_| as_much)
}

impl Metric {
    /// The metric of that name.
    pub fn find(name: &str) -> Option<&'static Self> {
        METRICS.iter().find(|metric| metric.name == name)
    }
}

impl fmt::Debug for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Serialize for Metric {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::result;

    #[test]
    fn names_are_those_of_the_result_file() {
        let mut whole = result("q0", 1_000.0);
        for name in ["latency_ms_p50", "latency_ms_p99"] {
            whole.extras.insert(name.to_owned(), 7.5);
        }
        let document = serde_json::to_value(&whole).unwrap();
        for metric in METRICS {
            let stored = document.get(metric.name).or_else(|| document["extras"].get(metric.name));
            let value = (metric.value)(&whole);
            assert!(value.is_some(), "{} has no value", metric.name);
            assert_eq!(stored.and_then(serde_json::Value::as_f64), value, "{}", metric.name);
        }
    }

    #[test]
    fn cpu_time_of_a_given_time_counts_only_at_a_rate() {
        let mut run = result("q0", 1_000.0);
        let value = Metric::find("cpu_seconds").unwrap().value;
        run.workload.mode = "rate".to_owned();
        assert_eq!(value(&run), None);
        run.workload.events_per_s = Some(500.0);
        assert_eq!(value(&run), Some(20.0));
    }
}
