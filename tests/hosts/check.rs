//! `hosts check`: every host with what it is, or with why it is not fit.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;

use nexmark_driver::remote::Binary;

use super::burner::{Burner, has_burner};
use super::sshd::{Network, available, has_sshd};
use crate::program::Place;

const CHECK: [&str; 4] = ["hosts", "check", "--hosts", "hosts.toml"];

fn ready() -> bool {
    has_sshd() && available("the collector's target (rustup target add)", Binary::embedded().is_ok())
}

/// The line of a table that begins with a word.
#[track_caller]
fn line<'a>(table: &'a str, first: &str) -> &'a str {
    let found = table.lines().find(|line| line.split_whitespace().next() == Some(first));
    found.unwrap_or_else(|| panic!("{first} is not in {table}"))
}

#[test]
fn three_hosts_are_tried_side_by_side() {
    if !ready() || !has_burner() {
        return;
    }
    let network = Network::new();
    let hosts = [network.host(), network.host(), network.host()];
    let _burner = Burner::new("checked-2121", 1, 0.0);
    let names = hosts.each_ref().map(super::sshd::Sshd::name);
    network.list(&[
        (&names[0], "workers = \"checked-2121\""),
        (&names[1], "workers = \"checked-2121\""),
        ("localhost", "workers = \"checked-2121\""),
    ]);
    let ran = network.run(&CHECK);
    let table = ran.data();
    for name in [&names[0], &names[1], "localhost"] {
        let line = line(table, name);
        assert!(line.contains("yes  yes") && line.contains('±'), "{table}");
        assert!(line.trim_end().ends_with(" 1"), "one process of the role: {table}");
    }
    assert!(
        line(table, &names[0]).contains("id_ed25519") && line(table, "localhost").contains("none needed"),
        "{table}"
    );

    // One that is not fit: the others are told all the same.
    network
        .list(&[(&names[0], "workers = \"checked-2121\""), (&names[2], "broker = \"no such process 1919\"")]);
    let ran = network.run(&CHECK);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(line(&ran.stdout, &names[2]).contains("no process of role broker"), "{ran:?}");
    assert!(line(&ran.stdout, &names[0]).contains("yes  yes"), "{ran:?}");
    for host in &hosts {
        network.is_clean(host);
    }
}

#[test]
fn each_host_that_is_not_fit_says_why() {
    if !ready() {
        return;
    }
    let network = Network::new();
    let (good, unknown) = (network.host(), network.stranger(&[]));
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let closed = format!("127.0.0.1:{closed}");
    network.list(&[(&good.name(), ""), (&unknown.name(), ""), (&closed, ""), ("nobody@127.0.0.1:9", "")]);
    let start = std::time::Instant::now();
    let ran = network.run(&CHECK);
    assert!(start.elapsed().as_secs() < 20, "side by side");
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(1), ""), "{ran:?}");
    assert!(line(&ran.stdout, &good.name()).contains("yes  yes"), "{ran:?}");
    let stranger = line(&ran.stdout, &unknown.name());
    assert!(stranger.contains("no   yes") && stranger.contains("its key is unknown"), "{ran:?}");
    assert!(line(&ran.stdout, &closed).contains("Connection refused"), "{ran:?}");
    network.is_clean(&good);
}

#[test]
fn the_collector_can_be_kept() {
    if !ready() {
        return;
    }
    let network = Network::new();
    let host = network.host();
    network.list(&[(&host.name(), "")]);
    network.run(&CHECK).data();
    network.is_clean(&host);
    let kept = || {
        let files = fs::read_dir(host.cache().join("nexmark")).unwrap().flatten();
        files.map(|file| (file.path(), file.metadata().unwrap().modified().unwrap())).collect::<Vec<_>>()
    };
    network.run(&[&CHECK[..], &["--keep-collector"]].concat()).data();
    let first = kept();
    assert_eq!(first.len(), 1);
    assert_eq!(fs::metadata(&first[0].0).unwrap().permissions().mode() & 0o777, 0o700);
    // It is used again, and a later run that did not put it there leaves it.
    network.run(&CHECK).data();
    assert_eq!(kept(), first);
    // One that was changed is not the same.
    fs::write(&first[0].0, b"#!/bin/sh\nexit 0\n").unwrap();
    network.run(&[&CHECK[..], &["--keep-collector"]].concat()).data();
    assert_eq!(fs::read(&first[0].0).unwrap(), Binary::embedded().unwrap().bytes());
}

#[test]
fn hosts_may_share_a_home() {
    if !ready() {
        return;
    }
    let network = Network::new();
    let first = network.host();
    let shared = format!("SetEnv XDG_CACHE_HOME={}", first.cache().display());
    let others = [network.stranger(&[&shared]), network.stranger(&[&shared])];
    for other in &others {
        other.make_known(&network);
    }
    network.list(&[(&first.name(), ""), (&others[0].name(), ""), (&others[1].name(), "")]);
    for _ in 0..5 {
        network.run(&CHECK).data();
        network.is_clean(&first);
    }
}

#[test]
fn another_architecture_is_told() {
    if !ready() {
        return;
    }
    let network = Network::new();
    let tools = network.place.path("tools");
    fs::create_dir(&tools).unwrap();
    fs::write(tools.join("uname"), "#!/bin/sh\n[ \"$1\" = -m ] && echo sparc64 || echo Linux\n").unwrap();
    fs::set_permissions(tools.join("uname"), fs::Permissions::from_mode(0o755)).unwrap();
    let host = network.stranger(&[&format!("SetEnv PATH={}:/usr/bin:/bin", tools.display())]);
    host.make_known(&network);
    network.list(&[(&host.name(), "")]);
    let ran = network.run(&CHECK);
    assert_eq!(ran.code, Some(1));
    let line = line(&ran.stdout, &host.name());
    let own = std::env::consts::ARCH;
    assert!(line.contains(&format!("it is sparc64, the collector is for {own}")), "{line}");
    assert!(
        line.contains("--target sparc64-unknown-linux-musl") && line.contains("`collector` of this host"),
        "{line}"
    );

    // A program of one's own is taken, if it is one.
    let text = format!("[[host]]\naddress = \"{}\"\ncollector = \"hosts.toml\"\n", host.name());
    network.place.write("hosts.toml", text.as_bytes());
    let ran = network.run(&CHECK);
    assert!(ran.stdout.contains("collector hosts.toml is no ELF program"), "{ran:?}");
}

#[test]
fn a_list_that_cannot_be_used_is_refused() {
    let place = Place::new();
    place.write("twice.toml", b"[[host]]\naddress = \"a\"\n[[host]]\naddress = \"A:22\"\n");
    place.write("empty.toml", b"# nothing\n");
    place.write("settings.toml", b"[events]\nseed = 3\n[[host]]\nadress = \"a\"\n");
    for (arguments, message) in [
        (&["hosts", "check"][..], "no hosts are listed: give --hosts FILE"),
        (&["hosts", "check", "--hosts", "none.toml"], "cannot read list of hosts none.toml: No such file"),
        (
            &["hosts", "check", "--hosts", "twice.toml"],
            "twice.toml:4: host A:22 is listed twice, first in line 2",
        ),
        (&["run", "q0", "--hosts", "empty.toml"], "empty.toml: there is no host in it"),
        (
            &["run", "q0", "--config", "settings.toml"],
            "settings.toml:4: unknown key \"adress\", did you mean \"address\"?",
        ),
        (&["run", "q0", "--keep-collector"], "--keep-collector has no effect without hosts"),
    ] {
        let ran = place.run(arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{ran:?}");
        assert!(ran.stderr.contains(message) && ran.stderr.lines().count() == 1, "{arguments:?}: {ran:?}");
    }
}
