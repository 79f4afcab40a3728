//! What was done to a request, in words for headers and records: kinds and counts, never values.

use sluice_core::filtering::FilterAction;

use crate::flag::Flags;
use crate::kind::Kind;

/// What was done to a request.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Report {
    /// How many different values were redacted, by kind.
    pub redactions: Vec<(Kind, usize)>,
    /// What was noticed.
    pub flags: Flags,
    /// How much the request looks like an attack on the model, from 0 to 1.
    pub injection_score: f32,
    /// What came of it.
    pub action: FilterAction,
}
