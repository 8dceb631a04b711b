//! `conf/nexmark.toml` is the built-in defaults, and `config` says where each value came from.

use nexmark_driver::config::{Config, Origin};

use crate::program::{Place, root};

#[test]
fn the_configuration_file_has_every_key_at_its_default() {
    let defaults =
        Config::new(&[&nexmark_native::FACTORY, &nexmark_flink::FACTORY, &nexmark_ksqldb::FACTORY]);
    let mut config = defaults.clone();
    config.apply_file(&root().join("conf/nexmark.toml")).unwrap();
    for (from_file, default) in config.entries().iter().zip(defaults.entries()) {
        assert!(matches!(from_file.origin, Origin::File { .. }), "{} is missing", from_file.path());
        assert_eq!(from_file.value, default.value, "{}", from_file.path());
    }
}

#[test]
fn every_key_of_the_configuration_file_is_explained() {
    let text = std::fs::read_to_string(root().join("conf/nexmark.toml")).unwrap();
    let mut explained = false;
    for line in text.lines() {
        explained = line.starts_with('#') || (explained && !line.is_empty());
        assert!(explained || line.is_empty(), "{line} has no comment above it");
    }
}

#[test]
fn config_names_the_origin_of_every_value() {
    let place = Place::new();
    place.write("my.toml", b"[events]\nseed = 7\npeople.active = 5\n");
    let ran =
        place.run(&["config", "--profile", "article", "--config", "my.toml", "--set", "people.active=9"]);
    let origin = |key: &str| {
        let line = ran.data().lines().find(|line| line.split_whitespace().next() == Some(key)).unwrap();
        line.split_whitespace().skip(1).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(origin("events.seed"), "7 my.toml:2");
    assert_eq!(origin("events.people.active"), "9 --set");
    assert_eq!(origin("workload.warmup"), "3m profile article");
    assert_eq!(origin("workload.watermark.delay"), "4000 default");
}
