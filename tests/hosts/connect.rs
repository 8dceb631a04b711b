//! How a host is reached, and in which words it is refused.

use std::fs;
use std::io::Write as _;
use std::net::TcpListener;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use nexmark_driver::remote::{Host, HostError, Output, ProcessEnd, Ssh, Step};

use super::sshd::{Network, has_sshd, new_key, permitted};

const LIMIT: Duration = Duration::from_secs(30);

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// Why a host does not run a command.
#[track_caller]
fn refusal(host: &Ssh) -> HostError {
    let start = Instant::now();
    let error = block_on(host.run("true", LIMIT)).unwrap_err();
    assert!(start.elapsed() < Duration::from_secs(20), "{error} after {:?}", start.elapsed());
    assert!(error.to_string().starts_with(&format!("host {}: ", host.name())), "{error}");
    error
}

#[test]
fn commands_run_over_one_connection() {
    if !has_sshd() {
        return;
    }
    let network = Network::new();
    let server = network.host();
    let host = server.ssh(&network);
    block_on(async {
        let finished = host.run("echo out; echo 'it''s' >&2; exit 3", LIMIT).await.unwrap();
        assert_eq!((finished.stdout.as_str(), finished.complaint().as_str()), ("out\n", "its"));
        assert_eq!(finished.end, ProcessEnd::Code(3));
        let killed = host.run("kill -9 $$", LIMIT).await.unwrap();
        assert_eq!(killed.end, ProcessEnd::Signal("KILL".to_owned()));
        let content: Vec<u8> = (0..700_000u32).map(|number| number.to_le_bytes()[0]).collect();
        let path = server.cache().join("a b/program");
        let made = host.copy_in(&content, path.to_str().unwrap(), LIMIT).await.unwrap();
        assert_eq!(made.len(), 2, "{made:?}");
        assert!(fs::read(&path).unwrap() == content);
        let much = host.run("head -c 1000000 /dev/zero | tr '\\0' x", LIMIT).await.unwrap();
        assert_eq!(much.stdout.len(), 1_000_000);

        // One that goes on does not keep others waiting, and ends when its input does.
        let mut process = host.spawn("cat; echo end").await.unwrap();
        process.input.write(b"in\n");
        assert_eq!(process.output.recv().await, Some(Output::Stdout(b"in\n".to_vec())));
        assert_eq!(host.run("echo other", LIMIT).await.unwrap().stdout, "other\n");
        drop(process.input);
        assert_eq!(process.output.recv().await, Some(Output::Stdout(b"end\n".to_vec())));
        assert_eq!(process.output.recv().await, Some(Output::End(ProcessEnd::Code(0))));

        let late = host.run("sleep 88.5", Duration::from_millis(200)).await.unwrap_err().to_string();
        assert!(late.contains("did not end within 200ms: sleep 88.5"), "{late}");
    });
    assert_eq!(host.proof(), Some(network.ssh("id_ed25519").display().to_string()));
    assert_eq!(server.log().matches("Accepted publickey").count(), 1, "{}", server.log());
}

#[test]
fn a_wrong_key_is_named() {
    if !has_sshd() {
        return;
    }
    let network = Network::new();
    let server = network.host();
    new_key(&network.ssh("other"));
    fs::remove_file(network.ssh("id_ed25519")).unwrap();
    let other = network.ssh("other");
    let host = Ssh::new(server.name().parse().unwrap(), Some(other.clone()), network.files());
    let error = refusal(&host);
    assert_eq!(error.step, Step::Authenticate);
    let expected = format!("accepts no key of user {}: {} (refused)", network.user, other.display());
    assert!(error.message.contains(&expected), "{error}");
    let error = refusal(&server.ssh(&network));
    assert!(error.message.ends_with("there is none"), "{error}");
}

#[test]
fn a_key_with_a_passphrase_belongs_into_the_agent() {
    if !has_sshd() {
        return;
    }
    let network = Network::new();
    let server = network.host();
    let key = network.ssh("id_ed25519");
    let locked =
        Command::new("ssh-keygen").args(["-q", "-p", "-N", "secret", "-f"]).arg(&key).status().unwrap();
    assert!(locked.success());
    let error = refusal(&server.ssh(&network));
    assert!(
        error.step == Step::Authenticate && error.message.contains("passphrase belongs into the agent"),
        "{error}"
    );
}

#[test]
fn an_unknown_key_of_a_host_is_refused_until_it_is_accepted() {
    if !has_sshd() {
        return;
    }
    let network = Network::new();
    let server = network.stranger(&[]);
    let host = server.ssh(&network);
    let error = refusal(&host);
    assert_eq!(error.step, Step::HostKey);
    assert!(error.message.contains("its key is unknown: SHA256:"), "{error}");
    let advice = error.message.split_once("accept it with: ").unwrap().1;
    let followed = Command::new("sh").arg("-c").arg(advice).output().unwrap();
    assert!(followed.status.success(), "{advice}: {followed:?}");
    assert!(block_on(host.run("true", LIMIT)).is_ok());

    // Names that are hashed are known, too, and so is a key without a port.
    let hashed =
        Command::new("ssh-keygen").args(["-q", "-H", "-f"]).arg(network.ssh("known_hosts")).output().unwrap();
    assert!(
        hashed.status.success() && fs::read_to_string(network.ssh("known_hosts")).unwrap().contains("|1|")
    );
    assert!(block_on(server.ssh(&network).run("true", LIMIT)).is_ok());
    let plain =
        server.known_line().replace(&format!("[{}]:{}", server.address, server.port), &server.address);
    fs::write(network.ssh("known_hosts"), plain).unwrap();
    assert!(block_on(server.ssh(&network).run("true", LIMIT)).is_ok());
}

#[test]
fn a_changed_or_revoked_key_of_a_host_is_refused() {
    if !has_sshd() {
        return;
    }
    let network = Network::new();
    let (server, other) = (network.stranger(&[]), network.stranger(&[]));
    let foreign = other.known_line().split_once(' ').unwrap().1.to_owned();
    let changed = format!("# comment\n[{}]:{} {foreign}", server.address, server.port);
    fs::write(network.ssh("known_hosts"), changed).unwrap();
    let error = refusal(&server.ssh(&network));
    assert_eq!(error.step, Step::HostKey);
    assert!(error.message.contains("its key has changed: it shows SHA256:"), "{error}");
    assert!(error.message.contains("known_hosts:2 knows another one"), "{error}");
    let advice = format!("ssh-keygen -R '[{}]:{}'", server.address, server.port);
    assert!(error.message.ends_with(&advice), "{error}");

    let revoked = format!("{}@revoked {}", server.known_line(), server.known_line());
    fs::write(network.ssh("known_hosts"), revoked).unwrap();
    let error = refusal(&server.ssh(&network));
    assert!(error.message.contains("is revoked by") && error.message.ends_with("known_hosts:2"), "{error}");
}

#[test]
fn a_host_that_is_not_there_is_named_within_seconds() {
    let network_files =
        nexmark_driver::remote::SshFiles { user: Some("me".to_owned()), ..Default::default() };
    let ssh = |port: u16| Ssh::new(format!("127.0.0.1:{port}").parse().unwrap(), None, network_files.clone());
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let error = refusal(&ssh(free));
    assert_eq!(error.step, Step::Connect);
    assert!(
        error.message.contains(&format!("cannot connect to me@127.0.0.1:{free}: Connection refused")),
        "{error}"
    );

    // Accepts and never answers.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let error = refusal(&ssh(silent.local_addr().unwrap().port()));
    assert_eq!(error.step, Step::Connect);
    assert!(error.message.contains("does not speak SSH: no answer within 5s"), "{error}");

    // Answers in another tongue.
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = other.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in other.incoming().flatten() {
            let _ = (&stream).write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        }
    });
    let error = refusal(&ssh(port));
    assert!(error.step == Step::Connect && error.message.contains("does not speak SSH"), "{error}");

    let nowhere = Ssh::new("no-such-host.invalid".parse().unwrap(), None, network_files.clone());
    let error = refusal(&nowhere);
    assert!(error.message.contains("cannot connect to me@no-such-host.invalid:22"), "{error}");
}

#[test]
fn the_agent_is_asked_for_keys() {
    if !has_sshd() {
        return;
    }
    let network = Network::new();
    let server = network.host();
    let socket = network.ssh("agent");
    let mut agent = Command::new("ssh-agent")
        .args(["-D", "-a"])
        .arg(&socket)
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    super::sshd::eventually("the agent listens", || socket.exists());
    let key = network.ssh("id_ed25519");
    let add = Command::new("ssh-add").arg("-q").arg(&key).env("SSH_AUTH_SOCK", &socket).status().unwrap();
    assert!(add.success());
    fs::remove_file(&key).unwrap();
    network.list(&[(&server.name(), "x = \"no such process anywhere\"")]);
    let mut check = network.command(&["hosts", "check", "--hosts", "hosts.toml"]);
    let output = check.env("SSH_AUTH_SOCK", &socket).output().unwrap();
    agent.kill().unwrap();
    agent.wait().unwrap();
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(table.contains("agent: "), "{table}");
    network.is_clean(&server);
}

#[test]
fn a_connection_that_is_cut_is_told_and_made_again() {
    if !has_sshd() {
        return;
    }
    let network = Network::new();
    let mut server = network.host();
    let host = server.ssh(&network);
    block_on(async {
        let mut process = host.spawn("cat").await.unwrap();
        process.input.write(b"x");
        assert_eq!(process.output.recv().await, Some(Output::Stdout(b"x".to_vec())));
        server.kill();
        let end = tokio::time::timeout(LIMIT, process.output.recv()).await.unwrap();
        assert!(matches!(end, Some(Output::End(ProcessEnd::Lost(_)))), "{end:?}");
    });
    let _again = super::sshd::Sshd::start(&network, &server.address, server.port, &[], &[]);
    assert!(block_on(host.run("true", LIMIT)).is_ok());
}

#[test]
fn a_full_disk_keeps_nothing() {
    if !has_sshd() {
        return;
    }
    let network = Network::new();
    let server = network.host();
    let mount = |arguments: &[&str]| {
        Command::new("mount")
            .args(arguments)
            .arg(server.cache())
            .output()
            .is_ok_and(|output| output.status.success())
    };
    if !permitted("the right to mount a small disk", mount(&["-t", "tmpfs", "-o", "size=64k", "tmpfs"])) {
        return;
    }
    let path = server.cache().join("nexmark/program");
    let copied = block_on(server.ssh(&network).copy_in(&vec![7; 300_000], path.to_str().unwrap(), LIMIT));
    let left: Vec<_> = fs::read_dir(server.cache()).unwrap().flatten().collect();
    network.list(&[(&server.name(), "x = \"no such process anywhere\"")]);
    let ran = network.run(&["hosts", "check", "--hosts", "hosts.toml"]);
    let left_by_check: Vec<_> = fs::read_dir(server.cache()).unwrap().flatten().collect();
    assert!(Command::new("umount").arg(server.cache()).status().unwrap().success());
    let error = copied.unwrap_err();
    assert_eq!(error.step, Step::Copy);
    assert!(error.message.contains("No space left on device"), "{error}");
    assert!(left.is_empty() && left_by_check.is_empty(), "{left:?} {left_by_check:?}");
    assert_eq!(ran.code, Some(1));
    assert!(ran.stdout.contains("No space left on device"), "{ran:?}");
}
