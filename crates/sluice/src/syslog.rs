//! The audit trail on its way to a syslog server: messages as RFC 5424 has them, over UDP (RFC 5426), TCP
//! (RFC 6587, octet counting) or a socket of this machine.

use std::io;
use std::time::Duration;

use sluice_core::clock::UnixMillis;
use sluice_storage::{ExportedEntry, SignedHead};
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpStream, UdpSocket, UnixDatagram};
use tokio::time::timeout;

use crate::config::syslog::SyslogAddress;

/// Facility 13 (log audit), severity 6 (informational).
const PRIORITY: u8 = 13 * 8 + 6;
/// The most bytes of a datagram: what is longer is cut by the network or not sent at all.
const LONGEST_DATAGRAM: usize = 60_000;
/// How long a server may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// A message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Message {
    at: UnixMillis,
    id: &'static str,
    text: String,
}

impl Message {
    /// An entry of the trail, with what its hash covers.
    pub(crate) fn entry(line: &ExportedEntry, at: UnixMillis) -> Self {
        Self { at, id: "audit", text: serde_json::to_string(line).unwrap_or_default() }
    }

    /// A signed head.
    pub(crate) fn head(head: &SignedHead) -> Self {
        Self {
            at: head.at,
            id: "audit-head",
            text: serde_json::to_string(head).unwrap_or_default(),
        }
    }

    /// As RFC 5424 has it. What is sent is JSON, which has no line break.
    fn written(&self, host: &str) -> String {
        let (at, process, id) = (self.at.to_rfc3339(), std::process::id(), self.id);
        format!("<{PRIORITY}>1 {at} {host} sluice {process} {id} - {}", self.text)
    }
}

/// A syslog server that messages can be sent to.
pub(crate) struct Syslog {
    socket: Socket,
    host: String,
}

enum Socket {
    Udp(UdpSocket),
    Tcp(TcpStream),
    Unix(UnixDatagram),
}

impl Syslog {
    /// Connects to a server.
    pub(crate) async fn connect(address: &SyslogAddress) -> io::Result<Self> {
        let connecting = async {
            Ok(match address {
                SyslogAddress::Udp(place) => {
                    let mut last = io::Error::other("the host has no address");
                    for to in tokio::net::lookup_host(place).await? {
                        let any = if to.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
                        let socket = UdpSocket::bind(any).await?;
                        match socket.connect(to).await {
                            Ok(()) => return Ok(Socket::Udp(socket)),
                            Err(error) => last = error,
                        }
                    }
                    return Err(last);
                }
                SyslogAddress::Tcp(place) => Socket::Tcp(TcpStream::connect(place).await?),
                SyslogAddress::Unix(path) => {
                    let socket = UnixDatagram::unbound()?;
                    socket.connect(path)?;
                    Socket::Unix(socket)
                }
            })
        };
        let socket = timeout(PATIENCE, connecting).await.unwrap_or_else(|_| Err(late()))?;
        let name = rustix::system::uname();
        let host: String =
            name.nodename().to_string_lossy().chars().filter(|it| it.is_ascii_graphic()).collect();
        let host = if host.is_empty() { "-".to_owned() } else { host };
        Ok(Self { socket, host })
    }

    /// Sends a message. Over TCP it has been handed to the system; over UDP nobody knows whether it
    /// arrives.
    pub(crate) async fn send(&mut self, message: &Message) -> io::Result<()> {
        let text = message.written(&self.host);
        let datagram = &text.as_bytes()[..text.len().min(LONGEST_DATAGRAM)];
        let sending = async {
            match &mut self.socket {
                Socket::Udp(socket) => socket.send(datagram).await.map(drop),
                Socket::Unix(socket) => socket.send(datagram).await.map(drop),
                Socket::Tcp(stream) => {
                    stream.write_all(format!("{} {text}", text.len()).as_bytes()).await
                }
            }
        };
        timeout(PATIENCE, sending).await.unwrap_or_else(|_| Err(late()))
    }
}

fn late() -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, "it took longer than 10 s")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_one_of_rfc_5424() {
        let message = Message { at: UnixMillis(1_795_253_400_000), id: "audit", text: "{}".into() };
        let process = std::process::id();
        let expected = format!("<110>1 2026-11-21T09:30:00Z gate sluice {process} audit - {{}}");
        assert_eq!(message.written("gate"), expected);
    }
}
