//! Runs with hosts: what each spent is in the result, and a host that goes silent makes the cores unknown.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use nexmark_driver::remote::Binary;
use serde_json::Value;

use super::burner::{Burner, has_burner};
use super::sshd::{Network, Sshd, available, eventually, has_sshd};
use crate::program::names;

fn ready() -> bool {
    has_sshd()
        && has_burner()
        && available("the collector's target (rustup target add)", Binary::embedded().is_ok())
}

/// A run of q0 at a low rate, which leaves the machine to the burners.
struct Run {
    child: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStderr>>,
    heard: Vec<String>,
}

impl Run {
    fn start(network: &Network, seconds: u32) -> Self {
        let duration = format!("{seconds}s");
        let arguments =
            ["run", "q0", "-v", "--duration", &duration, "--warmup", "1s", "--rate", "1k", "--workers", "1"];
        let mut command = network.command(&[&arguments[..], &["--hosts", "hosts.toml"]].concat());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        Self { child, lines, heard: Vec::new() }
    }

    /// Reads on until a line holds a text.
    #[track_caller]
    fn until(&mut self, text: &str) {
        for line in self.lines.by_ref() {
            self.heard.push(line.unwrap());
            if self.heard.last().unwrap().contains(text) {
                return;
            }
        }
        panic!("{text:?} was not said: {:#?}", self.heard);
    }

    /// Exit code, stdout and result.
    fn finish(mut self, network: &Network) -> (Option<i32>, String, Value) {
        self.heard.extend(self.lines.by_ref().map(Result::unwrap));
        let code = self.child.wait().unwrap().code();
        let mut table = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut table).unwrap();
        let files = names(&network.place.path("results"));
        assert_eq!(files.len(), 1, "{:#?}", self.heard);
        let text = fs::read_to_string(network.place.path("results").join(&files[0])).unwrap();
        (code, table, serde_json::from_str(&text).unwrap())
    }
}

fn cpu(result: &Value, host: &str, role: &str) -> f64 {
    let seconds = &result["hosts"][host]["roles"][role]["cpu_seconds"];
    seconds.as_f64().unwrap_or_else(|| panic!("{host} {role}: {result:#}"))
}

fn mark(host: &Sshd, role: &str) -> String {
    format!("{role}-of-{}-{}", host.address, host.port)
}

#[test]
fn what_each_host_spends_is_in_the_result() {
    if !ready() {
        return;
    }
    let network = Network::new();
    let hosts = [network.host(), network.host(), network.host()];
    let roles = hosts.each_ref().map(|host| format!("burner = \"{}\"", mark(host, "burner")));
    let names = hosts.each_ref().map(Sshd::name);
    network.list(&[(&names[0], &roles[0]), (&names[1], &roles[1]), (&names[2], &roles[2])]);
    // What was spent before the measured phase does not count.
    let old = Burner::new(&mark(&hosts[0], "burner"), 1, 0.4);
    eventually("it has burned", || old.spent() >= 0.39);
    let idle = Burner::new(&mark(&hosts[2], "burner"), 0, 0.0);
    let mut run = Run::start(&network, 25);
    run.until("measured");
    // Two threads of five seconds, and one that is ended and started again.
    let burner = Burner::new(&mark(&hosts[0], "burner"), 2, 5.0);
    let first = Burner::new(&mark(&hosts[1], "burner"), 1, 1.0);
    eventually("the first has burned", || first.spent() >= 0.99);
    std::thread::sleep(Duration::from_millis(1_500));
    drop(first);
    let second = Burner::new(&mark(&hosts[1], "burner"), 1, 1.0);
    eventually("both have burned", || second.spent() >= 0.99 && burner.spent() >= 9.98);
    let (code, _table, result) = run.finish(&network);
    assert_eq!(code, Some(0), "{result:#}");
    let [one, two, three] = names.each_ref().map(|name| cpu(&result, name, "burner"));
    assert!((one - 10.0).abs() <= 0.2, "{one} of 10 CPU seconds: {:#}", result["hosts"]);
    assert!((two - 2.0).abs() <= 0.06, "{two} of 2 CPU seconds");
    assert_eq!(three, 0.0);
    let workers = result["resources"]["workers"]["cpu_seconds"].as_f64().unwrap();
    let total = result["cpu_seconds"].as_f64().unwrap();
    assert!((total - (one + two + three + workers)).abs() < 1e-6, "{total} {workers}");
    let seconds = result["seconds"].as_f64().unwrap();
    let cores = result["hosts"][&names[0]]["roles"]["burner"]["cores"].as_f64().unwrap();
    assert!((cores - one / seconds).abs() < 0.05 * cores, "{cores}");
    assert_eq!(result["resources"]["burner"]["processes_max"], 4, "{:#}", result["resources"]);
    drop((old, idle, second, burner));
    for name in &names {
        let host = &result["hosts"][name];
        let samples = result["host_samples"][name].as_array().unwrap();
        assert!(samples.len() >= 20, "{samples:#?}");
        let times: Vec<f64> = samples.iter().map(|sample| sample["seconds"].as_f64().unwrap()).collect();
        assert!(times.is_sorted() && *times.last().unwrap() < seconds + 10.0, "{times:?}");
        // One machine, so its clocks are the driver's.
        let clock = &host["clock"];
        assert!(clock["wall_seconds"].as_f64().unwrap().abs() < 0.05, "{clock}");
        assert!(clock["drift_seconds"].as_f64().unwrap().abs() < 0.05, "{clock}");
        assert!(
            host["cores"].as_u64().unwrap() > 0 && host["cpu_seconds"].as_f64().unwrap() > 0.0,
            "{host:#}"
        );
    }
    let environment = result["environment"]["hosts"].as_array().unwrap();
    assert_eq!(environment.len(), 4, "{environment:?}");
    for host in &hosts {
        network.is_clean(host);
    }
}

#[test]
fn a_host_that_goes_silent_makes_the_cores_unknown() {
    if !ready() {
        return;
    }
    let network = Network::new();
    let (good, mut bad) = (network.host(), network.host());
    network.list(&[(&good.name(), ""), (&bad.name(), "")]);
    let mut run = Run::start(&network, 20);
    run.until("measured");
    bad.kill();
    let start = Instant::now();
    run.until(&format!("host {} is silent, so that cores are unknown", bad.name()));
    assert!(start.elapsed() < Duration::from_secs(15), "said while the run goes on");
    assert!(run.child.try_wait().unwrap().is_none());
    network.is_clean(&bad);
    let (code, table, result) = run.finish(&network);
    assert_eq!((code, &result["state"]), (Some(0), &Value::from("passed")));
    assert_eq!((&result["cpu_seconds"], &result["cores"]), (&Value::Null, &Value::Null));
    assert_eq!(result["hosts_missing"], serde_json::json!([bad.name()]));
    assert!(result["hosts"][&good.name()].is_object() && result["hosts"][&bad.name()].is_null());
    assert!(
        table.contains("n/a") && table.contains(&format!("host {} did not report throughout", bad.name())),
        "{table}"
    );
    network.is_clean(&good);
}

#[test]
fn a_host_that_cannot_be_watched_ends_the_run_at_once() {
    if !ready() {
        return;
    }
    let network = Network::new();
    let (good, stranger) = (network.host(), network.stranger(&[]));
    network.list(&[(&good.name(), ""), (&stranger.name(), "")]);
    let run = Run::start(&network, 30);
    let start = Instant::now();
    let (code, _table, result) = run.finish(&network);
    assert!(start.elapsed() < Duration::from_secs(20));
    assert_eq!((code, &result["state"]), (Some(1), &Value::from("failed")));
    let message = result["message"].as_str().unwrap();
    assert!(message.contains(&format!("host {}: its key is unknown", stranger.name())), "{message}");
    network.is_clean(&good);
    network.is_clean(&stranger);
}

#[test]
fn an_interrupt_leaves_nothing_on_hosts() {
    if !ready() {
        return;
    }
    let network = Network::new();
    let host = network.host();
    network.list(&[(&host.name(), ""), ("localhost", "")]);
    for awaited in ["submit", "measured"] {
        let mut run = Run::start(&network, 60);
        run.until(awaited);
        let id = libc::pid_t::try_from(run.child.id()).unwrap();
        // SAFETY: kill takes no pointers; the id is that of a child that was not waited for yet.
        assert_eq!(unsafe { libc::kill(id, libc::SIGINT) }, 0);
        let (code, _table, result) = run.finish(&network);
        assert_eq!((code, &result["state"]), (Some(130), &Value::from("cancelled")), "{awaited}");
        network.is_clean(&host);
        fs::remove_dir_all(network.place.path("results")).unwrap();
    }
    // Nobody is left to stop anything.
    let mut run = Run::start(&network, 60);
    run.until("measured");
    run.child.kill().unwrap();
    run.child.wait().unwrap();
    network.is_clean(&host);
}
