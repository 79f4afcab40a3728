//! Slows down whoever guesses passwords and codes: windows of failures for each person and each
//! address.
//!
//! An attempt counts as failed from its beginning, so that many at once are no way around; one that
//! succeeds is taken back. A person is known by the e-mail address that was typed, whether there is
//! anybody of it or not. From an address where they have signed in before, a person has a window of
//! their own: whoever guesses elsewhere does not keep them out.
//!
//! All of it is in memory: a restart forgives, which takes longer than any window is worth. Addresses
//! of before are told again by the caller, who finds them in the sessions.

use std::collections::HashMap;
use std::fmt;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use sluice_core::clock::UnixMillis;

use crate::guard::network;

/// Windows that are remembered. Past it, new ones share one of each kind: a flood of addresses costs
/// no memory.
const MOST_WINDOWS: usize = 20_000;
/// How often windows that are over make room for new ones.
const SWEEP_EVERY: Duration = Duration::from_secs(60);
/// Pairs of person and address that are remembered. Past it, a new one takes the oldest one's place.
const MOST_FAMILIAR: usize = 10_000;

/// What is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Tried {
    Password,
    /// By somebody who knows the password: there are only a million codes.
    Code,
    RecoveryCode,
}

/// Whose failures are counted together.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Slot {
    Address(Option<IpAddr>),
    Person(String, Tried),
    PersonAt(String, IpAddr, Tried),
    OtherAddresses,
    OtherPeople(Tried),
}

impl Slot {
    /// How many failures there may be in how long.
    fn bound(&self) -> (u32, Duration) {
        const MINUTE: Duration = Duration::from_secs(60);
        match self {
            Self::Address(_) => (30, 15 * MINUTE),
            Self::OtherAddresses => (300, 15 * MINUTE),
            Self::OtherPeople(_) => (100, 15 * MINUTE),
            // Three codes count at a time, so twenty a day find one in forty years.
            Self::Person(_, Tried::Code) | Self::PersonAt(_, _, Tried::Code) => {
                (20, 24 * 60 * MINUTE)
            }
            Self::Person(..) | Self::PersonAt(..) => (10, 15 * MINUTE),
        }
    }

    fn is_address(&self) -> bool {
        matches!(self, Self::Address(_) | Self::OtherAddresses)
    }

    fn shared(&self) -> Self {
        match self {
            Self::Address(_) | Self::OtherAddresses => Self::OtherAddresses,
            Self::Person(_, tried) | Self::PersonAt(_, _, tried) | Self::OtherPeople(tried) => {
                Self::OtherPeople(*tried)
            }
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Window {
    start: UnixMillis,
    failures: u32,
    /// Whether somebody was refused in it already.
    is_told: bool,
}

#[derive(Default)]
struct Counts {
    windows: HashMap<Slot, Window>,
    /// Where people have signed in, all the way, with the place of each in the order of remembering.
    familiar: HashMap<(String, IpAddr), u64>,
    /// The next such place.
    next_familiar: u64,
    /// When windows that are over were looked for last.
    swept_at: UnixMillis,
}

/// Failures by person and address. What was typed is not printed: it may be a password in the wrong
/// field.
#[derive(Default)]
pub(super) struct Throttle(Mutex<Counts>);

impl fmt::Debug for Throttle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Throttle")
    }
}

/// Whoever has to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Refused {
    /// How long.
    pub(super) retry_after: Duration,
    /// Whether it is the first refusal of its window.
    pub(super) is_first: bool,
}

/// An attempt, which counts as failed unless it is taken back.
pub(super) struct Attempt {
    email: String,
    address: Option<IpAddr>,
    counted: Vec<(Slot, UnixMillis)>,
}

impl fmt::Debug for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Attempt")
    }
}

impl Throttle {
    /// Begins an attempt of whoever calls themselves `email`, which is not too long to keep.
    pub(super) fn begin(
        &self,
        email: &str,
        address: Option<IpAddr>,
        tried: Tried,
        now: UnixMillis,
    ) -> Result<Attempt, Refused> {
        let address = address.map(network);
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let slots = counts.slots(email, address, tried, now);
        let waits = slots.iter().filter_map(|slot| counts.wait(slot, now));
        if let Some(retry_after) = waits.max() {
            let is_first = slots.iter().any(|slot| counts.tell(slot, now));
            return Err(Refused { retry_after, is_first });
        }
        let counted = slots.into_iter().map(|slot| {
            let start = counts.count(&slot, now);
            (slot, start)
        });
        let counted = counted.collect();
        Ok(Attempt { email: email.to_owned(), address, counted })
    }

    /// Takes an attempt back, which has not failed.
    pub(super) fn take_back(&self, attempt: &Attempt) {
        self.take_back_from(attempt, |_| true);
    }

    /// Takes an attempt back that was not judged, since the server was busy or could not read what to
    /// compare with: the person has failed in nothing. Of the address it counts, or else asking would
    /// be free.
    pub(super) fn not_judged(&self, attempt: &Attempt) {
        self.take_back_from(attempt, |slot| !slot.is_address());
    }

    fn take_back_from(&self, attempt: &Attempt, is_meant: impl Fn(&Slot) -> bool) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (slot, start) in attempt.counted.iter().filter(|(slot, _)| is_meant(slot)) {
            if let Some(window) = counts.windows.get_mut(slot)
                && window.start == *start
            {
                window.failures = window.failures.saturating_sub(1);
            }
        }
    }

    /// Takes an attempt back with which somebody has signed in, and remembers where that was. A
    /// password alone does not count: whoever has stolen it has not signed in.
    pub(super) fn signed_in(&self, attempt: Attempt) {
        self.take_back(&attempt);
        if let Some(address) = attempt.address {
            self.remember(&attempt.email, address);
        }
    }

    /// Whether it is known that they have signed in from there.
    pub(super) fn is_familiar(&self, email: &str, address: IpAddr) -> bool {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counts.familiar.contains_key(&(email.to_owned(), network(address)))
    }

    /// Remembers that they have signed in from there.
    pub(super) fn remember(&self, email: &str, address: IpAddr) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = counts.next_familiar;
        counts.next_familiar += 1;
        counts.familiar.insert((email.to_owned(), network(address)), place);
        if counts.familiar.len() > MOST_FAMILIAR {
            let oldest = counts.familiar.iter().min_by_key(|(_, place)| **place);
            if let Some(oldest) = oldest.map(|(pair, _)| pair.clone()) {
                counts.familiar.remove(&oldest);
            }
        }
    }
}

impl Counts {
    fn slots(
        &mut self,
        email: &str,
        address: Option<IpAddr>,
        tried: Tried,
        now: UnixMillis,
    ) -> [Slot; 2] {
        let familiar = address.filter(|it| self.familiar.contains_key(&(email.to_owned(), *it)));
        let person = match familiar {
            Some(address) => Slot::PersonAt(email.to_owned(), address, tried),
            None => Slot::Person(email.to_owned(), tried),
        };
        if self.windows.len() >= MOST_WINDOWS && now.since(self.swept_at) >= SWEEP_EVERY {
            self.windows.retain(|slot, window| !window.is_over(slot, now));
            self.swept_at = now;
        }
        let is_full = self.windows.len() >= MOST_WINDOWS;
        [Slot::Address(address), person].map(|slot| match is_full {
            true if familiar.is_none() && !self.windows.contains_key(&slot) => slot.shared(),
            _ => slot,
        })
    }

    /// How long this window refuses.
    fn wait(&self, slot: &Slot, now: UnixMillis) -> Option<Duration> {
        let (most, length) = slot.bound();
        let window = self.windows.get(slot)?;
        let refuses = window.failures >= most && !window.is_over(slot, now);
        refuses.then(|| window.start.plus(length).since(now))
    }

    /// Notes that somebody was refused; whether this window has not been told of before.
    fn tell(&mut self, slot: &Slot, now: UnixMillis) -> bool {
        if self.wait(slot, now).is_none() {
            return false;
        }
        self.windows.get_mut(slot).is_some_and(|it| !std::mem::replace(&mut it.is_told, true))
    }

    fn count(&mut self, slot: &Slot, now: UnixMillis) -> UnixMillis {
        let new = Window { start: now, failures: 0, is_told: false };
        let window = self.windows.entry(slot.clone()).or_insert(new);
        if window.is_over(slot, now) {
            *window = new;
        }
        window.failures = window.failures.saturating_add(1);
        window.start
    }
}

impl Window {
    /// A window begins with its first failure. One that begins in the future was made before the
    /// clock was put back.
    fn is_over(&self, slot: &Slot, now: UnixMillis) -> bool {
        let (_, length) = slot.bound();
        now >= self.start.plus(length) || now < self.start
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NOW: UnixMillis = UnixMillis(1_795_253_400_000);
    const MINUTE: Duration = Duration::from_secs(60);

    fn address(last: u8) -> Option<IpAddr> {
        Some(IpAddr::from([192, 0, 2, last]))
    }

    #[test]
    fn a_person_has_ten_guesses_wherever_they_come_from_and_then_waits() {
        let throttle = Throttle::default();
        for from in 0..10 {
            throttle.begin("ada", address(from), Tried::Password, NOW).unwrap();
        }
        let later = NOW.plus(5 * MINUTE);
        let refused = throttle.begin("ada", address(99), Tried::Password, later).unwrap_err();
        assert_eq!(refused, Refused { retry_after: 10 * MINUTE, is_first: true });
        let again = throttle.begin("ada", address(98), Tried::Password, later).unwrap_err();
        assert!(!again.is_first);
        throttle.begin("eve", address(99), Tried::Password, later).unwrap();
        throttle.begin("ada", address(99), Tried::RecoveryCode, later).unwrap();
        throttle.begin("ada", address(99), Tried::Password, NOW.plus(15 * MINUTE)).unwrap();
    }

    #[test]
    fn an_address_has_thirty_whoever_it_says_it_is() {
        let throttle = Throttle::default();
        for person in 0..30 {
            throttle.begin(&person.to_string(), address(1), Tried::Password, NOW).unwrap();
        }
        throttle.begin("ada", address(1), Tried::Password, NOW).unwrap_err();
        throttle.begin("ada", address(2), Tried::Password, NOW).unwrap();
        // An IPv6 network of 64 bits is one.
        let v6 = |last: &str| format!("2001:db8::{last}").parse().ok();
        for person in 0..30 {
            let from = v6(&person.to_string());
            throttle.begin(&format!("p{person}"), from, Tried::Password, NOW).unwrap();
        }
        throttle.begin("ada", v6("ffff"), Tried::Password, NOW).unwrap_err();
    }

    #[test]
    fn whoever_guesses_elsewhere_keeps_nobody_out_where_they_have_signed_in() {
        let throttle = Throttle::default();
        let home = throttle.begin("ada", address(1), Tried::Password, NOW).unwrap();
        throttle.signed_in(home);
        for from in 2..12 {
            throttle.begin("ada", address(from), Tried::Password, NOW).unwrap();
        }
        throttle.begin("ada", address(20), Tried::Password, NOW).unwrap_err();
        for _ in 0..10 {
            throttle.begin("ada", address(1), Tried::Password, NOW).unwrap();
        }
        throttle.begin("ada", address(1), Tried::Password, NOW).unwrap_err();
    }

    #[test]
    fn the_oldest_familiar_address_makes_room_for_a_new_one() {
        let throttle = Throttle::default();
        let from = |number: usize| IpAddr::from(u32::try_from(number).unwrap().to_be_bytes());
        for number in 0..=MOST_FAMILIAR {
            throttle.remember("ada", from(number));
        }
        assert!(!throttle.is_familiar("ada", from(0)) && throttle.is_familiar("ada", from(1)));
        assert!(throttle.is_familiar("ada", from(MOST_FAMILIAR)));
        // Whoever signs in again is as good as new.
        throttle.remember("ada", from(1));
        throttle.remember("eve", from(0));
        assert!(throttle.is_familiar("ada", from(1)) && !throttle.is_familiar("ada", from(2)));
    }

    #[test]
    fn what_was_not_judged_counts_against_the_address_alone() {
        let throttle = Throttle::default();
        for _ in 0..30 {
            let attempt = throttle.begin("ada", address(1), Tried::Password, NOW).unwrap();
            throttle.not_judged(&attempt);
        }
        throttle.begin("ada", address(1), Tried::Password, NOW).unwrap_err();
        throttle.begin("ada", address(2), Tried::Password, NOW).unwrap();
    }

    #[test]
    fn codes_are_few_a_day() {
        let throttle = Throttle::default();
        let mut admitted = 0;
        for minute in 0..24 * 60 {
            let from = address(u8::try_from(minute % 200).unwrap());
            let at = NOW.plus(minute * MINUTE);
            admitted += u32::from(throttle.begin("ada", from, Tried::Code, at).is_ok());
        }
        assert_eq!(admitted, 20);
    }

    #[test]
    fn a_flood_of_people_and_addresses_is_bounded() {
        let throttle = Throttle::default();
        let mut admitted = 0;
        for number in 0..60_000_u32 {
            let from = Some(IpAddr::from(number.to_be_bytes()));
            let begun = throttle.begin(&number.to_string(), from, Tried::Password, NOW);
            admitted += u32::from(begun.is_ok());
        }
        let windows = throttle.0.lock().unwrap().windows.len();
        assert!(windows <= MOST_WINDOWS + 2, "{windows}");
        assert_eq!(admitted, 10_000 + 100, "each person and address has a window of its own");
        // Who was there before the flood, and the time after it, are not touched by it.
        throttle.begin("0", Some(IpAddr::from([0, 0, 0, 0])), Tried::Password, NOW).unwrap();
        let later = NOW.plus(15 * MINUTE);
        throttle.begin("new", address(1), Tried::Password, later).unwrap();
        assert!(throttle.0.lock().unwrap().windows.len() <= 2);
    }

    /// An attempt of the property test: who, from where, how much later, and whether it succeeds.
    fn attempts() -> impl Strategy<Value = Vec<(u8, u8, u64, bool)>> {
        let one = (0_u8..3, 0_u8..4, 0_u64..240, proptest::bool::weighted(0.2));
        proptest::collection::vec(one, 0..400)
    }

    proptest! {
        /// Held against the list of everything that was admitted and failed: nobody is refused
        /// without as many failures in the last window's length, no such length holds more than twice as
        /// many, and whoever waits as long as they are told is admitted.
        #[test]
        fn windows_refuse_only_after_failures_and_never_admit_too_many(attempts in attempts()) {
            let throttle = Throttle::default();
            let mut failures: Vec<(u64, u8, u8)> = Vec::new();
            let length = 15 * 60 * 1000;
            let mut now = NOW;
            for (person, from, later, succeeds) in attempts {
                now = now.plus(Duration::from_secs(later));
                let of = |since: u64, fits: &dyn Fn(u8, u8) -> bool| {
                    failures.iter().filter(|(at, p, f)| *at > since && fits(*p, *f)).count()
                };
                let name = person.to_string();
                match throttle.begin(&name, address(from), Tried::Password, now) {
                    Ok(attempt) if succeeds => throttle.signed_in(attempt),
                    Ok(_) => {
                        // A stretch of this length touches two windows at most.
                        let one = now.0 - length;
                        prop_assert!(of(one, &|_, f| f == from) < 2 * 30);
                        // Elsewhere together, and in each of four places where they have signed in.
                        prop_assert!(of(one, &|p, _| p == person) < 2 * 5 * 10);
                        failures.push((now.0, person, from));
                    }
                    Err(refused) => {
                        let one = now.0 - length;
                        prop_assert!(
                            of(one, &|_, f| f == from) >= 30 || of(one, &|p, _| p == person) >= 10
                        );
                        prop_assert!(refused.retry_after.as_millis() <= u128::from(length));
                        now = now.plus(refused.retry_after);
                        let admitted =
                            throttle.begin(&name, address(from), Tried::Password, now).unwrap();
                        throttle.signed_in(admitted);
                    }
                }
            }
        }
    }
}
