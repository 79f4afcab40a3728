//! Connections that wait for their next request, and the body that gives one back.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::Uri;
use http::uri::Scheme;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;

use super::cause;
use super::connection::Connection;
use crate::upstream::TransportError;

/// How long a connection waits for its next request. Providers close theirs after 60 s and more.
const LONGEST_REST: Duration = Duration::from_secs(55);
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
}

/// Connections that wait for their next request.
#[derive(Default)]
pub(super) struct Pool(Mutex<HashMap<Key, Vec<Resting>>>);

struct Resting {
    connection: Connection,
    since: Instant,
}

impl Pool {
    /// The connection to `key` that was used last, where one is still open.
    pub(super) fn take(&self, key: &Key) -> Option<Connection> {
        loop {
            let Resting { mut connection, since } = self.lock().get_mut(key)?.pop()?;
            // Nobody watches a resting connection; looking at it now tells whether it is open.
            let mut unwatched = Context::from_waker(Waker::noop());
            if since.elapsed() < LONGEST_REST && connection.is_usable(&mut unwatched) {
                return Some(connection);
            }
        }
    }

    fn give_back(&self, key: Key, connection: Connection) {
        let mut resting = self.lock();
        let resting = resting.entry(key).or_default();
        // The one that rests longest is the first; once it is too old, the next ones may be.
        let old = resting.iter().take_while(|it| it.since.elapsed() >= LONGEST_REST).count();
        resting.drain(..old);
        if resting.len() < MOST_RESTING {
            resting.push(Resting { connection, since: Instant::now() });
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Vec<Resting>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An answer's body, which drives its connection and gives it back at the end. Dropped earlier, it
/// closes the connection: the provider learns that nobody listens any more.
pub(super) struct PooledBody {
    body: Incoming,
    /// Gone once it was given back, or is over.
    link: Option<(Connection, Key, Arc<Pool>)>,
}

impl PooledBody {
    pub(super) fn new(body: Incoming, connection: Connection, key: Key, pool: Arc<Pool>) -> Self {
        let mut body = Self { body, link: Some((connection, key, pool)) };
        if body.body.is_end_stream() {
            body.finish(&mut Context::from_waker(Waker::noop()));
        }
        body
    }

    fn finish(&mut self, cx: &mut Context<'_>) {
        if let Some((mut connection, key, pool)) = self.link.take()
            && connection.is_usable(cx)
        {
            pool.give_back(key, connection);
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
        let mut polled = Pin::new(&mut this.body).poll_frame(cx);
        if polled.is_pending()
            && let Some((connection, ..)) = &mut this.link
        {
            if connection.drive(cx).is_ready() {
                this.link = None;
            }
            polled = Pin::new(&mut this.body).poll_frame(cx);
        }
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
