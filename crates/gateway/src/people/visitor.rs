//! Where somebody comes from, as text for people.

use std::net::IpAddr;

use serde_json::{Value, json};

use crate::admin::is_unseen;

/// The longest name of a browser that is kept, in characters.
const LONGEST_BROWSER: usize = 200;

/// Whoever asks, before anybody knows who they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visitor {
    /// Their address; behind a trusted proxy, the one that it tells.
    pub address: Option<IpAddr>,
    /// What their browser calls itself: one line without control characters.
    pub browser: String,
}

impl Visitor {
    /// One from `address`, with the header `User-Agent`.
    pub fn new(address: Option<IpAddr>, user_agent: Option<&str>) -> Self {
        let shown = |c: &char| !c.is_control() && !is_unseen(*c);
        let browser = user_agent.unwrap_or_default().chars().filter(shown);
        let browser: String = browser.take(LONGEST_BROWSER).collect();
        Self { address: address.map(|it| it.to_canonical()), browser: browser.trim().to_owned() }
    }

    pub(super) fn address_text(&self) -> Option<String> {
        self.address.map(|address| address.to_string())
    }

    /// What an entry of the audit trail says of them, with `more`.
    pub(super) fn details(&self, mut more: Value) -> Value {
        if let Value::Object(members) = &mut more {
            members.insert("address".to_owned(), json!(self.address_text()));
            members.insert("browser".to_owned(), json!(self.browser));
        }
        more
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_browsers_name_is_one_short_line(text in "\\PC*|.*|[\\x00-\\x20\u{202e}a]{0,400}") {
            let visitor = Visitor::new(None, Some(&text));
            prop_assert!(visitor.browser.chars().count() <= LONGEST_BROWSER);
            prop_assert!(!visitor.browser.chars().any(|c| c.is_control() || is_unseen(c)));
        }
    }

    #[test]
    fn what_a_browser_says_stays_readable() {
        let visitor = Visitor::new("::ffff:192.0.2.7".parse().ok(), Some("Mozil\u{202e}la\n/5.0 "));
        assert_eq!(visitor.browser, "Mozilla/5.0");
        assert_eq!(visitor.address_text().as_deref(), Some("192.0.2.7"));
        let details = visitor.details(json!({ "reason": "x" }));
        assert_eq!(details["address"], "192.0.2.7");
        assert_eq!(details["reason"], "x");
    }
}
