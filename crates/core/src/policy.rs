//! What holds for one request, once everybody who may say something about it has been heard.

use crate::level::SecurityLevel;
use crate::region::Region;

/// The strictest of what the deployment, the account, the key, the model and the request ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EffectivePolicy {
    /// How strictly the request is filtered.
    pub level: SecurityLevel,
    /// Where it may be processed; `None` where nobody said.
    pub region: Option<Region>,
    /// Whether an audit entry is written.
    pub audit: bool,
    /// What may be written down about it.
    pub retention: Retention,
}

/// What may be written down about a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retention {
    /// One usage record with the request's identity. Content is written nowhere in any case.
    Records,
    /// Sums only: no request id, no identity, nothing derived from content (`zero_retention`).
    SumsOnly,
}

impl Retention {
    /// Whether zero-retention mode is on: `security.zero_retention`.
    pub fn is_zero(self) -> bool {
        self == Self::SumsOnly
    }
}
