//! What holds for the requests of a key, value by value, with who says it.

use serde_json::{Value as Json, json};
use sluice_core::chat::ChatRequest;
use sluice_core::level::SecurityLevel;
use sluice_core::policy::PolicyRules;

use super::ruling::{Ruling, Said, Source};
use super::{Around, OutputBound, effective, may_use, resolve};
use crate::eligible::Wanted;
use crate::error::ChatError;
use crate::estimate::Ratio;

/// One thing that holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Explained {
    /// Its name, as on the command line and in the configuration file: `max_output_tokens`.
    pub name: &'static str,
    /// What holds; `null` where nothing is bound.
    pub value: Json,
    /// Who says it.
    pub by: Source,
}

/// The rules that are set, by name, with their values.
pub fn rules_of(rules: &PolicyRules) -> Vec<(String, Json)> {
    match serde_json::to_value(rules) {
        Ok(Json::Object(members)) => members.into_iter().collect(),
        _ => Vec::new(),
    }
}

/// A rule's value, for people.
pub fn shown(value: &Json) -> String {
    match value {
        Json::Null => "-".to_owned(),
        Json::Bool(true) => "yes".to_owned(),
        Json::Bool(false) => "no".to_owned(),
        Json::String(text) => text.clone(),
        Json::Array(entries) if entries.is_empty() => "none".to_owned(),
        Json::Array(entries) => entries.iter().map(shown).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

/// Everything that is said about the requests of a key, or about one of them.
pub(crate) fn explain(
    ruling: &Ruling,
    said: &[Said<PolicyRules>],
    around: &Around<'_>,
    chat: Option<&ChatRequest>,
) -> (Vec<Explained>, Vec<String>) {
    let mut rows = of_all(ruling, said);
    let mut problems: Vec<String> =
        around.why_none_is_left(ruling).into_iter().chain(ruling.no_region()).collect();
    if let Some(chat) = chat {
        match of_request(ruling, chat, around) {
            Ok(more) => {
                for row in more {
                    match rows.iter_mut().find(|it| it.name == row.name) {
                        Some(known) => *known = row,
                        None => rows.push(row),
                    }
                }
            }
            Err(refused) if !problems.contains(&refused.to_string()) => {
                problems.push(refused.to_string());
            }
            Err(_) => {}
        }
    }
    (rows, problems)
}

/// What holds for all requests.
fn of_all(ruling: &Ruling, said: &[Said<PolicyRules>]) -> Vec<Explained> {
    let row = |name, value: Json, by: &Source| Explained { name, value, by: by.clone() };
    let nobody = |name, value: Json| row(name, value, &Source::DEFAULT);
    let mut rows = vec![match &ruling.level {
        Some(Said { value, by }) => row("level", json!(value.as_str()), by),
        None => nobody("level", json!(SecurityLevel::default().as_str())),
    }];
    rows.extend(ruling.models.iter().map(|it| row("models", json!(it.value), &it.by)));
    if ruling.models.is_empty() {
        rows.push(nobody("models", Json::Null));
    }
    rows.extend(ruling.regions.iter().map(|it| row("regions", json!(it.value), &it.by)));
    if ruling.regions.is_empty() {
        rows.push(nobody("regions", Json::Null));
    }
    rows.push(match &ruling.region {
        Some(Said { value, by }) => row("region", json!(value), by),
        None => nobody("region", Json::Null),
    });
    for (name, by) in [("zero_retention", &ruling.zero_retention), ("audit", &ruling.audit)] {
        rows.push(row(name, json!(by.is_some()), by.as_ref().unwrap_or(&Source::DEFAULT)));
    }
    rows.push(match &ruling.max_output_tokens {
        Some(Said { value, by }) => row("max_output_tokens", json!(value), by),
        None => nobody("max_output_tokens", Json::Null),
    });
    for Said { value: rules, by } in said {
        let lists = [
            ("terms", Some(&rules.terms)),
            ("patterns", Some(&rules.patterns)),
            ("redact", Some(&rules.redact)),
            ("exceptions", rules.exceptions.as_ref()),
        ];
        for (name, list) in lists {
            let is_said = |list: &&Vec<String>| !list.is_empty() || name == "exceptions";
            rows.extend(list.filter(is_said).map(|list| row(name, json!(list), by)));
        }
    }
    rows
}

/// What one request adds to that, or why it is refused.
fn of_request(
    ruling: &Ruling,
    chat: &ChatRequest,
    around: &Around<'_>,
) -> Result<Vec<Explained>, ChatError> {
    let model = resolve(around.catalog, around.attribution, &chat.model)?;
    may_use(ruling, &model, around)?;
    let policy = effective(ruling, chat, &model)?;
    let bound = OutputBound::of(ruling, around.max_tokens, chat, &model.answering)?;
    let wanted = Wanted {
        ruling,
        suite: around.suite,
        model: &model,
        chat,
        policy,
        prompt_tokens: Ratio::default().estimate(chat).prompt_tokens,
    };
    wanted.could_be_answered()?;
    let request = |name, value| Explained { name, value, by: Source::REQUEST };
    let mut rows = vec![request("model", json!(model.asked.id.as_str()))];
    let said = ruling.level.as_ref().map_or(SecurityLevel::default(), |said| said.value);
    if policy.level > said {
        let by = match chat.options.security_level == Some(policy.level) {
            true => Source::REQUEST,
            false => Source::new(format!("model {}", model.asked.id)),
        };
        rows.push(Explained { name: "level", value: json!(policy.level.as_str()), by });
    }
    if chat.options.region.is_some() {
        rows.push(request("region", json!(policy.region)));
    }
    if chat.options.zero_retention && ruling.zero_retention.is_none() {
        rows.push(request("zero_retention", json!(true)));
    }
    if chat.options.audit_enabled && ruling.audit.is_none() {
        rows.push(request("audit", json!(true)));
    }
    if let Some(wanted) = chat.max_tokens.filter(|_| !bound.is_lowered) {
        rows.push(request("max_output_tokens", json!(wanted)));
    }
    Ok(rows)
}
