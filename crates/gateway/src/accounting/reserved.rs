//! What is reserved once a request is admitted: where its prompt has grown, or another provider is to
//! be asked.

use sluice_core::chat::ChatRequest;
use sluice_core::money::PicoUsd;
use sluice_storage::Assumed;

use super::{Admitted, Meter};
use crate::bounds::Bounds;
use crate::costs::{self, Costs};
use crate::error::ChatError;
use crate::limits::{Money, Spend};
use crate::plan::Candidate;

impl Meter {
    /// Whether the request may be sent to `candidate`, where it can come to `bounds`: it still fits
    /// beside what those that were asked before may bill.
    pub(crate) fn still_fits(&mut self, candidate: &Candidate, bounds: &Bounds) -> bool {
        let Some(running) = &mut self.0 else { return false };
        let Assumed { tokens, cost } = running.assumed;
        if running.assumed.is_nothing() {
            return true;
        }
        let estimate = &running.admitted.estimate;
        let wanted = Spend {
            tokens: tokens.saturating_add(estimate.reserve),
            cost: cost.plus(costs::likely(candidate, estimate)),
            most: cost.plus(costs::most(candidate, bounds)),
        };
        let now = running.accounting.clock.moment();
        running.admitted.permit.reserve_again(wanted, now).is_ok()
    }

    /// Redaction has made the prompt longer. Under a bound on money, of which `reserved` was reserved
    /// for it, the most that it can cost now is reserved instead, and answers may be shortened for it.
    pub(crate) fn grown(
        &mut self,
        chat: &ChatRequest,
        candidates: &mut Vec<Candidate>,
        reserved: PicoUsd,
    ) -> Result<(), ChatError> {
        let Some(running) = &mut self.0 else { return Ok(()) };
        let Admitted { permit, estimate, max_tokens_lowered, .. } = &mut running.admitted;
        let now = running.accounting.clock.moment();
        let left = permit.money_left(now).map(|left| left.plus(reserved));
        let costs = Costs::of(chat, candidates, estimate, (Money::Bound, left))?;
        *max_tokens_lowered = candidates.first().and_then(Candidate::max_tokens_lowered);
        match permit.reserve_again(costs.spend(estimate.reserve), now) {
            Ok(()) => Ok(()),
            Err(Some(exceeded)) => Err(exceeded.into()),
            Err(None) => Err(ChatError::Internal),
        }
    }
}
