//! `candidates` of a line: models to choose from that no deployment needs to have.

use std::sync::Arc;

use serde_json::{Map, Value};
use sluice_core::key::Suite;
use sluice_core::level::SecurityLevel;
use sluice_core::money::{Price, TokenPrice};
use sluice_routing::catalog::{Capabilities, Model};
use sluice_routing::decide::MOST_CONTENDERS;
use sluice_routing::quality::Quality;
use sluice_routing::quality::table::QualityTable;
use sluice_routing::router::{Member, Router};
use sluice_routing::speed::Pace;
use sluice_routing::task::TaskType;

use super::line::BadLine;
use crate::config::problem::nearest;

/// `router` over the candidates of a line in place of its own members. Its policy, weights and
/// bounds stay, and its pins as far as they name a candidate.
pub(super) fn over(
    router: &Router,
    candidates: &Value,
    table: &QualityTable,
) -> Result<Router, BadLine> {
    let Some(candidates) = candidates.as_array() else {
        return Err(BadLine::field("candidates", "is no array; expected models to choose from"));
    };
    if candidates.is_empty() || candidates.len() > MOST_CONTENDERS {
        let what = format!("has {} entries; expected 1 to {MOST_CONTENDERS}", candidates.len());
        return Err(BadLine::field("candidates", what));
    }
    let mut members: Vec<Member> = Vec::with_capacity(candidates.len());
    for (i, candidate) in candidates.iter().enumerate() {
        let fields = Fields::of(candidate, format!("candidates[{i}]"))?;
        let member = member(&fields, router, table)?;
        if members.iter().any(|other| other.model.id == member.model.id) {
            return Err(fields.wrong("id", "is that of another candidate as well"));
        }
        members.push(member);
    }
    let is_candidate = |model| members.iter().any(|member| member.model.id == model);
    let pins = router.pins.iter().filter(|(_, model)| is_candidate(model.clone())).cloned();
    Ok(Router { pins: pins.collect(), ..router.over(members) })
}

fn member(fields: &Fields<'_>, router: &Router, table: &QualityTable) -> Result<Member, BadLine> {
    let id = match fields.object.get("id") {
        Some(Value::String(id)) if !id.is_empty() => id.as_str(),
        _ => return Err(fields.wrong("id", "is missing; expected the model's name")),
    };
    let (input, output) = (price(fields, "input_price")?, price(fields, "output_price")?);
    let price = Price {
        input,
        cache_read: input,
        cache_write: input,
        output,
        reasoning: output,
        version: String::new(),
    };
    let quality = match fields.object.get("quality") {
        None | Some(Value::Null) => None,
        Some(value) => quality(&Fields::of(value, fields.path("quality"))?)?,
    };
    let usual = Pace::default();
    let first_token_ms = fields.number("ttft_ms")?.unwrap_or(usual.first_token_ms);
    let tokens_per_second = fields.number("tps")?.unwrap_or(usual.tokens_per_second);
    if tokens_per_second <= 0.0 {
        return Err(fields.wrong("tps", "is not above 0; expected tokens per second"));
    }
    let weight = router.members.iter().find(|member| member.model.id.as_str() == id);
    let model = Model {
        id: id.into(),
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
        quality: quality.or_else(|| table.of(&[id])),
        pace: Some(Pace { first_token_ms, tokens_per_second }),
        deployments: Vec::new(),
    };
    Ok(Member::new(Arc::new(model), weight.map_or(1.0, |member| member.weight)))
}

/// US dollars per million tokens.
fn price(fields: &Fields<'_>, name: &str) -> Result<TokenPrice, BadLine> {
    const MOST: f64 = 1_000_000.0;
    let expected = "expected US dollars per million tokens";
    let Some(dollars) = fields.number(name)? else {
        return Err(fields.wrong(name, &format!("is missing; {expected}")));
    };
    if dollars > MOST {
        return Err(fields.wrong(name, &format!("is {dollars}; {expected}")));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 10¹²")]
    Ok(TokenPrice((dollars * 1e6).round() as u64))
}

/// By task type; `*` is for all others.
fn quality(fields: &Fields<'_>) -> Result<Option<Quality>, BadLine> {
    let (mut average, mut by_task) = (None, Vec::new());
    for name in fields.object.keys() {
        let Some(value) = fields.number(name)? else { continue };
        if value > 1.0 {
            return Err(fields.wrong(name, &format!("is {value}; expected 0 to 1")));
        }
        if name == "*" || name == "default" {
            average = Some(value);
        } else if let Some(task) = TaskType::parse(name) {
            by_task.push((task, value));
        } else {
            let words = || TaskType::ALL.into_iter().map(TaskType::as_str);
            let fix = match nearest(name, words()) {
                Some(meant) => format!("did you mean \"{meant}\"?"),
                None => format!("expected \"*\", {}", words().collect::<Vec<_>>().join(", ")),
            };
            return Err(fields.wrong(name, &format!("is no task type; {fix}")));
        }
    }
    Ok(Quality::of(average, &by_task))
}

/// An object within a line, and where it is.
struct Fields<'a> {
    object: &'a Map<String, Value>,
    path: String,
}

impl<'a> Fields<'a> {
    fn of(value: &'a Value, path: String) -> Result<Self, BadLine> {
        match value.as_object() {
            Some(object) => Ok(Self { object, path }),
            None => Err(BadLine::field(path, "is no object")),
        }
    }

    fn path(&self, name: &str) -> String {
        format!("{}.{name}", self.path)
    }

    fn wrong(&self, name: &str, what: &str) -> BadLine {
        BadLine::field(self.path(name), what)
    }

    /// A number that is not below 0, or such a number as text; `None` where there is none.
    fn number(&self, name: &str) -> Result<Option<f64>, BadLine> {
        let number = match self.object.get(name) {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::String(text)) => text.parse().ok(),
            Some(value) => value.as_f64(),
        };
        match number.filter(|number| number.is_finite() && *number >= 0.0) {
            Some(number) => Ok(Some(number)),
            None => {
                let value = self.object.get(name).map(Value::to_string).unwrap_or_default();
                let value: String = value.chars().take(40).collect();
                Err(self.wrong(name, &format!("is {value}; expected a number from 0 on")))
            }
        }
    }
}
