//! The API, as a page asks it for whoever has signed in.

use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use sluice_gateway::principal::Principal;
use sluice_gateway::watch::Watch;

/// The API. The binary, which has both, brings it, so that what a page asks goes the way of every
/// request.
pub trait Api: Send + Sync {
    /// Answers a request for `POST /api/v1/chat/completions`. Dropping the answer cancels it.
    fn chat(&self, question: Question) -> Pin<Box<dyn Future<Output = Response<Body>> + Send>>;
}

/// A request, and who asks.
#[derive(Debug)]
pub struct Question {
    /// Who asks.
    pub principal: Arc<Principal>,
    /// What is asked, as JSON.
    pub body: Vec<u8>,
    /// Where they come from.
    pub address: Option<IpAddr>,
    /// Learns what the model saw.
    pub watch: Arc<Watch>,
}
