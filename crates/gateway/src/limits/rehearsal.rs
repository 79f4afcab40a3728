//! What a limit would have done to requests that were made: asked before it is set.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use sluice_core::measure::{Limited, Measure};
use sluice_core::window::{Span, Window, Zone};
use sluice_storage::{PastRequest, Used};

/// Goes through past requests in the order in which they began.
#[derive(Debug)]
pub struct Rehearsal {
    limited: Limited,
    limit: u64,
    zone: Zone,
    /// The window of the last request, and what was used in it.
    open: Option<(Span, u64)>,
    /// When those end that are under way, in milliseconds.
    under_way: BinaryHeap<Reverse<u64>>,
    requests: u64,
    refused: u64,
}

impl Rehearsal {
    /// Of a limit in whose window around the first request `used` was used before.
    pub fn new(limited: Limited, limit: u64, zone: Zone, (from, used): (u64, Used)) -> Self {
        let open = match limited {
            Limited::Used { measure, window } if window != Window::FiveHours => {
                Some((window.span(&zone, from), used.of(measure)))
            }
            _ => None,
        };
        Self { limited, limit, zone, open, under_way: BinaryHeap::new(), requests: 0, refused: 0 }
    }

    /// The next request. What would have been refused uses nothing.
    pub fn request(&mut self, request: &PastRequest) {
        self.requests += 1;
        let fits = match self.limited {
            Limited::Concurrency => self.has_place(request),
            Limited::Used { measure, window } => self.has_room(request, measure, window),
        };
        self.refused += u64::from(!fits);
    }

    /// How many requests there were, and how many would have been refused.
    pub fn result(&self) -> (u64, u64) {
        (self.requests, self.refused)
    }

    fn has_place(&mut self, request: &PastRequest) -> bool {
        let now = request.started_at.0;
        while self.under_way.peek().is_some_and(|Reverse(end)| *end <= now) {
            self.under_way.pop();
        }
        let fits = (self.under_way.len() as u64) < self.limit;
        if fits {
            self.under_way.push(Reverse(now.saturating_add(request.duration_ms)));
        }
        fits
    }

    fn has_room(&mut self, request: &PastRequest, measure: Measure, window: Window) -> bool {
        let at = request.started_at.seconds();
        let (span, used) = match self.open {
            Some((span, used)) if span.contains(at) => (span, used),
            _ => (window.span(&self.zone, at), 0),
        };
        let wanted = request.used.of(measure);
        let is_free = measure == Measure::Usd && wanted == 0;
        let fits = self.limit > 0 && (is_free || used.saturating_add(wanted) <= self.limit);
        // A window of five hours begins with what was used in it.
        if fits || window != Window::FiveHours || self.open.is_some_and(|(it, _)| it == span) {
            let used = if fits { used.saturating_add(wanted) } else { used };
            self.open = Some((span, used));
        }
        fits
    }
}

#[cfg(test)]
mod tests {
    use sluice_core::clock::UnixMillis;
    use sluice_core::money::PicoUsd;

    use super::*;

    const DAY: u64 = 86_400;

    fn request(at: u64, tokens: u64, cost: u64) -> PastRequest {
        let used = Used { requests: 1, tokens, cost: PicoUsd(cost) };
        PastRequest { started_at: UnixMillis(at * 1000), duration_ms: 2_000, used }
    }

    fn rehearse(limited: Limited, limit: u64, before: Used, all: &[PastRequest]) -> (u64, u64) {
        let from = all.first().map_or(0, |it| it.started_at.seconds());
        let mut rehearsal = Rehearsal::new(limited, limit, Zone::UTC, (from, before));
        all.iter().for_each(|request| rehearsal.request(request));
        rehearsal.result()
    }

    #[test]
    fn what_does_not_fit_would_have_been_refused() {
        let of = |measure, window| Limited::Used { measure, window };
        let all = [request(DAY, 60, 5), request(DAY + 10, 60, 0), request(2 * DAY, 60, 5)];
        let none = Used::default();
        for (limited, limit, before, refused) in [
            (of(Measure::Tokens, Window::Day), 100, none, 1),
            (of(Measure::Tokens, Window::Day), 120, none, 0),
            (of(Measure::Tokens, Window::Month), 120, none, 1),
            (of(Measure::Tokens, Window::Month), 180, Used { tokens: 1, ..none }, 1),
            (of(Measure::Requests, Window::Total), 2, none, 1),
            (of(Measure::Requests, Window::FiveHours), 1, none, 1),
            // What is free goes on when all is spent, but not where nothing may be spent.
            (of(Measure::Usd, Window::Day), 5, none, 0),
            (of(Measure::Usd, Window::Total), 5, none, 1),
            (of(Measure::Usd, Window::Total), 0, none, 3),
        ] {
            assert_eq!(rehearse(limited, limit, before, &all), (3, refused), "{limited:?} {limit}");
        }
        let at_once = [request(DAY, 1, 1), request(DAY + 1, 1, 1), request(DAY + 2, 1, 1)];
        assert_eq!(rehearse(Limited::Concurrency, 1, none, &at_once), (3, 1));
        assert_eq!(rehearse(Limited::Concurrency, 2, none, &at_once), (3, 0));
    }
}
