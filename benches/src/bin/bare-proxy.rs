//! The second reference: the least that a gateway on hyper can do.
//!
//! It reads a request whole, as any gateway must that looks into it, sends it on unchanged through
//! hyper-util's client, and passes the answer on: whole answers as one body, streams as they come.
//! No parsing, no keys, no limits, no records.

use std::net::{Ipv4Addr, SocketAddr};

use anyhow::Context;
use bytes::Bytes;
use clap::Parser;
use http_body_util::{BodyExt, Either, Full};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HOST, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpListener;

#[derive(Parser)]
struct Arguments {
    /// Port to listen on, on 127.0.0.1.
    #[arg(long)]
    port: u16,
    /// The upstream's port, on 127.0.0.1.
    #[arg(long)]
    upstream: u16,
}

type Upstream = Client<HttpConnector, Full<Bytes>>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    let client: Upstream = Client::builder(TokioExecutor::new()).build(connector);
    let upstream = SocketAddr::from((Ipv4Addr::LOCALHOST, arguments.upstream));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, arguments.port)).await?;
    loop {
        let (socket, _) = listener.accept().await?;
        socket.set_nodelay(true)?;
        let client = client.clone();
        tokio::spawn(async move {
            let service = service_fn(move |request| forward(client.clone(), upstream, request));
            // A caller that hangs up is no failure of the proxy.
            let _ = http1::Builder::new().serve_connection(TokioIo::new(socket), service).await;
        });
    }
}

async fn forward(
    client: Upstream,
    upstream: SocketAddr,
    request: Request<Incoming>,
) -> anyhow::Result<Response<Either<Full<Bytes>, Incoming>>> {
    let (mut head, body) = request.into_parts();
    let body = body.collect().await?.to_bytes();
    let path = head.uri.path_and_query().context("a request without a path")?;
    head.uri = Uri::builder()
        .scheme("http")
        .authority(upstream.to_string())
        .path_and_query(path.clone())
        .build()?;
    head.headers.remove(HOST);
    let answer = client.request(Request::from_parts(head, Full::new(body))).await?;
    let (head, body) = answer.into_parts();
    let streamed =
        head.headers.get(CONTENT_TYPE) == Some(&HeaderValue::from_static("text/event-stream"));
    let body = match streamed {
        true => Either::Right(body),
        false => Either::Left(Full::new(body.collect().await?.to_bytes())),
    };
    Ok(Response::from_parts(head, body))
}
