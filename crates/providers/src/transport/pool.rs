//! Connections that wait for their next request, and the body that gives one back.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::uri::Scheme;
use http::{HeaderMap, Uri};
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;

use super::cause;
use super::connection::Connection;
use crate::upstream::TransportError;

/// How long a connection waits for its next request. Providers close theirs after 60 s and more.
const LONGEST_REST: Duration = Duration::from_secs(55);
/// How long an unencrypted one does: it leads to a server nearby, and many of them (uvicorn,
/// llama.cpp) close theirs after 5 s.
const LONGEST_PLAIN_REST: Duration = Duration::from_secs(4);
/// How often all addresses are looked through for connections that nobody will use again.
const SWEEP_EVERY: Duration = Duration::from_secs(5);
/// Connections that wait at one address.
const MOST_RESTING: usize = 512;

/// Where a connection leads: encrypted or not, host, port.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Key {
    encrypted: bool,
    authority: http::uri::Authority,
}

impl Key {
    pub(super) fn of(address: &Uri) -> Option<Self> {
        let authority = address.authority()?.clone();
        Some(Self { encrypted: address.scheme() == Some(&Scheme::HTTPS), authority })
    }

    /// How long a connection may rest after an answer with `headers`: a second less than the
    /// server says that it keeps it (`Keep-Alive: timeout=5, max=100`).
    pub(super) fn rest(&self, headers: &HeaderMap) -> Duration {
        let told = headers.get_all("keep-alive").iter().find_map(|value| {
            value.to_str().ok()?.split(',').find_map(|parameter| {
                let (name, seconds) = parameter.split_once('=')?;
                if !name.trim().eq_ignore_ascii_case("timeout") {
                    return None;
                }
                seconds.trim().trim_matches('"').parse::<u64>().ok()
            })
        });
        match told {
            Some(seconds) => Duration::from_secs(seconds.saturating_sub(1)).min(LONGEST_REST),
            None if self.encrypted => LONGEST_REST,
            None => LONGEST_PLAIN_REST,
        }
    }
}

/// Connections that wait for their next request.
#[derive(Default)]
pub(super) struct Pool(Mutex<State>);

#[derive(Default)]
struct State {
    resting: HashMap<Key, Vec<Resting>>,
    swept: Option<Instant>,
}

struct Resting {
    connection: Connection,
    until: Instant,
}

impl Resting {
    fn is_usable(&mut self, now: Instant) -> bool {
        // Nobody watches a resting connection; looking at it now tells whether it is open.
        let mut unwatched = Context::from_waker(Waker::noop());
        now < self.until && self.connection.is_usable(&mut unwatched)
    }
}

impl Pool {
    /// The connection to `key` that was used last, where one is still open.
    pub(super) fn take(&self, key: &Key) -> Option<Connection> {
        loop {
            let mut resting = self.lock().resting.get_mut(key)?.pop()?;
            if resting.is_usable(Instant::now()) {
                return Some(resting.connection);
            }
        }
    }

    fn give_back(&self, key: Key, connection: Connection, rest: Duration) {
        let now = Instant::now();
        let mut state = self.lock();
        if state.swept.is_none_or(|at| now.duration_since(at) >= SWEEP_EVERY) {
            state.sweep(now);
        }
        if rest.is_zero() {
            return;
        }
        let resting = state.resting.entry(key).or_default();
        if resting.len() < MOST_RESTING {
            resting.push(Resting { connection, until: now + rest });
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Closes what nobody will use again, at all addresses: also at those that are asked no more.
    fn sweep(&mut self, now: Instant) {
        self.swept = Some(now);
        self.resting.retain(|_, resting| {
            resting.retain_mut(|it| it.is_usable(now));
            !resting.is_empty()
        });
    }
}

/// An answer's body, which drives its connection and gives it back at the end. Dropped earlier, it
/// closes the connection: the provider learns that nobody listens any more.
pub(super) struct PooledBody {
    body: Incoming,
    /// Gone once it was given back, or is over.
    link: Option<Link>,
}

/// The connection that an answer comes over, and where it goes afterwards.
struct Link {
    connection: Connection,
    key: Key,
    rest: Duration,
    pool: Arc<Pool>,
}

impl PooledBody {
    /// The body of an answer that came over `connection`, which may `rest` so long afterwards.
    pub(super) fn new(
        body: Incoming,
        connection: Connection,
        key: Key,
        rest: Duration,
        pool: Arc<Pool>,
    ) -> Self {
        let mut body = Self { body, link: Some(Link { connection, key, rest, pool }) };
        if body.body.is_end_stream() {
            body.finish(&mut Context::from_waker(Waker::noop()));
        }
        body
    }

    fn finish(&mut self, cx: &mut Context<'_>) {
        if let Some(Link { mut connection, key, rest, pool }) = self.link.take()
            && connection.is_usable(cx)
        {
            pool.give_back(key, connection, rest);
        }
    }
}

impl Body for PooledBody {
    type Data = Bytes;
    type Error = TransportError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, TransportError>>> {
        let this = self.get_mut();
        let polled = match &mut this.link {
            Some(link) => link.connection.poll_body(&mut this.body, cx),
            None => Pin::new(&mut this.body).poll_frame(cx),
        };
        polled.map(|frame| match frame {
            Some(Ok(frame)) => {
                if this.body.is_end_stream() {
                    this.finish(cx);
                }
                Some(Ok(frame))
            }
            Some(Err(error)) => {
                this.link = None;
                Some(Err(TransportError::Lost(cause(&error))))
            }
            None => {
                this.finish(cx);
                None
            }
        })
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
impl Pool {
    /// Looks through all addresses as `later` from now; says at how many something rests then.
    pub(super) fn addresses_after(&self, later: Duration) -> usize {
        let mut state = self.lock();
        state.sweep(Instant::now() + later);
        state.resting.len()
    }
}
