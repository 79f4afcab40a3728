//! Says that something goes wrong without filling the log: a line when it begins, at most one a
//! minute while it lasts, and one when it is over.

use std::time::Duration;

use tokio::time::Instant;

/// How often a trouble that lasts is logged.
const PAUSE: Duration = Duration::from_secs(60);

/// One thing that can go wrong again and again.
#[derive(Debug, Default)]
pub(crate) struct Notice(Option<Trouble>);

#[derive(Debug)]
struct Trouble {
    since: Instant,
    said: Instant,
    times: u64,
}

impl Notice {
    /// It went wrong. Where a line is due: how often it has, since it began.
    pub(crate) fn failed(&mut self, now: Instant) -> Option<u64> {
        let Some(trouble) = &mut self.0 else {
            self.0 = Some(Trouble { since: now, said: now, times: 1 });
            return Some(1);
        };
        trouble.times += 1;
        if now.duration_since(trouble.said) < PAUSE {
            return None;
        }
        trouble.said = now;
        Some(trouble.times)
    }

    /// It went well. Where that is news: how often it went wrong before.
    pub(crate) fn fine(&mut self) -> Option<u64> {
        self.0.take().map(|trouble| trouble.times)
    }

    /// For how long it has been going wrong.
    pub(crate) fn lasts(&self, now: Instant) -> Duration {
        self.0.as_ref().map_or(Duration::ZERO, |trouble| now.duration_since(trouble.since))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trouble_is_told_when_it_begins_once_a_minute_and_when_it_is_over() {
        let start = Instant::now();
        let mut notice = Notice::default();
        assert_eq!(notice.fine(), None);
        let told: Vec<(u64, u64)> = (0..150)
            .filter_map(|second| {
                notice.failed(start + Duration::from_secs(second)).map(|times| (second, times))
            })
            .collect();
        assert_eq!(told, [(0, 1), (60, 61), (120, 121)]);
        assert_eq!(notice.lasts(start + Duration::from_secs(150)), Duration::from_secs(150));
        assert_eq!(notice.fine(), Some(150));
        assert_eq!(notice.fine(), None);
        assert_eq!(notice.lasts(start), Duration::ZERO);
        assert_eq!(notice.failed(start), Some(1), "the next one is told again");
    }
}
