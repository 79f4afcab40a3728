//! Key and account together: both have to agree, and nothing is left behind where one does not.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sluice_core::clock::UnixMillis;
use sluice_core::organisation::Subject;

use super::super::{
    Amount, Bound, Ledger, LimitExceeded, LimitSubjects, Limits, OwnFigures, Permit, Slot, Spend,
};
use super::both;

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
    let bound = |subject, limits: Limits| Bound {
        subject,
        ledger: Arc::default(),
        allowances: limits.allowances("class", OwnFigures::default()),
    };
    LimitSubjects::new([
        bound(Subject::Key("k".into()), key),
        bound(Subject::Account("a".into()), account),
    ])
}

fn tokens(tokens: u64) -> Spend {
    Spend { tokens, ..Spend::default() }
}

impl Slot {
    fn admit_tokens(
        self,
        wanted: u64,
        now: UnixMillis,
        expires: UnixMillis,
    ) -> Result<Permit, LimitExceeded> {
        self.admit(tokens(wanted), both(now), both(expires).steady)
    }
}

impl LimitSubjects {
    fn place(&self, now: UnixMillis, expires: UnixMillis) -> Result<Slot, LimitExceeded> {
        self.slot(both(now), both(expires).steady)
    }

    /// A request whose size is known at once.
    fn admit(
        &self,
        wanted: u64,
        now: UnixMillis,
        expires: UnixMillis,
    ) -> Result<Permit, LimitExceeded> {
        self.place(now, expires)?.admit_tokens(wanted, now, expires)
    }

    fn key(&self) -> &Ledger {
        &self.bounds()[0].ledger
    }

    fn account(&self) -> &Ledger {
        &self.bounds()[1].ledger
    }
}

#[test]
fn a_place_is_held_before_anything_is_counted_and_given_back_on_every_path() {
    let one = limits(5, 100, 1);
    let wide = limits(5, 100, 9);
    for subjects in [subjects(one, wide), subjects(wide, one)] {
        let slot = subjects.place(NOW, later(60)).unwrap();
        assert_eq!((subjects.rate(NOW).remaining, subjects.key().tokens_used(NOW)), (5, 0));
        let refused = subjects.place(NOW, later(60)).unwrap_err();
        assert_eq!(refused.what, "requests at once");
        // The request that holds the only place is admitted into it.
        let permit = slot.admit_tokens(50, NOW, later(60)).unwrap();
        assert_eq!((subjects.rate(NOW).remaining, subjects.key().tokens_used(NOW)), (4, 50));
        permit.settle(tokens(10), NOW);
        // One that is refused for its size takes nothing, and one that was work counts.
        let slot = subjects.place(NOW, later(60)).unwrap();
        assert_eq!(slot.admit_tokens(500, NOW, later(60)).unwrap_err().what, "tokens a day");
        assert_eq!(subjects.rate(NOW).remaining, 4);
        drop(subjects.place(NOW, later(60)).unwrap());
        assert_eq!(subjects.rate(NOW).remaining, 4);
        subjects.place(NOW, later(60)).unwrap().is_work(NOW);
        assert_eq!(subjects.rate(NOW).remaining, 3);
        assert_eq!(
            (
                subjects.key().in_flight(both(NOW).steady),
                subjects.account().in_flight(both(NOW).steady)
            ),
            (0, 0)
        );
        assert_eq!(subjects.account().tokens_used(NOW), 10);
    }
}

#[test]
fn what_was_work_counts_once_wherever_it_is_refused() {
    let (tight, wide) = (limits(9, 100, 9), limits(9, 1_000, 9));
    for subjects in [subjects(tight, wide), subjects(wide, tight)] {
        let working = || {
            let mut slot = subjects.place(NOW, later(60)).unwrap();
            slot.is_work(NOW);
            slot
        };
        let counts = |left| {
            let rates = subjects.bounds().iter().map(|it| it.ledger.rate(&it.allowances, NOW));
            assert!(rates.map(|rate| rate.unwrap().remaining).eq([left; 2]));
        };
        // It can never fit.
        working().admit_tokens(101, NOW, later(60)).unwrap_err();
        counts(8);
        let permit = working().admit_tokens(60, NOW, later(60)).unwrap();
        counts(7);
        // It does not fit now, in one case only after the key has admitted it.
        working().admit_tokens(60, NOW, later(60)).unwrap_err();
        counts(6);
        permit.settle(tokens(10), NOW);
        working().admit_tokens(60, NOW, later(60)).unwrap().cancel();
        counts(5);
        assert_eq!(
            (
                subjects.key().in_flight(both(NOW).steady),
                subjects.account().in_flight(both(NOW).steady)
            ),
            (0, 0)
        );
        assert_eq!(subjects.account().tokens_used(NOW), 10);
    }
}

#[test]
fn a_place_that_has_lapsed_is_taken_again_when_the_request_is_admitted() {
    let subjects = subjects(limits(5, 100, 1), limits(5, 100, 1));
    let slow = subjects.place(NOW, later(10)).unwrap();
    let other = subjects.place(later(20), later(80)).unwrap();
    drop(other);
    let permit = slow.admit_tokens(50, later(20), later(80)).unwrap();
    assert_eq!(subjects.key().in_flight(both(later(20)).steady), 1);
    permit.settle(tokens(40), later(30));
    assert_eq!(
        (subjects.key().in_flight(both(NOW).steady), subjects.key().tokens_used(later(30))),
        (0, 40)
    );
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
        assert_eq!(subjects.key().tokens_used(NOW), 10);
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
        let [first, second, third] = [0; 3].map(|_| subjects.place(NOW, later(60)).unwrap());
        let _busy = first.admit_tokens(10, NOW, later(60)).unwrap();
        // The hour is used up now, which would let them in later.
        assert_eq!(second.admit_tokens(100, NOW, later(60)).unwrap_err().too_large, None);
        let refused = third.admit_tokens(101, NOW, later(60)).unwrap_err();
        assert_eq!((refused.subject, refused.limit), (subject, Amount::Count(100)));
        assert_eq!(refused.too_large, Some(Amount::Count(101)));
    }
}

#[test]
fn a_request_that_was_never_sent_takes_nothing() {
    let subjects = subjects(limits(5, 100, 5), limits(5, 100, 5));
    subjects.admit(50, NOW, later(60)).unwrap().cancel();
    assert_eq!(subjects.rate(NOW).remaining, 5);
    assert_eq!(subjects.account().tokens_used(NOW), 0);
    // One that is lost on the way has been sent: it counts as a request, without tokens.
    drop(subjects.admit(50, NOW, later(60)).unwrap());
    assert_eq!(subjects.rate(NOW).remaining, 4);
    assert_eq!(
        (subjects.key().in_flight(both(NOW).steady), subjects.account().tokens_used(NOW)),
        (0, 0)
    );
}

#[test]
fn what_settles_after_midnight_belongs_to_the_day_before() {
    let subjects = subjects(limits(5, 100, 5), limits(5, 100, 5));
    let permit = subjects.admit(50, NOW, later(86_400)).unwrap();
    let tomorrow = later(86_400);
    permit.settle(tokens(40), tomorrow);
    assert_eq!(subjects.key().tokens_used(tomorrow), 0);
}

#[test]
fn a_request_counts_in_the_window_that_judged_it() {
    let subjects = subjects(limits(5, 100, 5), limits(5, 100, 5));
    let slot = subjects.place(NOW, later(2 * 86_400)).unwrap();
    let tomorrow = later(86_400);
    let permit = slot.admit_tokens(50, tomorrow, later(2 * 86_400)).unwrap();
    assert_eq!(permit.admitted_at(), tomorrow);
    permit.settle(tokens(40), tomorrow);
    assert_eq!((subjects.key().tokens_used(tomorrow), subjects.rate(tomorrow).remaining), (40, 4));
    // Another thread has begun the next day by a clock that is a moment ahead.
    let midnight = UnixMillis((tomorrow.0 / 86_400_000 + 1) * 86_400_000);
    subjects.admit(1, midnight, later(3 * 86_400)).unwrap().cancel();
    let just_before = UnixMillis(midnight.0 - 5);
    let permit = subjects.admit(50, just_before, later(3 * 86_400)).unwrap();
    assert_eq!(permit.admitted_at(), midnight);
    permit.settle(tokens(30), midnight);
    assert_eq!((subjects.key().tokens_used(midnight), subjects.rate(midnight).remaining), (30, 4));
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
                    permit.settle(tokens(20), NOW);
                }
            });
        }
    });
    let admitted = admitted.load(Ordering::SeqCst);
    assert!((1..=300).contains(&admitted), "{admitted}");
    assert_eq!(subjects.rate(NOW).remaining, 300 - admitted);
    assert_eq!(subjects.account().tokens_used(NOW), 20 * admitted);
    assert_eq!(subjects.key().tokens_used(NOW), 20 * admitted);
    assert_eq!(subjects.key().in_flight(both(NOW).steady), 0);
}
