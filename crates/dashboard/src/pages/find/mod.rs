//! The command bar: an id, a name or a pasted key leads to its page.
//!
//! What is sought may be a secret, so that the bar sends a form and nothing of it gets into an
//! address. Links may still say `/find?q=`: whoever shares one has put it there.

mod view;

use std::sync::Arc;

use sluice_core::ids::RequestId;
use sluice_gateway::Record;
use sluice_gateway::admin::{AdminError, Kind, Verb};
use sluice_gateway::service_key::{PREFIX, ServiceKey};

use crate::components::{Empty, Text};
use crate::layout::{Head, Place};
use crate::pages::organisation::kinds;
use crate::web::{Access, Answer, Ask, Failure, Route, get, page, post, see_other};
use view::Find;

pub(crate) use view::samples;

pub(crate) const ROUTES: &[Route] = &[
    get("/find", Access::SignedIn, |ask| Box::pin(find(ask))),
    post("/find", Access::SignedIn, |ask| Box::pin(find(ask))),
];

/// So many of each kind are listed.
const LISTED: usize = 8;

/// As long as the first characters of a key are, by which people tell keys apart.
const LONGEST_SHOWN: usize = PREFIX.len() + 4;

/// Whether a text holds a key, also one that was cut off or mistyped.
pub(crate) fn is_secret(text: &str) -> bool {
    text.contains(PREFIX) && text.len() > LONGEST_SHOWN
}

/// As much of a key as is shown everywhere.
pub(crate) fn first_characters(secret: &str) -> &str {
    let begin = secret.find(PREFIX).unwrap_or_default();
    let end = secret.floor_char_boundary(begin + LONGEST_SHOWN);
    &secret[begin..end]
}

type Found = (&'static str, Text, String);

async fn find(ask: Arc<Ask>) -> Answer {
    let posted = ask.form.get("q");
    let sought = if posted.is_empty() { ask.asked("q") } else { posted };
    let is_secret = is_secret(sought);
    let found = match sought.is_empty() {
        true => Vec::new(),
        false => matches(&ask, sought).await?,
    };
    // One exact match leads there at once.
    if let [(_, name, path)] = found.as_slice() {
        let is_exact =
            is_secret || name.plain().eq_ignore_ascii_case(sought) || path.ends_with(sought);
        if is_exact {
            return see_other(path.clone());
        }
    }
    let empty = match sought.is_empty() {
        true => Empty::new("Find anything", WHAT),
        false => Empty::new("Nothing is called that", WHAT).action("Home", "/"),
    };
    page(
        &ask,
        &Find {
            head: Head::new("Find"),
            // A secret is not repeated.
            sought: if is_secret { Text::default() } else { sought.into() },
            found,
            empty,
            csrf: ask.csrf(),
        },
    )
}

const WHAT: &str = "The bar finds pages, keys by name or by pasting one, people, teams, departments, \
                    services, models, and requests and audit entries by their id.";

async fn matches(ask: &Ask, sought: &str) -> Result<Vec<Found>, Failure> {
    let (admin, session) = (ask.admin()?, ask.session()?);
    let key_page = |id: &str| format!("/keys/{id}");
    let may = |verb| session.may_at_all(verb);
    // What has one meaning leads there, whatever else is called so.
    if may(Verb::SeeKey) {
        match admin.key(sought).await {
            // Its id, name, first characters or secret: all of them mean this one.
            Ok(key) => return Ok(vec![("key", sought.into(), key_page(key.id.as_str()))]),
            Err(AdminError::NoSuchKey | AdminError::Ambiguous { .. }) => {}
            Err(other) => return Err(other.into()),
        }
    }
    if ServiceKey::parse(sought).is_ok() {
        return Ok(Vec::new());
    }
    if may(Verb::SeeRecords) {
        let id = RequestId::from(sought);
        if admin.records(None).await?.one(&id).await?.is_some() {
            let path = format!("/requests/{}", Text::from(sought).segment());
            return Ok(vec![("request", sought.into(), path)]);
        }
    }
    if may(Verb::SeeTrail) && admin.trail_entry(None, sought).await?.is_some() {
        let path = format!("/audit/{}", Text::from(sought).segment());
        return Ok(vec![("audit entry", sought.into(), path)]);
    }
    let wanted = sought.to_lowercase();
    let fits = |name: &str| name.to_lowercase().contains(&wanted);
    let mut found: Vec<Found> = Vec::new();
    let places = Place::seen_by(&session.person).into_iter().filter(|place| fits(place.name()));
    found.extend(places.map(|it| ("page", it.name().into(), it.path().to_owned())));
    let permissions = admin.permissions().await?;
    let account = &session.person.account_id;
    let mut things: Vec<Record> = Vec::new();
    for kind in [Kind::Person, Kind::Team, Kind::Department, Kind::Service] {
        let mut of_kind = kinds::seen(&permissions, kind, account.as_str(), false);
        of_kind.retain(|it| {
            fits(kinds::name(it))
                || fits(sluice_gateway::admin::name_of(it))
                || it.subject().id() == sought
        });
        of_kind.truncate(LISTED);
        things.extend(of_kind);
    }
    found.extend(things.iter().map(|it| {
        let shown = match it.subject().id() == sought {
            true => sought,
            false => kinds::name(it),
        };
        (Kind::of(it).as_str(), shown.into(), kinds::path(it))
    }));
    if may(Verb::SeeKey) {
        let keys = admin.keys().await?.into_iter().filter(|key| fits(&key.name)).take(LISTED);
        found.extend(keys.map(|it| ("key", it.name.as_str().into(), key_page(it.id.as_str()))));
    }
    if may(Verb::SeeModel) {
        let snapshot = ask.shared.gateway.snapshot().clone();
        let models =
            snapshot.catalog.models().iter().filter(|it| fits(it.id.as_str())).take(LISTED);
        found.extend(models.map(|it| {
            let path = crate::components::Query::new("/models", "").with("q", it.id.as_str());
            ("model", it.id.as_str().into(), path)
        }));
    }
    // An exact name outdoes what only holds it.
    let is_exact = |name: &Text| name.plain().eq_ignore_ascii_case(sought);
    if found.iter().filter(|(_, name, _)| is_exact(name)).count() == 1 {
        found.retain(|(_, name, _)| is_exact(name));
    }
    Ok(found)
}
