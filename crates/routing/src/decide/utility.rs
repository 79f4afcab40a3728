//! One figure for each contender.

use arrayvec::ArrayVec;

use super::{Contender, MOST_CONTENDERS, Situation};
use crate::router::{Router, Trade};
use crate::task::TaskType;

/// What a contender is expected to do with a request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    /// What decides: quality minus what cost and time are worth.
    pub utility: f64,
    /// The expected quality, 0 to 1.
    pub quality: f64,
    /// The expected cost in US dollars; that of the dearest contender where the price is unknown.
    pub cost_usd: f64,
    /// Whether the price is known.
    pub priced: bool,
    /// The expected time to the first token.
    pub first_token_ms: f64,
    /// The expected time to the end.
    pub seconds: f64,
}

/// Below this, in US dollars a request, nobody counts.
const NEGLIGIBLE_COST: f64 = 0.000_01;
/// An amount, in US dollars a request, that counts as much as a doubling: what is dear counts by the
/// cent, or a tenfold price of cents would weigh no more than one of a hundredth of them.
const NOTICED_COST: f64 = 0.03;
/// Below this, in seconds, nobody waits.
const NEGLIGIBLE_TIME: f64 = 0.5;
/// How many times the tokens a caller sees a model that thinks generates.
const THINKING: f64 = 2.5;

/// What each contender is expected to do.
pub(super) fn scores(
    router: &Router,
    contenders: &[Contender],
    situation: &Situation<'_>,
) -> ArrayVec<Score, MOST_CONTENDERS> {
    let request = Expected::of(situation);
    let mut scores: ArrayVec<Score, MOST_CONTENDERS> = ArrayVec::new();
    let mut dearest: f64 = 0.0;
    for (i, contender) in contenders.iter().enumerate() {
        let score = request.score(router, i, contender, situation);
        if score.priced && contender.exclusion.is_none() {
            dearest = dearest.max(score.cost_usd);
        }
        scores.push(score);
    }
    for score in &mut scores {
        // A price that nobody knows may be any; nobody gets ahead by keeping it secret.
        if !score.priced {
            score.cost_usd = dearest;
        }
        score.utility = utility(score.quality, score.cost_usd, score.seconds, &router.trade);
    }
    scores
}

/// The quality that is left when cost, in US dollars, and time are paid for as `trade` says.
pub fn utility(quality: f64, cost_usd: f64, seconds: f64, trade: &Trade) -> f64 {
    let cost = doublings(cost_usd, NEGLIGIBLE_COST) + cost_usd / NOTICED_COST;
    quality - trade.cost * cost - trade.time * doublings(seconds, NEGLIGIBLE_TIME)
}

/// How often `negligible` has to be doubled for `amount`; near 0 for what is less.
fn doublings(amount: f64, negligible: f64) -> f64 {
    (amount / negligible).ln_1p() / std::f64::consts::LN_2
}

/// What is expected of the request itself, whoever answers.
struct Expected {
    /// How many ordinary requests it is worth.
    steps: f64,
    /// Tokens that the caller sees.
    output_tokens: f64,
}

impl Expected {
    fn of(situation: &Situation<'_>) -> Self {
        let judgement = situation.judgement;
        // Another task begins anew; nothing of the old one makes it hard.
        let lasting = situation.held.filter(|held| !held.released);
        let lasting = lasting.map_or(0.0, |held| held.lasting_complexity);
        let complexity = f64::from(judgement.complexity.max(lasting).clamp(0.0, 1.0));
        let usual: f64 = (TaskType::ALL.iter().zip(&judgement.probabilities))
            .map(|(task, probability)| f64::from(*probability) * task.usual_answer_tokens())
            .sum();
        Self { steps: steps(complexity), output_tokens: usual * (0.5 + complexity) }
    }

    fn score(
        &self,
        router: &Router,
        i: usize,
        contender: &Contender,
        situation: &Situation<'_>,
    ) -> Score {
        let member = &router.members[contender.member];
        let quality = member.quality.at(situation.effort);
        let fit = quality.expected(&situation.judgement.probabilities).clamp(0.0, 1.0);
        let thinks = member.model.capabilities.reasoning == Some(true);
        let bound = situation.output_bound.unwrap_or(f64::INFINITY);
        let output = self.output_tokens.min(bound);
        let generated = if thinks { (output * THINKING).min(bound) } else { output };
        let cached = situation
            .held
            .filter(|held| held.contender == i)
            .map_or(0.0, |held| held.cached_tokens.min(situation.input_tokens));
        #[expect(clippy::cast_precision_loss, reason = "a price of a token is a small number")]
        let cost_usd = member.model.price.as_ref().map(|price| {
            (cached * price.cache_read.0 as f64
                + (situation.input_tokens - cached) * price.input.0 as f64
                + output * price.output.0 as f64
                + (generated - output) * price.reasoning.0 as f64)
                / 1e12
        });
        Score {
            utility: 0.0,
            quality: fit.powf(self.steps),
            cost_usd: cost_usd.unwrap_or_default(),
            priced: cost_usd.is_some(),
            first_token_ms: contender.pace.first_token_ms,
            seconds: contender.pace.seconds(generated),
        }
    }
}

/// How many ordinary requests in a row, each of which has to go well, a request of `complexity` is
/// worth: the expected quality is the fit to the power of it.
///
/// So on what is hard the weak fail first, and what is all but nothing anybody can do. On replayed
/// outcomes this line did better than flatter ones (`.25 + 1.5 c`, `.5 + c`) and than the logistic
/// curves of item response theory, by the score and on benchmarks that nothing was learnt of.
fn steps(complexity: f64) -> f64 {
    2.0 * complexity
}
