//! The one thing that sends: HTTP/1.1 over TCP or TLS, with kept-alive connections.
//!
//! HTTP/2 is left alone on this side on purpose: one HTTP/2 connection a host stalls at its stream
//! limit, and a call that is cancelled takes only its own connection with it.

use std::time::Duration;

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use hyper_rustls::{ConfigBuilderExt, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};

use crate::upstream::{Sending, TransportError, Upstream};

/// Sends requests to providers over the network.
#[derive(Clone)]
pub struct HttpUpstream {
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
}

impl HttpUpstream {
    /// A transport that gives up on connecting after `connect_timeout`.
    ///
    /// Trusts the machine's certificate authorities, or Mozilla's where the machine has none.
    pub fn new(connect_timeout: Duration) -> Self {
        let mut http = HttpConnector::new();
        http.enforce_http(false);
        // Without it, the second write of a request waits 40 ms for the other side's delayed
        // acknowledgement.
        http.set_nodelay(true);
        http.set_connect_timeout(Some(connect_timeout));
        http.set_keepalive(Some(Duration::from_secs(60)));
        let tls = match rustls::ClientConfig::builder().with_native_roots() {
            Ok(builder) => builder.with_no_client_auth(),
            Err(_) => rustls::ClientConfig::builder().with_webpki_roots().with_no_client_auth(),
        };
        let connector =
            HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http().enable_http1().wrap_connector(http);
        let client = Client::builder(TokioExecutor::new())
            .pool_idle_timeout(Duration::from_secs(55))
            .pool_max_idle_per_host(512)
            .pool_timer(TokioTimer::new())
            .build(connector);
        Self { client }
    }
}

impl Upstream for HttpUpstream {
    fn send(&self, request: Request<Bytes>) -> Sending {
        let call = self.client.request(request.map(Full::new));
        Box::pin(async move {
            let answer = call.await.map_err(|error| {
                let text = cause(&error);
                if error.is_connect() { TransportError::Connect(text) } else { TransportError::Lost(text) }
            })?;
            Ok(answer.map(|body| {
                body.map_err(|error| TransportError::Lost(cause(&error))).boxed_unsync()
            }))
        })
    }
}

/// The innermost reason: what an operator can act on ("Connection refused").
fn cause(error: &dyn std::error::Error) -> String {
    let mut inner = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}
