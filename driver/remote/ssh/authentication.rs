//! Proves the user to the host: with key files and the agent, never with a password.

use std::path::Path;
use std::time::Duration;

use ssh2::Session;

use super::target::Target;
use super::words;

/// Keys of the agent that are tried: hosts hang up after some that they do not know.
const AGENT_KEYS_MAX: usize = 4;

/// Logs the user in. Returns what proved it, for people.
pub(super) fn authenticate(session: &Session, target: &Target, limit: Duration) -> Result<String, String> {
    let failed = |tried: &[String]| {
        let tried = if tried.is_empty() { "there is none".to_owned() } else { tried.join(", ") };
        format!("{} accepts no key of user {}: {tried}", target.host, target.user)
    };
    match session.auth_methods(&target.user) {
        Ok(methods) if !methods.split(',').any(|method| method == "publickey") => {
            return Err(format!(
                "{} takes no keys, only {methods}, and no password is ever sent",
                target.host
            ));
        }
        // The question itself may be enough.
        Ok(_) | Err(_) if session.authenticated() => return Ok("nothing".to_owned()),
        Ok(_) => {}
        Err(error) => {
            return Err(format!("{} does not say how to log in: {}", target.host, words(&error, limit)));
        }
    }
    let mut tried = Vec::new();
    for key in &target.first_keys {
        if let Some(proof) = with_file(session, target, key, limit, &mut tried)? {
            return Ok(proof);
        }
    }
    if target.agent
        && let Some(proof) = with_agent(session, target, limit, &mut tried)?
    {
        return Ok(proof);
    }
    for key in target.last_keys.iter().filter(|key| key.exists() && !target.first_keys.contains(key)) {
        if let Some(proof) = with_file(session, target, key, limit, &mut tried)? {
            return Ok(proof);
        }
    }
    Err(failed(&tried))
}

fn with_file(
    session: &Session,
    target: &Target,
    key: &Path,
    limit: Duration,
    tried: &mut Vec<String>,
) -> Result<Option<String>, String> {
    let shown = key.display();
    if let Err(error) = std::fs::File::open(key) {
        tried.push(format!("{shown} ({error})"));
        return Ok(None);
    }
    match session.userauth_pubkey_file(&target.user, None, key, None) {
        Ok(()) => Ok(Some(shown.to_string())),
        Err(error) => {
            tried.push(format!("{shown} ({})", why(&error, limit)));
            lost(&error, target, tried)
        }
    }
}

fn with_agent(
    session: &Session,
    target: &Target,
    limit: Duration,
    tried: &mut Vec<String>,
) -> Result<Option<String>, String> {
    let mut agent = match session.agent().and_then(|mut agent| agent.connect().map(|()| agent)) {
        Ok(agent) => agent,
        Err(error) => {
            tried.push(format!("the agent ({})", error.message()));
            return Ok(None);
        }
    };
    let keys = agent.list_identities().and_then(|()| agent.identities()).unwrap_or_default();
    for key in keys.iter().take(AGENT_KEYS_MAX) {
        match agent.userauth(&target.user, key) {
            Ok(()) => return Ok(Some(format!("agent: {}", key.comment()))),
            Err(error) => {
                tried.push(format!("{} of the agent ({})", key.comment(), why(&error, limit)));
                lost(&error, target, tried)?;
            }
        }
    }
    if keys.is_empty() {
        tried.push("the agent (it has no keys)".to_owned());
    }
    Ok(None)
}

fn why(error: &ssh2::Error, limit: Duration) -> String {
    match error.code() {
        // LIBSSH2_ERROR_AUTHENTICATION_FAILED and LIBSSH2_ERROR_PUBLICKEY_UNVERIFIED.
        ssh2::ErrorCode::Session(-18 | -19) => "refused".to_owned(),
        // LIBSSH2_ERROR_FILE.
        ssh2::ErrorCode::Session(-16) => {
            "cannot be read as a key; one with a passphrase belongs into the agent".to_owned()
        }
        _ => words(error, limit),
    }
}

/// A host that hung up or is silent hears no other key.
fn lost(error: &ssh2::Error, target: &Target, tried: &[String]) -> Result<Option<String>, String> {
    // LIBSSH2_ERROR_SOCKET_SEND, _TIMEOUT, _SOCKET_DISCONNECT, _SOCKET_TIMEOUT, _SOCKET_RECV.
    match error.code() {
        ssh2::ErrorCode::Session(-7 | -9 | -13 | -30 | -43) => {
            Err(format!("{} ended the log-in of user {}: {}", target.host, target.user, tried.join(", ")))
        }
        _ => Ok(None),
    }
}
