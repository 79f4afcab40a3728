//! Cookies: the session, the step between password and code, and what somebody chose about their
//! display.

use http::HeaderMap;
use http::header::COOKIE;

/// A cookie of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Name {
    /// What opens the session.
    Session,
    /// That the password was right, sealed, until the code comes.
    Step,
    /// Light or dark.
    Theme,
}

impl Name {
    /// What it is called. Over HTTPS a browser takes a `__Host-` cookie from this host alone.
    fn text(self, is_https: bool) -> &'static str {
        match (self, is_https) {
            (Self::Session, true) => "__Host-sluice",
            (Self::Session, false) => "sluice",
            (Self::Step, true) => "__Host-sluice-step",
            (Self::Step, false) => "sluice-step",
            (Self::Theme, _) => "sluice-theme",
        }
    }

    /// Its value in a request.
    pub(crate) fn of(self, headers: &HeaderMap, is_https: bool) -> Option<&str> {
        let wanted = self.text(is_https);
        let lines = headers.get_all(COOKIE).into_iter().filter_map(|line| line.to_str().ok());
        let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.split_once('='));
        pairs
            .map(|(name, value)| (name.trim(), value.trim()))
            .find(|(name, value)| *name == wanted && !value.is_empty())
            .map(|(_, value)| value)
    }

    /// A `Set-Cookie` that keeps `value` for so many seconds; of none, until the browser is closed.
    pub(crate) fn set(self, value: &str, seconds: Option<u64>, is_https: bool) -> String {
        let mut line = format!("{}={value}; Path=/; SameSite=Lax", self.text(is_https));
        // The page's own script turns the theme, too.
        if self != Self::Theme {
            line.push_str("; HttpOnly");
        }
        if let Some(seconds) = seconds {
            line.push_str(&format!("; Max-Age={seconds}"));
        }
        if is_https {
            line.push_str("; Secure");
        }
        line
    }

    /// A `Set-Cookie` that removes it.
    pub(crate) fn remove(self, is_https: bool) -> String {
        self.set("", Some(0), is_https)
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn a_cookie_is_found_among_others() {
        let mut headers = HeaderMap::new();
        headers.append(COOKIE, HeaderValue::from_static("a=b; sluice=one; sluice-theme=dark"));
        headers.append(COOKIE, HeaderValue::from_static("__Host-sluice=two"));
        assert_eq!(Name::Session.of(&headers, false), Some("one"));
        assert_eq!(Name::Session.of(&headers, true), Some("two"));
        assert_eq!(Name::Theme.of(&headers, true), Some("dark"));
        assert_eq!(Name::Step.of(&headers, true), None);
    }

    #[test]
    fn over_https_a_cookie_is_bound_to_the_host() {
        let line = Name::Session.set("x", Some(60), true);
        assert_eq!(line, "__Host-sluice=x; Path=/; SameSite=Lax; HttpOnly; Max-Age=60; Secure");
        assert!(!Name::Session.set("x", None, false).contains("Secure"));
        assert!(Name::Session.remove(true).contains("Max-Age=0"));
    }

    #[test]
    fn the_script_can_turn_the_theme_that_a_form_set() {
        assert!(!Name::Theme.set("dark", Some(60), true).contains("HttpOnly"));
        assert!(Name::Step.set("x", None, true).contains("HttpOnly"));
    }
}
