//! Cross-origin requests: off unless the configuration names origins.

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD, ORIGIN,
    VARY,
};
use http::{HeaderMap, HeaderValue, Method};

/// Which origins may ask.
#[derive(Debug, Clone, Default)]
pub struct Cors {
    origins: Vec<String>,
}

impl Cors {
    /// Allows these origins; `*` allows all. None is off.
    pub fn new(origins: Vec<String>) -> Self {
        Self { origins }
    }

    /// Whether any origin may ask.
    pub(crate) fn is_on(&self) -> bool {
        !self.origins.is_empty()
    }

    /// The request's origin, where it may ask.
    pub(crate) fn allowed(&self, headers: &HeaderMap) -> Option<HeaderValue> {
        let origin = headers.get(ORIGIN)?;
        let known = self
            .origins
            .iter()
            .any(|allowed| allowed == "*" || allowed.as_bytes() == origin.as_bytes());
        known.then(|| origin.clone())
    }

    /// Whether the request is a browser's question beforehand.
    pub(crate) fn is_preflight(method: &Method, headers: &HeaderMap) -> bool {
        method == Method::OPTIONS
            && headers.contains_key(ORIGIN)
            && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD)
    }

    /// Writes what a browser wants to know into a response's headers.
    pub(crate) fn write_headers(
        origin: Option<HeaderValue>,
        preflight: bool,
        headers: &mut HeaderMap,
    ) {
        // Also where this origin may not: a cache must not give its response to one that may.
        headers.append(VARY, HeaderValue::from_static("origin"));
        let Some(origin) = origin else { return };
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("*"));
        if preflight {
            headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST"));
            headers.insert(
                ACCESS_CONTROL_ALLOW_HEADERS,
                HeaderValue::from_static("authorization, content-type, svc-api-key, x-title, *"),
            );
            headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("3600"));
        }
    }
}
