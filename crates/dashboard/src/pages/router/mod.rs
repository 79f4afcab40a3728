//! A router of an account, a department or a team: what it stands for, trying it, its versions; and the
//! form that makes one.

mod view;

use std::sync::Arc;

use http::StatusCode;
use sluice_gateway::RouterVersion;
use sluice_gateway::admin::{AdminError, NewRouter, RouterView, Verb};
use sluice_gateway::choice::{Choice, Floor};
use sluice_gateway::vendors::{RouterPolicy as Policy, RouterSpec};

use crate::components::{Code, Drawn, Field, Kind, Problem, Share, Text};
use crate::layout::Head;
use crate::pages::audit::entry::Names;
use crate::pages::budget_new::read::{Wrong, digits, whose};
use crate::pages::provider_keys::KINDS;
use crate::pages::routers::mix;
use crate::web::{
    Access, Answer, Ask, Failure, Fields, Route, get, page, page_with, post, see_other, sentence,
};
use view::{Member, RouterPage, Tried, Version};

pub(crate) use view::samples;

pub(crate) const ROUTES: &[Route] = &[
    get("/routers/new", Access::May(Verb::CreateRouter), |ask| Box::pin(begin(ask))),
    post("/routers", Access::May(Verb::CreateRouter), |ask| Box::pin(create(ask))),
    get("/routers/{id}", Access::May(Verb::SeeRouter), |ask| Box::pin(show(ask))),
    post("/routers/{id}", Access::May(Verb::ChangeRouter), |ask| Box::pin(change(ask))),
    post("/routers/{id}/try", Access::May(Verb::SeeRouter), |ask| Box::pin(attempt(ask))),
    post("/routers/{id}/rollback", Access::May(Verb::ChangeRouter), |ask| Box::pin(rollback(ask))),
    post("/routers/{id}/remove", Access::May(Verb::RemoveRouter), |ask| Box::pin(remove(ask))),
];

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 1 000")]
fn thousandths(share: f64) -> u16 {
    (share.clamp(0.0, 1.0) * 1_000.0).round() as u16
}

async fn begin(ask: Arc<Ask>) -> Answer {
    page(&ask, &form(&ask, &Fields::default(), None))
}

async fn create(ask: Arc<Ask>) -> Answer {
    let mut spec = RouterSpec::default();
    let wrong = match read(&ask.form, &mut spec) {
        Err(wrong) => wrong,
        Ok(()) => {
            let wish = NewRouter {
                name: ask.form.get("router").trim().to_owned(),
                subject: whose(&ask.form),
                account: None,
                spec,
            };
            let snapshot = ask.shared.gateway.snapshot().clone();
            match ask.admin()?.create_router(&snapshot.given, wish).await {
                Ok(made) => return see_other(format!("/routers/{}?done=made", made.record.id)),
                Err(error) => refused(error)?,
            }
        }
    };
    page_with(StatusCode::UNPROCESSABLE_ENTITY, &ask, &form(&ask, &ask.form, Some(&wrong)))
}

/// The router of the address, by its id alone, with its versions.
async fn router(ask: &Ask) -> Result<(RouterView, Vec<RouterVersion>), Failure> {
    let id = ask.place("id");
    let snapshot = ask.shared.gateway.snapshot().clone();
    match ask.admin()?.router_versions(&snapshot.given, id, None).await {
        Ok(found) if found.0.record.id.as_str() == id => Ok(found),
        Ok(_) | Err(AdminError::NoSuchRouter { .. }) => Err(Failure::Missing),
        Err(error) => Err(error.into()),
    }
}

async fn show(ask: Arc<Ask>) -> Answer {
    let found = router(&ask).await?;
    let notice = match ask.asked("done") {
        "made" => Some("It can be asked from now on."),
        "saved" => Some("Saved as a new version. It holds for requests that begin from now on."),
        "back" => Some("Its settings are those of the earlier version again."),
        _ => None,
    };
    let given = as_typed(&found.0.spec);
    let mut view = view(&ask, &found, &given, None).await?;
    if let Some(text) = notice {
        view.notice = Some(("good", text.to_owned()));
    }
    page(&ask, &view)
}

async fn change(ask: Arc<Ask>) -> Answer {
    let found = router(&ask).await?;
    let mut spec = found.0.spec.clone();
    if !Drawn::of(&spec).fits(&ask.form) {
        let wrong = Wrong { field: None, text: Drawn::CHANGED.to_owned() };
        let view = view(&ask, &found, &as_typed(&spec), Some(&wrong)).await?;
        return page_with(StatusCode::CONFLICT, &ask, &view);
    }
    let wrong = match read(&ask.form, &mut spec) {
        Err(wrong) => wrong,
        Ok(()) => {
            let snapshot = ask.shared.gateway.snapshot().clone();
            let id = found.0.record.id.as_str();
            let set = |it: &mut RouterSpec| *it = spec;
            match ask.admin()?.change_router(&snapshot.given, id, None, set).await {
                Ok(_) => return see_other(format!("/routers/{id}?done=saved")),
                Err(error) => refused(error)?,
            }
        }
    };
    let view = view(&ask, &found, &ask.form, Some(&wrong)).await?;
    page_with(StatusCode::UNPROCESSABLE_ENTITY, &ask, &view)
}

async fn attempt(ask: Arc<Ask>) -> Answer {
    let found = router(&ask).await?;
    let mut page_view = view(&ask, &found, &as_typed(&found.0.spec), None).await?;
    let name = &found.0.record.name;
    let prompt = ask.form.get("prompt");
    if prompt.trim().is_empty() {
        let field = page_view.attempt.remove(0).error("Write what somebody would ask.");
        page_view.attempt.insert(0, field);
        return page_with(StatusCode::UNPROCESSABLE_ENTITY, &ask, &page_view);
    }
    let other = ask.form.get("version").parse().ok();
    let numbers = [Some(found.0.record.version), other];
    let snapshot = ask.shared.gateway.snapshot().clone();
    let floor =
        Floor { level: snapshot.rules.minimum_level, region: snapshot.rules.default_region };
    for version in numbers.into_iter().flatten() {
        let Some(of) = found.1.iter().find(|it| it.version == version) else { continue };
        let spec = RouterView::spec_of(of);
        let (chosen, reasons) = match ask.admin()?.draft_router(&snapshot.given, name, &spec).await
        {
            Ok(router) => {
                let choice = Choice::of_prompt(&router, prompt, &floor);
                (choice.chosen.map_or("nobody".into(), |id| id.as_str().into()), choice.reasons)
            }
            Err(error) => ("nobody".into(), vec![sentence(&error)]),
        };
        page_view.tried.push(Tried { version, chosen, reasons });
    }
    page_view.attempt = attempt_fields(&ask.form, &found);
    page(&ask, &page_view)
}

async fn rollback(ask: Arc<Ask>) -> Answer {
    let found = router(&ask).await?;
    let id = found.0.record.id.as_str();
    let version = ask.form.get("version").parse().unwrap_or_default();
    let snapshot = ask.shared.gateway.snapshot().clone();
    match ask.admin()?.roll_back_router(&snapshot.given, id, None, version).await {
        Ok(_) => see_other(format!("/routers/{id}?done=back")),
        Err(error) => again(&ask, &found, error).await,
    }
}

async fn remove(ask: Arc<Ask>) -> Answer {
    let found = router(&ask).await?;
    let snapshot = ask.shared.gateway.snapshot().clone();
    let id = found.0.record.id.as_str();
    match ask.admin()?.remove_router(&snapshot.given, id, None).await {
        Ok(_) => see_other("/routers?done=removed"),
        Err(error) => again(&ask, &found, error).await,
    }
}

/// The router with what is wrong.
async fn again(ask: &Ask, found: &(RouterView, Vec<RouterVersion>), error: AdminError) -> Answer {
    let wrong = refused(error)?;
    let view = view(ask, found, &as_typed(&found.0.spec), Some(&wrong)).await?;
    page_with(StatusCode::UNPROCESSABLE_ENTITY, ask, &view)
}

/// A refusal of administration; what is no fault of the form stays a failure.
fn refused(error: AdminError) -> Result<Wrong, Failure> {
    let field = match &error {
        AdminError::Settings(problems) => match problems.first().map(|it| it.key.as_str()) {
            Some("id") => Some("router"),
            Some("max_cost") => Some("max_cost"),
            Some("max_first_token_ms") => Some("max_first_token_ms"),
            _ => Some("members"),
        },
        AdminError::RouterNameTaken { .. } => Some("router"),
        AdminError::NoRouterOf { .. } => Some("name"),
        AdminError::NoSuchVersion { .. } => None,
        _ => return Wrong::of(error),
    };
    Ok(Wrong { field, text: sentence(&error) })
}

/// What the form asks for.
fn read(form: &Fields, spec: &mut RouterSpec) -> Result<(), Wrong> {
    spec.set_members(form.get("members")).map_err(|text| Wrong::new("members", text))?;
    if let Some(policy) = form.some("policy").and_then(Policy::parse) {
        spec.policy = policy;
    }
    let bound = |name: &'static str| {
        let text = digits(form.get(name));
        match text.is_empty() {
            true => Ok(None),
            false => text.parse().map(Some).map_err(|_| {
                Wrong::new(name, format!("{:?} is no number; write one such as 5.", form.get(name)))
            }),
        }
    };
    spec.max_cost = bound("max_cost")?;
    spec.max_first_token_ms = bound("max_first_token_ms")?;
    Ok(())
}

/// Settings as they would be typed.
fn as_typed(spec: &RouterSpec) -> Fields {
    let members: Vec<String> = match &spec.weights {
        None => spec.members.clone(),
        Some(weights) => {
            let pairs = spec.members.iter().zip(weights);
            pairs.map(|(name, weight)| format!("{name}={weight}")).collect()
        }
    };
    let figure = |it: Option<f64>| it.map(|it| it.to_string()).unwrap_or_default();
    let body = form_urlencoded::Serializer::new(String::new())
        .append_pair("members", &members.join("\n"))
        .append_pair("policy", spec.policy.as_str())
        .append_pair("max_cost", &figure(spec.max_cost))
        .append_pair("max_first_token_ms", &figure(spec.max_first_token_ms))
        .finish();
    Fields::parse(body.as_bytes())
}

/// The fields of the settings, with what was given so far.
fn settings(given: &Fields, wrong: Option<&Wrong>) -> Vec<Field> {
    let marked = |field: Field, name: &str| match wrong {
        Some(wrong) if wrong.field == Some(name) => field.error(wrong.text.clone()),
        _ => field,
    };
    let text = |kind, name: &'static str, label: &str| {
        marked(Field::new(kind, name, label).value(given.get(name)), name)
    };
    let mut policies: Vec<(&str, Text)> =
        Policy::ALL.iter().map(|it| (it.as_str(), it.as_str().into())).collect();
    policies.insert(0, ("", "weighted where there are weights, else balanced".into()));
    vec![
        text(Kind::Area, "members", "Members").placeholder("small=9").hint(
            "Models, one a line. With weights (small=9) it is a split that is the same for all of a \
             conversation; without, it chooses by task, speed and cost.",
        ),
        Field::select("policy", "Policy", &policies, given.some("policy").unwrap_or_default()),
        text(Kind::Number, "max_cost", "Highest expected cost of a request")
            .hint("Empty: none.")
            .unit("USD"),
        text(Kind::Number, "max_first_token_ms", "Longest expected wait for the first token")
            .hint("Empty: none.")
            .unit("ms"),
    ]
}

fn attempt_fields(
    given: &Fields,
    (view, versions): &(RouterView, Vec<RouterVersion>),
) -> Vec<Field> {
    let mut others = vec![(String::new(), Text::from("nothing"))];
    let older = versions.iter().filter(|it| it.version != view.record.version);
    others
        .extend(older.map(|it| (it.version.to_string(), format!("version {}", it.version).into())));
    let others: Vec<(&str, Text)> =
        others.iter().map(|(number, text)| (number.as_str(), text.clone())).collect();
    vec![
        Field::new(Kind::Area, "prompt", "Prompt")
            .value(given.get("prompt"))
            .hint("Nothing is sent anywhere."),
        Field::select("version", "Compare with", &others, given.get("version")),
    ]
}

/// The form that makes a router.
fn form(ask: &Ask, given: &Fields, wrong: Option<&Wrong>) -> RouterPage {
    let marked = |field: Field, name: &str| match wrong {
        Some(wrong) if wrong.field == Some(name) => field.error(wrong.text.clone()),
        _ => field,
    };
    let kinds: Vec<(&str, Text)> =
        KINDS.iter().rev().map(|(word, text)| (*word, Text::from(*text))).collect();
    let mut fields = vec![
        marked(
            Field::new(Kind::Line, "router", "Name")
                .value(given.get("router"))
                .placeholder("svc/review")
                .hint("What callers put in `model`.")
                .required(),
            "router",
        ),
        Field::select("kind", "For", &kinds, given.some("kind").unwrap_or("account")),
        marked(
            Field::new(Kind::Line, "name", "Which")
                .value(given.get("name"))
                .hint("Its name or id. Empty for the account."),
            "name",
        ),
    ];
    fields.extend(settings(given, wrong));
    RouterPage {
        head: Head::new("New router").below("Routers", "/routers"),
        id: None,
        name: Text::from(""),
        notice: None,
        problem: wrong.filter(|it| it.field.is_none()).map(|it| Problem::new(it.text.clone())),
        facts: Vec::new(),
        members: Vec::new(),
        may_change: true,
        drawn: None,
        fields,
        attempt: Vec::new(),
        tried: Vec::new(),
        versions: Vec::new(),
        command: Code::new(
            "As command",
            "sluice routers create svc/review --members small=9,large=1 --for account",
        ),
        csrf: ask.csrf_once(),
    }
}

/// The members, of a split with their shares.
fn members_of(spec: &RouterSpec) -> String {
    let is_split = spec.policy == Policy::Weighted;
    let shares = spec.shares().into_iter().map(|(name, share)| match is_split {
        true => format!("{name} {}", parts(share)),
        false => name.to_owned(),
    });
    shares.collect::<Vec<_>>().join(", ")
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of 0 to 1")]
fn parts(share: f64) -> Share {
    Share((share.clamp(0.0, 1.0) * 10_000.0).round() as u64, 10_000)
}

/// A router with what was given so far.
async fn view(
    ask: &Ask,
    found: &(RouterView, Vec<RouterVersion>),
    given: &Fields,
    wrong: Option<&Wrong>,
) -> Result<RouterPage, Failure> {
    let (it, versions) = found;
    let (record, calendar) = (&it.record, ask.calendar());
    let names = Names::of(ask).await?;
    let answered = mix(ask, &record.name, usize::MAX).await?;
    let share_of = |name: &str| {
        let mut parts = answered.iter();
        parts.find(|(model, _)| model.plain() == name).map(|(_, share)| *share)
    };
    let snapshot = ask.shared.gateway.snapshot().clone();
    let quality = |name: &str| {
        let quality = snapshot.catalog.get(name)?.expected_quality();
        Some((thousandths(quality.average), quality.basis))
    };
    let members = it.spec.shares().into_iter().map(|(name, share)| Member {
        name: name.into(),
        quality: quality(name),
        share: (it.spec.policy == Policy::Weighted).then(|| parts(share)),
        answered: share_of(name),
    });
    Ok(RouterPage {
        head: Head::new(record.name.as_str())
            .below("Routers", "/routers")
            .stamp(format!("{}, version {}", record.id, record.version)),
        id: Some(record.id.to_string()),
        name: record.name.as_str().into(),
        notice: it.left_out.as_ref().map(|why| ("warn", why.clone())),
        problem: wrong.filter(|it| it.field.is_none()).map(|it| Problem::new(it.text.clone())),
        facts: vec![
            ("For", it.whose_name().into()),
            ("Policy", it.spec.policy.as_str().into()),
            ("Made", calendar.minute(record.created_at).into()),
            ("Changed", calendar.minute(record.changed_at).into()),
        ],
        members: members.collect(),
        may_change: ask.admin()?.permissions().await?.may(Verb::ChangeRouter, &it.whose),
        drawn: Some(Drawn::of(&it.spec)),
        fields: settings(given, wrong),
        attempt: attempt_fields(&Fields::default(), found),
        tried: Vec::new(),
        versions: versions
            .iter()
            .map(|version| {
                let spec = RouterView::spec_of(version);
                Version {
                    number: version.version,
                    is_newest: version.version == record.version,
                    policy: spec.policy.as_str().to_owned(),
                    members: members_of(&spec).into(),
                    made: calendar.minute(version.changed_at),
                    by: names.actor(&version.changed_by).into(),
                }
            })
            .collect(),
        command: Code::new(
            "As command",
            format!("sluice routers set {} --members {}", record.id, members_typed(&it.spec)),
        ),
        csrf: ask.csrf(),
    })
}

fn members_typed(spec: &RouterSpec) -> String {
    as_typed(spec).get("members").replace('\n', ",")
}
