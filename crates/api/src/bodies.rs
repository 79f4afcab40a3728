//! One budget of memory for the bodies of all requests.
//!
//! A body counts from its first bytes until nothing of the request is held any more. Small bodies
//! are free: the requests that a key may have at once bound them. One key can fill no more than
//! half of the budget, so that its slow uploads leave room for everybody else.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use sluice_core::ids::KeyId;
use sluice_gateway::metrics::Metrics;

use crate::error::ApiError;

/// Bodies up to this size count for nothing.
pub(crate) const SMALL_BODY: usize = 128 << 10;

/// What all requests hold.
pub(crate) struct Bodies {
    metrics: Arc<Metrics>,
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    bytes: usize,
    by_key: HashMap<KeyId, usize>,
}

/// How much may be held, in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget {
    /// By one request.
    pub(crate) body: usize,
    /// By all of them together.
    pub(crate) all: usize,
}

impl Budget {
    /// By the requests of one key: half of everything, and at least one body.
    fn one_key(self) -> usize {
        (self.all / 2).max(self.body)
    }
}

/// What one request holds. Given back when it is dropped.
pub(crate) struct Share {
    bodies: Arc<Bodies>,
    key: KeyId,
    budget: Budget,
    bytes: usize,
}

impl Bodies {
    pub(crate) fn new(metrics: Arc<Metrics>) -> Arc<Self> {
        Arc::new(Self { metrics, held: Mutex::default() })
    }

    /// The share of a request that has sent nothing yet.
    pub(crate) fn share(self: &Arc<Self>, key: &KeyId, budget: Budget) -> Share {
        Share { bodies: self.clone(), key: key.clone(), budget, bytes: 0 }
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        // Every step leaves the sums whole, so a thread that panicked leaves nothing half done.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Share {
    /// Whether a body of `bytes` would have room right now.
    pub(crate) fn fits(&self, bytes: usize) -> Result<(), ApiError> {
        if bytes <= SMALL_BODY {
            return Ok(());
        }
        self.room(&self.bodies.lock(), bytes)
    }

    /// Takes room for a body that has become `bytes` long.
    pub(crate) fn cover(&mut self, bytes: usize) -> Result<(), ApiError> {
        if bytes <= SMALL_BODY || bytes <= self.bytes {
            return Ok(());
        }
        let more = bytes - self.bytes;
        let mut held = self.bodies.lock();
        self.room(&held, more)?;
        held.bytes += more;
        *held.by_key.entry(self.key.clone()).or_default() += more;
        self.bodies.metrics.body_bytes.inc_by(signed(more));
        self.bytes = bytes;
        Ok(())
    }

    fn room(&self, held: &Held, more: usize) -> Result<(), ApiError> {
        let by_key = held.by_key.get(&self.key).copied().unwrap_or(0);
        if held.bytes.saturating_add(more) > self.budget.all
            || by_key.saturating_add(more) > self.budget.one_key()
        {
            return Err(ApiError::Overloaded { budget_mib: self.budget.all >> 20 });
        }
        Ok(())
    }

    /// `bytes`, which give the share back when nobody holds them any more.
    pub(crate) fn with(self, bytes: impl AsRef<[u8]> + Into<Bytes> + Send + 'static) -> Bytes {
        if self.bytes == 0 {
            return bytes.into();
        }
        Bytes::from_owner(Owned { bytes, _share: self })
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        if self.bytes == 0 {
            return;
        }
        let mut held = self.bodies.lock();
        held.bytes -= self.bytes;
        if let Some(by_key) = held.by_key.get_mut(&self.key) {
            *by_key -= self.bytes;
            if *by_key == 0 {
                held.by_key.remove(&self.key);
            }
        }
        self.bodies.metrics.body_bytes.dec_by(signed(self.bytes));
    }
}

/// A body and what it holds of the budget.
struct Owned<B> {
    bytes: B,
    _share: Share,
}

impl<B: AsRef<[u8]>> AsRef<[u8]> for Owned<B> {
    fn as_ref(&self) -> &[u8] {
        self.bytes.as_ref()
    }
}

fn signed(bytes: usize) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MIB: usize = 1 << 20;
    const BUDGET: Budget = Budget { body: 4 * MIB, all: 16 * MIB };

    fn bodies() -> Arc<Bodies> {
        Bodies::new(Arc::new(Metrics::default()))
    }

    #[test]
    fn one_key_fills_half_and_a_body_counts_until_its_last_slice_is_gone() {
        let bodies = bodies();
        let (greedy, other) = (KeyId::from("greedy"), KeyId::from("other"));
        let mut shares = Vec::new();
        for _ in 0..2 {
            let mut share = bodies.share(&greedy, BUDGET);
            assert!(share.cover(4 * MIB).is_ok());
            shares.push(share);
        }
        let mut third = bodies.share(&greedy, BUDGET);
        assert!(third.fits(SMALL_BODY).is_ok() && third.cover(SMALL_BODY).is_ok());
        let refused = third.cover(MIB).unwrap_err();
        assert!(matches!(refused, ApiError::Overloaded { budget_mib: 16 }));
        assert!(bodies.share(&other, BUDGET).cover(4 * MIB).is_ok());

        let body = shares.pop().unwrap().with(vec![b' '; 4 * MIB]);
        let slice = body.slice(1..2);
        drop(body);
        assert!(third.cover(MIB).is_err());
        drop(slice);
        assert!(third.cover(MIB).is_ok());
        drop((shares, third));
        assert_eq!(bodies.metrics.body_bytes.get(), 0);
        assert!(bodies.lock().by_key.is_empty());
    }

    proptest! {
        #[test]
        fn nothing_exceeds_the_budget_and_everything_comes_back(
            steps in prop::collection::vec((0..3_usize, 0..6_usize, 0..5 * MIB), 0..200),
        ) {
            let bodies = bodies();
            let keys = ["a", "b", "c"].map(KeyId::from);
            let mut open: Vec<(usize, Share)> = Vec::new();
            for (key, which, bytes) in steps {
                if which == 0 && !open.is_empty() {
                    open.swap_remove(bytes % open.len());
                } else if which < 4 || open.is_empty() {
                    let mut share = bodies.share(&keys[key], BUDGET);
                    if share.cover(bytes).is_ok() {
                        open.push((key, share));
                    }
                } else {
                    let at = bytes % open.len();
                    let _ = open[at].1.cover(bytes);
                }
                let all: usize = open.iter().map(|(_, share)| share.bytes).sum();
                prop_assert_eq!(bodies.lock().bytes, all);
                prop_assert!(all <= BUDGET.all);
                for (number, key) in keys.iter().enumerate() {
                    let of = open.iter().filter(|(of, _)| *of == number);
                    let held: usize = of.map(|(_, share)| share.bytes).sum();
                    prop_assert_eq!(bodies.lock().by_key.get(key).copied().unwrap_or(0), held);
                    prop_assert!(held <= BUDGET.one_key());
                }
            }
            drop(open);
            prop_assert_eq!(bodies.lock().bytes, 0);
        }
    }
}
