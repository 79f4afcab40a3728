//! A distribution of samples that fade: half of their weight every two minutes.
//!
//! Its marks are the powers of two. A sample is shared between the two marks around it so that its
//! mean stays what it was, which makes the mean of the histogram that of the samples, exactly,
//! however coarse the marks are. A cell is one atomic: whoever reads while another writes sees a
//! distribution that is a sample older or newer, and nothing in between.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use sluice_core::clock::UnixMillis;

/// How many marks there are: 1, 2, 4, … 524 288. Samples beyond them count as the last one.
pub(super) const MARKS: usize = 20;
/// Seconds in which a sample loses half of its weight.
pub(super) const HALF_LIFE_SECONDS: u32 = 120;
/// The most that all samples of a histogram weigh. Past it old ones give way to new ones, so that
/// a busy deployment's change of pace shows after a handful of answers, not after a half-life.
pub(super) const MOST_WEIGHT: f64 = 16.0;

/// From here on nothing is left of a weight.
const FORGOTTEN_SECONDS: u32 = 20 * HALF_LIFE_SECONDS;
/// How far the clocks of two threads may be apart. A sample that is further ahead than this is
/// from before the machine's clock was set back, and of unknown age.
const TOLERANCE_SECONDS: u32 = 5;

/// Samples that fade, each a positive number; so many times as fast as [`HALF_LIFE_SECONDS`] says.
#[derive(Debug, Default)]
pub(super) struct Histogram<const FASTER: u32 = 1> {
    /// The weight at each mark, and the second when it weighed that.
    cells: [AtomicU64; MARKS],
    /// A bit for each cell that has ever been used: few are, and only those are read.
    used: AtomicU32,
    /// The second of the newest sample.
    newest: AtomicU32,
}

impl<const FASTER: u32> Histogram<FASTER> {
    /// Counts `value` as `weight` samples. What is not a number from 0 up is not counted.
    pub(super) fn add(&self, value: f64, weight: f64, now: UnixMillis) {
        if !(value.is_finite() && value >= 0.0 && weight > 0.0) {
            return;
        }
        let value = bounded(value);
        let below = usize::try_from(value.to_bits() >> 52).unwrap_or_default() - EXPONENT_OF_ONE;
        let above = (below + 1).min(MARKS - 1);
        let share = value / mark(below) - 1.0;
        let old = self.read(now).weight;
        let keep = if old + weight > MOST_WEIGHT { (MOST_WEIGHT - weight) / old } else { 1.0 };
        let second = second_of(now);
        let touched = 1 << below | 1 << above;
        // The other cells hold nothing that could fade.
        let mut cells = self.used.load(Ordering::Relaxed) | touched;
        while cells != 0 {
            let i = cells.trailing_zeros() as usize;
            cells &= cells - 1;
            let part = |at, share: f64| if i == at { weight * share } else { 0.0 };
            let more = part(below, 1.0 - share) + part(above, share);
            self.cells[i].update(Ordering::Relaxed, Ordering::Relaxed, |packed| {
                let weight = faded(packed, second, FASTER) * keep + more;
                #[expect(clippy::cast_possible_truncation, reason = "seven digits are enough")]
                let weight = (weight as f32).to_bits();
                if weight == 0 { 0 } else { u64::from(weight) << 32 | u64::from(second) }
            });
        }
        self.used.fetch_or(touched, Ordering::Relaxed);
        self.newest.store(second, Ordering::Relaxed);
    }

    /// Forgets all samples.
    pub(super) fn clear(&self) {
        self.newest.store(0, Ordering::Relaxed);
        for cell in &self.cells {
            cell.store(0, Ordering::Relaxed);
        }
    }

    /// What is left of all samples.
    pub(super) fn read(&self, now: UnixMillis) -> Mass {
        let mut mass = Mass::default();
        let second = second_of(now);
        let age = second.saturating_sub(self.newest.load(Ordering::Relaxed));
        if age.saturating_mul(FASTER) >= FORGOTTEN_SECONDS {
            return mass;
        }
        let mut used = self.used.load(Ordering::Relaxed);
        while used != 0 {
            let i = used.trailing_zeros() as usize;
            used &= used - 1;
            let weight = faded(self.cells[i].load(Ordering::Relaxed), second, FASTER);
            mass.weight += weight;
            mass.sum += weight * mark(i);
        }
        mass
    }
}

/// Samples by their weight and their sum: what decisions ask of a distribution.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Mass {
    /// How many samples that is.
    pub(super) weight: f64,
    sum: f64,
}

impl Mass {
    /// Counts `value` as `weight` samples; what is not a number is the least one.
    pub(super) fn add(&mut self, value: f64, weight: f64) {
        self.weight += weight;
        self.sum += weight * bounded(value);
    }

    /// Counts all of `other`, `times` over.
    pub(super) fn add_all(&mut self, other: Self, times: f64) {
        self.weight += other.weight * times;
        self.sum += other.sum * times;
    }

    /// The arithmetic mean, 0 where there is nothing.
    ///
    /// Not a median, which does not see the slow tenth, and not a mixture with a high percentile,
    /// which falls when a sample comes in that is slow but not that slow.
    pub(super) fn mean(self) -> f64 {
        if self.weight > 0.0 { self.sum / self.weight } else { 0.0 }
    }
}

/// `value` between the first mark and the last.
fn bounded(value: f64) -> f64 {
    if value > 1.0 { value.min(mark(MARKS - 1)) } else { 1.0 }
}

/// The exponent that a double of 1 has.
const EXPONENT_OF_ONE: usize = 1023;

/// The value of a mark.
fn mark(i: usize) -> f64 {
    f64::from(1_u32 << i)
}

fn second_of(now: UnixMillis) -> u32 {
    u32::try_from(now.seconds()).unwrap_or(u32::MAX)
}

/// What is left of a cell at `second`.
fn faded(packed: u64, second: u32, faster: u32) -> f64 {
    #[expect(clippy::cast_possible_truncation, reason = "a cell is two numbers of 32 bits")]
    let (weight, since) = (f32::from_bits((packed >> 32) as u32), packed as u32);
    if since > second.saturating_add(TOLERANCE_SECONDS) {
        return 0.0;
    }
    let age = second.saturating_sub(since).saturating_mul(faster);
    if age >= FORGOTTEN_SECONDS {
        return 0.0;
    }
    let halvings = f64::from(1_u32 << (age / HALF_LIFE_SECONDS));
    f64::from(weight) * FADING[(age % HALF_LIFE_SECONDS) as usize] / halvings
}

/// What is left of 1 after so many seconds of a half-life.
static FADING: [f64; HALF_LIFE_SECONDS as usize] = {
    // 2^(-1/120): what a second leaves.
    const SECOND: f64 = 0.994_240_423_818_341_1;
    let mut table = [1.0; HALF_LIFE_SECONDS as usize];
    let mut i = 1;
    while i < table.len() {
        table[i] = table[i - 1] * SECOND;
        i += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: UnixMillis = UnixMillis(1_790_000_000_000);

    fn later(seconds: u64) -> UnixMillis {
        UnixMillis(NOW.0 + seconds * 1000)
    }

    #[track_caller]
    fn near(found: f64, wanted: f64) {
        assert!((found / wanted - 1.0).abs() < 1e-5, "{found} instead of {wanted}");
    }

    #[test]
    fn the_mean_is_that_of_the_samples_however_coarse_the_marks_are() {
        let histogram = Histogram::<1>::default();
        for value in [1.0, 3.0, 700.0, 777.0, 12_345.6] {
            histogram.add(value, 1.0, NOW);
        }
        near(histogram.read(NOW).mean(), (1.0 + 3.0 + 700.0 + 777.0 + 12_345.6) / 5.0);
        near(histogram.read(NOW).weight, 5.0);
    }

    #[test]
    fn half_of_a_sample_is_left_after_a_half_life_and_nothing_after_twenty() {
        let histogram = Histogram::<1>::default();
        histogram.add(500.0, 1.0, NOW);
        for (seconds, left) in [(0, 1.0), (60, 0.5_f64.sqrt()), (120, 0.5), (300, 0.176_776_7)] {
            near(histogram.read(later(seconds)).weight, left);
        }
        near(histogram.read(later(600)).mean(), 500.0);
        assert_eq!(histogram.read(later(2400)).weight, 0.0);
    }

    #[test]
    fn old_samples_fade_in_the_same_way_whether_others_come_or_not() {
        let histogram = Histogram::<1>::default();
        histogram.add(512.0, 8.0, NOW);
        for second in 1..=120 {
            histogram.add(512.0, 1e-6, later(second));
        }
        let left = histogram.read(later(120)).weight;
        assert!((left / 4.0 - 1.0).abs() < 1e-4, "{left}");
    }

    #[test]
    fn a_change_of_pace_shows_after_a_handful_of_samples_however_many_there_were() {
        let histogram = Histogram::<1>::default();
        for _ in 0..10_000 {
            histogram.add(500.0, 1.0, NOW);
        }
        near(histogram.read(NOW).weight, MOST_WEIGHT);
        for _ in 0..5 {
            histogram.add(8000.0, 1.0, NOW);
        }
        assert!(histogram.read(NOW).mean() > 2000.0);
    }

    #[test]
    fn what_is_no_duration_is_not_counted() {
        let histogram = Histogram::<1>::default();
        for value in [f64::NAN, f64::INFINITY, -1.0] {
            histogram.add(value, 1.0, NOW);
        }
        histogram.add(1.0, f64::NAN, NOW);
        assert_eq!(histogram.read(NOW).weight, 0.0);
        histogram.add(0.0, 1.0, NOW);
        histogram.add(1e12, 1.0, NOW);
        near(histogram.read(NOW).mean(), (1.0 + 524_288.0) / 2.0);
    }

    #[test]
    fn samples_of_a_clock_that_was_set_back_are_forgotten() {
        let histogram = Histogram::<1>::default();
        histogram.add(8000.0, 16.0, NOW);
        near(histogram.read(UnixMillis(NOW.0 - 2000)).weight, 16.0);
        let back = UnixMillis(NOW.0 - 86_400_000);
        assert_eq!(histogram.read(back).weight, 0.0);
        histogram.add(500.0, 1.0, back);
        near(histogram.read(back).mean(), 500.0);
    }
}
