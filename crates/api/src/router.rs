//! The URL space, and what holds for every request: its id, its limits' headers, its panics.

use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;

use futures_util::FutureExt;
use http::header::AUTHORIZATION;
use http::request::Parts;
use http::{HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use http_body::Body;
use sluice_core::clock::UnixMillis;
use sluice_core::ids::RequestId;
use sluice_gateway::error::ChatError;
use sluice_gateway::gateway::{Gateway, Presented, SignInFailure};
use sluice_gateway::principal::Principal;
use sluice_gateway::reference::{self, Operation};
use sluice_gateway::request::{RequestContext, fresh_id};
use sluice_gateway::watch::Watch;

use crate::bodies::{Bodies, Budget};
use crate::body::ResponseBody;
use crate::cors::Cors;
use crate::error::ApiError;
use crate::headers::{label, sole, text};
use crate::{input, rate, routes};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const SVC_API_KEY: HeaderName = HeaderName::from_static("svc-api-key");
const TITLE: HeaderName = HeaderName::from_static("x-title");
/// The caller's own name for a conversation, whose requests then stay with one model.
const SESSION: HeaderName = HeaderName::from_static("svc-session-id");
/// What clients name their conversations by in ways of their own; the first that is there counts.
const CLIENTS_SESSIONS: [HeaderName; 4] = [
    HeaderName::from_static("x-session-id"),
    HeaderName::from_static("x-claude-code-session-id"),
    HeaderName::from_static("session-id"),
    HeaderName::from_static("x-session-affinity"),
];
const REFERER: HeaderName = http::header::REFERER;
/// The documented header has the name of the URL's own, spelled out.
const HTTP_REFERER: HeaderName = HeaderName::from_static("http-referer");

/// What the configuration says about HTTP.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Longest request body, in MiB.
    pub request_body_limit_mib: usize,
    /// Memory for the bodies of all requests, in MiB. One body always has room.
    pub body_memory_mib: usize,
    /// Which browsers may ask.
    pub cors: Cors,
}

impl Settings {
    /// How much memory bodies may take.
    pub(crate) fn budget(&self) -> Budget {
        let body = self.request_body_limit_mib << 20;
        Budget { body, all: (self.body_memory_mib << 20).max(body) }
    }
}

/// The HTTP interface of one gateway.
pub struct Api {
    gateway: Arc<Gateway>,
    bodies: Arc<Bodies>,
    settings: arc_swap::ArcSwap<Settings>,
}

impl Api {
    /// The interface of `gateway`.
    pub fn new(gateway: Arc<Gateway>, settings: Settings) -> Self {
        let bodies = Bodies::new(gateway.shared_metrics());
        Self { gateway, bodies, settings: arc_swap::ArcSwap::from_pointee(settings) }
    }

    /// Takes over new settings, for requests that begin from now on.
    pub fn replace_settings(&self, settings: Settings) {
        self.settings.store(Arc::new(settings));
    }

    pub(crate) fn gateway(&self) -> &Arc<Gateway> {
        &self.gateway
    }

    pub(crate) fn bodies(&self) -> &Arc<Bodies> {
        &self.bodies
    }

    pub(crate) fn settings(&self) -> arc_swap::Guard<Arc<Settings>> {
        self.settings.load()
    }

    /// Answers one request that came from `remote`.
    pub async fn respond<B: Body + Unpin>(
        &self,
        request: Request<B>,
        remote: Option<IpAddr>,
    ) -> Response<ResponseBody> {
        match (request.method(), request.uri().path()) {
            (&Method::GET | &Method::HEAD, "/livez") => return probe(true),
            (&Method::GET | &Method::HEAD, "/readyz") => {
                return probe(self.gateway.is_ready());
            }
            _ => {}
        }
        let now = self.gateway.now();
        let id = fresh_id("req_", now);
        let (head, mut body) = request.into_parts();
        let origin = self.settings().cors.allowed(&head.headers);
        let preflight = origin.is_some() && Cors::is_preflight(&head.method, &head.headers);
        let mut response = if preflight {
            let mut response = Response::new(ResponseBody::whole(Vec::new()));
            *response.status_mut() = StatusCode::NO_CONTENT;
            rate::write_headers(&self.gateway.guesses(remote), response.headers_mut());
            response
        } else {
            self.guarded(&head, &mut body, remote, &id).await
        };
        if response.status().as_u16() >= 400 {
            let limit_mib = self.settings().request_body_limit_mib;
            input::discard(&head.headers, &mut body, limit_mib).await;
        }
        let headers = response.headers_mut();
        if self.settings().cors.is_on() {
            Cors::write_headers(origin, preflight, headers);
        }
        name(&mut response, id);
        response
    }

    /// Signs in, then answers.
    async fn guarded<B: Body + Unpin>(
        &self,
        head: &Parts,
        body: &mut B,
        remote: Option<IpAddr>,
        id: &str,
    ) -> Response<ResponseBody> {
        let headers = &head.headers;
        let (authorization, svc_api_key) =
            (sole(headers, &AUTHORIZATION), sole(headers, &SVC_API_KEY));
        let contradictory = match (&authorization, &svc_api_key) {
            (Err(_), _) => Some("Authorization"),
            (_, Err(_)) => Some("svc-api-key"),
            (Ok(_), Ok(_)) => None,
        };
        let presented = Presented {
            authorization: authorization.unwrap_or_default(),
            svc_api_key: svc_api_key.unwrap_or_default(),
            contradictory,
        };
        let principal = match self.gateway.sign_in(presented, remote).await {
            Ok(principal) => principal,
            Err(failure) => return refuse(&self.gateway, failure),
        };
        self.answer(head, body, principal, context(head, remote, id, self.gateway.now())).await
    }

    /// Answers one request of somebody who is known: as [`Api::respond`] does, but for the key. What
    /// `watch` learns is for whoever reads one answer by hand.
    pub async fn respond_to<B: Body + Unpin>(
        &self,
        principal: Arc<Principal>,
        request: Request<B>,
        remote: Option<IpAddr>,
        watch: Arc<Watch>,
    ) -> Response<ResponseBody> {
        let now = self.gateway.now();
        let id = fresh_id("req_", now);
        let (head, mut body) = request.into_parts();
        let context = RequestContext { watch: Some(watch), ..context(&head, remote, &id, now) };
        let mut response = self.answer(&head, &mut body, principal, context).await;
        name(&mut response, id);
        response
    }

    /// Routes, and turns errors and panics into responses.
    async fn answer<B: Body + Unpin>(
        &self,
        head: &Parts,
        body: &mut B,
        principal: Arc<Principal>,
        context: RequestContext,
    ) -> Response<ResponseBody> {
        let routed = self.route(head, body, principal.clone(), context);
        let outcome = AssertUnwindSafe(routed).catch_unwind().await.unwrap_or_else(|_| {
            // The panic has logged its place; the id stays out, for the request may be one that must
            // leave no trace.
            Err(ApiError::Chat(ChatError::Internal, None))
        });
        let mut response = outcome.unwrap_or_else(|error| {
            let (status, code) = (error.wire().0, error.known_code());
            // Without the request's id: it may be one that must leave no trace.
            tracing::debug!(status = status.as_u16(), code, "request refused");
            if !error.is_the_providers() {
                self.gateway.metrics().refused(code);
            }
            error.into_response()
        });
        let rate = principal.subjects.rate(self.gateway.now());
        rate::write_headers(&rate, response.headers_mut());
        response
    }

    async fn route<B: Body + Unpin>(
        &self,
        head: &Parts,
        body: &mut B,
        principal: Arc<Principal>,
        context: RequestContext,
    ) -> Result<Response<ResponseBody>, ApiError> {
        let (method, path) = (&head.method, head.uri.path());
        if let Some(why) = &principal.suspended {
            return Err(ApiError::Suspended(why.clone()));
        }
        let Some((endpoint, place)) = reference::find(path) else {
            return Err(ApiError::NotFound {
                method: method.to_string(),
                path: path.chars().take(100).collect(),
                endpoints: reference::listed(),
            });
        };
        if method != endpoint.method {
            let (path, allowed) = (endpoint.path, endpoint.method);
            return Err(ApiError::MethodNotAllowed { path, allowed, method: method.to_string() });
        }
        if let Some(scope) = endpoint.scope
            && !principal.key.has(scope)
        {
            return Err(ApiError::MissingScope(scope));
        }
        match endpoint.operation {
            // Answers under way finish; one that begins now would be cut off.
            Operation::Chat if self.gateway.is_draining() => Err(ApiError::ShuttingDown),
            Operation::Chat => {
                routes::chat::create(self, principal, context, &head.headers, body).await
            }
            Operation::Models => routes::models::list(self, &principal),
            Operation::Model => routes::models::show(self, &principal, place),
            Operation::Token => routes::token::show(self, &principal),
            Operation::Health => routes::health::show(self),
        }
    }
}

/// What is known of a request beside its body.
fn context(head: &Parts, remote: Option<IpAddr>, id: &str, now: UnixMillis) -> RequestContext {
    let headers = &head.headers;
    RequestContext {
        id: RequestId::from(id),
        arrived_at: now,
        arrived: Instant::now(),
        remote,
        app_url: label(headers, &HTTP_REFERER).or_else(|| label(headers, &REFERER)),
        app_title: label(headers, &TITLE),
        session: shortened(text(headers, &SESSION)),
        client_session: CLIENTS_SESSIONS.iter().find_map(|name| shortened(text(headers, name))),
        watch: None,
    }
}

fn name(response: &mut Response<ResponseBody>, id: String) {
    if let Ok(id) = HeaderValue::try_from(id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
}

fn refuse(gateway: &Gateway, failure: SignInFailure) -> Response<ResponseBody> {
    let error = match failure.exceeded {
        Some(exceeded) => ApiError::Limited(*exceeded),
        None => ApiError::Unrecognised(failure.reason),
    };
    gateway.metrics().refused(error.known_code());
    let mut response = error.into_response();
    rate::write_headers(&failure.rate, response.headers_mut());
    response
}

fn probe(ok: bool) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::whole(if ok { "ok\n" } else { "not ready\n" }));
    if !ok {
        *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    }
    response
}

/// The name of a conversation: its first 200 characters.
fn shortened(text: Option<&str>) -> Option<String> {
    text.filter(|text| !text.is_empty()).map(|text| text.chars().take(200).collect())
}
