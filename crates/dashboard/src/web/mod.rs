//! The pages over HTTP: one table of routes, and one door through which every request goes.
//!
//! The door ([`door`]) knows who asks, refuses forms that are not of this site and session, asks the
//! permission table, and only then calls the page's handler with an [`Ask`]. What a handler answers is
//! a page, a redirect or a failure ([`reply`]).

mod api;
mod ask;
pub(crate) mod cookie;
mod door;
mod fields;
mod once;
mod reply;
mod routes;

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::response::Response;
use http::Request;
use sluice_core::clock::Clock;
use sluice_gateway::gateway::Gateway;
use sluice_gateway::people::People;
use sluice_gateway::proxies::Client;
use tower_service::Service as _;

pub use api::{Api, Question};
pub(crate) use ask::Ask;
pub(crate) use fields::Fields;
pub(crate) use reply::{Answer, Failure, Reply, page, page_with, see_other, sentence};
pub use routes::{Access, Method, Route, all as routes};
pub(crate) use routes::{Largest, get, post};

/// What the pages need to know of their deployment.
#[derive(Debug, Clone)]
pub struct Deployment {
    /// Scheme, host and port as programs reach the API: `https://sluice.example.org`.
    pub api_url: String,
    /// The same as browsers reach the pages: another one where they have an address of their own.
    pub pages_url: String,
    /// The zone in which times are told, by its IANA name.
    pub time_zone: String,
}

impl Deployment {
    /// What programs put in as their base URL.
    pub(crate) fn base_url(&self) -> String {
        format!("{}{}", self.api_url, sluice_gateway::reference::BASE)
    }
}

/// What all pages share.
pub(crate) struct Shared {
    pub(crate) gateway: Arc<Gateway>,
    pub(crate) people: Arc<People>,
    pub(crate) api: Arc<dyn Api>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) deployment: Deployment,
    /// The forms that are taken once.
    pub(crate) once: once::Once,
}

/// The dashboard. Cloning it is cheap.
#[derive(Clone)]
pub struct Dashboard {
    router: Router,
}

impl std::fmt::Debug for Dashboard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Dashboard")
    }
}

impl Dashboard {
    /// The dashboard of a deployment.
    pub fn new(
        gateway: Arc<Gateway>,
        people: Arc<People>,
        api: Arc<dyn Api>,
        clock: Arc<dyn Clock>,
        deployment: Deployment,
    ) -> Self {
        let shared = Arc::new(Shared {
            gateway,
            people,
            api,
            clock,
            deployment,
            once: once::Once::default(),
        });
        Self { router: routes::router(shared) }
    }

    /// Answers a request of `client`.
    pub async fn respond(&self, mut request: Request<Body>, client: Client) -> Response {
        request.extensions_mut().insert(client);
        let Ok(response) = self.router.clone().call(request).await;
        response
    }
}
