//! Connecting a provider; and one provider: tested, changed, removed.

mod read;
mod view;

use std::sync::Arc;

use http::StatusCode;
use sluice_core::region::Region;
use sluice_gateway::Reached;
use sluice_gateway::admin::{AdminError, Origin, ProviderView, Verb};
use sluice_gateway::snapshot::Snapshot;
use sluice_gateway::vendors::{ProviderSpec, kinds};

use crate::components::{
    Badge, Code, Confirm, Field, Kind, NOT_ITS_NAME, Problem, Span, State, Text, is_confirmed,
};
use crate::format;
use crate::layout::{Head, Place};
use crate::pages::confirm::Question;
use crate::pages::providers::{Health, kind_name};
use crate::web::{
    Access, Answer, Ask, Failure, Fields, Route, get, page, page_with, post, see_other, sentence,
};
use read::Wrong;
use view::{ProviderForm, Test};

pub(crate) use view::samples;

pub(crate) const ROUTES: &[Route] = &[
    get("/providers/new", Access::May(Verb::CreateProvider), |ask| Box::pin(show_new(ask))),
    post("/providers/new", Access::May(Verb::CreateProvider), |ask| Box::pin(connect(ask))),
    post("/providers/new/test", Access::May(Verb::TestProvider), |ask| Box::pin(try_new(ask))),
    get("/providers/{name}", Access::May(Verb::SeeProvider), |ask| Box::pin(show(ask))),
    post("/providers/{name}", Access::May(Verb::ChangeProvider), |ask| Box::pin(change(ask))),
    post("/providers/{name}/test", Access::May(Verb::TestProvider), |ask| Box::pin(test(ask))),
    get("/providers/{name}/remove", Access::May(Verb::RemoveProvider), |ask| {
        Box::pin(ask_first(ask))
    }),
    post("/providers/{name}/remove", Access::May(Verb::RemoveProvider), |ask| {
        Box::pin(remove(ask))
    }),
];

async fn show_new(ask: Arc<Ask>) -> Answer {
    page(&ask, &connecting(&ask, None, None))
}

async fn try_new(ask: Arc<Ask>) -> Answer {
    let admin = ask.admin()?;
    let wish = read::provider(&ask.form);
    match admin.try_provider(&wish, &read::models(&ask.form)).await {
        Ok(reached) => page(&ask, &connecting(&ask, Some(answered(&reached)), None)),
        Err(error) => {
            let wrong = Wrong::of(error)?;
            let view = connecting(&ask, Some(failed(&wrong.text)), Some(&wrong));
            page_with(StatusCode::UNPROCESSABLE_ENTITY, &ask, &view)
        }
    }
}

/// Tests a provider, and puts it in with its models where it answered.
async fn connect(ask: Arc<Ask>) -> Answer {
    let admin = ask.admin()?;
    let given = ask.shared.gateway.snapshot().given.clone();
    let wish = read::provider(&ask.form);
    let (name, models) = (wish.name.clone(), read::models(&ask.form));
    let done = async {
        admin.try_provider(&wish, &models).await?;
        admin.create_provider(&given, wish, read::at(&name, &models)).await
    };
    if let Err(error) = done.await {
        let wrong = Wrong::of(error)?;
        let view = connecting(&ask, None, Some(&wrong));
        return page_with(StatusCode::UNPROCESSABLE_ENTITY, &ask, &view);
    }
    see_other(format!("{}?done=connected", address(&name)))
}

fn address(name: &str) -> String {
    format!("/providers/{}", Text::from(name).segment())
}

/// The form of a new provider with what was given so far, but for its credential.
fn connecting(ask: &Ask, test: Option<Test>, wrong: Option<&Wrong>) -> ProviderForm {
    let given = &ask.form;
    let mut kinds: Vec<(&str, Text)> =
        kinds().map(|preset| (preset.kind.as_str(), preset.name.as_str().into())).collect();
    kinds.sort_by_key(|(_, name)| name.plain().to_lowercase());
    let kind = given.some("kind").unwrap_or("openai");
    let mut fields = vec![
        marked(Field::select("kind", "Provider", &kinds, kind), "kind", wrong)
            .hint("Other services that speak OpenAI's dialect: OpenAI, with their address."),
        line(given, "name", "Name here", wrong)
            .placeholder("openai")
            .hint("Records, models and the configuration file name it so.")
            .required(),
    ];
    fields.extend(settings(given, wrong, test.is_some()));
    fields.push(
        marked(
            Field::new(Kind::Area, "models", "Models").value(given.get("models")),
            "models",
            wrong,
        )
        .hint("The provider's names, one a line. Empty: all that the catalogue knows of it."),
    );
    ProviderForm {
        head: Head::new("Connect a provider").below("Providers", "/providers"),
        notice: None,
        action: "/providers/new".into(),
        problem: problem(wrong),
        fields,
        health: None,
        facts: Vec::new(),
        test,
        command: Code::new("As command", command(given)),
        verb: "Test and connect",
        may_test: true,
        remove: None,
        read_only: None,
        csrf: ask.csrf(),
    }
}

/// What can be changed later, too. After a test, a credential that was typed has to be typed again.
fn settings(given: &Fields, wrong: Option<&Wrong>, is_tested: bool) -> Vec<Field> {
    let never = match is_tested && given.some("credential").is_some() {
        true => {
            "The key that you typed was tested. It is never sent back: type it again to store it."
        }
        false => "Encrypted under this deployment's master key. It is never shown again.",
    };
    let mut regions = vec![("", Text::from("unknown"))];
    regions.extend(Region::ALL.iter().map(|it| (it.as_str(), it.as_str().into())));
    vec![
        line(given, "base_url", "Address", wrong)
            .placeholder("the service's own")
            .hint("For servers of your own, and services with an address for each customer."),
        marked(Field::new(Kind::Password, "credential", "API key"), "credential", wrong)
            .hint(never),
        marked(Field::select("region", "Region", &regions, given.get("region")), "region", wrong)
            .hint("Where it processes requests."),
        line(given, "api_version", "API version", wrong).hint("Of Azure OpenAI alone."),
    ]
}

fn line(given: &Fields, name: &'static str, label: &str, wrong: Option<&Wrong>) -> Field {
    marked(Field::new(Kind::Line, name, label).value(given.get(name)), name, wrong)
}

fn marked(field: Field, name: &str, wrong: Option<&Wrong>) -> Field {
    match wrong {
        Some(wrong) if wrong.field == Some(name) => field.error(wrong.text.clone()),
        _ => field,
    }
}

fn problem(wrong: Option<&Wrong>) -> Option<Problem> {
    wrong.filter(|it| it.field.is_none()).map(|it| Problem::new(it.text.clone()))
}

fn command(given: &Fields) -> String {
    let kind = given.some("kind").unwrap_or("openai");
    let name = given.some("name").unwrap_or("NAME");
    let mut command = format!("sluice providers add {name} --kind {kind}");
    for (option, field) in
        [("base-url", "base_url"), ("region", "region"), ("api-version", "api_version")]
    {
        if let Some(value) = given.some(field) {
            command += &format!(" --{option} {value}");
        }
    }
    command + " < KEY"
}

fn answered(reached: &Reached) -> Test {
    let ms = u64::try_from(reached.after.as_millis()).unwrap_or(u64::MAX);
    let models = reached.models.iter().flatten();
    Test {
        result: Badge::new(State::Good, "answered"),
        took: Span(Some(ms)),
        says: Text::default(),
        models: models.take(200).map(|model| model.as_str().into()).collect(),
    }
}

fn failed(why: &str) -> Test {
    let result = Badge::new(State::Bad, "failed");
    Test { result, took: Span(None), says: why.into(), models: Vec::new() }
}

/// The provider of the address.
async fn provider(ask: &Ask) -> Result<ProviderView, Failure> {
    let given = ask.shared.gateway.snapshot().given.clone();
    match ask.admin()?.provider(&given, ask.place("name")).await {
        Err(AdminError::NoSuchProvider { .. }) => Err(Failure::Missing),
        found => Ok(found?),
    }
}

async fn show(ask: Arc<Ask>) -> Answer {
    let found = provider(&ask).await?;
    page(&ask, &existing(&ask, &found, &stored(&found), None, None)?)
}

/// Asks a provider as the form has it: what was typed, over what is stored. Nothing is stored.
async fn test(ask: Arc<Ask>) -> Answer {
    let found = provider(&ask).await?;
    let snapshot = ask.shared.gateway.snapshot().clone();
    let admin = ask.admin()?;
    // The page of what the file has is without fields, and so is a form that somebody made by hand.
    let has_fields = found.record.is_some() && ask.form.has("base_url");
    let (given, tested) = match has_fields {
        true => {
            let change = read::change(&ask.form, &spec(&found));
            let mut known = read::models(&ask.form);
            known.extend(model_there(&snapshot, &found.name));
            let tested = admin.try_change(&snapshot.given, &found.name, change, &known).await;
            (ask.form.clone(), tested)
        }
        false => (stored(&found), admin.test_served(&snapshot, &found.name).await),
    };
    let (status, test, wrong) = match tested {
        Ok(reached) => (StatusCode::OK, answered(&reached), None),
        Err(error) => {
            let wrong = Wrong::of(error)?;
            let test = failed(&wrong.text);
            // What concerns no field stands beside the test alone.
            let wrong = Some(wrong).filter(|it| it.field.is_some());
            (StatusCode::UNPROCESSABLE_ENTITY, test, wrong)
        }
    };
    page_with(status, &ask, &existing(&ask, &found, &given, Some(test), wrong.as_ref())?)
}

/// The name that one of a provider's models has there.
fn model_there(snapshot: &Snapshot, provider: &str) -> Option<String> {
    let mut at = snapshot.catalog.models().iter().flat_map(|model| &model.deployments);
    at.find(|at| at.provider.as_str() == provider).map(|at| at.upstream_model.clone())
}

async fn change(ask: Arc<Ask>) -> Answer {
    let found = provider(&ask).await?;
    let given = ask.shared.gateway.snapshot().given.clone();
    let admin = ask.admin()?;
    let change = read::change(&ask.form, &spec(&found));
    let models = read::at(&found.name, &read::models(&ask.form));
    if let Err(error) = admin.change_provider(&given, &found.name, change, models).await {
        let wrong = Wrong::of(error)?;
        let view = existing(&ask, &found, &ask.form, None, Some(&wrong))?;
        return page_with(StatusCode::UNPROCESSABLE_ENTITY, &ask, &view);
    }
    see_other(format!("{}?done=changed", address(&found.name)))
}

fn spec(found: &ProviderView) -> ProviderSpec {
    let record = found.record.as_ref();
    record.and_then(|it| serde_json::from_value(it.settings.clone()).ok()).unwrap_or_default()
}

/// What is stored, as the form would send it.
fn stored(found: &ProviderView) -> Fields {
    let spec = spec(found);
    let mut encoded = form_urlencoded::Serializer::new(String::new());
    encoded.append_pair("base_url", spec.base_url.as_deref().unwrap_or_default());
    encoded.append_pair("region", spec.region.map(Region::as_str).unwrap_or_default());
    encoded.append_pair("api_version", spec.api_version.as_deref().unwrap_or_default());
    Fields::parse(encoded.finish().as_bytes())
}

/// A provider that is there, with what was typed.
fn existing(
    ask: &Ask,
    found: &ProviderView,
    given: &Fields,
    test: Option<Test>,
    wrong: Option<&Wrong>,
) -> Result<ProviderForm, Failure> {
    let session = ask.session()?;
    let may_change = session.may_at_all(Verb::ChangeProvider);
    let is_files = found.origin == Origin::File;
    let read_only = if is_files {
        Some(
            "The configuration file has this provider, or it was found where there is none. It is \
              changed there.",
        )
    } else if !may_change {
        Some("Operators change providers: they serve every account.")
    } else {
        None
    };
    let mut fields = Vec::new();
    if read_only.is_none() {
        fields = settings(given, wrong, test.is_some());
        let more = Field::new(Kind::Area, "models", "More models").value(given.get("models"));
        fields.push(marked(more, "models", wrong).hint(
            "The provider's names, one a line. Once one is named, those of the catalogue go.",
        ));
    }
    let notice = match ask.asked("done") {
        "connected" => Some("It answered and is connected. Its models can be asked now."),
        "changed" => Some("The change is in force."),
        _ => None,
    };
    let id = Text::from(found.name.as_str());
    let command = if may_change && !is_files { "set" } else { "test" };
    let may_remove = !is_files && session.may_at_all(Verb::RemoveProvider);
    Ok(ProviderForm {
        head: Head::new(id).below("Providers", "/providers"),
        notice,
        action: address(&found.name),
        problem: problem(wrong),
        fields,
        health: Some(Health::of(found, &ask.shared.gateway.snapshot(), &ask.calendar(), ask.now)),
        facts: facts(ask, found),
        test,
        command: Code::new("As command", format!("sluice providers {command} {}", found.name)),
        verb: "Save",
        // One that is left out cannot be asked as it is stored, but as it is in the form.
        may_test: session.may_at_all(Verb::TestProvider)
            && (found.left_out.is_none() || read_only.is_none()),
        remove: may_remove.then(|| removal(ask, found, None)),
        read_only,
        csrf: ask.csrf(),
    })
}

fn facts(ask: &Ask, found: &ProviderView) -> Vec<(&'static str, Text)> {
    let calendar = ask.calendar();
    let record = found.record.as_ref();
    let set_at = record.and_then(|it| it.credential_set_at);
    let credential = match (found.has_credential, set_at) {
        (true, Some(at)) => format!("set on {}", calendar.minute(at)),
        (true, None) => "set".to_owned(),
        (false, _) => "none".to_owned(),
    };
    let mut facts = vec![
        ("Kind", kind_name(&found.kind).into()),
        ("From", found.origin.as_str().into()),
        ("Address", found.base_url.as_str().into()),
        ("Region", found.region.map_or("unknown", Region::as_str).into()),
        ("Credential", credential.into()),
        ("Models", format::count(found.models as u64).into()),
    ];
    if let Some(record) = record {
        facts.push(("Connected", calendar.minute(record.created_at).into()));
    }
    facts
}

async fn ask_first(ask: Arc<Ask>) -> Answer {
    let found = provider(&ask).await?;
    if found.origin == Origin::File {
        return Err(Failure::Missing);
    }
    page(&ask, &Question { place: Place::Providers, question: removal(&ask, &found, None) })
}

async fn remove(ask: Arc<Ask>) -> Answer {
    let found = provider(&ask).await?;
    let refused = |why: String| {
        let question = removal(&ask, &found, Some(why));
        let view = Question { place: Place::Providers, question };
        page_with(StatusCode::UNPROCESSABLE_ENTITY, &ask, &view)
    };
    if !is_confirmed(ask.form.get("confirm"), &found.name) {
        return refused(NOT_ITS_NAME.to_owned());
    }
    let given = ask.shared.gateway.snapshot().given.clone();
    match ask.admin()?.remove_provider(&given, &found.name, true).await {
        Err(error @ (AdminError::ManagedByFile { .. } | AdminError::ChangedMeanwhile)) => {
            return refused(sentence(&error));
        }
        done => done?,
    };
    see_other("/providers?done=removed")
}

fn removal(ask: &Ask, found: &ProviderView, error: Option<String>) -> Confirm {
    let id = Text::from(found.name.as_str());
    let models = format::plural(found.models as u64, "model", "models");
    Confirm {
        id: "remove",
        action: format!("{}/remove", address(&found.name)),
        title: Text::new(format!("Remove {}", found.name)),
        consequences: vec![
            format!("It runs {models}. Those that run nowhere else leave the catalogue with it."),
            "Its credential is deleted.".to_owned(),
        ],
        fields: Vec::new(),
        name: Some(id),
        verb: "Remove",
        is_dangerous: true,
        error,
        back: address(&found.name),
        csrf: ask.csrf(),
    }
}
