//! The load generator: sends chat requests, checks every answer, prints one JSON object.
//!
//! Closed loop (`--connections N`): each connection always has one request in flight, which gives
//! the most requests a second. Open loop (`--rate R`): requests are due on a fixed schedule
//! whatever the target does, and a latency counts from when its request was due, so that a target
//! which stalls cannot hide it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use clap::Parser;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use sluice_bench::answer::{Plan, WHOLE_TEXT};
use sluice_bench::http1::Connection;
use sluice_bench::prompt::{Prompt, Size};
use sluice_bench::stamp;
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::task::{JoinSet, LocalSet};

/// How long one exchange may take.
const EXCHANGE_LIMIT: Duration = Duration::from_secs(20);

#[derive(Parser)]
struct Arguments {
    /// The target's port, on 127.0.0.1.
    #[arg(long)]
    port: u16,
    /// Path of the chat completions.
    #[arg(long, default_value = "/v1/chat/completions")]
    path: String,
    /// A further header line, `name: value`.
    #[arg(long = "header")]
    headers: Vec<String>,
    /// The model: what the fake upstream is to answer.
    #[arg(long, default_value = "bench-whole")]
    model: String,
    /// How much each request says.
    #[arg(long, value_enum, default_value = "small")]
    prompt: Size,
    /// Closed loop: connections, each with one request in flight.
    #[arg(long, default_value_t = 16)]
    connections: usize,
    /// Open loop: requests a second.
    #[arg(long)]
    rate: Option<u32>,
    /// How long requests are started.
    #[arg(long, default_value_t = 3.0)]
    seconds: f64,
    /// Closed loop: so many requests on one connection, however long they take.
    #[arg(long, conflicts_with_all = ["connections", "rate", "seconds"])]
    requests: Option<u64>,
    /// The number of the first of `--requests`. The same numbers are the same bytes.
    #[arg(long, default_value_t = 0, requires = "requests")]
    first: u64,
}

/// What one run found.
#[derive(Default)]
struct Tally {
    ok: u64,
    chunks: u64,
    errors: BTreeMap<String, u64>,
    latencies_ns: Vec<u64>,
    first_tokens_ns: Vec<u64>,
    chunk_delays_ns: Vec<u64>,
}

#[expect(clippy::print_stdout, reason = "the report is the program's output")]
fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    sharpen_timers();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let plan = Plan::of_model(&arguments.model).context("not one of the fake upstream's models")?;
    let tally = Rc::new(RefCell::new(Tally::default()));
    let begin = Instant::now();
    LocalSet::new().block_on(&runtime, async {
        match (arguments.requests, arguments.rate) {
            (Some(requests), _) => counted(&arguments, plan, requests, &tally).await,
            (None, Some(rate)) => open_loop(&arguments, plan, rate, &tally).await,
            (None, None) => closed_loop(&arguments, plan, &tally).await,
        }
    });
    println!("{}", report(&mut tally.borrow_mut(), begin.elapsed()));
    Ok(())
}

/// Lets sleeping threads wake when they asked to. Linux otherwise adds up to 50 µs, which would
/// be a good part of what is measured; where this fails, all targets bear it alike.
fn sharpen_timers() {
    let _ = std::fs::write("/proc/self/timerslack_ns", "1");
}

/// So many requests one after the other, with numbers that are the same in every run.
async fn counted(arguments: &Arguments, plan: Plan, requests: u64, tally: &RefCell<Tally>) {
    let mut caller = Caller::new(arguments, plan, arguments.first);
    for _ in 0..requests {
        caller.call(Instant::now(), tally).await;
    }
}

async fn closed_loop(arguments: &Arguments, plan: Plan, tally: &Rc<RefCell<Tally>>) {
    let end = Instant::now() + Duration::from_secs_f64(arguments.seconds);
    let mut connections = JoinSet::new();
    for number in 0..arguments.connections {
        let mut caller = Caller::new(arguments, plan, unheard_of(number));
        let tally = Rc::clone(tally);
        connections.spawn_local(async move {
            while Instant::now() < end {
                caller.call(Instant::now(), &tally).await;
            }
        });
    }
    connections.join_all().await;
}

async fn open_loop(arguments: &Arguments, plan: Plan, rate: u32, tally: &Rc<RefCell<Tally>>) {
    let mut schedule = schedule(rate, Duration::from_secs_f64(arguments.seconds));
    let idle = Rc::new(RefCell::new(Vec::<Caller>::new()));
    let mut calls = JoinSet::new();
    let mut callers = 0;
    while let Some(due) = schedule.recv().await {
        let waiting = idle.borrow_mut().pop();
        let mut caller = waiting.unwrap_or_else(|| {
            callers += 1;
            Caller::new(arguments, plan, unheard_of(callers))
        });
        let (idle, tally) = (Rc::clone(&idle), Rc::clone(tally));
        calls.spawn_local(async move {
            caller.call(due, &tally).await;
            idle.borrow_mut().push(caller);
        });
    }
    calls.join_all().await;
}

/// The times at which requests are due, each sent when it comes. A thread of its own sleeps until
/// then, as the runtime's timer is no finer than a millisecond.
///
/// The gaps are those of independent callers (exponentially distributed), from a fixed seed, so
/// that every run has the same.
fn schedule(rate: u32, length: Duration) -> mpsc::UnboundedReceiver<Instant> {
    let (send, receive) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        let end = Instant::now() + length;
        let mut due = Instant::now();
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        loop {
            due += Duration::from_secs_f64(-uniform(&mut state).ln() / f64::from(rate));
            if due >= end {
                return;
            }
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            if send.send(due).is_err() {
                return;
            }
        }
    });
    receive
}

/// The next pseudo-random number above 0 and at most 1 (xorshift).
fn uniform(state: &mut u64) -> f64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    ((*state >> 11) + 1) as f64 / (1_u64 << 53) as f64
}

/// Where a caller's numbers begin, so that no two callers, and no two runs, ever share one.
fn unheard_of(caller: usize) -> u64 {
    stamp::now_ns() ^ ((caller as u64) << 48)
}

/// One connection and what is sent over it.
struct Caller {
    port: u16,
    plan: Plan,
    prompt: Prompt,
    /// The next request's number.
    number: u64,
    connection: Option<Connection>,
    body: Vec<u8>,
}

impl Caller {
    fn new(arguments: &Arguments, plan: Plan, first: u64) -> Self {
        let streamed = matches!(plan, Plan::Stream { .. });
        Self {
            port: arguments.port,
            plan,
            prompt: Prompt::new(
                arguments.prompt,
                &arguments.model,
                streamed,
                &arguments.path,
                &arguments.headers,
            ),
            number: first,
            connection: None,
            body: Vec::new(),
        }
    }

    /// One request and its answer, counted in `tally`. `due` is when its latency begins.
    async fn call(&mut self, due: Instant, tally: &RefCell<Tally>) {
        let exchange = tokio::time::timeout(EXCHANGE_LIMIT, self.exchange(due, tally)).await;
        let result = exchange.unwrap_or_else(|_| bail!("no answer in time"));
        let Err(error) = result else {
            let mut tally = tally.borrow_mut();
            tally.ok += 1;
            tally.latencies_ns.push(nanoseconds(due.elapsed()));
            return;
        };
        self.connection = None;
        *tally.borrow_mut().errors.entry(format!("{error:#}")).or_default() += 1;
        // A target that refuses everything must not turn this into a busy loop.
        tokio::time::sleep(Duration::from_millis(5)).await;
    }

    async fn exchange(&mut self, due: Instant, tally: &RefCell<Tally>) -> anyhow::Result<()> {
        if self.connection.is_none() {
            let socket = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).await?;
            self.connection = Some(Connection::new(socket)?);
        }
        let Some(connection) = &mut self.connection else { bail!("not connected") };
        let number = self.number;
        self.number = number.wrapping_add(1);
        connection.write(self.prompt.numbered(number)).await?;
        let head = connection.response_head().await?;
        let mut framing = head.framing;
        self.body.clear();
        if let (Plan::Stream { chunks, .. }, 200) = (self.plan, head.status) {
            let mut events = Events::default();
            loop {
                let more = connection.body_part(&mut framing, &mut self.body).await?;
                events.read(&mut self.body, due, &mut tally.borrow_mut())?;
                if !more {
                    break;
                }
            }
            ensure!(events.texts == chunks, "a stream of {} chunks", events.texts);
            ensure!(events.ended, "a stream without its end mark");
        } else {
            while connection.body_part(&mut framing, &mut self.body).await? {}
            check_whole(head.status, &self.body)?;
        }
        if head.close {
            self.connection = None;
        }
        Ok(())
    }
}

#[derive(Deserialize)]
struct Answer {
    choices: Vec<Choice>,
}

#[derive(Deserialize)]
struct Choice {
    message: Message,
}

#[derive(Deserialize)]
struct Message {
    content: String,
}

fn check_whole(status: u16, body: &[u8]) -> anyhow::Result<()> {
    if status != 200 {
        let text: String = String::from_utf8_lossy(body).chars().take(200).collect();
        bail!("status {status}: {text}");
    }
    let answer: Answer = serde_json::from_slice(body).context("a whole answer")?;
    let text = answer.choices.first().map(|choice| choice.message.content.as_str());
    ensure!(text == Some(WHOLE_TEXT), "not the text that the upstream gave");
    Ok(())
}

/// What has been seen of one stream.
#[derive(Default)]
struct Events {
    texts: usize,
    ended: bool,
}

impl Events {
    /// Takes the complete events out of `body`, checks them and records their times.
    fn read(&mut self, body: &mut Vec<u8>, due: Instant, tally: &mut Tally) -> anyhow::Result<()> {
        let now = stamp::now_ns();
        let mut from = 0;
        while let Some(length) = memchr::memmem::find(&body[from..], b"\n\n") {
            let event = &body[from..from + length];
            from += length + 2;
            // Anything else is a comment, which keeps a connection alive.
            let Some(data) = event.strip_prefix(b"data: ") else {
                continue;
            };
            if data == b"[DONE]" {
                self.ended = true;
                continue;
            }
            serde_json::from_slice::<IgnoredAny>(data).context("a chunk")?;
            let Some(made) = stamp::find(data) else {
                continue;
            };
            if self.texts == 0 {
                tally.first_tokens_ns.push(nanoseconds(due.elapsed()));
            }
            self.texts += 1;
            tally.chunks += 1;
            tally.chunk_delays_ns.push(now.saturating_sub(made));
        }
        body.drain(..from);
        Ok(())
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

fn report(tally: &mut Tally, took: Duration) -> Value {
    json!({
        "seconds": took.as_secs_f64(),
        "ok": tally.ok,
        "chunks": tally.chunks,
        "errors": tally.errors,
        "requests_per_second": tally.ok as f64 / took.as_secs_f64(),
        "latency_us": percentiles(&mut tally.latencies_ns),
        "first_token_us": percentiles(&mut tally.first_tokens_ns),
        "chunk_delay_us": percentiles(&mut tally.chunk_delays_ns),
    })
}

fn percentiles(samples_ns: &mut [u64]) -> Value {
    samples_ns.sort_unstable();
    let Some(last) = samples_ns.len().checked_sub(1) else {
        return Value::Null;
    };
    let at = |share: f64| samples_ns[(last as f64 * share).round() as usize] as f64 / 1e3;
    json!({ "p50": at(0.50), "p90": at(0.90), "p99": at(0.99), "max": at(1.0) })
}
