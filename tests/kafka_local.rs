//! `kafka up`, `down` and `status`, as far as they go without a Kafka, and with one where the tests may start it; and what the
//! engine ksqldb says of a Kafka without a ksqlDB.

use std::fs;
use std::net::TcpListener;
use std::process::Command;

use crate::program::{Place, Ran};

/// The program with its files of Kafka in the place, and no Kafka but what `home` holds, if that is said.
fn command(place: &Place, arguments: &[&str], home: Option<&str>) -> Command {
    let mut command = place.command(arguments);
    command.env("XDG_STATE_HOME", place.path("state")).env_remove("KAFKA_HOME");
    if let Some(home) = home {
        command.env("XDG_CACHE_HOME", place.path("cache")).env("KAFKA_HOME", home);
    }
    command
}

fn run(place: &Place, arguments: &[&str], home: Option<&str>) -> Ran {
    Ran::of(&command(place, arguments, home).output().unwrap())
}

/// A folder that looks like a Kafka.
fn fake_kafka(place: &Place) -> String {
    fs::create_dir_all(place.path("kafka/libs")).unwrap();
    place.write("kafka/libs/kafka-clients-4.1.0.jar", b"");
    place.path("kafka").display().to_string()
}

fn free_port() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string()
}

#[test]
fn what_never_ran_is_said_and_down_is_fine() {
    let place = Place::new();
    let ran = run(&place, &["kafka", "status"], Some(""));
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), "no Kafka is up at 127.0.0.1:9092\n"));
    for _ in 0..2 {
        let ran = run(&place, &["kafka", "down", "--port", "9"], Some(""));
        assert_eq!(ran.data(), "no Kafka was up at 127.0.0.1:9\n");
    }
}

#[test]
fn what_cannot_be_started_is_told_in_one_line() {
    let place = Place::new();
    let home = fake_kafka(&place);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = listener.local_addr().unwrap().port().to_string();
    let holder = format!("port {taken} is in use by process {} (", std::process::id());
    let free = free_port();
    for (arguments, home, said) in [
        (&["--port", &taken][..], home.as_str(), holder.as_str()),
        (
            &["--port", &free],
            "/nonexistent",
            "KAFKA_HOME is \"/nonexistent\", allowed is the folder of a release",
        ),
        (&["--port", &free, "--version", "3.9.1"], &home, "--version is \"3.9.1\", allowed is 4.1.0"),
        (&["--memory", "much"], &home, "--memory is \"much\", allowed is a number of bytes"),
    ] {
        let ran = run(&place, &[&["kafka", "up"], arguments].concat(), Some(home));
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{ran:?}");
        assert!(ran.stderr.starts_with(&format!("nexmark: {said}")), "{}", ran.stderr);
        assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    }
}

/// Whether the tests may start a broker.
fn may_start() -> bool {
    let may = std::env::var_os("NEXMARK_TEST_KAFKA").is_some();
    if !may {
        use std::io::Write as _;
        let _closed =
            writeln!(std::io::stderr(), "skipped: NEXMARK_TEST_KAFKA is not set; tests/run sets it");
    }
    may
}

#[test]
fn a_kafka_comes_up_is_looked_at_and_goes() {
    if !may_start() {
        return;
    }
    let place = Place::new();
    let port = free_port();
    let kafka = |action: &str| run(&place, &["kafka", action, "--port", &port], None);
    let address = format!("127.0.0.1:{port}");
    assert_eq!(kafka("up").data(), format!("Kafka 4.1.0 at {address} is up\n"));
    assert_eq!(kafka("up").data(), format!("Kafka 4.1.0 at {address} runs already\n"));
    let status = kafka("status");
    assert!(status.data().starts_with(&format!("Kafka 4.1.0 at {address} runs, process ")), "{status:?}");
    assert!(status.stderr.contains("broker.log"), "{status:?}");
    look(&place, &address);
    assert!(kafka("down").data().starts_with("stopped the broker, process "));
    assert_eq!(kafka("status").code, Some(1));
    let data = place.path(&format!("state/nexmark/kafka/{port}/data"));
    assert!(!data.exists());
}

/// What `check` says where there is a Kafka and no ksqlDB.
#[cfg(feature = "kafka")]
fn look(place: &Place, address: &str) {
    let brokers = format!("engine.ksqldb.kafka.brokers={address}");
    let no_server = format!("engine.ksqldb.url=http://127.0.0.1:{}", free_port());
    let ran = run(place, &["--engine", "ksqldb", "--set", &brokers, "--set", &no_server, "check"], None);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let line = |subject: &str| ran.stdout.lines().find(|line| line.starts_with(subject)).unwrap_or_default();
    assert!(line("server ").contains("bad"), "{}", ran.stdout);
    assert!(line("kafka ").contains("ok") && line("kafka ").contains("1 brokers"), "{}", ran.stdout);
    assert!(line("transactions ").contains("ok"), "{}", ran.stdout);
}

#[cfg(not(feature = "kafka"))]
fn look(_place: &Place, _address: &str) {}

#[cfg(not(feature = "kafka"))]
#[test]
fn a_program_without_a_client_of_kafka_says_how_to_build_one() {
    let place = Place::new();
    let ran = place.run(&["--engine", "ksqldb", "run", "q0"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("built without a client of Kafka"), "{}", ran.stderr);
    assert!(ran.stderr.contains("--features kafka"), "{}", ran.stderr);
    // It is in the list all the same.
    assert!(place.run(&["list"]).data().contains("ksqldb"));
}
