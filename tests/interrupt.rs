//! Ctrl-C and SIGTERM: the engine is stopped, what was measured is kept, exit code 130.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::program::{Place, names};

/// A run of a minute that has come to its measured phase.
fn measuring(place: &Place) -> Child {
    let arguments = ["run", "q0,q1", "-v", "--duration", "60s", "--warmup", "0s", "--rate", "10k"];
    let mut child = place.command(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let measured = lines.by_ref().any(|line| line.unwrap().contains("measured"));
    assert!(measured, "the run ended before it measured");
    // Goes on reading, so that the child is never blocked or told that stderr is closed.
    std::thread::spawn(move || lines.for_each(drop));
    // A few samples.
    std::thread::sleep(Duration::from_millis(700));
    child
}

/// Sends a signal to a program that was not waited for yet.
pub(crate) fn send(child: &Child, signal: libc::c_int) {
    let id = libc::pid_t::try_from(child.id()).unwrap();
    // SAFETY: kill takes no pointers; the id is that of a child that was not waited for yet.
    let sent = unsafe { libc::kill(id, signal) };
    assert_eq!(sent, 0);
}

/// Exit code, within a time in which no run ends by itself.
fn exit_code(child: &mut Child) -> Option<i32> {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(30) {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    panic!("the program did not end");
}

#[test]
fn a_signal_keeps_what_was_measured() {
    for signal in [libc::SIGINT, libc::SIGTERM] {
        let place = Place::new();
        let mut child = measuring(&place);
        send(&child, signal);
        assert_eq!(exit_code(&mut child), Some(130));
        let files = names(&place.path("results"));
        assert_eq!(files.len(), 1, "{files:?}");
        let text = fs::read_to_string(place.path("results").join(&files[0])).unwrap();
        let result: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(result["state"], "cancelled");
        assert!(result["message"].as_str().unwrap().contains("interrupt"), "{}", result["message"]);
        assert!(result["events"].as_u64().unwrap() > 0, "{}", result["events"]);
    }
}

#[test]
fn a_signal_reaches_the_program_that_runs_a_side() {
    let place = Place::new();
    let other = format!("B=native,binary={}", env!("CARGO_BIN_EXE_nexmark"));
    let workload = ["bench", "q0", "--duration", "60s", "--warmup", "0s", "--rate", "10k"];
    let arguments = [&workload[..], &["--side", "A=native", "--side", &other]].concat();
    let mut child = place.command(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    // Time in which the program of the first side comes to its run, which lasts a minute.
    std::thread::sleep(Duration::from_secs(4));
    send(&child, libc::SIGINT);
    assert_eq!(exit_code(&mut child), Some(130));
    let files = names(&place.path("results"));
    assert_eq!(files.len(), 1, "{files:?}");
    let text = fs::read_to_string(place.path("results").join(&files[0])).unwrap();
    let result: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&result["state"], &result["label"]), (&"cancelled".into(), &"A".into()));
}
