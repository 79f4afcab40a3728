//! What holds for one request, once everybody who may say something about it has been heard.

use serde::{Deserialize, Serialize};

use crate::level::SecurityLevel;
use crate::region::Region;

/// What one place (the deployment, an account, a department, a team, whoever has the key, a key) says
/// about requests. What is absent leaves it to the others. Of all that is said, the strictest counts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PolicyRules {
    /// The least strict level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<SecurityLevel>,
    /// The models that may be asked, and no others: ids, or beginnings of ids that end in `*`. A router
    /// that is named may ask all of its members.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub models: Option<Vec<String>>,
    /// Where requests may be processed, and nowhere else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub regions: Option<Vec<Region>>,
    /// Where requests are processed that do not say; the nearest to the key counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<Region>,
    /// Nothing about a request's content is kept.
    #[serde(skip_serializing_if = "is_off")]
    pub zero_retention: bool,
    /// Every request leaves an audit entry, whatever else is said.
    #[serde(skip_serializing_if = "is_off")]
    pub audit: bool,
    /// The most tokens of an answer; a larger wish is lowered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<u32>,
    /// Terms that must not leave.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub terms: Vec<String>,
    /// Patterns that must not leave, as regular expressions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub patterns: Vec<String>,
    /// Kinds of values that are redacted at every level.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub redact: Vec<String>,
    /// Values that no detector redacts; terms and patterns do. Where several places have such a list,
    /// those that are in all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exceptions: Option<Vec<String>>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_off(flag: &bool) -> bool {
    !flag
}

impl PolicyRules {
    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether anything is said that lets through what would be redacted otherwise.
    pub fn loosens(&self) -> bool {
        self.exceptions.as_ref().is_some_and(|list| !list.is_empty())
    }
}

/// Whether an entry of a list of models, which may end in `*`, stands for `model`.
pub fn names_model(entry: &str, model: &str) -> bool {
    match entry.strip_suffix('*') {
        Some(beginning) => model.starts_with(beginning),
        None => entry == model,
    }
}

/// The strictest of what the deployment, the account, the key, the model and the request ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EffectivePolicy {
    /// How strictly the request is filtered.
    pub level: SecurityLevel,
    /// Where it may be processed; `None` where nobody said.
    pub region: Option<Region>,
    /// Whether an audit entry is written.
    pub audit: bool,
    /// Whether somebody asked for one (`audit_enabled`): it comes with the redacted content, where that
    /// may be kept, and the request is refused while it cannot be written.
    pub audit_enabled: bool,
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
