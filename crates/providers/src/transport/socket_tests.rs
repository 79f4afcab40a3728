//! The transport over real sockets, against a server that a test plays by hand.

use std::time::Duration;

use bytes::Bytes;
use http::Request;
use http_body_util::BodyExt;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::*;

const SHORT: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

struct Server(TcpListener);

impl Server {
    async fn start() -> Self {
        Self(TcpListener::bind("127.0.0.1:0").await.unwrap())
    }

    fn request(&self) -> Request<Bytes> {
        let address = self.0.local_addr().unwrap();
        Request::post(format!("http://{address}/v1/x?a=b")).body(Bytes::from("{}")).unwrap()
    }

    async fn accept(&self) -> TcpStream {
        self.0.accept().await.unwrap().0
    }
}

/// Reads one request of the test's and returns its text.
async fn read(connection: &mut TcpStream) -> String {
    let mut text = Vec::new();
    while !text.ends_with(b"\r\n\r\n{}") {
        let mut piece = [0; 1024];
        let length = connection.read(&mut piece).await.unwrap();
        assert!(length > 0, "the request was cut");
        text.extend_from_slice(&piece[..length]);
    }
    String::from_utf8(text).unwrap()
}

async fn answer(connection: &mut TcpStream, text: &str) -> String {
    let request = read(connection).await;
    connection.write_all(text.as_bytes()).await.unwrap();
    request
}

/// Whether the other side hangs up within five seconds.
async fn is_closed(connection: &mut TcpStream) -> bool {
    let mut rest = [0; 8];
    let ended = tokio::time::timeout(Duration::from_secs(5), connection.read(&mut rest));
    matches!(ended.await, Ok(Ok(0) | Err(_)))
}

/// Sends one request and reads its answer whole.
async fn whole(upstream: &HttpUpstream, request: Request<Bytes>) -> Result<Bytes, TransportError> {
    let response = upstream.send(request).await?;
    Ok(response.into_body().collect().await?.to_bytes())
}

fn upstream() -> HttpUpstream {
    HttpUpstream::new(Duration::from_secs(5))
}

#[tokio::test]
async fn a_connection_is_kept_and_used_again() {
    let (server, upstream) = (Server::start().await, upstream());
    let serve = async {
        let mut connection = server.accept().await;
        let first = answer(&mut connection, SHORT).await;
        let second = answer(&mut connection, SHORT).await;
        (first, second)
    };
    let ask = async {
        assert_eq!(whole(&upstream, server.request()).await.unwrap(), "ok");
        assert_eq!(whole(&upstream, server.request()).await.unwrap(), "ok");
    };
    let ((first, second), ()) = tokio::join!(serve, ask);
    assert_eq!(first, second);
    assert!(first.starts_with("POST /v1/x?a=b HTTP/1.1\r\n"), "{first}");
    let host = format!("host: {}\r\n", server.0.local_addr().unwrap());
    assert!(first.to_ascii_lowercase().contains(&host), "{first}");
}

#[tokio::test]
async fn a_kept_connection_that_was_closed_meanwhile_is_no_failure() {
    let (server, upstream) = (Server::start().await, upstream());
    let ask = async {
        assert_eq!(whole(&upstream, server.request()).await.unwrap(), "ok");
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert_eq!(whole(&upstream, server.request()).await.unwrap(), "ok");
    };
    let serve = async {
        let mut first = server.accept().await;
        answer(&mut first, SHORT).await;
        drop(first);
        answer(&mut server.accept().await, SHORT).await;
    };
    tokio::join!(ask, serve);
}

#[tokio::test]
async fn what_rests_too_long_or_was_closed_is_given_up_at_every_address() {
    let upstream = upstream();
    let servers = [Server::start().await, Server::start().await];
    let mut kept = Vec::new();
    for server in &servers {
        let serve = async {
            let mut connection = server.accept().await;
            answer(&mut connection, SHORT).await;
            connection
        };
        let (connection, answered) = tokio::join!(serve, whole(&upstream, server.request()));
        assert_eq!(answered.unwrap(), "ok");
        kept.push(connection);
    }
    assert_eq!(upstream.pool.addresses_after(Duration::ZERO), 2);
    drop(kept.pop());
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(upstream.pool.addresses_after(Duration::ZERO), 1);
    assert_eq!(upstream.pool.addresses_after(Duration::from_secs(4)), 0);
    assert!(is_closed(&mut kept[0]).await);
}

#[test]
fn a_connection_rests_as_long_as_its_server_keeps_it() {
    let key = |address: &'static str| Key::of(&Uri::from_static(address)).unwrap();
    let (plain, encrypted) = (key("http://a.example"), key("https://a.example"));
    for (told, plain_rest, encrypted_rest) in [
        (None, 4, 55),
        (Some("timeout=5, max=100"), 4, 4),
        (Some("max=100, Timeout=30"), 29, 29),
        (Some("timeout=0"), 0, 0),
        (Some("timeout=600"), 55, 55),
        (Some("timeout=soon"), 4, 55),
    ] {
        let mut headers = http::HeaderMap::new();
        if let Some(told) = told {
            headers.insert("keep-alive", HeaderValue::from_static(told));
        }
        assert_eq!(plain.rest(&headers).as_secs(), plain_rest, "{told:?}");
        assert_eq!(encrypted.rest(&headers).as_secs(), encrypted_rest, "{told:?}");
    }
}

#[tokio::test]
async fn an_answer_that_is_dropped_closes_its_connection() {
    let (server, upstream) = (Server::start().await, upstream());
    let serve = async {
        let mut connection = server.accept().await;
        let begun = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n";
        answer(&mut connection, begun).await;
        // The provider learns that nobody listens any more.
        assert!(is_closed(&mut connection).await);
    };
    let ask = async {
        let mut body = upstream.send(server.request()).await.unwrap().into_body();
        assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap(), "ok");
        drop(body);
    };
    tokio::join!(serve, ask);
}

#[tokio::test]
async fn a_call_that_is_dropped_before_its_answer_closes_its_connection() {
    let (server, upstream) = (Server::start().await, upstream());
    let serve = async {
        let mut connection = server.accept().await;
        read(&mut connection).await;
        assert!(is_closed(&mut connection).await);
    };
    let ask = async {
        let call = upstream.send(server.request());
        assert!(tokio::time::timeout(Duration::from_millis(100), call).await.is_err());
    };
    tokio::join!(serve, ask);
}

#[tokio::test]
async fn a_broken_answer_is_a_lost_connection() {
    for (text, whole_head) in [
        ("", false),
        ("HTTP/1.1 200 OK\r\ncontent-le", false),
        ("no HTTP at all\r\n\r\n", false),
        ("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nok", true),
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n", true),
    ] {
        let (server, upstream) = (Server::start().await, upstream());
        let serve = async {
            answer(&mut server.accept().await, text).await;
        };
        let ask = async {
            let response = upstream.send(server.request()).await;
            assert_eq!(response.is_ok(), whole_head, "{text}");
            let error = match response {
                Ok(response) => response.into_body().collect().await.unwrap_err(),
                Err(error) => error,
            };
            assert!(matches!(error, TransportError::Lost(_)), "{text}: {error}");
        };
        tokio::join!(serve, ask);
    }
}

#[tokio::test]
async fn nobody_there_is_told_as_such() {
    let server = Server::start().await;
    let request = server.request();
    drop(server);
    let error = upstream().send(request).await.err().unwrap();
    assert!(matches!(&error, TransportError::Connect(why) if why.contains("refused")), "{error}");
    let no_host = Request::post("/v1/x").body(Bytes::new()).unwrap();
    let error = upstream().send(no_host).await.err().unwrap();
    assert!(matches!(error, TransportError::Connect(_)), "{error}");
}

#[test]
fn the_first_line_is_the_path_and_the_host_a_header() {
    for (address, path, host) in [
        ("http://a.example/v1/x?y=z", "/v1/x?y=z", "a.example"),
        ("http://a.example:80/", "/", "a.example"),
        ("https://a.example:443/x", "/x", "a.example"),
        ("https://a.example:80/x", "/x", "a.example:80"),
        ("http://127.0.0.1:9300/x", "/x", "127.0.0.1:9300"),
        ("http://[::1]:9300/x", "/x", "[::1]:9300"),
    ] {
        let request = origin_form(Request::post(address).body(Bytes::new()).unwrap()).unwrap();
        assert_eq!(request.uri(), path, "{address}");
        assert_eq!(request.headers()[HOST], host, "{address}");
    }
}
