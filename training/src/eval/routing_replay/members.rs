//! A router of a pool's models: what it knows of them is learnt from other prompts.

use std::sync::Arc;

use sluice_core::ids::ModelId;
use sluice_core::key::Suite;
use sluice_core::level::SecurityLevel;
use sluice_core::money::{Price, TokenPrice};
use sluice_routing::catalog::{Capabilities, Model};
use sluice_routing::decide::{Contender, Decision, Situation, decide};
use sluice_routing::quality::table::{PriceLine, QualityTable};
use sluice_routing::quality::{Basis, Quality};
use sluice_routing::router::{Member, Policy, Router};
use sluice_routing::speed::Pace;
use sluice_routing::task::{TASK_TYPES, TaskType};

use super::outcomes::{Pool, Row};

/// So many prompts' worth the average of a model counts beside what is seen of it at a task.
const PRIOR_PROMPTS: f64 = 10.0;

/// The models of `pool` as members, by what they made of the rows that `is_seen`.
pub(super) fn router(pool: &Pool, policy: Policy, is_seen: impl Fn(&Row) -> bool) -> Router {
    let seen: Vec<&Row> = pool.rows.iter().filter(|row| is_seen(row)).collect();
    let members = (0..pool.models.len()).map(|of| member(&pool.models[of], of, &seen)).collect();
    Router::new("svc/auto", policy, members)
}

/// The member `of` the pool. A prompt counts for the task that it is taken for.
fn member(name: &str, of: usize, seen: &[&Row]) -> Member {
    #[expect(clippy::cast_precision_loss, reason = "some thousand rows")]
    let count = seen.len() as f64;
    let average = seen.iter().map(|row| row.outcomes[of].score).sum::<f64>() / count;
    let mut by_task = [(0.0, 0.0); TASK_TYPES];
    let (mut cost, mut tokens) = (0.0, 0.0);
    for row in seen {
        let outcome = &row.outcomes[of];
        let of_task = &mut by_task[row.judgement.task().index()];
        of_task.0 += outcome.score;
        of_task.1 += 1.0;
        cost += outcome.cost;
        tokens += row.input_tokens + answer_tokens(&row.bench);
    }
    let shrunk = TaskType::ALL.map(|task| {
        let (sum, weight) = by_task[task.index()];
        (task, (sum + PRIOR_PROMPTS * average) / (weight + PRIOR_PROMPTS))
    });
    let quality = Quality::of(Some(average), &shrunk);
    Member::new(Arc::new(model(name, even_price(cost / tokens), quality)), 1.0)
}

/// The models of `pool` as members of which nobody says anything but the price: what `table` knows
/// of their names, or else what their price tells.
pub(super) fn router_without(
    pool: &Pool,
    policy: Policy,
    table: &QualityTable,
    line: PriceLine,
) -> Router {
    let member = |(of, name): (usize, &String)| {
        let (mut cost, mut tokens) = (0.0, 0.0);
        for row in &pool.rows {
            cost += row.outcomes[of].cost;
            tokens += row.input_tokens + answer_tokens(&row.bench);
        }
        let price = even_price(cost / tokens);
        let guess = || Quality { basis: Basis::Price, ..Quality::even(line.share(Some(&price))) };
        let quality = table.of(&[name]).unwrap_or_else(guess);
        Member::new(Arc::new(model(name, price, Some(quality))), 1.0)
    };
    let members = pool.models.iter().enumerate().map(member).collect();
    Router::new("svc/auto", policy, members)
}

fn model(name: &str, price: Price, quality: Option<Quality>) -> Model {
    Model {
        id: ModelId::from(name),
        created: 0,
        owned_by: String::new(),
        context_window: None,
        output_limit: None,
        capabilities: Capabilities::default(),
        price: Some(price),
        price_source: None,
        suite: Suite::Basic,
        minimum_level: SecurityLevel::Standard,
        simulated: false,
        alias_of: None,
        quality,
        pace: None,
        deployments: Vec::new(),
    }
}

/// How long an answer the data's costs count with.
fn answer_tokens(bench: &str) -> f64 {
    match bench {
        "math" => 450.0,
        "gsm8k" | "agentverse-mgsm" | "mbpp" => 220.0,
        _ => 60.0,
    }
}

/// The same for prompt and answer, in US dollars a token.
fn even_price(dollars: f64) -> Price {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small price")]
    let price = TokenPrice((dollars * 1e12).round() as u64);
    Price {
        input: price,
        cache_read: price,
        cache_write: price,
        output: price,
        reasoning: price,
        version: String::new(),
    }
}

/// Every member, as fast as each other.
pub(super) fn contenders(router: &Router) -> Vec<Contender> {
    let contender = |member| Contender {
        member,
        deployment: 0,
        exclusion: None,
        pace: Pace::default(),
        stale: false,
    };
    (0..router.members.len()).map(contender).collect()
}

/// What `router` makes of a prompt that begins a conversation.
pub(super) fn choose(
    router: &Router,
    contenders: &[Contender],
    row: &Row,
    session: u64,
) -> Decision {
    let situation = Situation {
        judgement: &row.judgement,
        input_tokens: row.input_tokens,
        output_bound: None,
        effort: None,
        held: None,
        session,
        chance: 0,
    };
    decide(router, contenders, &situation)
}
