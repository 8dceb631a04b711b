//! Layers, origins, and what is refused.

use std::time::Duration;

use super::*;
use crate::pace::Schedule;
use crate::run::Workload;

const KEYS: &[Key] = &[Key {
    name: "pin",
    default: "true",
    allowed: Allowed::Switch,
    meaning: "workers stay on one core each",
}];

const ENGINE: EngineFactory = EngineFactory {
    name: "fake",
    title: "an engine of the tests",
    keys: KEYS,
    create: |_settings| Err(crate::engine::EngineError::new("only keys")),
};

fn config() -> Config {
    Config::new(&[&ENGINE])
}

fn origin(config: &Config, path: &str) -> String {
    config.entries().iter().find(|entry| entry.path() == path).unwrap().origin.to_string()
}

fn file(text: &str) -> Result<Config, String> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("nexmark.toml");
    std::fs::write(&path, text).unwrap();
    let mut config = config();
    let applied = config.apply_file(&path);
    let shown = path.display().to_string();
    applied.map(|()| config).map_err(|error| error.to_string().replace(&shown, "FILE"))
}

fn set(assignments: &[&str]) -> Result<Config, String> {
    let mut config = config();
    for assignment in assignments {
        config.apply_set(assignment).map_err(|error| error.to_string())?;
    }
    Ok(config)
}

#[test]
fn each_layer_lies_over_the_one_before_and_leaves_its_name() {
    let mut config = config();
    config.apply_profile("heavy").unwrap();
    config.apply_set("seed=7").unwrap();
    config.apply_set("workload.watermark.delay=100").unwrap();
    config.apply_set("engine.fake.pin=false").unwrap();
    config.apply_flag("--events", "workload.events", "2.5k").unwrap();
    assert_eq!(config.options().unwrap().seed, 7);
    let workload = config.workload().unwrap();
    assert_eq!(workload.workload, Workload::Events { events: 2500, warmup_events: 100_000_000 });
    assert_eq!(workload.watermark_delay_ms, 100);
    assert!(!config.engine("fake").switch("pin"));
    assert_eq!(origin(&config, "workload.events"), "--events");
    assert_eq!(origin(&config, "workload.warmup-events"), "profile heavy");
    assert_eq!(origin(&config, "events.seed"), "--set");
    assert_eq!(origin(&config, "workload.workers"), "default");
}

#[test]
fn the_article_profile_is_the_published_set_up() {
    let mut config = config();
    config.apply_profile("article").unwrap();
    let three_minutes = Duration::from_secs(180);
    assert_eq!(
        config.workload().unwrap().workload,
        Workload::Rate { duration: three_minutes, warmup: three_minutes, schedule: Schedule::Constant(1e7) }
    );
    let options = config.options().unwrap();
    let cycle = [options.person_proportion, options.auction_proportion, options.bid_proportion];
    assert_eq!(cycle, [1, 3, 46]);
}

#[test]
fn the_default_profile_changes_nothing() {
    let mut profile = config();
    profile.apply_profile("default").unwrap();
    for (a, b) in profile.entries().iter().zip(config().entries()) {
        assert_eq!((a.path(), &a.value), (b.path(), &b.value));
    }
}

#[test]
fn shapes_become_schedules() {
    let rate = |assignments: &[&str]| {
        let all: Vec<&str> = ["mode=rate"].iter().chain(assignments).copied().collect();
        match set(&all).unwrap().workload() {
            Ok(WorkloadSettings { workload: Workload::Rate { schedule, .. }, .. }) => Ok(schedule),
            Ok(other) => panic!("{other:?}"),
            Err(error) => Err(error.to_string()),
        }
    };
    let period = Duration::from_secs(2);
    assert_eq!(rate(&[]), Ok(Schedule::Unlimited));
    assert_eq!(rate(&["rate=1M"]), Ok(Schedule::Constant(1e6)));
    assert_eq!(
        rate(&["rate=1M", "shape=square", "next-rate=2M", "period=2s"]),
        Ok(Schedule::Square { first: 1e6, next: 2e6, period })
    );
    assert_eq!(
        rate(&["rate=1M", "shape=sine", "next-rate=2M", "period=2s"]),
        Ok(Schedule::Sine { first: 1e6, next: 2e6, period })
    );
    assert!(rate(&["shape=sine"]).unwrap_err().contains("no schedule of shape sine"));
    assert!(rate(&["shape=sine", "rate=1", "period=0s"]).unwrap_err().contains("above 0"));
}

#[test]
fn mistakes_in_a_file_name_the_line_and_what_is_allowed() {
    for (text, message) in [
        (
            "[events]\n\nevnt.rate = 5",
            "FILE:3: unknown key \"events.evnt.rate\", did you mean \"events.event.rate\"?",
        ),
        ("[evens]\nseed = 5", "FILE:2: unknown key \"evens.seed\", did you mean \"events.seed\"?"),
        ("[events]\n[engine.fakes]\n", "FILE:2: unknown key \"engine.fakes\", did you mean"),
        (
            "[engine.fake]\npn = true",
            "FILE:2: unknown key \"engine.fake.pn\", did you mean \"engine.fake.pin\"?",
        ),
        ("[engine.fake]\npin = 3", "FILE:2: engine.fake.pin is \"3\", allowed is true or false"),
        (
            "[events]\nevent.rate = 0",
            "FILE:2: events.event.rate is \"0\", allowed is a whole number from 1 to",
        ),
        ("[events]\nevent.rate = -3", "FILE:2: events.event.rate is \"-3\", allowed is a whole number"),
        ("[events]\nout-of-order.group-size = 1906", "FILE:2: events.out-of-order.group-size is \"1906\""),
        ("[workload]\nduration = 30", "FILE:2: workload.duration is \"30\", allowed is a duration such as"),
        ("[workload]\nmode = \"fast\"", "FILE:2: workload.mode is \"fast\", allowed is events, rate"),
        ("[workload]\nevents = [1]", "FILE:2: workload.events is a list"),
        ("[workload]\nevents = = 1", "FILE:2: "),
        ("[workload]\nevents = 1\nevents = 2", "FILE:3: "),
    ] {
        let error = file(text).unwrap_err();
        assert!(error.starts_with(message), "{text:?}: {error}");
        assert!(!error.contains('\n'), "{error}");
    }
}

#[test]
fn a_file_may_use_every_form_of_a_number() {
    let config =
        file("[events]\nseed = 0xff\nevent.rate = \"10M\"\n[workload]\nevents = 1_000\nrate = 1.5e6\n")
            .unwrap();
    let options = config.options().unwrap();
    assert_eq!((options.seed, options.event_rate), (255, 10_000_000));
    assert_eq!(origin(&config, "events.seed").rsplit(':').next(), Some("2"));
}

#[test]
fn mistakes_on_the_command_line_name_the_key_and_what_is_allowed() {
    for (assignment, message) in [
        ("seed", "--set: \"seed\" is no KEY=VALUE"),
        ("sed=1", "--set: unknown key \"sed\", did you mean \"seed\"?"),
        ("event.rate=ten", "--set: events.event.rate is \"ten\", allowed is a whole number from 1 to"),
        ("events=0", "--set: workload.events is \"0\", allowed is a whole number from 1 to"),
        ("events=10000T", "--set: workload.events is \"10000T\""),
        ("workers=99999", "--set: workload.workers is \"99999\""),
    ] {
        let error = set(&[assignment]).unwrap_err();
        assert!(error.starts_with(message), "{assignment}: {error}");
    }
    let unknown = config().apply_profile("artcle").unwrap_err().to_string();
    assert_eq!(unknown, "unknown profile \"artcle\", known are default, article, heavy");
}

#[test]
fn values_that_nothing_reads_are_refused() {
    for (assignments, key) in [
        (&["duration=3s"][..], "workload.duration has no effect with workload.mode = events"),
        (&["mode=rate", "events=3"], "workload.events has no effect with workload.mode = rate"),
        (
            &["mode=rate", "rate=1", "next-rate=3"],
            "workload.next-rate has no effect with workload.shape = constant",
        ),
    ] {
        let error = set(assignments).unwrap().workload().unwrap_err().to_string();
        assert!(error.contains(key), "{error}");
    }
}

#[test]
fn options_are_checked_together() {
    let error = set(&["event.rate=1", "auctions.in-flight=100M"]).unwrap().options().unwrap_err().to_string();
    assert!(error.starts_with("--set: events.auctions.in-flight is \"100000000\", allowed is"), "{error}");
}
