//! Where a host is: `user@host:port`, of which all but the host may be left out.

use std::fmt;
use std::str::FromStr;

/// An address as it was given.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Address {
    /// User to log in as.
    pub user: Option<String>,
    /// Name or IP address, without brackets.
    pub host: String,
    /// Port.
    pub port: Option<u16>,
}

impl Address {
    /// The word for the driver's own machine, which needs no SSH.
    pub const LOCALHOST: &str = "localhost";

    /// Whether this is the driver's own machine, without SSH.
    pub fn is_local(&self) -> bool {
        self.host == Self::LOCALHOST && self.user.is_none() && self.port.is_none()
    }
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || {
            format!(
                "address is {text:?}, allowed is [USER@]HOST[:PORT], where an IPv6 HOST with a port is in brackets"
            )
        };
        let (user, rest) = match text.rsplit_once('@') {
            Some((user, rest)) => (Some(user), rest),
            None => (None, text),
        };
        let (host, port) = match rest.strip_prefix('[') {
            Some(rest) => {
                let (host, rest) = rest.split_once(']').ok_or_else(bad)?;
                let port = if rest.is_empty() { None } else { Some(rest.strip_prefix(':').ok_or_else(bad)?) };
                host.parse::<std::net::Ipv6Addr>().map_err(|_error| bad())?;
                (host, port)
            }
            // Two colons or more are those of an IPv6 address.
            None if rest.matches(':').count() > 1 => {
                rest.parse::<std::net::Ipv6Addr>().map_err(|_error| bad())?;
                (rest, None)
            }
            None => rest.split_once(':').map_or((rest, None), |(host, port)| (host, Some(port))),
        };
        let port = port.map(|port| port.parse().ok().filter(|port| *port > 0).ok_or_else(bad)).transpose()?;
        let clean = |word: &str| {
            // A leading dash would be an option of some program.
            !word.is_empty()
                && !word.starts_with('-')
                && !word.chars().any(|letter| letter.is_whitespace() || letter.is_control())
        };
        if !clean(host) || !user.is_none_or(clean) {
            return Err(bad());
        }
        Ok(Self { user: user.map(str::to_owned), host: host.to_owned(), port })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(user) = &self.user {
            write!(f, "{user}@")?;
        }
        match self.port {
            Some(port) if self.host.contains(':') => write!(f, "[{}]:{port}", self.host),
            Some(port) => write!(f, "{}:{port}", self.host),
            None => f.write_str(&self.host),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_form_is_read() {
        for (text, user, host, port) in [
            ("h", None, "h", None),
            ("u@h:22", Some("u"), "h", Some(22)),
            ("10.0.0.1:2222", None, "10.0.0.1", Some(2222)),
            ("::1", None, "::1", None),
            ("u@fe80::1", Some("u"), "fe80::1", None),
            ("[::1]", None, "::1", None),
            ("u@[fd00::2]:22", Some("u"), "fd00::2", Some(22)),
            ("a@b@h", Some("a@b"), "h", None),
        ] {
            let expected = Address { user: user.map(str::to_owned), host: host.to_owned(), port };
            assert_eq!(text.parse(), Ok(expected), "{text}");
        }
        for text in [
            "", "@h", "u@", ":22", "h:", "h:0", "h:99999", "h:x", "[::1", "[h]:22", "[::1]22", "1::2::3",
            "-o", "a b",
        ] {
            let error = text.parse::<Address>().unwrap_err();
            assert!(error.contains(&format!("{text:?}")) && error.contains("[USER@]HOST[:PORT]"), "{error}");
        }
        assert!("localhost".parse::<Address>().unwrap().is_local());
        assert!(!"localhost:22".parse::<Address>().unwrap().is_local());
    }

    proptest! {
        #[test]
        fn garbage_never_panics_and_what_is_read_is_shown_again(text in "[a-z0-9@:\\[\\]. -]{0,20}") {
            if let Ok(address) = text.parse::<Address>() {
                prop_assert_eq!(address.to_string().parse(), Ok(address));
            }
        }
    }
}
