//! What was used in one window of one meter.

use super::allowance::Meter;
use sluice_core::window::{Span, Window};

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
    /// The window before, and what was used in it: a clock that was wrong for a moment returns.
    last: Option<(Span, u64)>,
}

impl Counter {
    /// Nothing is used.
    pub(super) fn new(meter: Meter) -> Self {
        let span = match meter.window {
            Window::FiveHours => CLOSED,
            _ => Span { start: 0, end: 0 },
        };
        Self { meter, span, used: 0, last: None }
    }

    /// Begins a new window where the old one is over.
    pub(super) fn roll(&mut self, now: u64) {
        if now >= self.span.end {
            self.last = Some((self.span, self.used));
            self.used = 0;
            self.span = self.around(now);
        } else if now.saturating_add(CLOCK_SKEW_SECONDS) < self.valid_from() {
            self.set_back(now);
        }
    }

    /// The clock was set back. That opens no fresh window, and blocks nobody for longer than one:
    /// what was counted meanwhile stays, and what was used in the last window comes back with it.
    fn set_back(&mut self, now: u64) {
        match self.last.take() {
            Some((span, used)) if span.contains(now) => {
                self.span = span;
                self.used = self.used.saturating_add(used);
            }
            _ if self.is_closed() => {}
            _ => self.span = self.meter.window.span(&self.meter.zone, now),
        }
    }

    /// The second before which a reading of the clock means that it was set back.
    pub(super) fn valid_from(&self) -> u64 {
        match &self.last {
            Some((span, _)) if self.is_closed() => span.end,
            _ => self.span.start,
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

    /// Adds what a request used that was admitted at `admitted`. What belongs to the last window
    /// counts there; what lies ahead was admitted before the clock was set back, and belongs here.
    pub(super) fn add(&mut self, amount: u64, admitted: u64) {
        if let Some(used) = self.counting(admitted) {
            *used = used.saturating_add(amount);
        }
    }

    /// Takes back what was counted at `counted`, wherever [`Counter::add`] would count it.
    pub(super) fn take_back(&mut self, amount: u64, counted: u64) {
        if let Some(used) = self.counting(counted) {
            *used = used.saturating_sub(amount);
        }
    }

    /// Where something of the moment `at` counts; `None` where its window is forgotten.
    fn counting(&mut self, at: u64) -> Option<&mut u64> {
        // What was admitted before a budget began is none of its use, whenever it ends.
        if at < self.meter.since {
            return None;
        }
        let is_open = at >= self.span.start && !self.is_closed();
        match &mut self.last {
            Some((span, used)) if span.contains(at) => Some(used),
            _ => is_open.then_some(&mut self.used),
        }
    }

    /// Takes over what the database knows of the window that began at `start`; keeps what is higher.
    pub(super) fn take_over(&mut self, start: u64, used: u64) {
        if start == self.span.start && !self.is_closed() {
            self.used = self.used.max(used);
        }
    }
}
