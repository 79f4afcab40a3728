//! Forms that are taken once. What makes a secret shows it in its answer alone: where a form is sent
//! again, by a second press or by reading the answer anew, there would be another one that nobody has
//! seen.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use sluice_core::clock::UnixMillis;

/// So many forms are remembered: those of many hours.
const REMEMBERED: usize = 10_000;
/// The longest id that is one of ours.
const LONGEST: usize = 40;

/// The forms that were sent.
#[derive(Debug, Default)]
pub(crate) struct Once {
    count: AtomicU64,
    sent: Mutex<VecDeque<String>>,
}

impl Once {
    /// An id for a form. Nothing depends on that nobody guesses it: it counts within a session.
    pub(crate) fn id(&self, now: UnixMillis) -> String {
        format!("{:x}-{:x}", now.0, self.count.fetch_add(1, Ordering::Relaxed))
    }

    /// Notes that a session has sent this form; `false`: it has done so before.
    pub(crate) fn take(&self, session: &str, id: &str) -> bool {
        let id: String = id.chars().take(LONGEST).collect();
        let id = format!("{session} {id}");
        let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        if sent.contains(&id) {
            return false;
        }
        if sent.len() >= REMEMBERED {
            sent.pop_front();
        }
        sent.push_back(id);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_taken_once_in_each_session() {
        let once = Once::default();
        let (a, b) = (once.id(UnixMillis(7)), once.id(UnixMillis(7)));
        assert_ne!(a, b);
        assert!(once.take("one", &a) && once.take("one", &b) && once.take("two", &a));
        assert!(!once.take("one", &a) && !once.take("two", &a));
    }

    #[test]
    fn the_oldest_are_forgotten() {
        let once = Once::default();
        for number in 0..=REMEMBERED {
            assert!(once.take("one", &number.to_string()));
        }
        assert_eq!(once.sent.lock().unwrap().len(), REMEMBERED);
        assert!(once.take("one", "0") && !once.take("one", &REMEMBERED.to_string()));
    }
}
