//! The list of keys.

mod view;

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use sluice_core::clock::{DAY_MILLIS, UnixMillis};
use sluice_core::ids::KeyId;
use sluice_core::money::PicoUsd;
use sluice_core::organisation::{Holder, Subject};
use sluice_gateway::admin::{AdminError, Verb, is_due, newest_secret_at};
use sluice_gateway::{KeyRecord, Organisation};

use crate::components::{Badge, Cost, Empty, Filter, Markup, Moment, Offer, Query, State, Text};
use crate::format::{self, Calendar};
use crate::layout::Head;
use crate::pages::find::{first_characters, is_secret};
use crate::pages::requests::unless_slow;
use crate::web::{Access, Answer, Ask, Failure, Route, get, page, post, see_other};
use view::{KeyRow, Keys, columns};

pub(crate) use view::samples;

pub(crate) const ROUTES: &[Route] = &[
    get("/keys", Access::May(Verb::SeeKey), |ask| Box::pin(list(ask))),
    post("/keys", Access::May(Verb::SeeKey), |ask| Box::pin(seek(ask))),
];

/// Rows of a page.
const ROWS: usize = 100;
/// So many days before a secret should be replaced, it is said.
const WARN_DAYS: u64 = 7;

/// What a list of keys is judged by.
pub(crate) struct Around<'a> {
    pub(crate) organisation: &'a Organisation,
    pub(crate) now: UnixMillis,
    pub(crate) rotate_after_days: u64,
}

impl<'a> Around<'a> {
    pub(crate) fn of(ask: &Ask, organisation: &'a Organisation) -> Self {
        let rotate_after_days = ask.shared.gateway.snapshot().rules.rotate_after_days;
        Self { organisation, now: ask.now, rotate_after_days }
    }

    /// Why a key does not work, where it does not.
    pub(crate) fn ended(&self, key: &KeyRecord) -> Option<Badge> {
        let badge = |state, word: &str| Some(Badge::new(state, word));
        if key.revoked_at.is_some() {
            badge(State::Bad, "revoked")
        } else if key.expires_at.is_some_and(|end| end <= self.now) {
            badge(State::Warn, "expired")
        } else if self.organisation.suspension(key).is_some() || key.suspended.is_some() {
            badge(State::Warn, "suspended")
        } else if !key.is_valid_at(self.now) {
            badge(State::Warn, "no secret works")
        } else {
            None
        }
    }

    /// How urgent the rotation of a key is.
    pub(crate) fn due(&self, key: &KeyRecord) -> State {
        let is_due = |days| is_due(key, self.organisation, days, self.now);
        if is_due(self.rotate_after_days) {
            State::Bad
        } else if is_due(self.rotate_after_days.saturating_sub(WARN_DAYS)) {
            State::Warn
        } else {
            State::Plain
        }
    }

    /// How old its newest secret is, in words.
    pub(crate) fn age(&self, key: &KeyRecord) -> String {
        format::age(self.now.0.saturating_sub(newest_secret_at(key).0))
    }

    /// Whose it is, as people call them; else the note of an older version.
    pub(crate) fn owner(&self, key: &KeyRecord) -> Option<String> {
        match &key.holder {
            Some(Holder::Person(id)) => {
                self.organisation.people.get(id).map(|it| it.shown_name().to_owned())
            }
            Some(Holder::Service(id)) => {
                self.organisation.services.get(id).map(|it| format!("service {}", it.name))
            }
            None => key.owner.clone(),
        }
    }

    pub(crate) fn team(&self, key: &KeyRecord) -> Option<&str> {
        let team = self.organisation.teams.get(key.team_id.as_ref()?)?;
        Some(&team.name)
    }

    /// What a subject of a limit is called; of keys, `key` alone is meant.
    pub(crate) fn subject(&self, subject: &Subject, key: &KeyRecord) -> Text {
        let company = self.organisation;
        let name = match subject {
            Subject::Key(_) => Some(key.name.as_str()),
            Subject::Account(id) => company.accounts.get(id).map(|it| it.name.as_str()),
            Subject::Department(id) => company.departments.get(id).map(|it| it.name.as_str()),
            Subject::Team(id) => company.teams.get(id).map(|it| it.name.as_str()),
            Subject::Person(id) => company.people.get(id).map(|it| it.shown_name()),
            Subject::Service(id) => company.services.get(id).map(|it| it.name.as_str()),
        };
        name.unwrap_or_else(|| subject.id()).into()
    }

    fn state_word(&self, key: &KeyRecord) -> &'static str {
        if key.revoked_at.is_some() {
            "revoked"
        } else if self.ended(key).is_some() {
            "not valid"
        } else if self.due(key) == State::Bad {
            "to rotate"
        } else {
            "valid"
        }
    }
}

/// What is sought comes as a form, for it may be a pasted key, which belongs in no address.
async fn seek(ask: Arc<Ask>) -> Answer {
    let sought = ask.form.get("q");
    // A pasted key, an id, the first characters, or a whole name leads to the key itself.
    match ask.admin()?.key(sought).await {
        _ if sought.is_empty() => see_other(ask.query.without("q")),
        Ok(key) => see_other(format!("/keys/{}", key.id)),
        Err(AdminError::NoSuchKey | AdminError::Ambiguous { .. }) => {
            // Of what may be a secret, the first characters alone are sought, which everybody sees.
            let shown = if is_secret(sought) { first_characters(sought) } else { sought };
            see_other(ask.query.with("q", shown))
        }
        Err(other) => Err(other.into()),
    }
}

async fn list(ask: Arc<Ask>) -> Answer {
    let admin = ask.admin()?;
    let permissions = admin.permissions().await?;
    let around = Around::of(&ask, permissions.organisation());
    let all = admin.keys().await?;
    let spend = spend(&ask).await?;
    let notice =
        spend.is_none().then_some("What the keys cost took too long to add up and is left out.");
    let spend = spend.unwrap_or_default();
    let uses = admin.last_uses(all.iter().map(|key| &key.id)).await?;
    let matching: Vec<&KeyRecord> =
        all.iter().filter(|key| fits(&ask.query, &around, key)).collect();
    let mut keys = matching.clone();
    sort(&mut keys, ask.query.get("sort").unwrap_or("-spend"), &spend, &uses);
    let to_rotate = all.iter().filter(|key| around.due(key) == State::Bad).count();

    let calendar = ask.calendar();
    let from = page_start(&ask.query, keys.len(), ROWS);
    let rows: Vec<KeyRow> = keys
        .iter()
        .skip(from)
        .take(ROWS)
        .map(|key| row(key, &around, &calendar, &spend, uses.get(&key.id).copied()))
        .collect();
    let shown = format!(
        "{} to {} of {}",
        format::count((from + 1).min(keys.len()) as u64),
        format::count((from + rows.len()) as u64),
        format::plural(keys.len() as u64, "key", "keys"),
    );
    let newer = (from > 0).then(|| from.saturating_sub(ROWS).to_string());
    let older = (from + rows.len() < keys.len()).then(|| (from + ROWS).to_string());
    let session = ask.session()?;
    let chips = chips(&ask.query, &all, &around);
    let filters = ask.query.filters("Name or a pasted key", chips).as_form(ask.csrf());
    let may_make = session.may_at_all(Verb::CreateKey);
    let view = Keys {
        head: Head::new("API keys").stamp(Markup::sentence(
            &format!(
                "{{}} · {} · {to_rotate} to rotate · spend of the last 30 days",
                format::plural(all.len() as u64, "key", "keys"),
            ),
            &[&session.account().name.as_str().into()],
        )),
        may_make,
        columns: columns(&ask.query),
        rows,
        pager: ask.query.pager(shown, newer.as_deref(), older.as_deref()),
        empty: empty(filters.clear.is_some(), may_make),
        filters,
        notice,
    };
    page(&ask, &view)
}

fn empty(is_filtered: bool, may_make: bool) -> Empty {
    if is_filtered {
        let text = "No key has this name, these first characters or this secret, or the filters \
                    leave none.";
        return Empty::new("Nothing matches", text).action("Show all keys", "/keys");
    }
    let text = "Programs and assistants come with a service key. It says what they may use and how \
                much; it is shown once, with the set-up of your client.";
    let empty = Empty::new("No keys yet", text);
    if may_make { empty.action("Make key", "/keys/new") } else { empty }
}

/// What each key cost in the last thirty days; `None` where adding that up takes too long.
pub(crate) async fn spend(ask: &Ask) -> Result<Option<HashMap<KeyId, PicoUsd>>, Failure> {
    let since = UnixMillis(ask.now.0.saturating_sub(30 * DAY_MILLIS));
    let records = ask.admin()?.records(None).await?;
    unless_slow(records.spend_by_key(since, ask.now)).await
}

/// Where a page of `rows` begins in a list that is held whole.
pub(crate) fn page_start(query: &Query, count: usize, rows: usize) -> usize {
    let cursor = query.get("before").or_else(|| query.get("after"));
    let start: usize = cursor.and_then(|text| text.parse().ok()).unwrap_or(0);
    if start < count { start / rows * rows } else { 0 }
}

fn fits(query: &Query, around: &Around<'_>, key: &KeyRecord) -> bool {
    let is = |name: &str, value: Option<&str>| query.get(name).is_none_or(|it| Some(it) == value);
    let sought = query.get("q").unwrap_or_default().to_lowercase();
    is("state", Some(around.state_word(key)))
        && is("team", key.team_id.as_ref().map(|team| team.as_str()))
        && is("owner", around.owner(key).as_deref())
        && is("class", Some(key.class.as_str()))
        && (key.name.to_lowercase().contains(&sought) || key.prefix().starts_with(&sought))
}

fn sort(
    keys: &mut [&KeyRecord],
    by: &str,
    spend: &HashMap<KeyId, PicoUsd>,
    uses: &HashMap<KeyId, UnixMillis>,
) {
    let cost = |key: &&KeyRecord| spend.get(&key.id).map_or(0, |amount| amount.0);
    let used = |key: &&KeyRecord| uses.get(&key.id).map_or(0, |at| at.0);
    match by.trim_start_matches('-') {
        "name" => keys.sort_by_cached_key(|key| key.name.to_lowercase()),
        "used" => keys.sort_by_key(used),
        "made" => keys.sort_by_key(|key| Reverse(newest_secret_at(key))),
        _ => keys.sort_by_key(cost),
    }
    if by.starts_with('-') {
        keys.reverse();
    }
}

/// The values of each filter, the most frequent first.
fn chips(query: &Query, all: &[KeyRecord], around: &Around<'_>) -> Vec<Filter> {
    let offers = |value: &dyn Fn(&KeyRecord) -> Option<(String, String)>| -> Vec<Offer> {
        let mut counts: HashMap<(String, String), u64> = HashMap::new();
        for found in all.iter().filter_map(value) {
            *counts.entry(found).or_default() += 1;
        }
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_by(|(a, m), (b, n)| n.cmp(m).then_with(|| a.cmp(b)));
        let offer = |((value, shown), count)| Offer::new(value, Text::new(shown)).count(count);
        counts.into_iter().take(8).map(offer).collect()
    };
    let twice = |text: &str| (text.to_owned(), text.to_owned());
    vec![
        query.filter("state", offers(&|key| Some(twice(around.state_word(key))))),
        query.filter(
            "team",
            offers(&|key| {
                let id = key.team_id.as_ref()?.to_string();
                Some((id, around.team(key)?.to_owned()))
            }),
        ),
        query.filter("owner", offers(&|key| around.owner(key).map(|owner| twice(&owner)))),
        query.filter("class", offers(&|key| Some(twice(key.class.as_str())))),
    ]
}

fn row(
    key: &KeyRecord,
    around: &Around<'_>,
    calendar: &Calendar,
    spend: &HashMap<KeyId, PicoUsd>,
    last_used: Option<UnixMillis>,
) -> KeyRow {
    KeyRow {
        id: key.id.to_string(),
        name: key.name.as_str().into(),
        prefix: key.prefix().to_owned(),
        owner: around.owner(key).map(Text::from),
        team: around.team(key).map(Text::from),
        class: key.class.as_str(),
        models: key.models.as_ref().map(|models| models.join(", ").into()),
        cost: Cost(Some(spend.get(&key.id).copied().unwrap_or_default())),
        last_used: last_used.map(|at| Moment::ago(calendar, at)),
        age: around.age(key),
        due: around.due(key),
        ended: around.ended(key),
    }
}
