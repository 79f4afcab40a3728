//! What is known of a request beside its body.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

use sluice_core::clock::UnixMillis;
use sluice_core::ids::RequestId;
use sluice_routing::session::Named;

use crate::watch::Watch;

/// Bodies larger than this are parsed and filtered on a thread of their own: they take longer than
/// other requests should wait.
pub const LARGE_BODY: usize = 256 << 10;

/// What is known of a request beside its body.
#[derive(Debug, Clone)]
pub struct RequestContext {
    /// Names the request everywhere.
    pub id: RequestId,
    /// When it arrived.
    pub arrived_at: UnixMillis,
    /// The same, for measuring.
    pub arrived: Instant,
    /// Where it came from.
    pub remote: Option<IpAddr>,
    /// `HTTP-Referer`: the calling application's address, which is filtered before it is kept.
    pub app_url: Option<String>,
    /// `X-Title`: the calling application's name, which is filtered before it is kept.
    pub app_title: Option<String>,
    /// `svc-session-id`: the caller's own name for the conversation.
    pub session: Option<String>,
    /// A header of the client's own that names the conversation, such as `x-session-id`.
    pub client_session: Option<String>,
    /// Who reads the answer by hand, if somebody does.
    pub watch: Option<Arc<Watch>>,
}

impl RequestContext {
    /// What its headers name the conversation by.
    pub(crate) fn named(&self) -> Named<'_> {
        Named { own: self.session.as_deref(), by_client: self.client_session.as_deref() }
    }
}

/// A new name with `prefix`: 48 bits of time, so that names sort by age, and 80 random bits.
///
/// Unique, not secret: a fast generator is enough.
pub fn fresh_id(prefix: &str, now: UnixMillis) -> String {
    const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    let mut id = String::with_capacity(prefix.len() + 26);
    id.push_str(prefix);
    let bits = (u128::from(now.0) << 80) | (fastrand::u128(..) >> 48);
    for place in (0..26).rev() {
        let digit = usize::try_from((bits >> (place * 5)) & 31).unwrap_or(0);
        id.push(char::from(DIGITS[digit]));
    }
    id
}
