//! How long a deployment has been silent: somebody waits for a first token, and nobody gets one.
//!
//! A deployment that hangs has no slow answers to be judged by, as it has none at all. One atomic
//! says since when; it needs no list of those who wait.

use std::sync::atomic::{AtomicU64, Ordering};

use sluice_core::clock::UnixMillis;

/// Longer than any timeout. A silence beyond it is a wait that was lost, and not believed.
const LIMIT_MS: u64 = 10 * 60 * 1000;
/// The lower bits hold the time, the upper ones the count.
const TIME_BITS: u32 = 48;
const TIME: u64 = (1 << TIME_BITS) - 1;

/// Who waits for a first token, and since when nobody has got one.
#[derive(Debug, Default)]
pub(super) struct Silence(AtomicU64);

impl Silence {
    /// Somebody waits.
    pub(super) fn begin(&self, now: UnixMillis) {
        self.update(|count, since| {
            let since = if count == 0 { now.0.min(TIME) } else { since };
            ((count + 1).min(u64::from(u16::MAX)), since)
        });
    }

    /// Somebody got a first token.
    pub(super) fn broken(&self, now: UnixMillis) {
        self.update(|count, _| (count.saturating_sub(1), now.0.min(TIME)));
    }

    /// Somebody waits no longer, and got nothing.
    pub(super) fn left(&self) {
        self.update(|count, since| (count.saturating_sub(1), since));
    }

    /// How long it lasts, in milliseconds; 0 where nobody waits.
    pub(super) fn ms(&self, now: UnixMillis) -> u64 {
        let packed = self.0.load(Ordering::Relaxed);
        let ms = now.0.saturating_sub(packed & TIME);
        if packed >> TIME_BITS == 0 || ms > LIMIT_MS { 0 } else { ms }
    }

    fn update(&self, change: impl Fn(u64, u64) -> (u64, u64)) {
        self.0.update(Ordering::Relaxed, Ordering::Relaxed, |packed| {
            let (count, since) = change(packed >> TIME_BITS, packed & TIME);
            count << TIME_BITS | since
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_lasts_from_the_first_who_waits_until_somebody_gets_a_token() {
        let silence = Silence::default();
        assert_eq!(silence.ms(UnixMillis(5000)), 0);
        silence.begin(UnixMillis(1000));
        silence.begin(UnixMillis(3000));
        assert_eq!(silence.ms(UnixMillis(5000)), 4000);
        silence.broken(UnixMillis(6000));
        assert_eq!(silence.ms(UnixMillis(8000)), 2000);
        silence.left();
        assert_eq!(silence.ms(UnixMillis(9000)), 0);
    }

    #[test]
    fn callers_who_give_up_do_not_break_it_for_those_who_wait() {
        let silence = Silence::default();
        silence.begin(UnixMillis(1000));
        silence.begin(UnixMillis(2000));
        silence.left();
        assert_eq!(silence.ms(UnixMillis(9000)), 8000);
    }

    #[test]
    fn neither_a_lost_wait_nor_a_clock_that_jumps_makes_it_last() {
        let silence = Silence::default();
        silence.begin(UnixMillis(100_000));
        assert_eq!(silence.ms(UnixMillis(50_000)), 0);
        assert_eq!(silence.ms(UnixMillis(100_001 + LIMIT_MS)), 0);
        silence.left();
        silence.left();
        silence.begin(UnixMillis(7000));
        assert_eq!(silence.ms(UnixMillis(8000)), 1000);
    }
}
