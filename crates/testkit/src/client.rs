//! A small HTTP client: a connection for each request, over plain TCP or TLS, HTTP/1.1 or HTTP/2.
//!
//! Dropping what it gives closes the connection, as a caller does that hangs up.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode, Version};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio_rustls::TlsConnector;

use crate::ask::{Ask, Reply, header};
use crate::events::Events;

/// Why there is no (whole) reply: the other side went away.
pub type ClientError = Box<dyn std::error::Error + Send + Sync>;

/// Asks one server.
#[derive(Debug, Clone)]
pub struct Client {
    address: SocketAddr,
    tls: Option<Arc<rustls::ClientConfig>>,
    prior_knowledge: bool,
}

/// A reply whose head has come.
#[derive(Debug)]
pub struct Arriving {
    /// The status.
    pub status: StatusCode,
    /// The HTTP version that both sides speak.
    pub version: Version,
    /// The headers.
    pub headers: HeaderMap,
    body: Incoming,
    connection: Connection,
}

/// A reply without an end, of which everything that comes is kept. Dropped, it hangs up.
#[derive(Debug)]
pub struct Gathering {
    gathered: Arc<Mutex<Vec<u8>>>,
    _reading: Connection,
    _connection: Connection,
}

impl Gathering {
    /// What has come so far.
    pub fn bytes(&self) -> Vec<u8> {
        self.gathered.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The task that moves a connection's bytes. Dropped, it closes the connection.
#[derive(Debug)]
pub(crate) struct Connection(JoinHandle<()>);

impl Drop for Connection {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Client {
    /// A client that speaks HTTP/1.1.
    pub fn new(address: SocketAddr) -> Self {
        Self { address, tls: None, prior_knowledge: false }
    }

    /// The same, speaking HTTP/2 without asking first ("h2c with prior knowledge").
    #[must_use]
    pub fn http2(self) -> Self {
        Self { prior_knowledge: true, ..self }
    }

    /// The same over TLS, trusting this certificate (PEM) alone and offering these protocols.
    #[must_use]
    pub fn tls(self, certificate: &[u8], protocols: &[&str]) -> Self {
        let mut roots = rustls::RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(certificate).unwrap()).unwrap();
        let mut config =
            rustls::ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
        config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
        Self { tls: Some(Arc::new(config)), ..self }
    }

    /// Asks, and waits for the reply's head.
    pub async fn send(&self, ask: Ask) -> Result<Arriving, ClientError> {
        let stream = TcpStream::connect(self.address).await?;
        stream.set_nodelay(true)?;
        let Some(config) = &self.tls else {
            let request = ask.into_request(&format!("http://{}", self.address));
            return exchange(stream, self.prior_knowledge, request).await;
        };
        let name = ServerName::from(self.address.ip());
        let stream = TlsConnector::from(config.clone()).connect(name, stream).await?;
        let http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
        let request = ask.into_request(&format!("https://{}", self.address));
        exchange(stream, http2, request).await
    }

    /// Asks, and waits for the whole reply; fails where it breaks off.
    pub async fn attempt(&self, ask: Ask) -> Result<Reply, ClientError> {
        self.send(ask).await?.whole().await
    }

    /// Asks, and waits for the whole reply.
    pub async fn reply(&self, ask: Ask) -> Reply {
        self.attempt(ask).await.expect("a whole reply")
    }

    /// Asks, and reads the reply event by event.
    pub async fn events(&self, ask: Ask) -> Events {
        self.send(ask).await.expect("a reply").events()
    }
}

impl Arriving {
    /// A header as text; empty where there is none.
    pub fn header(&self, name: &str) -> &str {
        header(&self.headers, name)
    }

    /// The rest of the reply.
    pub async fn whole(self) -> Result<Reply, ClientError> {
        let Self { status, headers, body, connection, .. } = self;
        let body = body.collect().await?.to_bytes();
        drop(connection);
        Ok(Reply { status, headers, body })
    }

    /// The rest of the reply as it comes, for one that has no end.
    pub fn gathered(self) -> Gathering {
        let Self { mut body, connection, .. } = self;
        let gathered = Arc::<Mutex<Vec<u8>>>::default();
        let bytes = gathered.clone();
        let reading = tokio::spawn(async move {
            while let Some(Ok(frame)) = body.frame().await {
                let data = frame.into_data().unwrap_or_default();
                bytes.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(&data);
            }
        });
        Gathering { gathered, _reading: Connection(reading), _connection: connection }
    }

    /// The rest of the reply, event by event.
    pub fn events(self) -> Events {
        Events::new(self.status, self.headers, self.body, self.connection)
    }
}

async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    http2: bool,
    request: Request<Bytes>,
) -> Result<Arriving, ClientError> {
    let stream = TokioIo::new(stream);
    let mut request = request.map(Full::new);
    let (response, connection): (Response<Incoming>, Connection) = if http2 {
        let (mut sender, driver) = http2::handshake(TokioExecutor::new(), stream).await?;
        let connection = Connection(tokio::spawn(async move {
            let _ = driver.await;
        }));
        (sender.send_request(request).await?, connection)
    } else {
        let host = request.uri().authority().expect("an address").to_string();
        request.headers_mut().entry("host").or_insert(host.parse().unwrap());
        let place = request.uri().path_and_query().expect("a path").as_str();
        *request.uri_mut() = place.parse().expect("a path");
        let (mut sender, driver) = http1::handshake(stream).await?;
        let connection = Connection(tokio::spawn(async move {
            let _ = driver.await;
        }));
        (sender.send_request(request).await?, connection)
    };
    let version = response.version();
    let (head, body) = response.into_parts();
    Ok(Arriving { status: head.status, version, headers: head.headers, body, connection })
}
