//! A fast stand-in for a provider: OpenAI chat completions, whole and streamed, on one thread.
//!
//! The model's name says what to answer (see [`sluice_bench::answer`]). Prints nothing.

use std::io::Write;
use std::net::Ipv4Addr;

use anyhow::Context;
use clap::Parser;
use sluice_bench::answer::{self, Plan};
use sluice_bench::http1::{Connection, Head};
use tokio::net::{TcpListener, TcpStream};

#[derive(Parser)]
struct Arguments {
    /// Port to listen on, on 127.0.0.1.
    #[arg(long)]
    port: u16,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, arguments.port)).await?;
    loop {
        let (socket, _) = listener.accept().await?;
        tokio::spawn(async move {
            // A target that hangs up in mid-stream is no failure of the upstream.
            let _ = serve(socket).await;
        });
    }
}

async fn serve(socket: TcpStream) -> anyhow::Result<()> {
    let mut connection = Connection::new(socket)?;
    let whole = with_head("200 OK", &answer::whole());
    let unknown = with_head("404 Not Found", r#"{"error":{"message":"no such model"}}"#);
    let mut body = Vec::new();
    while let Some(Head { mut framing, .. }) = connection.request_head().await? {
        body.clear();
        while connection.body_part(&mut framing, &mut body).await? {}
        match Plan::of_request(&body) {
            None => connection.write(unknown.as_bytes()).await?,
            Some(Plan::Whole) => connection.write(whole.as_bytes()).await?,
            Some(plan @ Plan::Stream { .. }) => {
                let usage_wanted = memchr::memmem::find(&body, b"\"include_usage\":true").is_some();
                stream(&mut connection, plan, usage_wanted).await?;
            }
        }
    }
    Ok(())
}

/// Writes one streamed answer: the head and the first text together, as a model's first token
/// comes, then the rest at its pace.
async fn stream(connection: &mut Connection, plan: Plan, usage_wanted: bool) -> anyhow::Result<()> {
    let Plan::Stream { chunks, delay } = plan else {
        return Ok(());
    };
    let mut out = Vec::with_capacity(512 * (chunks + 4));
    out.extend_from_slice(
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\n\
          transfer-encoding: chunked\r\n\r\n",
    );
    put_chunk(&mut out, &answer::first_event())?;
    for chunk in 0..chunks {
        if chunk > 0 && !delay.is_zero() {
            connection.write(&out).await?;
            out.clear();
            tokio::time::sleep(delay).await;
        }
        put_chunk(&mut out, &answer::text_event())?;
    }
    put_chunk(&mut out, &answer::last_events(chunks, usage_wanted))?;
    out.extend_from_slice(b"0\r\n\r\n");
    connection.write(&out).await.context("the end of a stream")
}

fn put_chunk(out: &mut Vec<u8>, text: &str) -> std::io::Result<()> {
    write!(out, "{:x}\r\n{text}\r\n", text.len())
}

fn with_head(status: &str, json: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{json}",
        json.len()
    )
}
