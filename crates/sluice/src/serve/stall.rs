//! Gives up on clients that stop reading.
//!
//! A stream's own timeouts are looked at when the connection asks for more of it. A client that
//! reads nothing never lets it ask; without this, it would hold the provider's call for ever.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// A socket whose writes fail when nothing could be written for a while.
pub(super) struct StallGuard<S> {
    socket: S,
    patience: Duration,
    /// Runs while a write waits; made when the first one does.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl<S> StallGuard<S> {
    pub(super) fn new(socket: S, patience: Duration) -> Self {
        Self { socket, patience, waiting: None }
    }

    /// What is guarded.
    pub(super) fn inner(&self) -> &S {
        &self.socket
    }

    /// Lets a write that waits fail when its time is over.
    fn guard<T>(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.waiting = None;
            return written;
        }
        let patience = self.patience;
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(sleep(patience)));
        ready!(waiting.as_mut().poll(cx));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client stopped reading")))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for StallGuard<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for StallGuard<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write(cx, bytes);
        self.guard(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write_vectored(cx, slices);
        self.guard(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.socket).poll_flush(cx);
        self.guard(cx, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let ended = Pin::new(&mut self.socket).poll_shutdown(cx);
        self.guard(cx, ended)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_write_that_nobody_reads_fails_and_one_that_is_read_does_not() {
        let (client, server) = duplex(16);
        let (mut reader, _write_half) = tokio::io::split(client);
        let mut guarded = StallGuard::new(server, Duration::from_secs(5));
        let slow = tokio::spawn(async move {
            let mut read = [0; 64];
            for _ in 0..4 {
                sleep(Duration::from_secs(4)).await;
                reader.read_exact(&mut read[..16]).await.unwrap();
            }
            reader
        });
        // Each pause is shorter than the patience, all together are longer.
        guarded.write_all(&[1; 64]).await.unwrap();
        let _reader = slow.await.unwrap();
        let stalled = guarded.write_all(&[1; 64]).await.unwrap_err();
        assert_eq!(stalled.kind(), io::ErrorKind::TimedOut);
    }
}
