//! What was used in one window of one meter.

use super::allowance::Meter;
use super::window::{Span, Window};

/// How far a reading of the clock may lie before a window that another thread has begun, without
/// meaning that the clock was set back.
pub(super) const CLOCK_SKEW_SECONDS: u64 = 60;

/// The window of five hours before its first use.
const CLOSED: Span = Span { start: 0, end: u64::MAX };

/// Counts one measure in the current window.
#[derive(Debug)]
pub(super) struct Counter {
    pub(super) meter: Meter,
    /// Nothing is known of the time yet where it ends at 0.
    pub(super) span: Span,
    pub(super) used: u64,
}

impl Counter {
    /// Nothing is used.
    pub(super) fn new(meter: Meter) -> Self {
        let span = match meter.window {
            Window::FiveHours => CLOSED,
            _ => Span { start: 0, end: 0 },
        };
        Self { meter, span, used: 0 }
    }

    /// Begins a new window where the old one is over.
    pub(super) fn roll(&mut self, now: u64) {
        if now >= self.span.end {
            self.used = 0;
            self.span = self.around(now);
        } else if now.saturating_add(CLOCK_SKEW_SECONDS) < self.span.start {
            // A clock that was set back opens no fresh window, and blocks nobody for longer than one.
            self.span = self.meter.window.span(&self.meter.zone, now);
        }
    }

    fn around(&self, now: u64) -> Span {
        match self.meter.window {
            Window::FiveHours => CLOSED,
            window => window.span(&self.meter.zone, now),
        }
    }

    /// Whether it waits for its first use.
    pub(super) fn is_closed(&self) -> bool {
        self.meter.window == Window::FiveHours && self.span == CLOSED
    }

    /// Waits for its first use again.
    pub(super) fn close(&mut self) {
        (self.span, self.used) = (CLOSED, 0);
    }

    /// Adds what a request used that began at `started`. What belongs to a window that is over is
    /// forgotten; what lies ahead was begun before the clock was set back, and belongs here.
    pub(super) fn add(&mut self, amount: u64, started: u64) {
        if started >= self.span.start && !self.is_closed() {
            self.used = self.used.saturating_add(amount);
        }
    }

    /// Takes over what the database knows of the window that began at `start`; keeps what is higher.
    pub(super) fn take_over(&mut self, start: u64, used: u64) {
        if start == self.span.start && !self.is_closed() {
            self.used = self.used.max(used);
        }
    }
}
