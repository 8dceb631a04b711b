//! What goes where: data on stdout, the rest on stderr, colours only where they are wanted, help with the exit codes.

use nexmark_queries::ALL;

use crate::program::Place;

const ESCAPE: char = '\u{1b}';

#[test]
fn nothing_but_a_terminal_gets_colours() {
    let place = Place::new();
    for arguments in [&["list"][..], &["config"], &["run", "q0", "--events", "1000"]] {
        let ran = place.run(arguments);
        ran.data();
        assert!(!ran.stdout.contains(ESCAPE) && !ran.stderr.contains(ESCAPE), "{ran:?}");
    }
    assert!(!place.run(&["run", "q99"]).stderr.contains(ESCAPE));
}

#[test]
fn colours_can_be_asked_for_and_refused() {
    let place = Place::new();
    assert!(place.run(&["list", "--color", "always"]).data().contains(ESCAPE));
    assert!(!place.run(&["list", "--color", "never"]).data().contains(ESCAPE));
    let mut forced = place.command(&["list"]);
    let output = forced.env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1").output().unwrap();
    assert!(!String::from_utf8(output.stdout).unwrap().contains(ESCAPE), "NO_COLOR wins");
}

#[test]
fn progress_is_a_line_for_each_run_where_nobody_looks_on() {
    let ran = Place::new().run(&["run", "q0,q1", "--events", "1000"]);
    ran.data();
    let lines: Vec<&str> = ran.stderr.lines().collect();
    assert!(lines[0].starts_with("[1/2] q0") && lines[0].contains("passed"), "{lines:?}");
    assert!(lines[1].starts_with("[2/2] q1"), "{lines:?}");
    assert!(!ran.stdout.contains("[1/2]"));
}

#[test]
fn list_names_every_query_and_engine() {
    let ran = Place::new().run(&["list"]);
    for query in ALL {
        let line = ran.data().lines().find(|line| line.split_whitespace().next() == Some(query.name));
        assert!(line.is_some_and(|line| line.contains(query.title)), "{}", query.name);
    }
    assert!(ran.stdout.lines().any(|line| line.starts_with("native ")));
}

#[test]
fn help_tells_the_exit_codes() {
    let place = Place::new();
    for arguments in [&["--help"][..], &["run", "--help"]] {
        let ran = place.run(arguments);
        for text in [
            "Exit codes:",
            "0    all runs passed",
            "1    a run did not pass",
            "2    usage",
            "130  interrupted",
        ] {
            assert!(ran.data().contains(text), "{arguments:?} lacks {text:?}");
        }
    }
    assert!(place.run(&["--version"]).data().starts_with("nexmark "));
    assert_eq!(place.run(&[]).code, Some(2));
}
