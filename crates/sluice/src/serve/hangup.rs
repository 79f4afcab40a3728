//! Tells a client that has gone away from one that has only nothing more to say.
//!
//! A client that closes its connection and one that closes just its sending side look the same
//! from here: the reading side ends. What tells them apart is what happens to a byte that is sent
//! to them: the system of a client that is gone answers with a reset. So where the reading side
//! ends while an HTTP/1.1 request is answered, something harmless is sent at once (`100 Continue`
//! before the answer has begun, a comment within a stream), and then the socket is asked for an
//! error a few times a second. HTTP/1.0 has nothing harmless before an answer: there the end of
//! the reading side still counts as going away, as proxies mean it that speak HTTP/1.0.
//!
//! Nothing of this is needed for HTTP/2, which resets streams in so many words.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{Request, Response, Version};
use http_body::{Body, Frame, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};

use super::stall::StallGuard;

/// What is sent to find out whether anybody is there: before an answer, and within a stream.
const INTERIM: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";
const COMMENT: &[u8] = b": still there?\n\n";
/// The media type of what takes comments.
const EVENTS: &[u8] = b"text/event-stream";
/// How often the socket is asked for an error afterwards.
const LOOK: Duration = Duration::from_millis(200);

/// A connection's socket, whatever is around it.
pub(super) trait Socket: AsyncRead + AsyncWrite + Unpin {
    /// The socket itself.
    fn tcp(&self) -> &TcpStream;
}

impl Socket for StallGuard<TcpStream> {
    fn tcp(&self) -> &TcpStream {
        self.inner()
    }
}

impl<S: Socket> Socket for tokio_rustls::server::TlsStream<S> {
    fn tcp(&self) -> &TcpStream {
        self.get_ref().0.tcp()
    }
}

/// How far the one exchange is that an HTTP/1 connection is at.
#[derive(Default)]
pub(super) struct Exchange {
    stage: AtomicU8,
    wants_comment: AtomicBool,
}

/// No whole request has come, or its answer is over.
const IDLE: u8 = 0;
/// The whole request has come, nothing of the answer has been made. By HTTP/1.0, and by HTTP/1.1.
const ASKED_1_0: u8 = 1;
const ASKED: u8 = 2;
/// The answer has begun.
const ANSWERING: u8 = 3;

impl Exchange {
    fn stage(&self) -> u8 {
        self.stage.load(Ordering::Relaxed)
    }

    fn enter(&self, stage: u8) {
        self.stage.store(stage, Ordering::Relaxed);
    }

    /// `request`, whose end will be noticed where it comes by HTTP/1.
    pub(super) fn asked<B: Body>(self: &Arc<Self>, request: Request<B>) -> Request<Asking<B>> {
        let stage = match request.version() {
            Version::HTTP_11 => ASKED,
            Version::HTTP_10 | Version::HTTP_09 => ASKED_1_0,
            _ => IDLE,
        };
        let exchange = (stage != IDLE).then(|| self.clone());
        request.map(|body| {
            let asking = Asking { body, exchange, stage };
            asking.note_end();
            asking
        })
    }

    /// `response`, whose end will be noticed where it goes by HTTP/1.
    pub(super) fn answered<B>(
        self: &Arc<Self>,
        response: Response<B>,
        version: Version,
    ) -> Response<Answering<B>> {
        let exchange = (version < Version::HTTP_2).then(|| self.clone());
        if let Some(exchange) = &exchange
            && exchange.stage() != IDLE
        {
            exchange.enter(ANSWERING);
        }
        let kind = response.headers().get(CONTENT_TYPE);
        let takes_comments = kind.is_some_and(|it| it.as_bytes().starts_with(EVENTS));
        response.map(|body| Answering { body, exchange, takes_comments })
    }
}

/// A request's body.
pub(super) struct Asking<B> {
    body: B,
    exchange: Option<Arc<Exchange>>,
    stage: u8,
}

impl<B: Body> Asking<B> {
    fn note_end(&self) {
        if let Some(exchange) = &self.exchange
            && self.body.is_end_stream()
        {
            exchange.enter(self.stage);
        }
    }
}

impl<B: Body + Unpin> Body for Asking<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        match (&frame, &self.exchange) {
            (None, Some(exchange)) => exchange.enter(self.stage),
            _ => self.note_end(),
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A response's body.
pub(super) struct Answering<B> {
    body: B,
    exchange: Option<Arc<Exchange>>,
    /// Whether it is a stream of events.
    takes_comments: bool,
}

impl<B: Body<Data = Bytes> + Unpin> Body for Answering<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        if frame.is_pending()
            && self.takes_comments
            && let Some(exchange) = &self.exchange
            && exchange.wants_comment.swap(false, Ordering::Relaxed)
        {
            // Each frame of such a stream is a number of whole events.
            return Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(COMMENT)))));
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl<B> Drop for Answering<B> {
    fn drop(&mut self) {
        if let Some(exchange) = &self.exchange {
            exchange.enter(IDLE);
        }
    }
}

/// A socket that notices, while an answer is made, that the client is gone. The HTTP/1 server above
/// it does not read then, but flushes whenever it is woken: that is when this one looks.
pub(super) struct Attentive<S> {
    socket: S,
    exchange: Arc<Exchange>,
    /// A byte of the next request that came early.
    early: Option<u8>,
    /// The reading side has ended.
    has_ended: bool,
    /// What is still to be written of [`INTERIM`].
    interim: &'static [u8],
    /// When the socket is asked for an error the next time.
    next_look: Option<Pin<Box<Sleep>>>,
}

impl<S: Socket> Attentive<S> {
    pub(super) fn new(socket: S, exchange: Arc<Exchange>) -> Self {
        Self { socket, exchange, early: None, has_ended: false, interim: b"", next_look: None }
    }

    /// Fails where the client is gone.
    fn look(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        if self.exchange.stage() == IDLE || self.early.is_some() {
            return Ok(());
        }
        if !self.has_ended {
            let mut byte = [0];
            let mut buffer = ReadBuf::new(&mut byte);
            match Pin::new(&mut self.socket).poll_read(cx, &mut buffer) {
                Poll::Pending => return Ok(()),
                Poll::Ready(outcome) => outcome?,
            }
            // Whoever sends the next request already is there; its end is not looked for.
            self.early = buffer.filled().first().copied();
            if self.early.is_some() {
                cx.waker().wake_by_ref();
                return Ok(());
            }
            self.has_ended = true;
            self.ask(cx)?;
        }
        self.look_for_reset(cx)
    }

    /// The reading side has just ended: sends something that a client which is gone rejects.
    fn ask(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        match self.exchange.stage() {
            ASKED_1_0 => return Err(gone()),
            ASKED => self.interim = INTERIM,
            _ => {
                self.exchange.wants_comment.store(true, Ordering::Relaxed);
                cx.waker().wake_by_ref();
            }
        }
        self.next_look = Some(Box::pin(sleep(LOOK)));
        match self.poll_interim(cx) {
            Poll::Ready(outcome) => outcome,
            Poll::Pending => Ok(()),
        }
    }

    fn look_for_reset(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        while let Some(next) = &mut self.next_look
            && next.as_mut().poll(cx).is_ready()
        {
            if let Some(error) = self.socket.tcp().take_error()? {
                return Err(error);
            }
            self.next_look = Some(Box::pin(sleep(LOOK)));
        }
        Ok(())
    }

    /// Writes what is left of the interim answer, which nothing may come into.
    fn poll_interim(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.interim.is_empty() {
            return Poll::Ready(Ok(()));
        }
        while !self.interim.is_empty() {
            let written = ready!(Pin::new(&mut self.socket).poll_write(cx, self.interim))?;
            if written == 0 {
                return Poll::Ready(Err(gone()));
            }
            self.interim = &self.interim[written..];
        }
        Pin::new(&mut self.socket).poll_flush(cx)
    }
}

fn gone() -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionAborted, "the client has gone away")
}

impl<S: Socket> AsyncRead for Attentive<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if buffer.remaining() == 0 || self.has_ended {
            return Poll::Ready(Ok(()));
        }
        if let Some(early) = self.early.take() {
            buffer.put_slice(&[early]);
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.socket).poll_read(cx, buffer)
    }
}

impl<S: Socket> AsyncWrite for Attentive<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_interim(cx))?;
        Pin::new(&mut self.socket).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_interim(cx))?;
        Pin::new(&mut self.socket).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_interim(cx))?;
        let flushed = Pin::new(&mut self.socket).poll_flush(cx);
        self.look(cx)?;
        flushed
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_interim(cx))?;
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
}
