//! Filters what a caller says of itself and what is kept of it: the name and the address of an
//! application.
//!
//! An application says the same with each request, so that answers are remembered: by a keyed hash of
//! the text, in memory only, and in little of it.

use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;

use foldhash::quality::RandomState;

use super::cache::{Cache, CacheKey, Weight};
use super::{Filter, Subject, guarded};
use crate::flag::Flag;

/// Memory for what is known of labels.
const BYTES: usize = 256 << 10;

/// What is known of labels.
pub(super) struct Labels {
    known: Cache<Label>,
    /// Two hashes of 64 bits: a text must not pass for another one.
    hashes: [RandomState; 2],
}

/// What is kept of a text.
enum Label {
    /// The text.
    Same,
    /// Another one.
    Other(Box<str>),
    /// Nothing: it cannot be read.
    Nothing,
}

impl Weight for Label {
    fn weight(&self) -> usize {
        if let Self::Other(text) = self { text.len() } else { 0 }
    }
}

impl Default for Labels {
    fn default() -> Self {
        Self { known: Cache::new(BYTES), hashes: Default::default() }
    }
}

impl Labels {
    fn key(&self, text: &str, subject: &Subject<'_>) -> CacheKey {
        CacheKey::of_hashes(self.hashes.each_ref().map(|state| {
            let mut hasher = state.build_hasher();
            hasher.write_u8(subject.level as u8);
            hasher.write_usize(subject.account.len());
            hasher.write(subject.account.as_bytes());
            hasher.write(text.as_bytes());
            hasher.finish()
        }))
    }
}

impl Filter {
    /// A short text from the caller as it may be kept: with placeholders where a request would have
    /// them. `None` where nothing may be kept, since the text cannot be read.
    pub fn label(&self, text: String, subject: &Subject<'_>) -> Option<String> {
        if self.rules(subject.level).redact.is_empty() {
            return Some(text);
        }
        if subject.zero_retention {
            return self.read_label(&text, subject).kept(text);
        }
        let key = self.labels.key(&text, subject);
        if let Some(known) = self.labels.known.find(key) {
            return known.kept(text);
        }
        let label = Arc::new(self.read_label(&text, subject));
        self.labels.known.insert(key, Arc::clone(&label));
        label.kept(text)
    }

    fn read_label(&self, text: &str, subject: &Subject<'_>) -> Label {
        match guarded(|| self.filter_text(text, subject, None)) {
            Ok(Ok(read)) if read.report.flags.contains(Flag::UnreadableContent) => Label::Nothing,
            Ok(Ok(read)) if read.found.is_empty() => Label::Same,
            Ok(Ok(read)) => Label::Other(read.text.into()),
            Ok(Err(_)) | Err(_) => Label::Nothing,
        }
    }
}

impl Label {
    fn kept(&self, text: String) -> Option<String> {
        match self {
            Self::Same => Some(text),
            Self::Other(text) => Some(text.to_string()),
            Self::Nothing => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use sluice_core::level::SecurityLevel;

    use super::super::tests::{EMAIL, TOKEN, filter, subject};
    use super::*;

    #[test]
    fn labels_are_kept_without_what_a_request_would_lose() {
        let filter = filter();
        for level in SecurityLevel::ALL {
            for zero_retention in [false, true] {
                let subject = Subject { zero_retention, ..subject(level) };
                let label = |text: &str| filter.label(text.to_owned(), &subject);
                for _ in 0..2 {
                    assert_eq!(label("Café Coder 2").as_deref(), Some("Café Coder 2"));
                    let filtered = label(&format!("bot {TOKEN} of {EMAIL}")).unwrap();
                    assert!(filtered.starts_with("bot Q"), "{filtered}");
                    assert!(!filtered.contains(TOKEN) && !filtered.contains(EMAIL), "{filtered}");
                    assert_eq!(label("data:image/png;base64,iVBORw0KGgoAAAANSUhEUg=="), None);
                }
            }
        }
    }

    #[test]
    fn labels_are_remembered_for_whoever_said_them_only() {
        let filter = filter();
        let of = |account, level| {
            let subject = Subject { account, ..subject(level) };
            filter.label(format!("of {EMAIL}"), &subject).unwrap()
        };
        let [first, again, other] = ["a", "a", "b"].map(|who| of(who, SecurityLevel::Standard));
        assert_eq!(first, again);
        assert_ne!(first, other);
    }

    #[test]
    fn what_fails_is_not_kept() {
        let text = "every search fails";
        let subject = subject(SecurityLevel::Maximum);
        assert_eq!(filter().label(text.to_owned(), &subject), None);
    }
}
