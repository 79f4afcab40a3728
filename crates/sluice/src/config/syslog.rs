//! Where a syslog server listens, as it is written.

use std::fmt;
use std::path::PathBuf;

/// Where a syslog server listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SyslogAddress {
    /// Host and port, UDP.
    Udp(String),
    /// Host and port, TCP.
    Tcp(String),
    /// A datagram socket of this machine.
    Unix(PathBuf),
}

impl SyslogAddress {
    /// What an address looks like.
    pub(crate) const FORM: &str = "udp://HOST:PORT, tcp://HOST:PORT or unix:PATH";

    /// An address as it is written; what is wrong with it, else.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let expected =
            || format!("{text:?} is no address of a syslog server; expected {}", Self::FORM);
        let is_host_and_port = |it: &str| {
            let (host, port) = it.rsplit_once(':').unwrap_or_default();
            !host.is_empty() && !it.contains('/') && port.parse::<u16>().is_ok_and(|port| port > 0)
        };
        match text.split_once(':') {
            Some(("unix", path)) if path.starts_with('/') => Ok(Self::Unix(path.into())),
            Some((kind @ ("udp" | "tcp"), rest)) => {
                let place = rest.strip_prefix("//").filter(|it| is_host_and_port(it));
                let place = place.ok_or_else(expected)?.to_owned();
                Ok(if kind == "udp" { Self::Udp(place) } else { Self::Tcp(place) })
            }
            _ => Err(expected()),
        }
    }
}

impl fmt::Display for SyslogAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Udp(place) => write!(f, "udp://{place}"),
            Self::Tcp(place) => write!(f, "tcp://{place}"),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_or_refused_with_what_was_expected() {
        for text in ["udp://logs.example.org:514", "tcp://[::1]:601", "unix:/dev/log"] {
            assert_eq!(SyslogAddress::parse(text).unwrap().to_string(), text);
        }
        for text in [
            "",
            "logs:514",
            "udp://logs",
            "udp://logs:0",
            "tls://logs:1",
            "unix:log",
            "tcp://a/b:1",
        ] {
            let problem = SyslogAddress::parse(text).unwrap_err();
            assert!(problem.contains("expected udp://HOST:PORT"), "{problem}");
        }
    }
}
