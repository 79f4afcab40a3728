//! Admission by a key and its account together, and the permit that gives back.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sluice_core::clock::UnixMillis;

use super::ledger::Subject;
use super::{Admission, Ledger, LimitExceeded, Limits, OwnFigures, RateView};

/// The two that a request counts against.
#[derive(Debug, Clone)]
pub struct LimitSubjects {
    /// What the key has used.
    pub key: Arc<Ledger>,
    /// The key's figures.
    pub key_limits: Limits,
    /// Which of them are the key's own.
    pub key_own: OwnFigures,
    /// What all keys of its account have used.
    pub account: Arc<Ledger>,
    /// The account's figures.
    pub account_limits: Limits,
    /// Which of them are the account's own.
    pub account_own: OwnFigures,
}

/// Names reservations within this process.
static NEXT_LEASE: AtomicU64 = AtomicU64::new(1);

impl LimitSubjects {
    /// A place among the requests at once, for a request whose body is still to be read; or which
    /// limit stands in the way. It is given back when it is dropped.
    pub fn slot(&self, now: UnixMillis, expires: UnixMillis) -> Result<Slot, LimitExceeded> {
        let lease = NEXT_LEASE.fetch_add(1, Ordering::Relaxed);
        self.key.hold(self.key_subject(), lease, expires, now)?;
        if let Err(exceeded) = self.account.hold(self.account_subject(), lease, expires, now) {
            self.key.unreserve(lease);
            return Err(exceeded);
        }
        let subjects = self.clone();
        Ok(Slot(Permit { subjects, lease, started: now, work_at: None, settled: false }))
    }

    fn key_subject(&self) -> Subject<'_> {
        Subject { name: "this key", limits: &self.key_limits, own: self.key_own }
    }

    fn account_subject(&self) -> Subject<'_> {
        Subject { name: "this account", limits: &self.account_limits, own: self.account_own }
    }

    /// The request window that is tighter right now.
    pub fn rate(&self, now: UnixMillis) -> RateView {
        let key = self.key.rate(&self.key_limits, now);
        let account = self.account.rate(&self.account_limits, now);
        if account.remaining < key.remaining { account } else { key }
    }
}

/// A place among the requests at once. Gives it back when it is dropped.
#[derive(Debug)]
pub struct Slot(Permit);

impl Slot {
    /// Admits the request, which will probably use `tokens`, or says which limit stands in the way.
    ///
    /// Each ledger checks and reserves in one step; where the account refuses, the key's share is
    /// taken back.
    pub fn admit(
        self,
        tokens: u64,
        now: UnixMillis,
        expires: UnixMillis,
    ) -> Result<Permit, LimitExceeded> {
        let Self(mut permit) = self;
        permit.started = now;
        let subjects = &permit.subjects;
        let admission = Admission { lease: permit.lease, tokens, expires };
        subjects.key_subject().has_room_for(tokens)?;
        subjects.account_subject().has_room_for(tokens)?;
        subjects.key.admit(subjects.key_subject(), &admission, now)?;
        if let Err(exceeded) = subjects.account.admit(subjects.account_subject(), &admission, now) {
            permit.cancel();
            return Err(exceeded);
        }
        Ok(permit)
    }

    /// The request is work from `now` on: it counts even where it is refused, so that whoever sends
    /// such requests again and again runs out of them.
    pub fn is_work(&mut self, now: UnixMillis) {
        self.0.work_at = Some(now);
    }
}

/// The right to call a provider. Gives back what it reserved when it is dropped.
#[derive(Debug)]
pub struct Permit {
    subjects: LimitSubjects,
    lease: u64,
    started: UnixMillis,
    /// It counts whatever becomes of it.
    work_at: Option<UnixMillis>,
    settled: bool,
}

impl Permit {
    /// Replaces the reservation by what was really used.
    pub fn settle(mut self, tokens: u64, now: UnixMillis) {
        if !std::mem::replace(&mut self.settled, true) {
            self.subjects.key.settle(self.lease, tokens, self.started, now);
            self.subjects.account.settle(self.lease, tokens, self.started, now);
        }
    }

    /// The request was never sent: takes it back altogether, unless it was work already.
    pub fn cancel(mut self) {
        if self.work_at.is_none() && !std::mem::replace(&mut self.settled, true) {
            self.subjects.key.unreserve(self.lease);
            self.subjects.account.unreserve(self.lease);
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        // Nothing was used, and the clock is not at hand.
        if !std::mem::replace(&mut self.settled, true) {
            if let Some(now) = self.work_at {
                self.subjects.key.count(self.lease, now);
                self.subjects.account.count(self.lease, now);
            }
            self.subjects.key.give_back(self.lease);
            self.subjects.account.give_back(self.lease);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    const NOW: UnixMillis = UnixMillis(1_795_253_400_000);

    fn later(seconds: u64) -> UnixMillis {
        NOW.plus(Duration::from_secs(seconds))
    }

    fn limits(requests: u64, tokens: u64, concurrent: u64) -> Limits {
        Limits {
            requests_per_hour: Some(requests),
            tokens_per_day: Some(tokens),
            concurrent_requests: Some(concurrent),
            ..Limits::default()
        }
    }

    fn subjects(key: Limits, account: Limits) -> LimitSubjects {
        LimitSubjects {
            key: Arc::new(Ledger::default()),
            key_limits: key,
            key_own: OwnFigures::default(),
            account: Arc::new(Ledger::default()),
            account_limits: account,
            account_own: OwnFigures::default(),
        }
    }

    impl LimitSubjects {
        /// A request whose size is known at once.
        fn admit(
            &self,
            tokens: u64,
            now: UnixMillis,
            expires: UnixMillis,
        ) -> Result<Permit, LimitExceeded> {
            self.slot(now, expires)?.admit(tokens, now, expires)
        }
    }

    #[test]
    fn a_place_is_held_before_anything_is_counted_and_given_back_on_every_path() {
        let one = limits(5, 100, 1);
        let wide = limits(5, 100, 9);
        for subjects in [subjects(one, wide), subjects(wide, one)] {
            let slot = subjects.slot(NOW, later(60)).unwrap();
            assert_eq!((subjects.rate(NOW).remaining, subjects.key.tokens_used(NOW)), (5, 0));
            let refused = subjects.slot(NOW, later(60)).unwrap_err();
            assert_eq!(refused.what, "requests at once");
            // The request that holds the only place is admitted into it.
            let permit = slot.admit(50, NOW, later(60)).unwrap();
            assert_eq!((subjects.rate(NOW).remaining, subjects.key.tokens_used(NOW)), (4, 50));
            permit.settle(10, NOW);
            // One that is refused for its size takes nothing, and one that was work counts.
            let slot = subjects.slot(NOW, later(60)).unwrap();
            assert_eq!(slot.admit(500, NOW, later(60)).unwrap_err().what, "tokens a day");
            assert_eq!(subjects.rate(NOW).remaining, 4);
            drop(subjects.slot(NOW, later(60)).unwrap());
            assert_eq!(subjects.rate(NOW).remaining, 4);
            subjects.slot(NOW, later(60)).unwrap().is_work(NOW);
            assert_eq!(subjects.rate(NOW).remaining, 3);
            assert_eq!((subjects.key.in_flight(NOW), subjects.account.in_flight(NOW)), (0, 0));
            assert_eq!(subjects.account.tokens_used(NOW), 10);
        }
    }

    #[test]
    fn what_was_work_counts_once_wherever_it_is_refused() {
        let (tight, wide) = (limits(9, 100, 9), limits(9, 1_000, 9));
        for subjects in [subjects(tight, wide), subjects(wide, tight)] {
            let working = || {
                let mut slot = subjects.slot(NOW, later(60)).unwrap();
                slot.is_work(NOW);
                slot
            };
            let counts = |left| {
                let rates = [
                    subjects.key.rate(&subjects.key_limits, NOW),
                    subjects.account.rate(&subjects.account_limits, NOW),
                ];
                assert_eq!(rates.map(|rate| rate.remaining), [left; 2]);
            };
            // It can never fit.
            working().admit(101, NOW, later(60)).unwrap_err();
            counts(8);
            let permit = working().admit(60, NOW, later(60)).unwrap();
            counts(7);
            // It does not fit now, in one case only after the key has admitted it.
            working().admit(60, NOW, later(60)).unwrap_err();
            counts(6);
            permit.settle(10, NOW);
            working().admit(60, NOW, later(60)).unwrap().cancel();
            counts(5);
            assert_eq!((subjects.key.in_flight(NOW), subjects.account.in_flight(NOW)), (0, 0));
            assert_eq!(subjects.account.tokens_used(NOW), 10);
        }
    }

    #[test]
    fn a_place_that_has_lapsed_is_taken_again_when_the_request_is_admitted() {
        let subjects = subjects(limits(5, 100, 1), limits(5, 100, 1));
        let slow = subjects.slot(NOW, later(10)).unwrap();
        let other = subjects.slot(later(20), later(80)).unwrap();
        drop(other);
        let permit = slow.admit(50, later(20), later(80)).unwrap();
        assert_eq!(subjects.key.in_flight(later(20)), 1);
        permit.settle(40, later(30));
        assert_eq!((subjects.key.in_flight(NOW), subjects.key.tokens_used(later(30))), (0, 40));
    }

    #[test]
    fn the_tighter_of_key_and_account_refuses_and_nothing_is_taken() {
        let tight = limits(100, 1_000_000, 1);
        let wide = limits(100, 1_000_000, 100);
        for (subjects, subject) in
            [(subjects(tight, wide), "this key"), (subjects(wide, tight), "this account")]
        {
            let first = subjects.admit(10, NOW, later(60)).unwrap();
            let refused = subjects.admit(10, NOW, later(60)).unwrap_err();
            assert_eq!((refused.subject, refused.what), (subject, "requests at once"));
            assert_eq!(subjects.rate(NOW).remaining, 99, "the refused one counts nowhere");
            assert_eq!(subjects.key.tokens_used(NOW), 10);
            drop(first);
            assert!(subjects.admit(10, NOW, later(60)).is_ok());
        }
    }

    #[test]
    fn what_can_never_fit_is_told_so_before_any_window_is_looked_at() {
        let (tight, wide) = (limits(1, 100, 3), limits(1, 1_000, 3));
        for (subjects, subject) in
            [(subjects(tight, wide), "this key"), (subjects(wide, tight), "this account")]
        {
            let [first, second, third] = [0; 3].map(|_| subjects.slot(NOW, later(60)).unwrap());
            let _busy = first.admit(10, NOW, later(60)).unwrap();
            // The hour is used up now, which would let them in later.
            assert_eq!(second.admit(100, NOW, later(60)).unwrap_err().too_large, None);
            let refused = third.admit(101, NOW, later(60)).unwrap_err();
            assert_eq!((refused.subject, refused.limit), (subject, 100));
            assert_eq!(refused.too_large, Some(101));
        }
    }

    #[test]
    fn a_request_that_was_never_sent_takes_nothing() {
        let subjects = subjects(limits(5, 100, 5), limits(5, 100, 5));
        subjects.admit(50, NOW, later(60)).unwrap().cancel();
        assert_eq!(subjects.rate(NOW).remaining, 5);
        assert_eq!(subjects.account.tokens_used(NOW), 0);
        // One that is lost on the way has been sent: it counts as a request, without tokens.
        drop(subjects.admit(50, NOW, later(60)).unwrap());
        assert_eq!(subjects.rate(NOW).remaining, 4);
        assert_eq!((subjects.key.in_flight(NOW), subjects.account.tokens_used(NOW)), (0, 0));
    }

    #[test]
    fn what_settles_after_midnight_belongs_to_the_day_before() {
        let subjects = subjects(limits(5, 100, 5), limits(5, 100, 5));
        let permit = subjects.admit(50, NOW, later(86_400)).unwrap();
        let tomorrow = later(86_400);
        permit.settle(40, tomorrow);
        assert_eq!(subjects.key.tokens_used(tomorrow), 0);
    }

    #[test]
    fn many_at_once_never_exceed_a_limit() {
        let subjects = subjects(limits(1_000, 100_000, 7), limits(300, 9_000, 5));
        let busy = AtomicU64::new(0);
        let admitted = AtomicU64::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let Ok(permit) = subjects.admit(20, NOW, later(60)) else { continue };
                        assert!(busy.fetch_add(1, Ordering::SeqCst) < 5);
                        admitted.fetch_add(1, Ordering::SeqCst);
                        std::thread::yield_now();
                        busy.fetch_sub(1, Ordering::SeqCst);
                        permit.settle(20, NOW);
                    }
                });
            }
        });
        let admitted = admitted.load(Ordering::SeqCst);
        assert!((1..=300).contains(&admitted), "{admitted}");
        assert_eq!(subjects.rate(NOW).remaining, 300 - admitted);
        assert_eq!(subjects.account.tokens_used(NOW), 20 * admitted);
        assert_eq!(subjects.key.tokens_used(NOW), 20 * admitted);
        assert_eq!(subjects.key.in_flight(NOW), 0);
    }

    #[derive(Debug, Clone, Copy)]
    enum Op {
        Admit(u64),
        Settle(usize, u64),
        Cancel(usize),
        Lose(usize),
    }

    fn op() -> impl Strategy<Value = Op> {
        prop_oneof![
            4 => (0..400_u64).prop_map(Op::Admit),
            3 => (any::<usize>(), 0..300_u64).prop_map(|(which, tokens)| Op::Settle(which, tokens)),
            1 => any::<usize>().prop_map(Op::Cancel),
            1 => any::<usize>().prop_map(Op::Lose),
        ]
    }

    proptest! {
        /// Against the simplest possible book-keeping.
        #[test]
        fn the_books_are_right_whatever_happens(ops in prop::collection::vec(op(), 0..120)) {
            let subjects = subjects(limits(40, 3_000, 6), limits(30, 2_000, 8));
            let mut open: Vec<(Permit, u64)> = Vec::new();
            let (mut requests, mut settled) = (0_u64, 0_u64);
            for op in ops {
                let take = |open: &mut Vec<(Permit, u64)>, which: usize| {
                    (!open.is_empty()).then(|| open.swap_remove(which % open.len()).0)
                };
                match op {
                    Op::Admit(tokens) => {
                        let reserved: u64 = open.iter().map(|(_, tokens)| tokens).sum();
                        let fits = requests < 30
                            && open.len() < 6
                            && settled + reserved + tokens <= 2_000;
                        let admitted = subjects.admit(tokens, NOW, later(60));
                        prop_assert_eq!(admitted.is_ok(), fits);
                        if let Ok(permit) = admitted {
                            requests += 1;
                            open.push((permit, tokens));
                        }
                    }
                    Op::Settle(which, tokens) => {
                        if let Some(permit) = take(&mut open, which) {
                            permit.settle(tokens, NOW);
                            settled += tokens;
                        }
                    }
                    Op::Cancel(which) => {
                        if let Some(permit) = take(&mut open, which) {
                            permit.cancel();
                            requests -= 1;
                        }
                    }
                    Op::Lose(which) => drop(take(&mut open, which)),
                }
                let reserved: u64 = open.iter().map(|(_, tokens)| tokens).sum();
                for ledger in [&subjects.key, &subjects.account] {
                    prop_assert_eq!(ledger.tokens_used(NOW), settled + reserved);
                    prop_assert_eq!(ledger.in_flight(NOW), open.len() as u64);
                }
                prop_assert_eq!(subjects.rate(NOW).remaining, 30 - requests);
            }
        }
    }
}
