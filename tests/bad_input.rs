//! Mistakes of the user: one line that names the thing and what is allowed, exit code 2, nothing started.

use crate::program::Place;

/// Arguments, and what the message must hold.
type Case<'a> = (&'a [&'a str], &'a [&'a str]);

#[track_caller]
fn refused(cases: &[Case<'_>]) {
    for (arguments, parts) in cases {
        let place = Place::new();
        place.write("damaged.toml", b"[events]\nseed = = 1\n");
        place.write("unknown.toml", b"[events]\n\nevnt.rate = 1\n");
        place.write("range.toml", b"[workload]\nworkers = 99999\n");
        place.write("damaged.json", b"{\"format_version\": 1, \"name\": ");
        place.write("foreign.json", b"{\"a\": 1}");
        place.write("newer.json", b"{\"format_version\": 99}");
        place.write("bad.ndjson", b"\n{\"bid\":{\"auction\":1}}\n");
        place.write("latin.ndjson", b"\xe9\n");
        let before = place.files();
        let ran = place.run(arguments);
        assert_eq!(ran.code, Some(2), "{arguments:?}: {ran:?}");
        assert_eq!(ran.stdout, "", "{arguments:?}");
        assert!(
            ran.stderr.starts_with("nexmark: ") && ran.stderr.lines().count() == 1,
            "{arguments:?}: {ran:?}"
        );
        for part in *parts {
            assert!(ran.stderr.contains(part), "{arguments:?} lacks {part:?}: {}", ran.stderr);
        }
        assert_eq!(place.files(), before, "{arguments:?} left files");
    }
}

#[test]
fn unknown_names_are_refused_with_the_nearest() {
    refused(&[
        (&["run", "q99"], &["unknown query \"q99\"", "q0 to q23"]),
        (&["run", "q0,qq5"], &["unknown query \"qq5\"", "did you mean"]),
        (&["run", "q5-q99"], &["unknown query \"q99\""]),
        (&["run", "q9-q5"], &["range \"q9-q5\" runs backwards"]),
        (&["run", ""], &["unknown query \"\""]),
        (&["answer", "all"], &["unknown query \"all\""]),
        (&["--engine", "natve", "run", "q0"], &["unknown engine \"natve\"", "did you mean \"native\"?"]),
        (&["--engine", "natve", "list"], &["unknown engine \"natve\""]),
        (&["--profile", "artcle", "run", "q0"], &["unknown profile \"artcle\"", "default, article, heavy"]),
        (&["--set", "evnt.rate=1", "run", "q0"], &["--set: unknown key \"evnt.rate\"", "\"event.rate\""]),
        (&["--set", "engine.native.nothing=1", "run", "q0"], &["unknown key \"engine.native.nothing\""]),
        (&["rn"], &["unknown command \"rn\"", "list, run, verify, answer", "did you mean \"run\"?"]),
        (&["run", "q0", "--evnts", "5"], &["unexpected argument '--evnts'", "'--events'"]),
        (&["run"], &["<QUERIES>"]),
        (&["run", "q0", "--format", "xml"], &["'xml'", "--format", "table, json, csv, markdown"]),
    ]);
}

#[test]
fn options_without_effect_are_refused() {
    refused(&[
        (&["--engine", "flink", "flink", "status"], &["--engine would have no effect on flink"]),
        (&["compare", "a", "b", "--set", "seed=1"], &["--set would have no effect on compare"]),
        (&["--profile", "heavy", "report", "a.json"], &["--profile would have no effect on report"]),
        (&["history", "--config", "a.toml"], &["--config would have no effect on history"]),
        (
            &["--engine", "flink", "bench", "q0", "--side", "a=native", "--side", "b=native"],
            &["--engine would have no effect on bench"],
        ),
    ]);
}

#[test]
fn values_out_of_range_are_refused() {
    refused(&[
        (
            &["run", "q0", "--events", "0"],
            &["--events: workload.events is \"0\"", "from 1 to 9007199254740992"],
        ),
        (&["run", "q0", "--events", "-5"], &["workload.events is \"-5\"", "allowed is"]),
        (&["run", "q0", "--events", "99999999999999999999"], &["\"99999999999999999999\"", "allowed is"]),
        (&["run", "q0", "--events", "10000T"], &["\"10000T\"", "allowed is"]),
        (&["run", "q0", "--events", "ten"], &["\"ten\"", "allowed is"]),
        (&["run", "q0", "--duration", "0s"], &["workload.duration is \"0s\"", "above 0"]),
        (&["run", "q0", "--duration", "30"], &["workload.duration is \"30\"", "such as"]),
        (&["run", "q0", "--duration", "-3s"], &["workload.duration is \"-3s\"", "such as"]),
        (&["run", "q0", "--duration", "3s", "--warmup", "x"], &["workload.warmup is \"x\""]),
        (&["run", "q0", "--rate", "-1"], &["workload.rate is \"-1\"", "events per second"]),
        (&["run", "q0", "--rate", "inf"], &["workload.rate is \"inf\""]),
        (&["run", "q0", "--memory-budget", "2 GiBB"], &["memory-budget is \"2 GiBB\"", "2GiB"]),
        (&["run", "q0", "--memory-budget", "-1"], &["memory-budget is \"-1\"", "2GiB"]),
        (&["verify", "q0", "--events", "0"], &["workload.events is \"0\""]),
        (&["verify", "q0", "--events", "100M"], &["workload.events is 100000000", "allowed is up to"]),
        (&["run", "q0", "--workers", "5000"], &["workload.workers is \"5000\"", "from 0 to 1024"]),
        (&["run", "q0", "--repeat", "0"], &["workload.repeat is \"0\"", "from 1 to 1000"]),
        (&["--set", "event.rate=0", "run", "q0"], &["--set: events.event.rate is \"0\"", "from 1 to"]),
        (&["--set", "seed", "run", "q0"], &["--set: \"seed\" is no KEY=VALUE"]),
        (&["--set", "out-of-order.group-size=953", "run", "q0"], &["\"953\"", "no multiple of 953"]),
        (
            &["--set", "event.rate=1", "--set", "auctions.in-flight=100M", "run", "q0"],
            &["auctions.in-flight"],
        ),
        (&["answer", "q0", "--events", "0"], &["workload.events is \"0\""]),
        (&["generate", "--events", "0"], &["workload.events is \"0\""]),
        (
            &["generate", "--events", "5", "--from", "-1"],
            &["--from is \"-1\"", "allowed is a whole number from 0 to"],
        ),
        (&["generate", "--events", "5", "--from", "9007199254740990"], &["--from is", "to 9007199254740987"]),
    ]);
}

#[test]
fn contradictions_are_refused() {
    refused(&[
        (
            &["run", "q0", "--events", "5", "--duration", "3s"],
            &["--events", "cannot be used with", "--duration"],
        ),
        (&["run", "q0", "--events", "5", "--rate", "3"], &["--events", "--rate"]),
        (
            &["run", "q0", "--set", "duration=3s"],
            &["workload.duration has no effect with workload.mode = events"],
        ),
        (&["run", "q0", "--duration", "3s", "--set", "events=3"], &["workload.events has no effect"]),
        (&["answer", "q0", "--input", "bad.ndjson", "--events", "5"], &["--input", "--events"]),
        (&["generate", "--events", "5", "--format", "csv"], &["needs --out"]),
        (&["generate", "--events", "5", "--out", "x"], &["--out has no effect"]),
    ]);
}

#[test]
fn files_that_cannot_be_used_are_refused() {
    refused(&[
        (&["--config", "none.toml", "run", "q0"], &["cannot read none.toml", "No such file"]),
        (&["--config", "damaged.toml", "run", "q0"], &["damaged.toml:2: "]),
        (
            &["--config", "unknown.toml", "run", "q0"],
            &["unknown.toml:3: ", "did you mean \"events.event.rate\"?"],
        ),
        (
            &["--config", "range.toml", "run", "q0"],
            &["range.toml:2: workload.workers is \"99999\", allowed is"],
        ),
        (&["--config", ".", "config"], &["cannot read ."]),
        (&["run", "q0", "--out", "/dev/null/results"], &["cannot write", "/dev/null/results"]),
        (&["run", "q0", "--out", "damaged.toml"], &["cannot write", "damaged.toml"]),
        (&["show", "none.json"], &["cannot read result none.json", "No such file"]),
        (&["show", "damaged.json"], &["cannot read result damaged.json", "line 1"]),
        (&["show", "foreign.json"], &["foreign.json", "not a result"]),
        (&["show", "newer.json"], &["newer.json", "format_version is 99"]),
        (&["verify", "q0", "--input", "none.ndjson"], &["cannot read --input none.ndjson"]),
        (&["answer", "q0", "--input", "none.ndjson"], &["cannot read --input none.ndjson", "No such file"]),
        (&["answer", "q0", "--input", "bad.ndjson"], &["bad.ndjson: line 2: "]),
        (&["answer", "q0", "--input", "latin.ndjson"], &["latin.ndjson: line 1: not UTF-8"]),
        (&["generate", "--events", "5", "--format", "csv", "--out", "/dev/null/x"], &["/dev/null/x"]),
    ]);
}

#[test]
fn comparisons_that_cannot_be_made_are_refused() {
    const OTHER: [&str; 2] = ["--side", "B=native"];
    let bench = |side: &'static [&'static str]| [&["bench", "q0", "--side"][..], side, &OTHER].concat();
    let benches: Vec<(Vec<&str>, &[&str])> = vec![
        (vec!["bench", "q0", "--side", "A=native"], &["--side is given 1 times, allowed is twice"]),
        (bench(&["A"]), &["--side is \"A\"", "NAME=ENGINE"]),
        (bench(&["=native"]), &["--side is \"=native\"", "NAME=ENGINE"]),
        (bench(&["A=natve"]), &["--side A: unknown engine \"natve\"", "did you mean \"native\"?"]),
        (bench(&["A=native,quick"]), &["\"quick\" is no KEY=VALUE"]),
        (bench(&["A=native,workes=1"]), &["--side A: --set: unknown key \"workes\"", "\"workers\""]),
        (bench(&["A=native,config=none.toml"]), &["--side A: cannot read none.toml"]),
        (bench(&["A=native,binary=none"]), &["--side A: binary=none is no file"]),
        (bench(&["B=native"]), &["both sides are called \"B\""]),
        (bench(&["A=native,label=B"]), &["both sides have label \"B\""]),
        (bench(&["A=native", "--repeat", "2"]), &["--repeat is \"2\"", "from 3 to 1000"]),
        (bench(&["A=native", "--repeat", "9", "--repeat-max", "4"]), &["--repeat-max is 4", "from 9"]),
        (bench(&["A=native", "--budget", "10"]), &["--budget is \"10\"", "such as 90s"]),
        (bench(&["A=native", "--events", "0"]), &["--events: workload.events is \"0\""]),
    ];
    let cases: Vec<Case<'_>> = benches.iter().map(|(arguments, parts)| (&arguments[..], *parts)).collect();
    refused(&cases);
    refused(&[
        (&["compare", "none.json", "none.json"], &["cannot read result none.json", "No such file"]),
        (&["compare", "damaged.json", "none.json"], &["cannot read result damaged.json", "line 1"]),
        (&["compare", "a", "b"], &["\"a\" is no file, no directory, and no label", "labels there are: none"]),
        (&["compare", "a", "b", "--threshold", "5"], &["--threshold is \"5\"", "such as 5%"]),
        (&["compare", "a", "b", "--fail-above", "-1%"], &["--fail-above is \"-1%\"", "from 0%"]),
        (&["compare", "a", "b", "--metric", "speed"], &["unknown metric \"speed\"", "events_per_s"]),
        (&["report", "none.json"], &["cannot read result none.json"]),
        (&["history"], &["cannot read directory results"]),
        (&["history", "--results", "."], &["no results in .", "damaged.json", "foreign.json"]),
        (&["history", "--metric", "cpu_second"], &["did you mean \"cpu_seconds\"?"]),
    ]);
}
