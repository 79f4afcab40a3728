//! The form that makes a key, and the key that was made, with the set-up of clients.

pub(crate) mod read;
mod view;

use std::sync::Arc;

use http::StatusCode;
use sluice_core::key::KeyClass;
use sluice_core::level::SecurityLevel;
use sluice_core::organisation::KeyScope;
use sluice_core::region::Region;
use sluice_core::secret::Secret;
use sluice_gateway::PersonRecord;
use sluice_gateway::admin::{CreatedKey, Kind as RecordKind, Permissions, Verb};
use sluice_gateway::connect::{self, CLIENTS, Guide};

use crate::components::{Code, Field, Kind, Markup, Problem, Text};
use crate::layout::Head;
use crate::pages::organisation::kinds;
use crate::web::{
    Access, Answer, Ask, Failure, Fields, Route, get, page, page_with, post, sentence,
};
use view::{KeyNew, Made, Stage};

pub(crate) use view::{Client, Form, sample_clients, samples};

pub(crate) const ROUTES: &[Route] = &[
    get("/keys/new", Access::May(Verb::CreateKey), |ask| Box::pin(show(ask))),
    post("/keys/new/preview", Access::May(Verb::CreateKey), |ask| Box::pin(preview(ask))),
    post("/keys/new", Access::May(Verb::CreateKey), |ask| Box::pin(make(ask))),
];

/// So many are offered to choose from; of more, one is named.
const MOST_OFFERED: usize = 200;

async fn show(ask: Arc<Ask>) -> Answer {
    let permissions = ask.admin()?.permissions().await?;
    let form = form(&ask, &permissions, &Fields::default(), None)?;
    page(&ask, &stage(Stage::Form(Box::new(form))))
}

async fn preview(ask: Arc<Ask>) -> Answer {
    let permissions = ask.admin()?.permissions().await?;
    let error = read::key(&ask.form).err();
    let form = form(&ask, &permissions, &ask.form, error.as_ref())?;
    page(&ask, &stage(Stage::Form(Box::new(form))))
}

async fn make(ask: Arc<Ask>) -> Answer {
    ask.take_once()?;
    let admin = ask.admin()?;
    let snapshot = ask.shared.gateway.snapshot().clone();
    let refused = match read::key(&ask.form) {
        Err(wrong) => wrong,
        Ok(wish) => match admin.create_key(wish, Some(&snapshot.catalog)).await {
            Ok(created) => return page(&ask, &made(&ask, &created)),
            Err(error) => read::Wrong::of(error)?,
        },
    };
    let permissions = admin.permissions().await?;
    let form = form(&ask, &permissions, &ask.form, Some(&refused))?;
    let view = stage(Stage::Form(Box::new(form)));
    page_with(StatusCode::UNPROCESSABLE_ENTITY, &ask, &view)
}

fn stage(state: Stage) -> KeyNew {
    let title = match state {
        Stage::Form(_) => "Make key",
        Stage::Made(_) => "The new key",
    };
    KeyNew { head: Head::new(title).below("API keys", "/keys"), state }
}

/// The form with what was given so far.
pub(crate) fn form(
    ask: &Ask,
    permissions: &Permissions,
    given: &Fields,
    wrong: Option<&read::Wrong>,
) -> Result<Form, Failure> {
    let person = &ask.session()?.person;
    // Whoever may not change a key's figures may not choose them either.
    let may_choose = ask.session()?.may_at_all(Verb::ChangeKey);
    let marked = |field: Field, name: &str| match wrong {
        Some(wrong) if wrong.field == Some(name) => field.error(wrong.text.clone()),
        _ => field,
    };
    let text = |kind, name: &'static str, label: &str| {
        marked(Field::new(kind, name, label).value(given.get(name)), name)
    };
    let select = |name: &'static str, label, values: &[(&str, Text)], default: &str| {
        marked(Field::select(name, label, values, given.some(name).unwrap_or(default)), name)
    };
    let checks = |name: &'static str, label, values: &[(&str, Text)], default: &[&str]| {
        let chosen: Vec<&str> = given.all(name).collect();
        let chosen = if chosen.is_empty() { default.to_vec() } else { chosen };
        marked(Field::checks(name, label, values, &chosen), name)
    };
    let switch = |name: &'static str, label| Field::new(Kind::Switch(given.has(name)), name, label);

    let classes = classes(ask, may_choose);
    let classes: Vec<(&str, Text)> =
        classes.iter().map(|(word, text)| (*word, text.clone())).collect();
    let owners = owners(permissions, person, may_choose);
    let teams = teams(permissions, person, may_choose);
    let chosen = |name: &str, default: &str| match given.has(name) {
        true => given.get(name).to_owned(),
        false => default.to_owned(),
    };
    let snapshot = ask.shared.gateway.snapshot().clone();
    let mut models: Vec<(&str, Text)> = snapshot
        .catalog
        .models()
        .iter()
        .map(|it| (it.id.as_str(), it.id.as_str().into()))
        .collect();
    // A key may name models that the catalogue no longer has.
    let is_known = |id: &str| snapshot.catalog.models().iter().any(|it| it.id.as_str() == id);
    let gone = given.words("models").filter(|id| !is_known(id));
    models.extend(gone.map(|id| (id, Text::new(format!("{id} (not in the catalogue)")))));
    let regions: Vec<(&str, Text)> =
        Region::ALL.iter().map(|it| (it.as_str(), it.as_str().into())).collect();
    let mut region = vec![("", Text::from("the account's"))];
    region.extend(regions.iter().cloned());
    let levels: Vec<(&str, Text)> =
        SecurityLevel::ALL.iter().map(|it| (it.as_str(), it.as_str().into())).collect();

    let own = format!("person:{}", person.id);
    let first_team = person.teams.first().map(|team| team.as_str()).unwrap_or_default();
    let class = if may_choose { "production" } else { "development" };
    let mut limits = vec![
        select(
            "max_tokens",
            "Bound of an answer",
            &[
                ("documented", "4,096 tokens".into()),
                ("model", "the model's own, for assistants".into()),
            ],
            "model",
        )
        .hint("Coding assistants ask for 32,000 tokens."),
        text(Kind::Day, "expires_at", "Works until").hint("Empty: until it is revoked."),
    ];
    if may_choose {
        let figure = |name, label, unit| {
            text(Kind::Number, name, label).placeholder("the class's").unit(unit)
        };
        limits.push(figure("requests_per_hour", "Requests an hour", "requests"));
        limits.push(figure("tokens_per_day", "Tokens a day", "tokens"));
    }
    Ok(Form {
        problem: wrong.filter(|it| it.field.is_none()).map(|it| Problem::new(it.text.clone())),
        main: vec![
            text(Kind::Line, "name", "Name")
                .placeholder("ci-review")
                .hint("What people call it.")
                .required(),
            select("class", "Class", &classes, class),
            marked(one_of("owner", "Owner", &owners, &chosen("owner", &own)), "owner"),
            marked(one_of("team", "Team", &teams, &chosen("team", first_team)), "team"),
        ],
        may: vec![
            checks(
                "scopes",
                "May do",
                &[
                    (KeyScope::Chat.as_str(), "ask models".into()),
                    (KeyScope::Models.as_str(), "list models".into()),
                ],
                &[KeyScope::Chat.as_str(), KeyScope::Models.as_str()],
            ),
            match models.len() <= MOST_OFFERED {
                true => checks("models", "Models and routers", &models, &[])
                    .hint("None ticked: all of the account, also those that come later."),
                false => {
                    let lines: Vec<&str> = given.words("models").collect();
                    marked(
                        Field::new(Kind::Area, "models", "Models and routers")
                            .value(lines.join("\n"))
                            .hint(
                                "One a line. None: all of the account, also those that come later.",
                            ),
                        "models",
                    )
                }
            },
            checks("regions", "Regions", &regions, &[]).hint("None ticked: every region."),
            select("region", "Region, where a request names none", &region, ""),
        ],
        filter: vec![
            select("minimum_level", "Lowest security level", &levels, "standard")
                .hint("Requests can ask for more, never for less."),
            switch("zero_retention", "Zero retention")
                .hint("Nothing about its requests is stored but sums."),
            switch("audit", "Audit entry for each request"),
        ],
        limits,
        is_open: wrong.and_then(|it| it.field).is_some_and(|name| name != "name"),
        says: says(ask, &owners, given, person),
        command: Code::new("As command", command(given, (class, &own, first_team))),
        csrf: ask.csrf_once(),
    })
}

/// The classes, with what they allow.
fn classes(ask: &Ask, may_choose: bool) -> Vec<(&'static str, Text)> {
    let snapshot = ask.shared.gateway.snapshot().clone();
    let classes = KeyClass::ALL.into_iter();
    let allowed = classes.filter(|class| may_choose || *class == KeyClass::Development);
    let describe = |class: KeyClass| {
        let limits = snapshot.rules.classes.get(&class).copied().unwrap_or_default();
        let figure = |number: Option<u64>, unit: &str| {
            number.map_or_else(
                || format!("any number of {unit}"),
                |it| format!("{} {unit}", crate::format::count(it)),
            )
        };
        let requests = figure(limits.requests_per_hour, "requests an hour");
        let tokens = figure(limits.tokens_per_day, "tokens a day");
        (class.as_str(), format!("{}: {requests}, {tokens}", class.as_str()).into())
    };
    allowed.map(describe).collect()
}

/// Whose the key can be, of those that the reader sees: oneself first.
pub(crate) fn owners(
    permissions: &Permissions,
    own: &PersonRecord,
    all: bool,
) -> Vec<(String, Text)> {
    let mut owners = vec![(format!("person:{}", own.id), own.shown_name().into())];
    if !all {
        return owners;
    }
    owners.push((String::new(), "nobody: it is the team's or the account's".into()));
    for kind in [RecordKind::Person, RecordKind::Service] {
        let seen = kinds::seen(permissions, kind, own.account_id.as_str(), false);
        let others = seen.iter().filter(|it| kinds::suspension(it).is_none());
        owners.extend(others.filter(|it| it.subject().id() != own.id.as_str()).map(|it| {
            let name = match kind {
                RecordKind::Service => format!("service {}", kinds::name(it)),
                _ => kinds::name(it).to_owned(),
            };
            (format!("{}:{}", kind.as_str(), it.subject().id()), Text::new(name))
        }));
    }
    owners
}

/// The teams that the key can be of: one's own, or all that the reader sees.
pub(crate) fn teams(
    permissions: &Permissions,
    own: &PersonRecord,
    all: bool,
) -> Vec<(String, Text)> {
    let mut teams = Vec::new();
    if all || own.teams.is_empty() {
        teams.push((String::new(), Text::from("none: it belongs to the account")));
    }
    let may = |id: &str| all || own.teams.iter().any(|team| team.as_str() == id);
    let seen = kinds::teams(permissions, own.account_id.as_str());
    teams.extend(seen.into_iter().filter(|(id, _)| may(id)));
    teams
}

/// A list to choose from; where it is long, a field in which the name, address or id is written.
fn one_of(
    name: &'static str,
    label: &'static str,
    values: &[(String, Text)],
    chosen: &str,
) -> Field {
    if values.len() <= MOST_OFFERED {
        return Field::select(name, label, &kinds::values(values), chosen);
    }
    Field::new(Kind::Line, name, label)
        .value(chosen)
        .hint("Its name, address or id; services as service:NAME. Empty: none.")
}

/// What will happen, a sentence each.
fn says(ask: &Ask, owners: &[(String, Text)], given: &Fields, own: &PersonRecord) -> Vec<Markup> {
    let owner = match given.some("owner") {
        // Of those alone that the form offers: the others are nobody's to be named here.
        Some(owner) => owners.iter().find(|(id, _)| *id == owner).map(|(_, name)| name.clone()),
        None if given.has("owner") => None,
        None => Some(own.shown_name().into()),
    };
    let whose = match owner {
        Some(owner) => Markup::sentence("It belongs to {}.", &[&owner]),
        None => Markup::sentence("It belongs to nobody alone.", &[]),
    };
    let rotate = format!(
        "It works at once, and is due to be rotated after {} days.",
        ask.shared.gateway.snapshot().rules.rotate_after_days
    );
    vec![whose, Markup::sentence(&rotate, &[])]
}

/// The same at the command line. What a form chooses without being asked is written out.
fn command(given: &Fields, (class, owner, team): (&str, &str, &str)) -> String {
    let word = |name: &str, default: &str| match given.has(name) {
        true => given.get(name).to_owned(),
        false => default.to_owned(),
    };
    let several = |name: &str| given.words(name).collect::<Vec<_>>().join(",");
    // Only what differs from what the command does by itself.
    let differing =
        |value: String, default: &str| if value == default { String::new() } else { value };
    let scopes = match given.has("scopes") {
        true => differing(several("scopes"), "chat,models"),
        false => String::new(),
    };
    let figure = |name: &str| read::digits(given.get(name));
    let options = [
        ("class", word("class", class)),
        ("owner", word("owner", owner)),
        ("team", word("team", team)),
        ("scopes", scopes),
        ("models", several("models")),
        ("regions", several("regions")),
        ("region", word("region", "")),
        ("security-level", differing(word("minimum_level", "standard"), "standard")),
        ("max-tokens", word("max_tokens", "model")),
        ("requests-per-hour", figure("requests_per_hour")),
        ("tokens-per-day", figure("tokens_per_day")),
        // A day at the command line is its beginning, in a form its end.
        (
            "expires",
            read::day(given, "expires_at")
                .ok()
                .flatten()
                .map_or_else(String::new, |it| it.to_rfc3339()),
        ),
    ];
    let name = given.some("name").unwrap_or("NAME");
    let mut command = format!("sluice keys create --name {}", quoted(name));
    for (option, value) in options.iter().filter(|(_, value)| !value.is_empty()) {
        command.push_str(&format!(" \\\n  --{option} {}", quoted(value)));
    }
    for (field, flag) in [("zero_retention", "--zero-retention"), ("audit", "--audit")] {
        if given.has(field) {
            command.push_str(&format!(" \\\n  {flag}"));
        }
    }
    command
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = !word.is_empty()
        && word.chars().all(|it| it.is_ascii_alphanumeric() || "-_.,:@/".contains(it));
    if is_plain { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

/// The page that shows a secret, for this once.
pub(crate) fn made(ask: &Ask, created: &CreatedKey) -> KeyNew {
    let snapshot = ask.shared.gateway.snapshot().clone();
    let usable = ask.shared.gateway.models_of_key(&created.record);
    let base_url = ask.shared.deployment.base_url();
    let key = Secret::new(created.key.expose().to_owned());
    let client = |client: &'static connect::Client| {
        let model = connect::suitable_model(&usable, client.kind)?;
        let key = Some(key.clone());
        let deployment = connect::Deployment::of(base_url.clone(), key, model, &snapshot.catalog);
        Some(guide(&Guide::new(client, &deployment)))
    };
    let record = &created.record;
    let models = match &record.models {
        _ if !record.scopes.contains(&KeyScope::Chat) => {
            Text::from("no model: it may only list them")
        }
        None => Text::from("every model of the account"),
        Some(models) => Text::new(models.join(", ")),
    };
    let made = Made {
        id: record.id.to_string(),
        secret: created.key.expose().to_owned(),
        says: vec![Markup::sentence("It may use {}.", &[&models])],
        clients: CLIENTS.iter().filter_map(client).collect(),
    };
    stage(Stage::Made(Box::new(made)))
}

/// How a client is set up, as blocks that can be copied.
pub(crate) fn guide(guide: &Guide) -> Client {
    let mut blocks = Vec::new();
    for file in &guide.files {
        blocks.push(Code::new(file.path, file.content.trim_end()));
    }
    if !guide.steps.is_empty() {
        blocks.push(Code::new("By hand", guide.steps.join("\n")));
    }
    if !guide.environment.is_empty() {
        let lines: Vec<String> = guide
            .environment
            .iter()
            .map(|it| format!("export {}=\"{}\"", it.name, it.value))
            .collect();
        blocks.push(Code::new("Environment", lines.join("\n")));
    }
    if !guide.commands.is_empty() {
        blocks.push(Code::new("Commands", guide.commands.join("\n")));
    }
    Client { id: guide.client, title: guide.title, blocks, notes: guide.notes.clone() }
}

/// What of a refusal belongs to which field.
fn of_field(field: &'static str, error: &impl std::fmt::Display) -> read::Wrong {
    read::Wrong { field: Some(field), text: sentence(error) }
}
