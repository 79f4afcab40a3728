//! Why a request gets no answer. Nothing here knows HTTP: `sluice-api` holds the one table that
//! turns these into statuses.

use std::time::Duration;

use sluice_core::filtering::FilterRecord;
use sluice_core::outcome::Outcome;
use sluice_core::region::Region;

use crate::limits::LimitExceeded;

/// When it is worth trying again while the audit trail cannot be written.
pub const AUDIT_RETRY: Duration = Duration::from_secs(30);

/// A request that gets no answer: why, how that is recorded, and what the filter did with it before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unanswered {
    /// Why.
    pub error: ChatError,
    /// How it is recorded; `None` where nobody was asked, so that it leaves no record.
    pub outcome: Option<Outcome>,
    /// What the filter did; `None` where the request did not come so far.
    pub filter: Option<FilterRecord>,
}

impl<E: Into<ChatError>> From<E> for Unanswered {
    fn from(error: E) -> Self {
        Self { error: error.into(), outcome: None, filter: None }
    }
}

impl From<LimitExceeded> for ChatError {
    fn from(exceeded: LimitExceeded) -> Self {
        Self::Limited(Box::new(exceeded))
    }
}

/// Why a request gets no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChatError {
    /// No model of this name.
    #[error("model `{model}` is not served here; GET /api/v1/models lists those that are")]
    UnknownModel {
        /// What was asked for.
        model: String,
    },
    /// The key or its account may not do this.
    #[error("{reason}")]
    NotPermitted {
        /// The field that asked for it.
        field: &'static str,
        /// What is not permitted, and what is.
        reason: String,
    },
    /// A value is out of its bounds.
    #[error("`{field}` is {value}; expected {expected}")]
    OutOfBounds {
        /// The field.
        field: String,
        /// The value that was sent.
        value: String,
        /// The bounds, and how to change them where that can be done.
        expected: String,
    },
    /// The model does not run in the region.
    #[error("model `{model}` does not run in region `{}`; {}", region.as_str(), elsewhere(regions))]
    RegionUnavailable {
        /// The model.
        model: String,
        /// The region that was asked for.
        region: Region,
        /// The regions that have it.
        regions: Vec<Region>,
    },
    /// No provider of the model can express the request.
    #[error("`{field}` {reason}; model `{model}` cannot take it")]
    Unsupported {
        /// The field.
        field: String,
        /// What cannot be expressed.
        reason: String,
        /// The model.
        model: String,
    },
    /// A limit stands in the way.
    #[error(transparent)]
    Limited(Box<LimitExceeded>),
    /// The provider refused the request, and any other would too.
    #[error("the provider refused the request: {message}")]
    Rejected {
        /// The provider's message.
        message: String,
        /// The provider's code, where it is a plain word.
        code: Option<String>,
        /// The field that it objects to.
        param: Option<String>,
        /// Whether the prompt is too long for the model.
        too_long: bool,
    },
    /// Sluice's own filter refuses the request.
    #[error("{reason}")]
    Blocked {
        /// Where and why, without content.
        reason: String,
    },
    /// The provider's filter refused the content.
    #[error("the provider's content filter refused the request: {message}")]
    ContentBlocked {
        /// The provider's message.
        message: String,
    },
    /// Every provider of the model wants fewer requests.
    #[error("the provider of model `{model}` is rate limited: {message}; retry in {} s", .retry_after.as_secs())]
    UpstreamRateLimited {
        /// The model.
        model: String,
        /// The provider's message.
        message: String,
        /// When it wants to be asked again.
        retry_after: Duration,
    },
    /// The provider failed.
    #[error("{message}")]
    Upstream {
        /// What happened, without anything secret.
        message: String,
        /// When it wants to be asked again.
        retry_after: Option<Duration>,
    },
    /// The provider was too slow.
    #[error("{message}")]
    UpstreamTimeout {
        /// What took too long.
        message: String,
    },
    /// Nothing can serve the model right now.
    #[error("no provider can serve model `{model}` right now: {reasons}")]
    NoModelAvailable {
        /// The model.
        model: String,
        /// Why not, for each provider.
        reasons: String,
        /// When it is worth trying again.
        retry_after: Duration,
    },
    /// The request has to leave an audit entry, and none can be written.
    #[error(
        "this request has to be audited, and the audit trail cannot be written now (the disk of this \
         server is full, or fails); retry in {} s", AUDIT_RETRY.as_secs()
    )]
    AuditUnavailable,
    /// The server stops and waits no longer.
    #[error("this server is shutting down, and the answer did not finish in time; retry in 1 s")]
    ShuttingDown,
    /// Sluice's own fault; the log has the place.
    #[error("internal error; the server's log says where")]
    Internal,
}

impl ChatError {
    /// The same error with what it quotes of a provider changed by `change`.
    pub(crate) fn requoted(mut self, change: impl FnOnce(&str) -> String) -> Self {
        if let Self::Rejected { message, .. }
        | Self::ContentBlocked { message }
        | Self::UpstreamRateLimited { message, .. }
        | Self::Upstream { message, .. }
        | Self::UpstreamTimeout { message } = &mut self
        {
            *message = change(message);
        }
        self
    }
}

fn elsewhere(regions: &[Region]) -> String {
    if regions.is_empty() {
        return "none of its providers names a region".to_owned();
    }
    let names: Vec<&str> = regions.iter().map(|region| region.as_str()).collect();
    format!("it runs in {}", names.join(", "))
}
