//! Hosts with networks of their own, joined by a virtual cable that can be pulled.

use std::fs;
use std::process::Command;
use std::time::Duration;

use nexmark_driver::remote::Binary;
use serde_json::Value;

use super::sshd::{Network, Sshd, available, eventually, has_sshd, permitted};
use crate::program::names;

const PORT: u16 = 2222;
const DRIVER: &str = "192.0.2.1";
const HOST: &str = "192.0.2.2";
const HOST_V6: &str = "2001:db8::2";

/// Two networks and a cable between them; both are gone when it is dropped.
struct Cable {
    driver: String,
    host: String,
}

fn ip(words: &[&str]) -> bool {
    Command::new("ip").args(words).output().is_ok_and(|output| output.status.success())
}

impl Cable {
    fn new() -> Option<Self> {
        let id = std::process::id();
        let cable = Self { driver: format!("nexmark-driver-{id}"), host: format!("nexmark-host-{id}") };
        let (driver, host) = (cable.driver.as_str(), cable.host.as_str());
        let made = ip(&["netns", "add", driver])
            && ip(&["netns", "add", host])
            && ip(&[
                "-n", driver, "link", "add", "cable", "type", "veth", "peer", "name", "cable", "netns", host,
            ])
            && [(driver, DRIVER, "2001:db8::1"), (host, HOST, HOST_V6)].iter().all(|(space, v4, v6)| {
                ip(&["-n", space, "addr", "add", &format!("{v4}/24"), "dev", "cable"])
                    && ip(&["-n", space, "addr", "add", &format!("{v6}/64"), "dev", "cable", "nodad"])
                    && ip(&["-n", space, "link", "set", "cable", "up"])
                    && ip(&["-n", space, "link", "set", "lo", "up"])
            });
        made.then_some(cable)
    }

    fn pull(&self) {
        assert!(ip(&["-n", &self.host, "link", "set", "cable", "down"]));
    }
}

impl Drop for Cable {
    fn drop(&mut self) {
        ip(&["netns", "del", &self.driver]);
        ip(&["netns", "del", &self.host]);
    }
}

/// The program in the driver's network.
fn command(network: &Network, cable: &Cable, arguments: &[&str]) -> Command {
    let plain = network.command(arguments);
    let mut command = Command::new("ip");
    command.args(["netns", "exec", &cable.driver]).arg(plain.get_program()).args(plain.get_args());
    command.current_dir(plain.get_current_dir().unwrap());
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
}

#[test]
fn a_cable_that_is_pulled_makes_a_host_silent() {
    if !has_sshd() || !available("the collector's target (rustup target add)", Binary::embedded().is_ok()) {
        return;
    }
    let cable = Cable::new();
    if !permitted("iproute2 or the right to make network namespaces", cable.is_some()) {
        return;
    }
    let cable = cable.unwrap();
    let network = Network::new();
    let host = Sshd::start(
        &network,
        HOST,
        PORT,
        &[&format!("ListenAddress {HOST_V6}")],
        &["ip", "netns", "exec", &cable.host],
    );
    host.make_known(&network);
    let known = fs::read_to_string(network.ssh("known_hosts")).unwrap();
    fs::write(network.ssh("known_hosts"), known.clone() + &known.replace(HOST, HOST_V6)).unwrap();
    let v6 = format!("[{HOST_V6}]:{PORT}");
    for address in [host.name(), v6] {
        network.list(&[(&address, "")]);
        let output =
            command(&network, &cable, &["hosts", "check", "--hosts", "hosts.toml"]).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        network.is_clean(&host);
    }
    // An address of that network at which nobody is.
    network.list(&[("192.0.2.77", "")]);
    let output = command(&network, &cable, &["hosts", "check", "--hosts", "hosts.toml"]).output().unwrap();
    let table = String::from_utf8_lossy(&output.stdout);
    assert!(
        table.contains("cannot connect to")
            && (table.contains("No route to host") || table.contains("no answer within")),
        "{table}"
    );

    network.list(&[(&host.name(), "")]);
    let run = ["run", "q0", "--duration", "14s", "--warmup", "0s", "--rate", "1k", "--hosts", "hosts.toml"];
    let mut child = command(&network, &cable, &run).stderr(std::process::Stdio::piped()).spawn().unwrap();
    let mark = host.cache().display().to_string();
    let collects = || {
        super::sshd::processes()
            .iter()
            .any(|(_, command)| command.contains(&mark) && !command.contains("sshd"))
    };
    eventually("the collector runs", collects);
    std::thread::sleep(Duration::from_secs(2));
    cable.pull();
    let mut said = String::new();
    std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut said).unwrap();
    assert!(child.wait().unwrap().success(), "{said}");
    assert!(
        said.contains(&format!("host {} is silent", host.name()))
            && said.contains("nothing was heard of it for"),
        "{said}"
    );
    let files = names(&network.place.path("results"));
    let text = fs::read_to_string(network.place.path("results").join(&files[0])).unwrap();
    let result: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (&result["cores"], &result["hosts_missing"]),
        (&Value::Null, &serde_json::json!([host.name()]))
    );
    // No end of the connection reaches the host; the collector ends since it hears nothing.
    network.is_clean(&host);
}
