//! Sockets: accepts connections and hands their requests on.

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{Either, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use sluice_api::Api;
use sluice_dashboard::Body;
use sluice_gateway::gateway::Gateway;
use sluice_gateway::proxies::TrustedProxies;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use super::ServeError;
use super::hangup::{Attentive, Exchange, Socket};
use super::pages::Pages;
use super::seats::{Held, Seat, Seats};
use super::stall::StallGuard;

/// How long a new connection may take until its first request has come: its handshake, its first
/// bytes, its headers.
const FIRST_REQUEST_PATIENCE: Duration = Duration::from_secs(30);
/// How long a connection waits for a request's headers, the next request's included. Clients and
/// proxies keep theirs for 60 to 90 s and must not find them closed.
const HEADER_PATIENCE: Duration = Duration::from_secs(120);

/// A listener on `address`.
pub(crate) async fn bind(
    address: SocketAddr,
    setting: &'static str,
) -> Result<TcpListener, ServeError> {
    TcpListener::bind(address).await.map_err(|error| ServeError::Listen { address, error, setting })
}

/// What an address answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Surface {
    /// The API below `/api`, and the dashboard everywhere else.
    Both,
    /// The API alone.
    Api,
    /// The dashboard alone.
    Dashboard,
}

impl Surface {
    /// Whether a path is the dashboard's here. The probes are answered everywhere.
    fn is_page(self, path: &str) -> bool {
        let is_probe = matches!(path, "/livez" | "/readyz");
        match self {
            Self::Both => !is_probe && path != "/api" && !path.starts_with("/api/"),
            Self::Api => false,
            Self::Dashboard => !is_probe,
        }
    }
}

/// What all connections of clients share.
#[derive(Clone)]
pub(crate) struct Shared {
    pub(crate) tls: Option<TlsAcceptor>,
    pub(crate) api: Arc<Api>,
    pub(crate) pages: Pages,
    pub(crate) surface: Surface,
    /// How long a client may read nothing.
    pub(crate) stall: Duration,
    pub(crate) seats: Seats,
    /// Whose word on the client's address is taken.
    pub(crate) proxies: Arc<TrustedProxies>,
}

/// Serves clients until it is told to stop, then until the last answer is over. While it waits,
/// new connections are still accepted: a load balancer wants to hear that it is not ready.
///
/// Aborted, it cuts what is still under way: connections end with the set that holds them.
pub(crate) async fn clients(
    listener: TcpListener,
    shared: Shared,
    mut stopped: watch::Receiver<bool>,
) {
    let graceful = GracefulShutdown::new();
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            Some(_) = connections.join_next() => continue,
            _ = stopped.wait_for(|stopped| *stopped) => break,
        };
        if let Some((stream, remote)) = usable(accepted).await
            && let Some(seat) = shared.seats.take(remote)
        {
            let watcher = Some(graceful.watcher());
            connections.spawn(connection(stream, remote, seat, shared.clone(), watcher));
        }
    }
    let finished = graceful.shutdown();
    tokio::pin!(finished);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            Some(_) = connections.join_next() => continue,
            () = &mut finished => return,
        };
        if let Some((stream, remote)) = usable(accepted).await
            && let Some(seat) = shared.seats.take(remote)
        {
            connections.spawn(connection(stream, remote, seat, shared.clone(), None));
        }
    }
}

/// A connection that can be used, or a pause where there are too many.
async fn usable(accepted: std::io::Result<(TcpStream, SocketAddr)>) -> Option<(TcpStream, IpAddr)> {
    match accepted {
        Ok((stream, remote)) => {
            // Without it, the second piece of a stream waits 40 ms for the other side's delayed
            // acknowledgement.
            if let Err(error) = stream.set_nodelay(true) {
                tracing::debug!(%error, "a connection went away at once");
                return None;
            }
            Some((stream, remote.ip().to_canonical()))
        }
        Err(error) => {
            // Out of file descriptors, most likely; accepting again at once would only spin.
            tracing::warn!(%error, "cannot accept a connection");
            tokio::time::sleep(Duration::from_millis(50)).await;
            None
        }
    }
}

async fn connection(
    stream: TcpStream,
    remote: IpAddr,
    seat: Seat,
    shared: Shared,
    watcher: Option<Watcher>,
) {
    let seat = Arc::new(seat);
    let stream = StallGuard::new(stream, shared.stall);
    let serving = async {
        match shared.tls.clone() {
            None => {
                serve(stream, Peer { address: remote, is_tls: false }, &seat, shared, watcher)
                    .await;
            }
            Some(acceptor) => match acceptor.accept(stream).await {
                Ok(stream) => {
                    serve(stream, Peer { address: remote, is_tls: true }, &seat, shared, watcher)
                        .await;
                }
                Err(error) => tracing::debug!(%error, "a TLS handshake failed"),
            },
        }
    };
    tokio::select! {
        biased;
        () = serving => {}
        reason = seat.given_up(FIRST_REQUEST_PATIENCE) => {
            tracing::debug!(reason, "a connection was closed");
        }
    }
}

/// The other end of a connection.
#[derive(Clone, Copy)]
struct Peer {
    address: IpAddr,
    is_tls: bool,
}

async fn serve(
    stream: impl Socket + Send + 'static,
    peer: Peer,
    seat: &Arc<Seat>,
    shared: Shared,
    watcher: Option<Watcher>,
) {
    let exchange = Arc::new(Exchange::default());
    let stream = Attentive::new(stream, exchange.clone());
    let seat = seat.clone();
    let Shared { api, pages, surface, proxies, .. } = shared;
    let service = service_fn(move |request: Request<Incoming>| {
        let (api, seat, exchange) = (api.clone(), seat.clone(), exchange.clone());
        let pages = surface.is_page(request.uri().path()).then(|| pages.clone());
        let client = proxies.client(peer.address, peer.is_tls, request.headers());
        async move {
            let under_way = seat.begins();
            let version = request.version();
            if let Some(pages) = pages {
                let request = exchange.asked(request).map(Body::new);
                let response = pages.respond(request, client).await;
                let response = exchange.answered(response, version);
                // Whoever is answered to has a browser, and a session or none: no proof of a key.
                return Ok(
                    response.map(|body| Held { body: Either::Right(body), _under_way: under_way })
                );
            }
            // Probes and preflights need no key, and so are no proof of anything.
            let needs_key =
                request.method() != Method::OPTIONS && request.uri().path().starts_with("/api/");
            let response = api.respond(exchange.asked(request), Some(client.address)).await;
            if needs_key && response.status().is_success() {
                under_way.succeeded();
            }
            let response = exchange.answered(response, version);
            let held =
                response.map(|body| Held { body: Either::Left(body), _under_way: under_way });
            Ok::<_, Infallible>(held)
        }
    });
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_PATIENCE)
        .half_close(true)
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(Duration::from_secs(60));
    let connection = builder.serve_connection(TokioIo::new(stream), service).into_owned();
    let outcome = match watcher {
        Some(watcher) => watcher.watch(connection).await,
        None => connection.await,
    };
    if let Err(error) = outcome {
        tracing::debug!(%error, "a connection broke");
    }
}

/// Connections for metrics at once: who asks is a collector or two, and the file descriptors are for
/// others.
const METRICS_CONNECTIONS: usize = 64;

/// Serves `GET /metrics`.
pub(crate) async fn metrics(listener: TcpListener, gateway: Arc<Gateway>) {
    let places = Arc::new(Semaphore::new(METRICS_CONNECTIONS));
    loop {
        // It is never closed.
        let Ok(place) = places.clone().acquire_owned().await else { return };
        let Some((stream, _)) = usable(listener.accept().await).await else { continue };
        let gateway = gateway.clone();
        tokio::spawn(async move {
            let _place = place;
            let service = service_fn(move |request: Request<Incoming>| {
                let response = metrics_response(&request, &gateway);
                async move { Ok::<_, Infallible>(response) }
            });
            let served = hyper::server::conn::http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEADER_PATIENCE)
                .serve_connection(TokioIo::new(stream), service);
            let _ = served.await;
        });
    }
}

fn metrics_response(request: &Request<Incoming>, gateway: &Gateway) -> Response<Full<Bytes>> {
    if request.uri().path() != "/metrics" {
        let mut response = Response::new(Full::from("the metrics are at /metrics\n"));
        *response.status_mut() = StatusCode::NOT_FOUND;
        return response;
    }
    let mut response = Response::new(Full::from(gateway.scrape()));
    response.headers_mut().insert(
        CONTENT_TYPE,
        HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8"),
    );
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_accepted_connection_sends_small_pieces_at_once() {
        let listener = bind(([127, 0, 0, 1], 0).into(), "server.listen").await.unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (accepted, remote) = usable(listener.accept().await).await.unwrap();
        assert!(accepted.nodelay().unwrap());
        assert_eq!(remote, client.local_addr().unwrap().ip());
    }
}
