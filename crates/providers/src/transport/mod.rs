//! The one thing that sends: HTTP/1.1 over TCP or TLS, with kept-alive connections.
//!
//! A connection is driven by whoever waits for its answer, not by a task of its own: a streamed
//! chunk costs no switch between tasks, and chunks that came together are handed on together.
//! (Measured against a pooled client whose connections are tasks: a chunk of a burst costs a
//! quarter.)
//!
//! HTTP/2 is left alone on this side on purpose: one HTTP/2 connection a host stalls at its stream
//! limit, and a call that is cancelled takes only its own connection with it.

mod connection;
mod pool;
mod quiet;
#[cfg(test)]
mod socket_tests;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use http::header::HOST;
use http::uri::{PathAndQuery, Scheme};
use http::{HeaderValue, Request, Uri};
use http_body_util::{BodyExt, Full};
use hyper::rt::{Read, Write};
use hyper_rustls::{ConfigBuilderExt, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use tower_service::Service;

use crate::upstream::{Sending, TransportError, Upstream};
use connection::{Connection, Refused};
use pool::{Key, Pool};

/// Sends requests to providers over the network.
#[derive(Clone)]
pub struct HttpUpstream {
    plain: HttpConnector,
    /// Made when it is first needed: the certificate authorities take memory.
    encrypted: Arc<OnceLock<HttpsConnector<HttpConnector>>>,
    connect_timeout: Duration,
    pool: Arc<Pool>,
}

/// What a connection runs over, encrypted or not.
trait Wire: Read + Write + Send + Unpin {}
impl<T: Read + Write + Send + Unpin> Wire for T {}

impl HttpUpstream {
    /// A transport that gives up on connecting (TLS included) after `connect_timeout`.
    pub fn new(connect_timeout: Duration) -> Self {
        let mut http = HttpConnector::new();
        http.enforce_http(false);
        // Without it, the second write of a request waits 40 ms for the other side's delayed
        // acknowledgement.
        http.set_nodelay(true);
        http.set_keepalive(Some(Duration::from_secs(60)));
        Self {
            plain: http,
            encrypted: Arc::default(),
            connect_timeout,
            pool: Arc::new(Pool::default()),
        }
    }

    async fn connect(&self, address: Uri) -> Result<Connection, TransportError> {
        let connecting = tokio::time::timeout(self.connect_timeout, self.wire(address));
        let wire = connecting.await.unwrap_or_else(|_| {
            let waited = self.connect_timeout.as_secs();
            Err(TransportError::Connect(format!("no connection after {waited} s")))
        })?;
        Connection::open(wire).await.map_err(|error| lost(&error))
    }

    async fn wire(&self, address: Uri) -> Result<Box<dyn Wire>, TransportError> {
        if address.scheme() == Some(&Scheme::HTTPS) {
            let mut connector = self.encrypted.get_or_init(|| encrypting(&self.plain)).clone();
            let wire = connector.call(address).await;
            let wire = wire.map_err(|error| TransportError::Connect(cause(&*error)))?;
            return Ok(Box::new(wire));
        }
        let wire = self.plain.clone().call(address).await;
        Ok(Box::new(wire.map_err(|error| TransportError::Connect(cause(&error)))?))
    }

    async fn call(&self, request: Request<Bytes>) -> Result<Answered, TransportError> {
        let address = request.uri().clone();
        let key = Key::of(&address)
            .ok_or_else(|| TransportError::Connect("the address has no host".to_owned()))?;
        let mut request = origin_form(request)?.map(Full::new);
        // A kept connection may have been closed by the other side in the meantime. As long as
        // nothing was sent, the request goes over the next one.
        while let Some(mut connection) = self.pool.take(&key) {
            match connection.send(request).await {
                Ok(response) => return Ok((response, connection, key)),
                Err(Refused { request: Some(unsent), .. }) => request = unsent,
                Err(Refused { error, .. }) => return Err(lost(&error)),
            }
        }
        let mut connection = self.connect(address).await?;
        match connection.send(request).await {
            Ok(response) => Ok((response, connection, key)),
            Err(refused) => Err(lost(&refused.error)),
        }
    }
}

/// A connector that encrypts. Trusts the machine's certificate authorities, or Mozilla's where the
/// machine has none.
fn encrypting(plain: &HttpConnector) -> HttpsConnector<HttpConnector> {
    let tls = match rustls::ClientConfig::builder().with_native_roots() {
        Ok(builder) => builder.with_no_client_auth(),
        Err(_) => rustls::ClientConfig::builder().with_webpki_roots().with_no_client_auth(),
    };
    HttpsConnectorBuilder::new()
        .with_tls_config(tls)
        .https_or_http()
        .enable_http1()
        .wrap_connector(plain.clone())
}

type Answered = (http::Response<hyper::body::Incoming>, Connection, Key);

impl Upstream for HttpUpstream {
    fn send(&self, request: Request<Bytes>) -> Sending {
        let upstream = self.clone();
        Box::pin(async move {
            let (response, connection, key) = upstream.call(request).await?;
            let (rest, pool) = (key.rest(response.headers()), upstream.pool.clone());
            Ok(response.map(|body| {
                pool::PooledBody::new(body, connection, key, rest, pool).boxed_unsync()
            }))
        })
    }
}

/// The request as HTTP/1.1 sends it to an origin server: path and query in the first line, the
/// host in a header (RFC 9112, section 3.2.1).
fn origin_form(request: Request<Bytes>) -> Result<Request<Bytes>, TransportError> {
    let (mut head, body) = request.into_parts();
    let address = std::mem::take(&mut head.uri).into_parts();
    if let Some(authority) = &address.authority {
        let usual = match (&address.scheme, authority.port_u16()) {
            (Some(scheme), Some(443)) => *scheme == Scheme::HTTPS,
            (Some(scheme), Some(80)) => *scheme == Scheme::HTTP,
            _ => false,
        };
        let host = if usual { authority.host() } else { authority.as_str() };
        let host = HeaderValue::try_from(host)
            .map_err(|_| TransportError::Connect("the address has no valid host".to_owned()))?;
        head.headers.insert(HOST, host);
    }
    head.uri = address.path_and_query.unwrap_or(PathAndQuery::from_static("/")).into();
    Ok(Request::from_parts(head, body))
}

fn lost(error: &hyper::Error) -> TransportError {
    TransportError::Lost(cause(error))
}

/// The innermost reason: what an operator can act on ("Connection refused").
fn cause(error: &(dyn std::error::Error + 'static)) -> String {
    let mut inner = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn a_connection_to_a_provider_sends_small_pieces_at_once() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}/v1", listener.local_addr().unwrap());
        let mut upstream = HttpUpstream::new(Duration::from_secs(60));
        let stream = upstream.plain.call(address.parse().unwrap()).await.unwrap();
        assert!(stream.inner().nodelay().unwrap());
    }
}
