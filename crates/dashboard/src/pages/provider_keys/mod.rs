//! Provider keys of accounts, departments and teams, and the form that adds one.

mod view;

use std::sync::Arc;

use http::StatusCode;
use sluice_core::secret::Secret;
use sluice_gateway::admin::{Admin, AdminError, NewProviderKey, ProviderAt, ProviderKeyView, Verb};
use sluice_gateway::snapshot::Snapshot;

use crate::components::{Code, Empty, Field, Kind, Problem, Text};
use crate::format::Calendar;
use crate::layout::Head;
use crate::pages::budget_new::read::{Wrong, whose};
use crate::pages::overview::health_badge;
use crate::web::{
    Access, Answer, Ask, Failure, Route, get, page, page_with, post, see_other, sentence,
};
use view::{KeyRow, ProviderKeys};

pub(crate) use view::samples;

pub(crate) const ROUTES: &[Route] = &[
    get("/provider-keys", Access::May(Verb::SeeProviderKey), |ask| Box::pin(list(ask))),
    post("/provider-keys", Access::May(Verb::AddProviderKey), |ask| Box::pin(add(ask))),
];

/// What has a provider key, or a router of its own: the word in the form, and what people call it.
pub(crate) const KINDS: [(&str, &str); 3] =
    [("team", "a team"), ("department", "a department"), ("account", "the account")];

async fn list(ask: Arc<Ask>) -> Answer {
    page(&ask, &view(&ask, None).await?)
}

async fn add(ask: Arc<Ask>) -> Answer {
    let snapshot = ask.shared.gateway.snapshot().clone();
    let provider = ask.form.get("provider");
    let admin = ask.admin()?;
    let added = match served(&admin, &snapshot, provider).await {
        Err(error) => Err(error),
        Ok(at) => {
            let wish = NewProviderKey {
                subject: whose(&ask.form),
                account: None,
                secret: Secret::new(ask.form.get("secret").to_owned()),
                falls_back: ask.form.has("falls_back"),
                counts: ask.form.has("counts"),
            };
            admin.add_provider_key(wish, &at, true).await
        }
    };
    match added {
        Ok(added) => see_other(format!("/provider-keys/{}?done=added", added.key.id)),
        Err(error) => {
            let view = view(&ask, Some(&wrong(error)?)).await?;
            page_with(StatusCode::UNPROCESSABLE_ENTITY, &ask, &view)
        }
    }
}

/// A provider as it is served.
pub(super) async fn served<'a>(
    admin: &Admin<'_>,
    snapshot: &'a Snapshot,
    name: &str,
) -> Result<ProviderAt<'a>, AdminError> {
    let missing = || AdminError::NoSuchProvider { name: name.to_owned() };
    let kind = admin.provider(&snapshot.given, name).await?.kind;
    ProviderAt::served(snapshot, &kind, name).ok_or_else(missing)
}

/// A refusal of administration; what is no fault of the form stays a failure.
pub(super) fn wrong(error: AdminError) -> Result<Wrong, Failure> {
    let field = match &error {
        AdminError::NoSuchProvider { .. } => Some("provider"),
        AdminError::NotAProviderKey | AdminError::Provider(_) => Some("secret"),
        AdminError::NoProviderKeyOf { .. } => Some("name"),
        AdminError::ProviderKeyElsewhere { .. } => None,
        _ => return Wrong::of(error),
    };
    Ok(Wrong { field, text: sentence(&error) })
}

async fn view(ask: &Ask, wrong: Option<&Wrong>) -> Result<ProviderKeys, Failure> {
    let admin = ask.admin()?;
    let keys = admin.provider_keys().await?;
    let snapshot = ask.shared.gateway.snapshot().clone();
    let given = &ask.form;
    let marked = |field: Field, name: &str| match wrong {
        Some(wrong) if wrong.field == Some(name) => field.error(wrong.text.clone()),
        _ => field,
    };
    let kinds: Vec<(&str, Text)> =
        KINDS.iter().map(|(word, text)| (*word, Text::from(*text))).collect();
    let mut names: Vec<&str> = snapshot.providers.keys().map(|id| id.as_str()).collect();
    names.sort_unstable();
    let providers: Vec<(&str, Text)> = names.iter().map(|it| (*it, Text::from(*it))).collect();
    let first = names.first().copied().unwrap_or_default();
    let calendar = ask.calendar();
    let may_add = ask.session()?.may_at_all(Verb::AddProviderKey);
    Ok(ProviderKeys {
        head: Head::new("Provider keys").below("Providers", "/providers"),
        rows: keys.iter().map(|it| row(ask, it, &calendar)).collect(),
        empty: Empty::new(
            "No provider key yet",
            "Requests of a team, a department or the account can be sent with a provider key of their \
             own, and are billed by the provider. Until then the deployment's key is used.",
        ),
        notice: match ask.asked("done") {
            "removed" => Some(("good", "The provider key is removed.".to_owned())),
            _ => None,
        },
        problem: wrong.filter(|it| it.field.is_none()).map(|it| Problem::new(it.text.clone())),
        may_add,
        fields: vec![
            marked(
                Field::select(
                    "provider",
                    "Provider",
                    &providers,
                    given.some("provider").unwrap_or(first),
                ),
                "provider",
            ),
            Field::select("kind", "For", &kinds, given.some("kind").unwrap_or("team")),
            marked(
                Field::new(Kind::Line, "name", "Which")
                    .value(given.get("name"))
                    .placeholder("platform")
                    .hint("Its name or id. Empty for the account."),
                "name",
            ),
            marked(
                Field::new(Kind::Password, "secret", "Key")
                    .hint("Tried at the provider first, encrypted, and never shown again.")
                    .required(),
                "secret",
            ),
            Field::new(Kind::Switch(given.has("falls_back")), "falls_back", "Fall back")
                .hint("Use the deployment's key where this one fails."),
            Field::new(Kind::Switch(given.has("counts")), "counts", "Count in budgets")
                .hint("Budgets of money count what it costs."),
        ],
        command: Code::new(
            "As command",
            "sluice provider-keys add --provider NAME --for team:NAME < key.txt",
        ),
        csrf: ask.csrf_once(),
    })
}

fn row(ask: &Ask, view: &ProviderKeyView, calendar: &Calendar) -> KeyRow {
    let key = &view.key;
    KeyRow {
        id: key.id.to_string(),
        whose: view.whose_name().into(),
        provider: key.provider.as_str().into(),
        hint: key.hint.as_str().into(),
        state: health_badge(ask.shared.gateway.provider_key_state(&key.id, ask.now)),
        falls_back: key.falls_back,
        counts: key.counts,
        given: calendar.minute(key.rotated_at),
    }
}
