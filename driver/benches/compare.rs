//! How long a comparison of many result files takes, and how much memory: writes them into a directory of its own, reads them as
//! `nexmark compare` does, and compares them. Prints both.
//!
//! `cargo bench -p nexmark-driver --bench compare -- [FILES [SAMPLES]]`, 10 000 files of 1 000 samples unless said otherwise.

#![expect(clippy::print_stdout, reason = "the figures are what this program is for")]
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on fails")]

use std::fs;
use std::path::Path;
use std::time::Instant;

use nexmark_driver::report::{Comparison, METRICS, Side, THRESHOLD};
use nexmark_driver::result::{Detail, Library, RunResult, RunSample};
use serde_json::json;

fn main() {
    let mut numbers = std::env::args().skip(1).filter_map(|argument| argument.parse::<usize>().ok());
    let (files, samples) = (numbers.next().unwrap_or(10_000), numbers.next().unwrap_or(1_000));
    let place = tempfile::tempdir().unwrap();
    let bytes = write(place.path(), files, samples);
    println!("{files} files of {samples} samples, {:.2} GB", bytes as f64 / 1e9);
    let before = peak_bytes();
    let begin = Instant::now();
    let mut library = Library::new(place.path(), Detail::WithoutSamples);
    let mut side = |label: &str| {
        let found = library.find(label).unwrap();
        Side { name: label.to_owned(), results: found.results }
    };
    let (base, other) = (side("base"), side("other"));
    let read = begin.elapsed();
    let metrics: Vec<_> = METRICS.iter().collect();
    let comparison = Comparison::new(&base, &other, &metrics, THRESHOLD);
    println!(
        "read in {:.2} s, compared in {:.2} s",
        read.as_secs_f64(),
        (begin.elapsed() - read).as_secs_f64()
    );
    println!("peak memory {:.0} MiB, {:.0} before", peak_bytes() / 1_048_576.0, before / 1_048_576.0);
    let compared: usize = comparison.queries.iter().map(|query| query.base_passed + query.other_passed).sum();
    assert_eq!((compared, comparison.queries.len()), (files, nexmark_queries::ALL.len().min(files)));
}

/// Writes results of two labels over all queries, in the form of the store. Returns their size.
fn write(directory: &Path, files: usize, samples: usize) -> usize {
    let mut bytes = 0;
    for number in 0..files {
        let text = serde_json::to_vec_pretty(&result(number, samples)).unwrap();
        bytes += text.len();
        fs::write(directory.join(format!("{number:06}.json")), text).unwrap();
    }
    bytes
}

fn result(number: usize, samples: usize) -> RunResult {
    let query = nexmark_queries::ALL[number / 2 % nexmark_queries::ALL.len()].name;
    let rate = 1e6 * (1.0 + (number * 7919 % 101) as f64 / 1e3);
    let options: serde_json::Map<_, _> = nexmark_queries::generator::Options::default()
        .entries()
        .map(|(name, value)| (name.to_owned(), json!(value)))
        .collect();
    let config: serde_json::Map<_, _> = (0..60)
        .map(|key| (format!("some.setting.of.the.engine-{key}"), json!(format!("value {key}"))))
        .collect();
    let label = ["base", "other"][number % 2];
    let mut result: RunResult = serde_json::from_value(json!({
        "format_version": 1,
        "name": format!("run-{number}"),
        "label": label,
        "started_at": format!("2026-01-01T{:02}:{:02}:{:02}.000Z", number / 3600 % 24, number / 60 % 60, number % 60),
        "query": query,
        "state": "passed",
        "engine": {"name": "flink", "version": "1.20.5", "config": config},
        "workload": {"mode": "rate", "shape": "unlimited", "input": "generated", "workers": 8, "output": "count"},
        "seed": 1,
        "options": options,
        "events": (rate * 200.0) as u64,
        "seconds": 200.0,
        "events_per_s": rate,
        "cpu_seconds": 1600.0,
        "cores": 8.0,
        "events_per_s_per_core": rate / 8.0,
        "rss_bytes_max": 8_000_000_000_u64,
        "rows_out": 1234,
        "phases": {
            "submit_seconds": 0.1, "starting_seconds": 1.0, "warmup_seconds": 10.0, "measured_seconds": 200.0,
            "draining_seconds": 0.1, "stop_seconds": 0.1, "wall_seconds": 211.3
        },
        "environment": {
            "cpu_model": "some processor", "cores": 8, "kernel": "Linux", "memory_bytes": 64_000_000_000_u64,
            "hosts": ["one", "two"], "nexmark_version": "0.1.0"
        },
    }))
    .unwrap();
    let sample = |second: usize| RunSample {
        seconds: second as f64 * 0.2,
        events_in: Some((second as f64 * 0.2 * rate) as u64),
        rows_out: Some(second as u64),
        watermark_ms: Some(1_436_918_400_000 + second as i64),
        behind_events: Some(0),
        late_rows: Some(0),
        state_bytes: Some(1 << 30),
        cpu_seconds: Some(second as f64 * 1.6),
        rss_bytes: Some(8_000_000_000),
        ..RunSample::default()
    };
    result.samples = (0..samples).map(sample).collect();
    result
}

/// Highest resident memory of this process so far, bytes.
fn peak_bytes() -> f64 {
    let status = fs::read("/proc/self/status").unwrap();
    let text = String::from_utf8_lossy(&status).into_owned();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<f64>().unwrap() * 1024.0
}
