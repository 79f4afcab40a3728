//! The form: who asks, what is sent, and the fields with what was typed.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use sluice_core::ids::TeamId;
use sluice_core::level::SecurityLevel;
use sluice_core::region::Region;
use sluice_gateway::own;
use sluice_gateway::principal::Principal;

use super::view::{Playground, Turn, nothing_asked};
use crate::components::{Field, Kind, Markup, Text};
use crate::layout::Head;
use crate::web::{Ask, Failure, Fields};

/// What is said where there is nobody to ask.
const NO_MODEL: &str = "No model is served here that you may use. An operator connects a provider \
                        under Providers, or widens what your account may use.";

/// Whoever asks, as a caller.
pub(super) fn principal(ask: &Ask, given: &Fields) -> Result<Arc<Principal>, Failure> {
    let person = &ask.session()?.person;
    let chosen: Option<TeamId> = given.some("team").map(TeamId::from);
    // Whoever is in a team asks for one of theirs, and not past them for the account.
    if chosen.as_ref().is_some_and(|team| !person.teams.contains(team)) {
        return Err(Failure::Missing);
    }
    let gateway = &ask.shared.gateway;
    let known = |team| gateway.principal_of(person, team);
    // Without a choice, it is the first of their teams that may ask: others were removed or suspended.
    let first = match &chosen {
        Some(team) => known(Some(team)),
        None => {
            let of_teams = || person.teams.iter().filter_map(|team| known(Some(team)));
            let may_ask = of_teams().find(|principal| principal.suspended.is_none());
            may_ask.or_else(|| of_teams().next()).or_else(|| known(None))
        }
    };
    first.ok_or_else(|| Failure::internal(&"the account of who asks is not known here yet"))
}

/// The earlier turns that the form brings along.
pub(super) fn earlier(given: &Fields) -> Vec<(&str, &str)> {
    given.each("asked").zip(given.each("answered")).collect()
}

/// The message, as it was typed.
pub(super) fn prompt(given: &Fields) -> String {
    given.raw("prompt").replace("\r\n", "\n")
}

/// What is sent to the API: exactly what stands in the form, so that the API judges it.
pub(super) fn body(given: &Fields, is_stream: bool) -> Map<String, Value> {
    let message = |role: &str, text: &str| json!({ "role": role, "content": text });
    let mut messages = Vec::new();
    if !given.get("system").is_empty() {
        messages.push(message("system", &given.raw("system").replace("\r\n", "\n")));
    }
    for (asked, answered) in earlier(given) {
        messages.push(message("user", &asked.replace("\r\n", "\n")));
        messages.push(message("assistant", &answered.replace("\r\n", "\n")));
    }
    messages.push(message("user", &prompt(given)));
    let mut body = Map::new();
    body.insert("model".to_owned(), given.get("model").into());
    body.insert("messages".to_owned(), messages.into());
    for name in ["temperature", "max_tokens"] {
        if let Some(typed) = given.some(name) {
            // What is no number is sent as it is: the API says what it expects.
            let number = typed.parse::<serde_json::Number>().map(Value::Number);
            body.insert(name.to_owned(), number.unwrap_or_else(|_| typed.into()));
        }
    }
    for name in ["security_level", "region"] {
        if let Some(word) = given.some(name) {
            body.insert(name.to_owned(), word.into());
        }
    }
    if given.has("zero_retention") {
        body.insert("zero_retention".to_owned(), true.into());
    }
    if is_stream {
        body.insert("stream".to_owned(), true.into());
    }
    body
}

/// The page with the form as it was given, after these turns. `prompt` is what stands in the field.
pub(super) async fn view(
    ask: &Ask,
    given: &Fields,
    turns: Vec<Turn>,
    prompt: &str,
) -> Result<Playground, Failure> {
    let session = ask.session()?;
    let person = &session.person;
    let principal = principal(ask, given)?;
    let gateway = &ask.shared.gateway;
    let models = gateway.models(&principal);
    let models: Vec<(&str, Text)> = models
        .iter()
        .map(|it| {
            let name = it.id.as_str();
            let simulated = if it.simulated { " (simulated)" } else { "" };
            (name, Text::new(format!("{name}{simulated}")))
        })
        .collect();
    let asked = given.some("model").unwrap_or_else(|| ask.asked("model"));
    let usual = models.iter().find(|(name, _)| *name == "svc/auto").or(models.first());
    let is_known = models.iter().any(|(name, _)| *name == asked);
    let model = if is_known { asked } else { usual.map_or("", |(name, _)| *name) };

    let minimum = gateway.snapshot().rules.minimum_level.max(session.account().minimum_level);
    let levels = SecurityLevel::ALL.iter().filter(|level| **level >= minimum);
    let levels: Vec<(&str, Text)> =
        levels.map(|level| (level.as_str(), level.as_str().into())).collect();
    let mut regions = vec![("", Text::from("the account's"))];
    regions.extend(Region::ALL.iter().map(|it| (it.as_str(), Text::from(it.as_str()))));

    let mut fields = vec![Field::select("model", "Model or router", &models, model)];
    if person.teams.len() > 1 {
        let permissions = ask.admin()?.permissions().await?;
        let named =
            |id: &TeamId| permissions.organisation().teams.get(id).map(|it| it.name.clone());
        let teams: Vec<(&str, Text)> = person
            .teams
            .iter()
            .map(|id| (id.as_str(), named(id).unwrap_or_else(|| id.to_string()).into()))
            .collect();
        let chosen = principal.key.team_id.as_ref().map(TeamId::as_str).unwrap_or_default();
        fields.push(Field::select("team", "For the team", &teams, chosen));
    }
    fields.push(Field::new(Kind::Area, "prompt", "Message").value(prompt).required());
    let line = |kind, name: &'static str, label: &str| {
        Field::new(kind, name, label).value(given.get(name))
    };
    let options = vec![
        line(Kind::Area, "system", "System message").hint("What holds for the whole conversation."),
        line(Kind::Number, "temperature", "Temperature").hint("0.0 to 2.0; empty: the model's."),
        line(Kind::Number, "max_tokens", "Most tokens of the answer").hint("1 to 4,096."),
        Field::select("security_level", "Security level", &levels, given.get("security_level")),
        Field::select("region", "Region", &regions, given.get("region")),
        Field::new(Kind::Switch(given.has("zero_retention")), "zero_retention", "Zero retention")
            .hint("Nothing about the request is stored but sums."),
    ];
    let is_open = ["system", "temperature", "max_tokens", "region"]
        .iter()
        .any(|name| given.some(name).is_some())
        || given.has("zero_retention");
    Ok(Playground {
        head: Head::new("Playground").stamp(Markup::sentence(
            "as {} · limits of the class {}, recorded like every request",
            &[&person.email.as_str().into(), &own::class(person).as_str().into()],
        )),
        fields,
        options,
        is_open,
        turns,
        problem: models.is_empty().then(|| NO_MODEL.to_owned()),
        empty: nothing_asked(),
        csrf: ask.csrf(),
    })
}
