//! Whether a model that is better, faster and cheaper than all others is chosen.

use std::sync::Arc;

use sluice_routing::quality::Quality;
use sluice_routing::router::{Member, Policy, Router};
use sluice_routing::speed::Pace;

use super::members::{choose, contenders, router};
use super::outcomes::Pool;

/// `router` with one more member: a little better at everything, a little cheaper.
fn with_best(mut router: Router) -> Router {
    let Some(first) = router.members.first() else { return router };
    let mut model = first.model.as_ref().clone();
    let qualities = || router.members.iter().map(|member| &member.quality);
    let better = |most: f64| (most + 0.01).min(1.0);
    let mut quality = Quality::even(better(qualities().map(|of| of.average).fold(0.0, f64::max)));
    for (task, by_task) in quality.by_task.iter_mut().enumerate() {
        *by_task = better(qualities().map(|of| of.by_task[task]).fold(0.0, f64::max));
    }
    let prices = router.members.iter().filter_map(|member| member.model.price.as_ref());
    if let Some(cheapest) = prices.min_by_key(|price| price.input) {
        let mut price = cheapest.clone();
        price.input.0 = price.input.0 * 99 / 100;
        price.output.0 = price.output.0 * 99 / 100;
        model.price = Some(price);
    }
    model.quality = Some(quality);
    router.members.push(Member::new(Arc::new(model), 1.0));
    router
}

/// The share of prompts for which it is chosen.
pub(super) fn share(pool: &Pool, policy: Policy) -> f64 {
    let router = with_best(router(pool, policy, |_| true));
    let mut contenders = contenders(&router);
    let best = contenders.len() - 1;
    let usual = Pace::default();
    contenders[best].pace = Pace {
        first_token_ms: usual.first_token_ms * 0.99,
        tokens_per_second: usual.tokens_per_second * 1.01,
    };
    let chosen = pool
        .rows
        .iter()
        .filter(|row| choose(&router, &contenders, row, 0).order.first() == Some(&best))
        .count();
    #[expect(clippy::cast_precision_loss, reason = "some thousand rows")]
    let share = chosen as f64 / pool.rows.len() as f64;
    share
}

pub(super) fn print(pool: &Pool) {
    for policy in [Policy::Balanced, Policy::Fastest, Policy::Strongest] {
        let share = 100.0 * share(pool, policy);
        println!("Better, faster and cheaper is chosen ({}): {share:.1} %", policy.as_str());
    }
    println!();
}
