//! The four documented rate-limit headers.

use http::{HeaderMap, HeaderName, HeaderValue};
use sluice_gateway::limits::RateView;

const LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");
const WINDOW: HeaderName = HeaderName::from_static("x-ratelimit-window");

/// Writes the request window into a response's headers.
pub(crate) fn write_headers(rate: &RateView, headers: &mut HeaderMap) {
    headers.insert(LIMIT, HeaderValue::from(rate.limit));
    headers.insert(REMAINING, HeaderValue::from(rate.remaining));
    headers.insert(RESET, HeaderValue::from(rate.reset));
    headers.insert(WINDOW, HeaderValue::from(rate.window));
}
