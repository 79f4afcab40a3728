//! Sockets: accepts connections and hands their requests on.

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use sluice_api::Api;
use sluice_gateway::gateway::Gateway;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use super::StartError;
use super::stall::StallGuard;
use crate::config::sections::ServerSettings;

/// How long a client may take to shake hands.
const HANDSHAKE_PATIENCE: Duration = Duration::from_secs(30);
/// How long a connection waits for a request's headers, the next request's included. Clients and
/// proxies keep theirs for 60 to 90 s and must not find them closed.
const HEADER_PATIENCE: Duration = Duration::from_secs(120);

/// A listener on `address`.
pub(crate) async fn bind(
    address: SocketAddr,
    setting: &'static str,
) -> Result<TcpListener, StartError> {
    TcpListener::bind(address).await.map_err(|error| StartError::Listen { address, error, setting })
}

/// What ends TLS, where a certificate is configured.
pub(crate) fn tls(settings: &ServerSettings) -> Result<Option<TlsAcceptor>, StartError> {
    let (Some(certificate), Some(key)) = (&settings.tls_certificate_file, &settings.tls_key_file)
    else {
        return Ok(None);
    };
    let wrong = |setting: &str, path: &std::path::Path, error: &dyn std::fmt::Display| {
        StartError::Tls(format!("`{setting}` ({}): {error}", path.display()))
    };
    let certificates = CertificateDer::pem_file_iter(&certificate.0)
        .and_then(|found| found.collect::<Result<Vec<_>, _>>())
        .map_err(|error| wrong("server.tls_certificate_file", &certificate.0, &error))?;
    let private_key = PrivateKeyDer::from_pem_file(&key.0)
        .map_err(|error| wrong("server.tls_key_file", &key.0, &error))?;
    let mut config = rustls::ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(certificates, private_key)
        .map_err(|error| wrong("server.tls_certificate_file", &certificate.0, &error))?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Some(TlsAcceptor::from(Arc::new(config))))
}

/// Serves the API until it is told to stop, then until the last answer is over. While it waits,
/// new connections are still accepted: a load balancer wants to hear that it is not ready.
///
/// Aborted, it cuts what is still under way: connections end with the set that holds them.
pub(crate) async fn api(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    api: Arc<Api>,
    stall: Duration,
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
        if let Some((stream, remote)) = usable(accepted).await {
            let watcher = Some(graceful.watcher());
            connections.spawn(connection(stream, remote, tls.clone(), api.clone(), stall, watcher));
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
        if let Some((stream, remote)) = usable(accepted).await {
            connections.spawn(connection(stream, remote, tls.clone(), api.clone(), stall, None));
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
    tls: Option<TlsAcceptor>,
    api: Arc<Api>,
    stall: Duration,
    watcher: Option<Watcher>,
) {
    let stream = StallGuard::new(stream, stall);
    match tls {
        None => serve(stream, remote, api, watcher).await,
        Some(acceptor) => {
            let handshake = tokio::time::timeout(HANDSHAKE_PATIENCE, acceptor.accept(stream));
            match handshake.await {
                Ok(Ok(stream)) => serve(stream, remote, api, watcher).await,
                Ok(Err(error)) => tracing::debug!(%error, "a TLS handshake failed"),
                Err(_) => tracing::debug!("a TLS handshake took too long"),
            }
        }
    }
}

async fn serve(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    remote: IpAddr,
    api: Arc<Api>,
    watcher: Option<Watcher>,
) {
    let service = service_fn(move |request: Request<Incoming>| {
        let api = api.clone();
        async move { Ok::<_, Infallible>(api.respond(request, Some(remote)).await) }
    });
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_PATIENCE)
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

/// Serves `GET /metrics`.
pub(crate) async fn metrics(listener: TcpListener, gateway: Arc<Gateway>) {
    loop {
        let Some((stream, _)) = usable(listener.accept().await).await else { continue };
        let gateway = gateway.clone();
        tokio::spawn(async move {
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
    let mut response = Response::new(Full::from(gateway.metrics().render()));
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
