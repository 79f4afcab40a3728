//! What a handler answers: a page, a redirect, a failure.

use std::sync::atomic::{AtomicU64, Ordering};

use axum::body::Body;
use axum::response::Response;
use http::header::{
    CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, LOCATION,
    REFERRER_POLICY, SET_COOKIE, STRICT_TRANSPORT_SECURITY, X_CONTENT_TYPE_OPTIONS,
    X_FRAME_OPTIONS,
};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use sluice_core::clock::{Clock as _, SystemClock};
use sluice_gateway::admin::AdminError;
use sluice_gateway::people::PeopleError;

use super::Ask;
use crate::layout::{self, View};
use crate::pages::error;

/// Everything that a page refers to is of this server, and nothing may frame it.
const POLICY: &str = "default-src 'self'; base-uri 'none'; form-action 'self'; \
                      frame-ancestors 'none'; object-src 'none'";

/// What a handler answers.
#[derive(Debug)]
pub(crate) struct Reply {
    status: StatusCode,
    body: Body,
    media_type: &'static str,
    location: Option<String>,
    cookies: Vec<String>,
    more: Vec<(HeaderName, HeaderValue)>,
}

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Nobody has signed in; where they wanted to go.
    SignIn(String),
    /// Nothing is there, or it is somebody else's.
    Missing,
    /// The reader's role does not permit it.
    Forbidden(String),
    /// The form is of another session, or of another site.
    ForeignForm,
    /// The browser came over the network without HTTPS.
    Unprotected,
    /// Something was wrong with what was sent.
    Bad(StatusCode, String),
    /// It takes longer than a page may.
    TookTooLong(String),
    /// Sluice failed; under this id the log has the cause.
    Internal(String),
}

/// What most handlers return.
pub(crate) type Answer = Result<Reply, Failure>;

/// A page.
pub(crate) fn page(ask: &Ask, view: &impl View) -> Answer {
    page_with(StatusCode::OK, ask, view)
}

/// A page with another status: a form that was refused.
pub(crate) fn page_with(status: StatusCode, ask: &Ask, view: &impl View) -> Answer {
    let html = layout::page(&ask.frame(), view)
        .map_err(|error| Failure::internal(&format_args!("{}: {error}", view.title())))?;
    Ok(Reply { status, ..Reply::of("text/html; charset=utf-8", html) })
}

/// To another page, after a form.
pub(crate) fn see_other(path: impl Into<String>) -> Answer {
    Ok(Reply { status: StatusCode::SEE_OTHER, location: Some(path.into()), ..Reply::empty() })
}

impl Reply {
    fn empty() -> Self {
        Self {
            status: StatusCode::OK,
            body: Body::empty(),
            media_type: "text/plain; charset=utf-8",
            location: None,
            cookies: Vec::new(),
            more: Vec::new(),
        }
    }

    /// A body of this media type.
    pub(crate) fn of(media_type: &'static str, body: impl Into<Body>) -> Self {
        Self { body: body.into(), media_type, ..Self::empty() }
    }

    /// A value as a JSON document.
    pub(crate) fn json(value: &impl serde::Serialize) -> Self {
        let text = serde_json::to_string_pretty(value).unwrap_or_default();
        Self::of("application/json; charset=utf-8", text + "\n")
    }

    /// A file of comma-separated values.
    pub(crate) fn csv(name: &'static str, text: impl Into<Body>) -> Self {
        let disposition = format!("attachment; filename=\"{name}.csv\"");
        let reply = Self::of("text/csv; charset=utf-8", text);
        match HeaderValue::from_str(&disposition) {
            Ok(value) => reply.header(CONTENT_DISPOSITION, value),
            Err(_) => reply,
        }
    }

    /// Nothing but a status.
    pub(crate) fn status(status: StatusCode) -> Self {
        Self { status, ..Self::empty() }
    }

    /// With a `Set-Cookie`.
    #[must_use]
    pub(crate) fn cookie(mut self, line: String) -> Self {
        self.cookies.push(line);
        self
    }

    /// With one more header.
    #[must_use]
    pub(crate) fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.more.push((name, value));
        self
    }

    /// As a response, with the headers that every page has.
    pub(super) fn into_response(self, is_https: bool) -> Response {
        let mut response = Response::new(self.body);
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        protect(headers);
        if is_https {
            headers.insert(STRICT_TRANSPORT_SECURITY, ONLY_HTTPS);
        }
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(self.media_type));
        let lines = self.cookies.iter().map(|line| (SET_COOKIE, line));
        let lines = lines.chain(self.location.iter().map(|path| (LOCATION, path)));
        for (name, value) in lines {
            if let Ok(value) = HeaderValue::from_str(value) {
                headers.append(name, value);
            }
        }
        for (name, value) in self.more {
            headers.insert(name, value);
        }
        response
    }
}

/// A year: over HTTPS, browsers do not try anything else any more.
const ONLY_HTTPS: HeaderValue = HeaderValue::from_static("max-age=31536000");

/// The headers that every answer has.
fn protect(headers: &mut HeaderMap) {
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    let opener = HeaderName::from_static("cross-origin-opener-policy");
    headers.insert(opener, HeaderValue::from_static("same-origin"));
}

impl Failure {
    /// Sluice failed: the cause goes into the log alone, under an id that the page tells.
    pub(crate) fn internal(error: &dyn std::fmt::Display) -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let now = SystemClock.now();
        let id = format!("page_{:012x}{:04x}", now.0, COUNT.fetch_add(1, Ordering::Relaxed));
        tracing::error!(%error, id, "a page could not be made");
        Self::Internal(id)
    }

    /// Nobody has signed in.
    pub(crate) fn sign_in(path: &str) -> Self {
        Self::SignIn(path.to_owned())
    }

    /// As a page.
    pub(super) fn into_reply(self, ask: &Ask) -> Reply {
        if let Self::SignIn(next) = &self {
            let query =
                form_urlencoded::Serializer::new(String::new()).append_pair("next", next).finish();
            let to = if next == "/" { "/sign-in".to_owned() } else { format!("/sign-in?{query}") };
            return see_other(to).unwrap_or_else(|_| Reply::empty());
        }
        let view = self.view(ask);
        let status = StatusCode::from_u16(view.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        page_with(status, ask, &view).unwrap_or_else(|_| Reply {
            status: StatusCode::INTERNAL_SERVER_ERROR,
            ..Reply::of("text/plain; charset=utf-8", "internal error; the log has the details\n")
        })
    }

    fn view(self, ask: &Ask) -> error::Failure {
        let mut log_id = None;
        let (status, title, says, action) = match self {
            Self::SignIn(_) | Self::Missing => (
                404,
                "There is no such page",
                vec!["Nothing is at this address, or it belongs to another account.".to_owned()],
                ("Home", "/"),
            ),
            Self::Forbidden(why) => (403, "You may not do this", vec![why], ("Home", "/")),
            Self::ForeignForm => (
                403,
                "This form is too old",
                vec![
                    "It came from another session or from another site, so nothing was done. Open \
                     the page again and repeat it."
                        .to_owned(),
                ],
                ("Home", "/"),
            ),
            Self::Unprotected => (
                403,
                "This page needs HTTPS",
                vec![
                    "Passwords and sessions would travel over the network for everybody to read."
                        .to_owned(),
                    "Give Sluice a certificate (server.tls_certificate_file and \
                     server.tls_key_file), or put a proxy that ends TLS in front of it and name the \
                     proxy in server.trusted_proxies. To look at once, use a tunnel: ssh -L \
                     8080:127.0.0.1:8080 HOST, and then http://127.0.0.1:8080."
                        .to_owned(),
                ],
                ("Try again", "/"),
            ),
            Self::Bad(status, why) => {
                (status.as_u16(), "This cannot be done", vec![why], ("Home", "/"))
            }
            Self::TookTooLong(why) => (
                503,
                "This takes too long",
                vec![why, "A shorter period or another filter makes it less.".to_owned()],
                ("Home", "/"),
            ),
            Self::Internal(id) => {
                log_id = Some(id);
                let says = [
                    "Nothing was changed.",
                    "The API goes on: requests are answered, and their records wait in the journal.",
                ];
                (500, "Something failed here", says.map(str::to_owned).to_vec(), ("Home", "/"))
            }
        };
        let path = (status == 404).then(|| ask.path.clone().into());
        error::Failure { status, title, says, path, log_id, action }
    }
}

impl From<AdminError> for Failure {
    fn from(error: AdminError) -> Self {
        match error {
            AdminError::Forbidden { .. } => Self::Forbidden(sentence(&error)),
            AdminError::NoSuch { .. }
            | AdminError::NoSuchHolder { .. }
            | AdminError::NoSuchSession { .. }
            | AdminError::NoSuchKey => Self::Missing,
            _ if error.is_taken() => Self::Bad(StatusCode::CONFLICT, sentence(&error)),
            _ if error.took_too_long() => Self::TookTooLong(sentence(&error)),
            AdminError::Storage(_) | AdminError::NoRandomness(_) => Self::internal(&error),
            _ => Self::Bad(StatusCode::UNPROCESSABLE_ENTITY, sentence(&error)),
        }
    }
}

impl From<PeopleError> for Failure {
    fn from(error: PeopleError) -> Self {
        match error {
            PeopleError::Admin(error) => error.into(),
            PeopleError::Failed(_) => Self::internal(&error),
            PeopleError::Throttled { .. } => {
                Self::Bad(StatusCode::TOO_MANY_REQUESTS, sentence(&error))
            }
            PeopleError::Busy => Self::Bad(StatusCode::SERVICE_UNAVAILABLE, sentence(&error)),
            _ => Self::Bad(StatusCode::UNPROCESSABLE_ENTITY, sentence(&error)),
        }
    }
}

/// An error's message as a sentence of a page.
pub(crate) fn sentence(error: &impl std::fmt::Display) -> String {
    let text = error.to_string();
    let mut rest = text.chars();
    let first = rest.next().map(|first| first.to_uppercase().collect::<String>());
    let text = first.unwrap_or_default() + rest.as_str();
    if text.ends_with('.') { text } else { text + "." }
}
