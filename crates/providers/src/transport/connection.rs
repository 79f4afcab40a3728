//! One connection, driven by whoever waits for it.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body as _, Frame};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::http1;

use super::Wire;
use super::quiet::Quiet;

/// A kept-alive HTTP/1.1 connection.
pub(super) struct Connection {
    sender: http1::SendRequest<Full<Bytes>>,
    /// hyper's side of the connection; `None` when it is over.
    driver: Option<http1::Connection<Box<dyn Wire>, Full<Bytes>>>,
    quiet: Quiet,
}

/// A request that got no answer.
pub(super) struct Refused {
    pub(super) error: hyper::Error,
    /// The request, where nothing of it was sent.
    pub(super) request: Option<Request<Full<Bytes>>>,
}

impl Connection {
    /// Begins to speak HTTP/1.1 over `wire`.
    pub(super) async fn open(wire: Box<dyn Wire>) -> Result<Self, hyper::Error> {
        let (sender, driver) = http1::Builder::new().handshake(wire).await?;
        let mut connection = Self { sender, driver: Some(driver), quiet: Quiet::new() };
        poll_fn(|cx| {
            let ready = connection.sender.poll_ready(cx);
            if ready.is_ready() || connection.drive(cx).is_ready() {
                return ready;
            }
            connection.sender.poll_ready(cx)
        })
        .await?;
        Ok(connection)
    }

    /// Sends a request and waits for the answer's head.
    pub(super) async fn send(
        &mut self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, Refused> {
        let mut answer = pin!(self.sender.try_send_request(request));
        let (driver, quiet) = (&mut self.driver, &self.quiet);
        poll_fn(|cx| {
            quiet.poll(cx, |cx| {
                if let Poll::Ready(answer) = answer.as_mut().poll(cx) {
                    return Poll::Ready(answer);
                }
                // hyper tells the answer, or why there is none, through its own side.
                let _ = drive(driver, cx);
                answer.as_mut().poll(cx)
            })
        })
        .await
        .map_err(|mut error| Refused { request: error.take_message(), error: error.into_error() })
    }

    /// The next piece of the answer's body.
    pub(super) fn poll_body(
        &mut self,
        body: &mut Incoming,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let (driver, quiet) = (&mut self.driver, &self.quiet);
        quiet.poll(cx, |cx| {
            let polled = Pin::new(&mut *body).poll_frame(cx);
            if polled.is_ready() {
                return polled;
            }
            let _ = drive(driver, cx);
            Pin::new(&mut *body).poll_frame(cx)
        })
    }

    /// Moves bytes in both directions, as far as they go right now. `Ready` says that the
    /// connection is over.
    pub(super) fn drive(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        drive(&mut self.driver, cx)
    }

    /// Whether another request can go over it. Notices that the other side has closed it.
    pub(super) fn is_usable(&mut self, cx: &mut Context<'_>) -> bool {
        self.drive(cx).is_pending() && self.sender.is_ready()
    }
}

fn drive(
    driver: &mut Option<http1::Connection<Box<dyn Wire>, Full<Bytes>>>,
    cx: &mut Context<'_>,
) -> Poll<()> {
    let Some(side) = driver else { return Poll::Ready(()) };
    // Why it ended is told to whoever waits for the answer or its body.
    match Pin::new(side).poll(cx) {
        Poll::Ready(_) => {
            *driver = None;
            Poll::Ready(())
        }
        Poll::Pending => Poll::Pending,
    }
}
