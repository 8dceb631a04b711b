//! `flink up`, `down` and `status` as far as they go without a Flink.

use std::fs;
use std::net::TcpListener;
use std::process::Command;

use crate::program::{Place, Ran};

/// The program with its files of Flink in the place, and no Flink but what `home` holds.
fn command(place: &Place, arguments: &[&str], home: &str) -> Command {
    let mut command = place.command(&[&["flink"], arguments].concat());
    command.env("XDG_STATE_HOME", place.path("state")).env("XDG_CACHE_HOME", place.path("cache"));
    command.env("FLINK_HOME", home);
    command
}

fn run(place: &Place, arguments: &[&str], home: &str) -> Ran {
    Ran::of(&command(place, arguments, home).output().unwrap())
}

/// A folder that looks like a Flink.
fn fake_flink(place: &Place) -> String {
    for folder in ["flink/lib", "flink/bin"] {
        fs::create_dir_all(place.path(folder)).unwrap();
    }
    place.write("flink/lib/flink-dist-2.3.0.jar", b"");
    place.write("flink/bin/bash-java-utils.jar", b"");
    place.path("flink").display().to_string()
}

#[test]
fn what_never_ran_is_said_and_down_is_fine() {
    let place = Place::new();
    let ran = run(&place, &["status"], "");
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), "no Flink is up at http://127.0.0.1:8081\n"));
    for _ in 0..2 {
        let ran = run(&place, &["down", "--port", "9"], "");
        assert_eq!(ran.data(), "no Flink was up at http://127.0.0.1:9\n");
    }
}

#[test]
fn a_port_in_use_is_refused_and_its_holder_named() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let place = Place::new();
    let ran = run(&place, &["up", "--port", &port], &fake_flink(&place));
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""));
    let said = format!("nexmark: port {port} is in use by process {} (", std::process::id());
    assert!(ran.stderr.starts_with(&said), "{}", ran.stderr);
}

#[test]
fn a_stale_file_of_a_process_is_recognised_and_that_process_left_alone() {
    let place = Place::new();
    let directory = place.path("state/nexmark/flink/8081");
    fs::create_dir_all(&directory).unwrap();
    let mut other = Command::new("sleep").arg("60").spawn().unwrap();
    // Whoever was started 1 tick after the boot is gone.
    fs::write(directory.join("taskmanager.pid"), format!("{} 1\n", other.id())).unwrap();
    let ran = run(&place, &["down"], "");
    assert_eq!(ran.data(), format!("the taskmanager, process {}, had died\n", other.id()));
    assert_eq!(other.try_wait().unwrap(), None);
    assert_eq!(run(&place, &["down"], "").data(), "no Flink was up at http://127.0.0.1:8081\n");
    other.kill().unwrap();
    other.wait().unwrap();
}

#[test]
fn what_is_missing_is_named_with_what_to_install() {
    let place = Place::new();
    let home = fake_flink(&place);
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
    let up = ["up", "--port", free.as_str()];
    let without_programs = |home: &str| {
        let mut command = command(&place, &up, home);
        command.env("PATH", "/nonexistent").env_remove("JAVA_HOME");
        Ran::of(&command.output().unwrap())
    };
    let cases = [
        (without_programs(&home), "java is missing: install Java 11 or later, as in: apt-get install "),
        (without_programs(""), "python3 is missing: install it, as in: apt-get install python3 "),
        (run(&place, &up, "/nonexistent"), "FLINK_HOME is \"/nonexistent\", allowed is a folder of Flink, "),
        (run(&place, &[&up[..], &["--version", "1.20.5"]].concat(), &home), "FLINK_HOME is "),
    ];
    for (ran, said) in cases {
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{ran:?}");
        assert!(ran.stderr.starts_with(&format!("nexmark: {said}")), "{}", ran.stderr);
    }
    assert_eq!(run(&place, &["status", "--port", &free], "").code, Some(1));
}

#[test]
fn values_that_cannot_be_used_are_named_with_what_is_allowed() {
    let place = Place::new();
    for (arguments, said) in [
        (&["up", "--slots", "0"][..], "--slots is \"0\", allowed is a whole number from 1 to 1024"),
        (&["up", "--slots", "many"], "--slots is \"many\", allowed is a whole number"),
        (&["up", "--memory", "-1"], "--memory is \"-1\", allowed is a number of bytes such as 4GiB"),
        (
            &["up", "--version", "2"],
            "--version is \"2\", allowed is a release of Flink such as 1.20.5 or 2.3.0",
        ),
        (&["up", "--port", "0"], "invalid value '0' for '--port <P>': 0 is not in 1..=65535"),
        (&["pu"], "unknown command \"pu\", known are up, down, status, did you mean \"up\"?"),
    ] {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
        let port: &[&str] =
            if arguments.len() == 3 && arguments[1] != "--port" { &["--port", &port] } else { &[] };
        let ran = run(&place, &[arguments, port].concat(), "");
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(2), format!("nexmark: {said}\n").as_str()));
    }
}
