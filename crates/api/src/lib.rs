//! `/api/v1` over HTTP: the URL space, the client dialects, the one error table, server-sent
//! events. Decides nothing: that is the gateway's.
//!
//! Generic over the request's body, so that tests need no socket.

mod bodies;
mod body;
mod cors;
mod error;
mod filtered;
mod headers;
mod input;
mod rate;
mod routed;
pub mod router;
mod routes;
mod sse;
pub mod wire;

pub use body::ResponseBody;
pub use cors::Cors;
pub use error::ApiError;
pub use router::{Api, Settings};
