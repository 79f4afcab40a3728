//! HTTP/1.1 messages over a socket, as far as both ends of a benchmark need them.
//!
//! One [`Connection`] reads heads and bodies (by length or in chunks) and writes whole buffers.
//! It takes what the targets really send; a message without a length is an error.

use std::io;

use anyhow::{Context, bail, ensure};
use bytes::{Buf, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// How much room a read offers to the kernel.
const READ_ROOM: usize = 64 << 10;

/// A connection, from either end.
#[derive(Debug)]
pub struct Connection {
    socket: TcpStream,
    input: BytesMut,
}

/// The head of a message.
#[derive(Debug)]
pub struct Head {
    /// The answer's status; 0 for a request.
    pub status: u16,
    /// How the body that follows is delimited.
    pub framing: Framing,
    /// Whether the sender closes the connection after this message.
    pub close: bool,
}

impl Connection {
    /// Wraps a connected socket. Small writes are sent at once.
    pub fn new(socket: TcpStream) -> io::Result<Self> {
        socket.set_nodelay(true)?;
        Ok(Self { socket, input: BytesMut::with_capacity(READ_ROOM) })
    }

    /// Sends `bytes`.
    pub async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.socket.write_all(bytes).await
    }

    /// The head of the next request; `None` where the peer closed the connection instead.
    pub async fn request_head(&mut self) -> anyhow::Result<Option<Head>> {
        loop {
            if let Some((length, head)) = parse_request(&self.input)? {
                self.input.advance(length);
                return Ok(Some(head));
            }
            if self.fill().await? == 0 {
                ensure!(self.input.is_empty(), "a request's head was cut");
                return Ok(None);
            }
        }
    }

    /// The head of the next answer.
    pub async fn response_head(&mut self) -> anyhow::Result<Head> {
        loop {
            if let Some((length, head)) = parse_response(&self.input)? {
                self.input.advance(length);
                return Ok(head);
            }
            ensure!(self.fill().await? > 0, "the connection was closed before an answer");
        }
    }

    /// Appends to `body` what has arrived of it, waiting until there is something. `false` at the
    /// body's end.
    pub async fn body_part(
        &mut self,
        framing: &mut Framing,
        body: &mut Vec<u8>,
    ) -> anyhow::Result<bool> {
        loop {
            let before = body.len();
            let taken = framing.take(&self.input, body)?;
            self.input.advance(taken);
            if *framing == Framing::Done {
                return Ok(false);
            }
            if body.len() > before {
                return Ok(true);
            }
            ensure!(self.fill().await? > 0, "the connection was closed within a body");
        }
    }

    async fn fill(&mut self) -> io::Result<usize> {
        self.input.reserve(READ_ROOM);
        self.socket.read_buf(&mut self.input).await
    }
}

/// How a body is delimited, and how much of it is still to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// So many bytes are to come.
    Length(usize),
    /// Chunked: a size line is next.
    Size,
    /// Chunked: so many bytes of a chunk are to come, then its line end.
    Chunk(usize),
    /// Chunked: the line end after a chunk is next.
    ChunkEnd,
    /// Chunked: trailer lines are next, the last one empty.
    Trailer,
    /// The body is complete.
    Done,
}

impl Framing {
    /// Appends to `body` what `input` holds of it, and tells how much of `input` that used up.
    fn take(&mut self, input: &[u8], body: &mut Vec<u8>) -> anyhow::Result<usize> {
        let mut at = 0;
        loop {
            let rest = &input[at..];
            match *self {
                Self::Length(0) => *self = Self::Done,
                Self::Length(left) | Self::Chunk(left) => {
                    let taken = left.min(rest.len());
                    body.extend_from_slice(&rest[..taken]);
                    at += taken;
                    *self = match *self {
                        Self::Chunk(_) if taken == left => Self::ChunkEnd,
                        Self::Chunk(_) => Self::Chunk(left - taken),
                        _ => Self::Length(left - taken),
                    };
                    if taken < left {
                        return Ok(at);
                    }
                }
                Self::Size | Self::ChunkEnd | Self::Trailer => {
                    let Some(end) = memchr::memchr(b'\n', rest) else {
                        return Ok(at);
                    };
                    at += end + 1;
                    self.line(rest[..end].trim_ascii())?;
                }
                Self::Done => return Ok(at),
            }
        }
    }

    fn line(&mut self, line: &[u8]) -> anyhow::Result<()> {
        *self = match *self {
            Self::ChunkEnd => Self::Size,
            Self::Size => {
                let digits = line.split(|&byte| byte == b';').next().unwrap_or_default();
                let digits = std::str::from_utf8(digits)?.trim();
                match usize::from_str_radix(digits, 16).context("a chunk's size")? {
                    0 => Self::Trailer,
                    size => Self::Chunk(size),
                }
            }
            Self::Trailer if line.is_empty() => Self::Done,
            other => other,
        };
        Ok(())
    }
}

fn parse_request(bytes: &[u8]) -> anyhow::Result<Option<(usize, Head)>> {
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut request = httparse::Request::new(&mut headers);
    let httparse::Status::Complete(length) = request.parse(bytes)? else {
        return Ok(None);
    };
    let (framing, close) = framing(request.headers)?;
    // A request without a length has no body.
    Ok(Some((length, Head { status: 0, framing: framing.unwrap_or(Framing::Done), close })))
}

fn parse_response(bytes: &[u8]) -> anyhow::Result<Option<(usize, Head)>> {
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut response = httparse::Response::new(&mut headers);
    let httparse::Status::Complete(length) = response.parse(bytes)? else {
        return Ok(None);
    };
    let (framing, close) = framing(response.headers)?;
    let Some(framing) = framing else { bail!("an answer without a length") };
    Ok(Some((length, Head { status: response.code.unwrap_or(0), framing, close })))
}

/// What a head's fields say about the body, and whether the connection is closed after it.
fn framing(headers: &[httparse::Header<'_>]) -> anyhow::Result<(Option<Framing>, bool)> {
    let mut framing = None;
    let mut close = false;
    for header in headers {
        let value = std::str::from_utf8(header.value)?.trim();
        if header.name.eq_ignore_ascii_case("content-length") {
            framing = Some(Framing::Length(value.parse().context("content-length")?));
        } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
            framing = Some(Framing::Size);
        } else if header.name.eq_ignore_ascii_case("connection") {
            close = value.eq_ignore_ascii_case("close");
        }
    }
    Ok((framing, close))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunked_body_is_read_wherever_it_is_cut() {
        let wire = b"5;x=y\r\nhello\r\n7\r\n, world\r\n0\r\nchecksum: 1\r\n\r\nnext";
        for cut in 0..wire.len() {
            let mut framing = Framing::Size;
            let mut body = Vec::new();
            let used = framing.take(&wire[..cut], &mut body).unwrap();
            let more = framing.take(&wire[used..], &mut body).unwrap();
            assert_eq!(body, b"hello, world", "cut at {cut}");
            assert_eq!(framing, Framing::Done, "cut at {cut}");
            assert_eq!(&wire[used + more..], b"next", "cut at {cut}");
        }
    }

    #[test]
    fn a_body_of_known_length_ends_there() {
        let mut framing = Framing::Length(3);
        let mut body = Vec::new();
        assert_eq!(framing.take(b"ab", &mut body).unwrap(), 2);
        assert_eq!(framing, Framing::Length(1));
        assert_eq!(framing.take(b"cd", &mut body).unwrap(), 1);
        assert_eq!((framing, &body[..]), (Framing::Done, &b"abc"[..]));
    }

    #[test]
    fn heads_say_how_the_body_is_delimited() {
        let (length, head) =
            parse_response(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5")
                .unwrap()
                .unwrap();
        assert_eq!((length, head.status, head.framing), (47, 200, Framing::Size));
        let (_, head) = parse_request(b"GET / HTTP/1.1\r\n\r\n").unwrap().unwrap();
        assert_eq!(head.framing, Framing::Done);
        assert!(parse_response(b"HTTP/1.1 200 OK\r\n\r\n").is_err());
        assert!(parse_request(b"POST / HTTP/1.1\r\ncontent-").unwrap().is_none());
    }
}
