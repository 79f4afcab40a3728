//! What a request will probably cost and what it can cost at most, before anybody is asked.
//!
//! Under a limit of money that must not be exceeded, a request reserves the most that it can cost
//! wherever it may go: the bytes of its prompt for tokens, and the bound of its answer. Where that is
//! more than what is left, the answer's bound is lowered to what is left.

use sluice_core::chat::ChatRequest;
use sluice_core::money::{PicoUsd, Price, TokenPrice};
use sluice_core::usage::Usage;

use crate::bounds::Bounds;
use crate::error::ChatError;
use crate::estimate::Estimate;
use crate::limits::{Money, Spend};
use crate::plan::Candidate;

/// The fewest tokens of an answer that are worth asking for.
const FEWEST_TOKENS: u64 = 256;
/// The bound of an answer where neither the request nor the catalogue knows one.
const UNKNOWN_LIMIT: u32 = 4_096;

/// What a request may cost where it may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Costs {
    /// What it will probably cost, at the first that is asked.
    pub(crate) likely: PicoUsd,
    /// The most that it can cost, at the dearest.
    pub(crate) most: PicoUsd,
}

impl Costs {
    /// What `chat` may cost at `candidates`, of which only those stay that may be asked: under a bound
    /// on money, none without a price. `left` is what is left of that bound.
    pub(crate) fn of(
        chat: &ChatRequest,
        candidates: &mut Vec<Candidate>,
        estimate: &Estimate,
        (money, left): (Money, Option<PicoUsd>),
    ) -> Result<Self, ChatError> {
        let likely = candidates.first().map(|first| likely(first, estimate));
        let mut costs = Self { likely: likely.unwrap_or_default(), ..Self::default() };
        if money != Money::Bound {
            return Ok(costs);
        }
        keep_priced(candidates)?;
        if let Some(left) = left {
            lower(chat, candidates, left);
        }
        costs.most =
            candidates.iter().map(|it| most(it, &Bounds::of(chat, it))).max().unwrap_or_default();
        Ok(costs)
    }

    /// What it reserves, with `tokens`.
    pub(crate) fn spend(&self, tokens: u64) -> Spend {
        Spend { tokens, cost: self.likely, most: self.most }
    }
}

/// What a request will probably cost at `candidate`, as budgets count.
pub(crate) fn likely(candidate: &Candidate, estimate: &Estimate) -> PicoUsd {
    let output = estimate.reserve.saturating_sub(estimate.prompt_tokens);
    let uncached_input = estimate.prompt_tokens;
    cost(candidate, &Usage { uncached_input, output, ..Usage::default() })
}

/// The most that a request can cost at `candidate` within `bounds`, as budgets count.
pub(crate) fn most(candidate: &Candidate, bounds: &Bounds) -> PicoUsd {
    let price = candidate.counted_price();
    price.map_or(PicoUsd(0), |price| Most::within(bounds, 1, price).all())
}

/// What `usage` costs at `candidate`, as budgets count.
pub(crate) fn cost(candidate: &Candidate, usage: &Usage) -> PicoUsd {
    candidate.counted_price().map_or(PicoUsd(0), |price| price.cost(usage))
}

/// What nobody knows the price of is not asked.
fn keep_priced(candidates: &mut Vec<Candidate>) -> Result<(), ChatError> {
    let Some(first) = candidates.first().map(|candidate| candidate.model.id.clone()) else {
        return Ok(());
    };
    candidates.retain(|it| it.counted_price().is_some() || it.is_uncounted());
    if candidates.is_empty() {
        return Err(ChatError::NotPermitted {
            field: "model",
            reason: format!(
                "model `{first}` has no known price, and this key has a budget in US dollars that \
                 must not be exceeded; ask for another model, or let an operator give it a price, or \
                 set `limits.fallback_price`"
            ),
        });
    }
    Ok(())
}

/// Gives every answer a bound, which its provider is told, and lowers the bounds to what `left` pays
/// for. Whoever could not say enough for it is not asked; where nobody could, all of them get the
/// smallest bound, and the limit itself refuses the request.
fn lower(chat: &ChatRequest, candidates: &mut Vec<Candidate>, left: PicoUsd) {
    for candidate in candidates.iter_mut().filter(|it| !it.is_uncounted()) {
        let bound = candidate.target.max_tokens.or(candidate.model.output_limit);
        candidate.is_lowered |= bound.is_none();
        candidate.target.max_tokens = Some(bound.unwrap_or(UNKNOWN_LIMIT));
    }
    let pays_for = |candidate: &Candidate| {
        let most = Most::of(chat, candidate)?;
        let tokens = most.tokens_for(left);
        (tokens >= FEWEST_TOKENS.min(most.tokens)).then_some(tokens)
    };
    let nobody = candidates.iter().all(|it| !it.is_uncounted() && pays_for(it).is_none());
    candidates.retain_mut(|candidate| {
        if candidate.is_uncounted() {
            return true;
        }
        let tokens = match pays_for(candidate) {
            Some(tokens) => tokens,
            None if nobody => FEWEST_TOKENS,
            None => return false,
        };
        let tokens = u32::try_from(tokens).unwrap_or(u32::MAX);
        if candidate.target.max_tokens.is_some_and(|bound| tokens < bound) {
            candidate.target.max_tokens = Some(tokens);
            candidate.is_lowered = true;
        }
        true
    });
}

/// The most that a request can come to at one candidate.
struct Most {
    /// What its prompt can cost.
    prompt: PicoUsd,
    /// The bound on the tokens of one answer.
    tokens: u64,
    /// How many answers there are.
    answers: u64,
    /// What a token of an answer can cost.
    token: TokenPrice,
}

impl Most {
    /// `None` where the price is not known.
    fn of(chat: &ChatRequest, candidate: &Candidate) -> Option<Self> {
        let price = candidate.counted_price()?;
        Some(Self::within(&Bounds::of(chat, candidate), u64::from(chat.n.max(1)), price))
    }

    fn within(bounds: &Bounds, answers: u64, price: &Price) -> Self {
        let Price { input, cache_read, cache_write, output, reasoning, .. } = price;
        Self {
            prompt: input.max(cache_read).max(cache_write).times(bounds.prompt),
            tokens: bounds.output / answers,
            answers,
            token: *output.max(reasoning),
        }
    }

    fn all(&self) -> PicoUsd {
        self.prompt.plus(self.token.times(self.tokens.saturating_mul(self.answers)))
    }

    /// For how many tokens of each answer `left` is enough.
    fn tokens_for(&self, left: PicoUsd) -> u64 {
        if self.prompt > left {
            return 0;
        }
        let a_token = self.token.0.saturating_mul(self.answers);
        left.minus(self.prompt).0.checked_div(a_token).unwrap_or(u64::MAX).min(self.tokens)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;
    use sluice_routing::catalog::Model;

    use super::*;
    use crate::estimate::Ratio;
    use crate::testing::{candidate, chat, model};

    fn price(input: u64, output: u64) -> Price {
        Price {
            input: TokenPrice(input),
            cache_read: TokenPrice(input / 10),
            cache_write: TokenPrice(input + input / 4),
            output: TokenPrice(output),
            reasoning: TokenPrice(output),
            version: "test".to_owned(),
        }
    }

    fn at(price: Option<Price>, max_tokens: Option<u32>) -> Candidate {
        let mut candidate = candidate("a");
        candidate.model = Arc::new(Model { price, output_limit: Some(8_192), ..model("m") });
        candidate.target.max_tokens = max_tokens;
        candidate
    }

    fn costs(candidates: &mut Vec<Candidate>, left: u64) -> Result<Costs, ChatError> {
        let chat = chat("Hello?");
        let estimate = Ratio::default().estimate(&chat);
        Costs::of(&chat, candidates, &estimate, (Money::Bound, Some(PicoUsd(left))))
    }

    #[test]
    fn a_model_without_a_price_is_not_asked_under_a_bound_on_money() {
        let mut candidates = vec![at(None, None), at(Some(price(1, 1)), None)];
        costs(&mut candidates, u64::MAX).unwrap();
        assert_eq!(candidates.len(), 1);
        let refused = costs(&mut vec![at(None, None)], u64::MAX);
        assert!(matches!(refused, Err(ChatError::NotPermitted { field: "model", .. })));
    }

    #[test]
    fn a_fallback_price_stands_in_where_none_is_known() {
        let mut unpriced = at(None, Some(1_000));
        unpriced.fallback = Some(Arc::new(price(3, 5)));
        let mut priced = at(Some(price(1, 1)), Some(1_000));
        priced.fallback = unpriced.fallback.clone();
        let usage = Usage { uncached_input: 10, output: 7, ..Usage::default() };
        assert_eq!((cost(&unpriced, &usage), cost(&priced, &usage)), (PicoUsd(65), PicoUsd(17)));
        let mut candidates = vec![unpriced, priced];
        let found = costs(&mut candidates, u64::MAX).unwrap();
        assert_eq!(candidates.len(), 2);
        assert!(found.most >= PicoUsd(1_000 * 5));
    }

    #[test]
    fn who_is_too_dear_for_what_is_left_is_not_asked_unless_all_are() {
        let (cheap, dear) = (price(1, 1), price(1_000, 1_000));
        let mut candidates = vec![at(Some(dear.clone()), None), at(Some(cheap), Some(100))];
        costs(&mut candidates, 20_000).unwrap();
        assert_eq!((candidates.len(), candidates[0].max_tokens_lowered()), (1, None));
        let mut candidates = vec![at(Some(dear), None)];
        let found = costs(&mut candidates, 20_000).unwrap();
        assert_eq!((candidates.len(), candidates[0].max_tokens_lowered()), (1, Some(256)));
        assert!(found.most.0 > 20_000, "it is refused by the limit itself");
        // Whoever names no bound gets one, so that its provider has to keep it.
        let mut candidates = vec![at(Some(price(1, 1)), None)];
        costs(&mut candidates, u64::MAX).unwrap();
        let [candidate] = candidates.as_slice() else { panic!("it is asked") };
        assert_eq!((candidate.target.max_tokens, candidate.is_lowered), (Some(8_192), false));
    }

    proptest! {
        #[test]
        fn what_is_asked_for_costs_no_more_than_what_is_left(
            prices in prop::collection::vec((0..1_000_u64, 0..1_000_u64), 1..4),
            wish in prop::option::of(1..100_000_u32),
            left in 0..20_000_000_u64,
        ) {
            let all = prices.iter().map(|(input, output)| at(Some(price(*input, *output)), wish));
            let mut candidates: Vec<Candidate> = all.collect();
            let asked = candidates.len();
            let found = costs(&mut candidates, left).unwrap();
            prop_assert!(!candidates.is_empty());
            if found.most.0 <= left {
                for candidate in &candidates {
                    let bound = candidate.target.max_tokens.unwrap_or(8_192);
                    prop_assert!(u64::from(bound) >= FEWEST_TOKENS.min(u64::from(wish.unwrap_or(8_192))));
                    prop_assert!(bound <= wish.unwrap_or(8_192));
                }
            } else {
                // Nobody could say enough for what is left.
                prop_assert_eq!(candidates.len(), asked);
                for candidate in &candidates {
                    prop_assert!(candidate.target.max_tokens.is_some_and(|it| u64::from(it) <= FEWEST_TOKENS));
                }
            }
        }
    }
}
