//! One provider key: how it does, trying it, putting another in its place.

mod view;

use std::sync::Arc;

use http::StatusCode;
use sluice_core::secret::Secret;
use sluice_gateway::admin::{AdminError, ProviderKeyView, Verb};

use crate::components::{Field, Kind, Problem, Text};
use crate::layout::Head;
use crate::pages::budget_new::read::Wrong;
use crate::pages::overview::health_badge;
use crate::pages::provider_keys::{served, wrong};
use crate::web::{Access, Answer, Ask, Failure, Route, get, page, page_with, post, see_other};
use view::ProviderKey;

pub(crate) use view::samples;

pub(crate) const ROUTES: &[Route] = &[
    get("/provider-keys/{id}", Access::May(Verb::SeeProviderKey), |ask| Box::pin(show(ask))),
    post("/provider-keys/{id}", Access::May(Verb::ChangeProviderKey), |ask| Box::pin(change(ask))),
    post("/provider-keys/{id}/test", Access::May(Verb::TestProviderKey), |ask| Box::pin(test(ask))),
    post("/provider-keys/{id}/rotate", Access::May(Verb::RotateProviderKey), |ask| {
        Box::pin(rotate(ask))
    }),
    post("/provider-keys/{id}/remove", Access::May(Verb::RemoveProviderKey), |ask| {
        Box::pin(remove(ask))
    }),
];

async fn key(ask: &Ask) -> Result<ProviderKeyView, Failure> {
    match ask.admin()?.provider_key(ask.place("id")).await {
        Err(AdminError::NoSuchProviderKey { .. }) => Err(Failure::Missing),
        found => Ok(found?),
    }
}

async fn show(ask: Arc<Ask>) -> Answer {
    let found = key(&ask).await?;
    let notice = match ask.asked("done") {
        "added" => Some("The provider accepts it. It is used from now on."),
        "saved" => Some("Saved. It holds at once."),
        "tested" => Some("The provider accepts it."),
        "rotated" => Some("The provider accepts the new one. It is used from now on."),
        _ => None,
    };
    page(&ask, &view(&ask, &found, notice.map(|text| ("good", text)), None)?)
}

async fn change(ask: Arc<Ask>) -> Answer {
    let found = key(&ask).await?;
    let (falls_back, counts) = (ask.form.has("falls_back"), ask.form.has("counts"));
    let changed = ask
        .admin()?
        .change_provider_key(found.key.id.as_str(), Some(falls_back), Some(counts))
        .await;
    done(&ask, &found, changed.map(drop), "saved")
}

async fn test(ask: Arc<Ask>) -> Answer {
    let found = key(&ask).await?;
    let snapshot = ask.shared.gateway.snapshot().clone();
    let admin = ask.admin()?;
    let tested = match served(&admin, &snapshot, &found.key.provider).await {
        Ok(at) => admin.test_provider_key(found.key.id.as_str(), &at).await,
        Err(error) => Err(error),
    };
    done(&ask, &found, tested.map(drop), "tested")
}

async fn rotate(ask: Arc<Ask>) -> Answer {
    let found = key(&ask).await?;
    let snapshot = ask.shared.gateway.snapshot().clone();
    let admin = ask.admin()?;
    let secret = Secret::new(ask.form.get("secret").to_owned());
    let rotated = match served(&admin, &snapshot, &found.key.provider).await {
        Ok(at) => admin.rotate_provider_key(found.key.id.as_str(), secret, &at, true).await,
        Err(error) => Err(error),
    };
    done(&ask, &found, rotated.map(drop), "rotated")
}

async fn remove(ask: Arc<Ask>) -> Answer {
    let found = key(&ask).await?;
    match ask.admin()?.remove_provider_key(found.key.id.as_str()).await {
        Ok(_) => see_other("/provider-keys?done=removed"),
        Err(error) => done(&ask, &found, Err(error), "removed"),
    }
}

/// Leads back to the key, or says what is wrong.
fn done(ask: &Ask, found: &ProviderKeyView, result: Result<(), AdminError>, what: &str) -> Answer {
    match result {
        Ok(()) => see_other(format!("/provider-keys/{}?done={what}", found.key.id)),
        Err(error) => {
            let wrong = wrong(error)?;
            let view = view(ask, found, None, Some(&wrong))?;
            page_with(StatusCode::UNPROCESSABLE_ENTITY, ask, &view)
        }
    }
}

fn view(
    ask: &Ask,
    found: &ProviderKeyView,
    notice: Option<(&'static str, &'static str)>,
    wrong: Option<&Wrong>,
) -> Result<ProviderKey, Failure> {
    let (key, calendar) = (&found.key, ask.calendar());
    let session = ask.session()?;
    let secret = Field::new(Kind::Password, "secret", "Another key")
        .hint("Tried at the provider first, encrypted, and never shown again.")
        .required();
    Ok(ProviderKey {
        head: Head::new(found.whose_name())
            .below("Provider keys", "/provider-keys")
            .stamp(format!("{} at {}", key.id, key.provider)),
        id: key.id.to_string(),
        state: health_badge(ask.shared.gateway.provider_key_state(&key.id, ask.now)),
        notice,
        problem: wrong.map(|it| Problem::new(it.text.clone())),
        facts: vec![
            ("Provider", key.provider.as_str().into()),
            ("Sent to", key.base_url.as_str().into()),
            ("Ends in", Text::new(format!("…{}", key.hint))),
            ("Added", calendar.minute(key.created_at).into()),
            ("Given", calendar.minute(key.rotated_at).into()),
        ],
        may_change: session.may_at_all(Verb::ChangeProviderKey),
        settings: vec![
            Field::new(Kind::Switch(key.falls_back), "falls_back", "Fall back")
                .hint("Use the deployment's key where this one fails."),
            Field::new(Kind::Switch(key.counts), "counts", "Count in budgets")
                .hint("Budgets of money count what it costs."),
        ],
        secret,
        csrf: ask.csrf(),
    })
}
