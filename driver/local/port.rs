//! Who listens on a port of this machine.

use std::net::{Ipv4Addr, TcpListener};

use procfs::net::{TcpNetEntry, TcpState};
use procfs::process::{FDTarget, Process};

use super::error::{LocalError, Tried as _};

/// Checks that nobody listens there on loopback.
///
/// # Errors
/// Somebody does; the process is named where it can be seen.
pub fn check_free(port: u16) -> Result<(), LocalError> {
    match TcpListener::bind((Ipv4Addr::LOCALHOST, port)) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => {
            let holder = holder(port).unwrap_or_else(|| "another program".to_owned());
            Err(LocalError::PortInUse { port, holder })
        }
        Err(error) => Err(error).tried(|| format!("listen on port {port}")),
    }
}

/// A port on which nobody listens now.
///
/// # Errors
/// There is none.
pub fn free() -> Result<u16, LocalError> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
    let address = listener.and_then(|listener| listener.local_addr());
    Ok(address.tried(|| "find a free port".to_owned())?.port())
}

/// Id and command line of the process that listens there; `None` where that is not for us to see.
fn holder(port: u16) -> Option<String> {
    let entries = [procfs::net::tcp(), procfs::net::tcp6()];
    let listens = |entry: &TcpNetEntry| entry.state == TcpState::Listen && entry.local_address.port() == port;
    let inode = entries.into_iter().flatten().flatten().find(listens)?.inode;
    let process = procfs::process::all_processes().ok()?.flatten().find(|process| holds(process, inode))?;
    let mut command = process.cmdline().unwrap_or_default().join(" ");
    if let Some((end, _)) = command.char_indices().nth(80) {
        command.truncate(end);
        command.push('…');
    }
    Some(format!("process {} ({command})", process.pid))
}

fn holds(process: &Process, inode: u64) -> bool {
    let Ok(descriptors) = process.fd() else { return false };
    descriptors
        .flatten()
        .any(|descriptor| matches!(descriptor.target, FDTarget::Socket(held) if held == inode))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_holder_of_a_port_is_named() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let error = check_free(port).unwrap_err().to_string();
        let holder = format!("port {port} is in use by process {} (", std::process::id());
        assert!(error.starts_with(&holder), "{error}");
        drop(listener);
        // A process that another test starts at this moment has it until it is itself.
        let start = std::time::Instant::now();
        while check_free(port).is_err() {
            assert!(start.elapsed().as_secs() < 5, "port {port} is still in use");
        }
    }
}
