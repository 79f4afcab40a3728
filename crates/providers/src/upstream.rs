//! The seam between an encoded request and what answers it: the network, or the simulator.

use std::future::Future;
use std::pin::Pin;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::combinators::UnsyncBoxBody;

/// Something that answers an encoded request.
pub trait Upstream: Send + Sync {
    /// Sends `request` and waits for the answer's head. Dropping the future, or later the body,
    /// cancels the call.
    fn send(&self, request: Request<Bytes>) -> Sending;
}

/// A call under way.
pub type Sending =
    Pin<Box<dyn Future<Output = Result<Response<UpstreamBody>, TransportError>> + Send>>;

/// An answer's body, piece by piece as it comes in.
pub type UpstreamBody = UnsyncBoxBody<Bytes, TransportError>;

/// No answer, or no more of it.
#[derive(Debug, thiserror::Error)]
pub enum TransportError {
    /// No connection could be made: nothing was sent.
    #[error("cannot connect: {0}")]
    Connect(String),
    /// The connection broke.
    #[error("connection lost: {0}")]
    Lost(String),
}
