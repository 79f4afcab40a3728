//! Admission by a key and its account together, and the permit that gives back.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sluice_core::clock::UnixMillis;

use super::{Admission, Ledger, LimitExceeded, Limits, RateView};

/// The two that a request counts against.
#[derive(Debug, Clone)]
pub struct LimitSubjects {
    /// What the key has used.
    pub key: Arc<Ledger>,
    /// The key's figures.
    pub key_limits: Limits,
    /// What all keys of its account have used.
    pub account: Arc<Ledger>,
    /// The account's figures.
    pub account_limits: Limits,
}

/// Names reservations within this process.
static NEXT_LEASE: AtomicU64 = AtomicU64::new(1);

impl LimitSubjects {
    /// Admits a request that will probably use `tokens`, or says which limit stands in the way.
    ///
    /// Each ledger checks and reserves in one step; where the account refuses, the key's share is
    /// taken back.
    pub fn admit(
        &self,
        tokens: u64,
        now: UnixMillis,
        expires: UnixMillis,
    ) -> Result<Permit, LimitExceeded> {
        let lease = NEXT_LEASE.fetch_add(1, Ordering::Relaxed);
        let admission = Admission { lease, tokens, expires };
        self.key.admit("this key", &self.key_limits, &admission, now)?;
        if let Err(exceeded) =
            self.account.admit("this account", &self.account_limits, &admission, now)
        {
            self.key.unreserve(lease);
            return Err(exceeded);
        }
        Ok(Permit { subjects: self.clone(), lease, started: now, settled: false })
    }

    /// The request window that is tighter right now.
    pub fn rate(&self, now: UnixMillis) -> RateView {
        let key = self.key.rate(&self.key_limits, now);
        let account = self.account.rate(&self.account_limits, now);
        if account.remaining < key.remaining { account } else { key }
    }
}

/// The right to call a provider. Gives back what it reserved when it is dropped.
#[derive(Debug)]
pub struct Permit {
    subjects: LimitSubjects,
    lease: u64,
    started: UnixMillis,
    settled: bool,
}

impl Permit {
    /// Replaces the reservation by what was really used.
    pub fn settle(mut self, tokens: u64, now: UnixMillis) {
        self.settle_once(tokens, now);
    }

    /// The request was never sent: takes it back altogether.
    pub fn cancel(mut self) {
        if !std::mem::replace(&mut self.settled, true) {
            self.subjects.key.unreserve(self.lease);
            self.subjects.account.unreserve(self.lease);
        }
    }

    fn settle_once(&mut self, tokens: u64, now: UnixMillis) {
        if !std::mem::replace(&mut self.settled, true) {
            self.subjects.key.settle(self.lease, tokens, self.started, now);
            self.subjects.account.settle(self.lease, tokens, self.started, now);
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.settle_once(0, self.started);
    }
}
