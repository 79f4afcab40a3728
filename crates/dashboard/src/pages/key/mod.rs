//! One service key: what it may do, what it cost, its secrets, and what can be done to it.

mod view;

use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use sluice_core::clock::UnixMillis;
use sluice_core::money::PicoUsd;
use sluice_core::region::Region;
use sluice_gateway::admin::{AdminError, Kind, Permissions, Verb, Which};
use sluice_gateway::limits::{Allowance, AllowanceView};
use sluice_gateway::records::Bucket;
use sluice_gateway::{KeyRecord, Record, RecordsFilter, SecretRecord, Sight, Turn};

use crate::charts::{Bars, Meter, Series, Slot, Unit};
use crate::components::{
    Badge, Code, Confirm, Count, Field, Figure, Kind as Input, Moment, Money, NOT_ITS_NAME, Query,
    State, Text, Tokens, is_confirmed,
};
use crate::format::{self, Calendar};
use crate::layout::{Head, Place};
use crate::pages::budget::named;
use crate::pages::budgets::shown;
use crate::pages::confirm::Question;
use crate::pages::key_new::made;
use crate::pages::keys::Around;
use crate::pages::overview::labels;
use crate::pages::requests::FAILED;
use crate::pages::requests::period::Chosen;
use crate::pages::requests::row::RequestRow;
use crate::web::{
    Access, Answer, Ask, Failure, Reply, Route, get, page, page_with, post, see_other, sentence,
};
use view::{AllowanceLine, Key, PastWindow, SecretLine};

pub(crate) use view::{revoke, samples};

pub(crate) const ROUTES: &[Route] = &[
    get("/keys/{id}", Access::May(Verb::SeeKey), |ask| Box::pin(show(ask))),
    get("/keys/{id}/spend.csv", Access::May(Verb::SeeKey), |ask| Box::pin(csv(ask))),
    get("/keys/{id}/rotate", Access::May(Verb::RotateKey), |ask| Box::pin(ask_first(ask))),
    get("/keys/{id}/suspend", Access::May(Verb::SuspendKey), |ask| Box::pin(ask_first(ask))),
    get("/keys/{id}/resume", Access::May(Verb::ChangeKey), |ask| Box::pin(ask_first(ask))),
    get("/keys/{id}/revoke", Access::May(Verb::RevokeKey), |ask| Box::pin(ask_first(ask))),
    post("/keys/{id}/rotate", Access::May(Verb::RotateKey), |ask| Box::pin(rotate(ask))),
    post("/keys/{id}/suspend", Access::May(Verb::SuspendKey), |ask| Box::pin(suspend(ask))),
    post("/keys/{id}/resume", Access::May(Verb::ChangeKey), |ask| Box::pin(resume(ask))),
    post("/keys/{id}/revoke", Access::May(Verb::RevokeKey), |ask| Box::pin(do_revoke(ask))),
];

/// Windows that are over, of each limit.
const PAST_WINDOWS: usize = 4;

/// Rows of the latest requests.
const ROWS: u32 = 10;

/// The period that is shown where none is chosen.
const DEFAULT: &str = "30d";

/// The key of the address, by its id alone.
pub(crate) async fn key(ask: &Ask) -> Result<KeyRecord, Failure> {
    let id = ask.place("id");
    let key = ask.admin()?.key(id).await?;
    if key.id.as_str() == id { Ok(key) } else { Err(Failure::Missing) }
}

async fn show(ask: Arc<Ask>) -> Answer {
    let key = key(&ask).await?;
    let admin = ask.admin()?;
    let permissions = admin.permissions().await?;
    let around = Around::of(&ask, permissions.organisation());
    let chosen = Chosen::of(&ask, DEFAULT);
    let (records, zone) = (admin.records(None).await?, ask.zone());
    let filter = of_key(&key, &chosen);
    let (buckets, latest, uses) = tokio::try_join!(
        records.usage(&filter, chosen.step, &zone, ask.now),
        records.page(&filter, &Turn::First, ROWS),
        admin.last_uses([&key.id]),
    )?;
    let used = uses.get(&key.id).copied();
    let requests = chosen.requests().having("key", key.id.as_str());
    let calendar = ask.calendar();
    let sum = |figure: fn(&Bucket) -> u64| {
        buckets.iter().fold(0u64, |sum, bucket| sum.saturating_add(figure(bucket)))
    };
    let state = around.ended(&key).unwrap_or_else(|| Badge::new(State::Good, "valid"));
    let view = Key {
        head: Head::new(key.name.as_str()).below("API keys", "/keys").stamp(format!(
            "{} · {}",
            key.id,
            chosen.stamp(&ask)?
        )),
        id: key.id.to_string(),
        state,
        notice: notice(&ask, &around, &key, &calendar),
        facts: facts(&around, &key, &calendar, used),
        figures: vec![
            Figure::new("Spend", Money(PicoUsd(sum(|it| it.figures.cost.0)))),
            Figure::new("Requests", Count(sum(|it| it.figures.requests))).link(requests.here()),
            Figure::new("Tokens in", Tokens(sum(|it| it.figures.tokens_in()))),
            Figure::new("Tokens out", Tokens(sum(|it| it.figures.tokens_out()))),
            Figure::new("Failed", Count(sum(|it| it.figures.outcomes.errors())))
                .link(requests.with("outcome", FAILED)),
        ],
        periods: ask.query.periods(DEFAULT),
        spend: spend(&ask, &chosen, &requests, &buckets),
        all: requests.here(),
        allowances: allowances(&ask, &around, &key, &calendar, records.sight()),
        past: past(&ask, &key, &calendar, records.sight()).await?,
        may_raise: named(&admin.who_may(Verb::ChangeKey, &Record::Key(key.clone())).await?),
        secrets: key.secrets.iter().rev().map(|it| secret(it, &calendar, ask.now)).collect(),
        rows: latest.records.iter().map(|it| RequestRow::of(it, &calendar)).collect(),
        may_change: key.revoked_at.is_none()
            && permissions.may(Verb::ChangeKey, &Record::Key(key.clone())),
        deeds: deeds(&ask, &permissions, &around, &key),
        command: Code::new("As command", format!("sluice keys show {}", key.id)),
    };
    page(&ask, &view)
}

fn of_key(key: &KeyRecord, chosen: &Chosen) -> RecordsFilter {
    RecordsFilter {
        key_id: Some(key.id.clone()),
        since: Some(chosen.period.since),
        until: Some(chosen.period.until),
        ..RecordsFilter::default()
    }
}

/// The spend of the chart as a file.
async fn csv(ask: Arc<Ask>) -> Answer {
    let key = key(&ask).await?;
    let chosen = Chosen::of(&ask, DEFAULT);
    let records = ask.admin()?.records(None).await?;
    let filter = of_key(&key, &chosen);
    let buckets = records.usage(&filter, chosen.step, &ask.zone(), ask.now).await?;
    let requests = chosen.requests().having("key", key.id.as_str());
    Ok(Reply::csv("spend", spend(&ask, &chosen, &requests, &buckets).to_csv()))
}

/// The limits of the key and of what it belongs to. How much of one was used is told to those who see
/// the requests of all whose limit it is.
fn allowances(
    ask: &Ask,
    around: &Around<'_>,
    key: &KeyRecord,
    calendar: &Calendar,
    sight: &Sight,
) -> Vec<AllowanceLine> {
    let line = |view: AllowanceView| {
        let Allowance { quantity, limit, hard, source, budget } = &view.allowance;
        let shown = |figure| shown(quantity, figure);
        let is_seen = sight.reaches(&view.subject);
        let of = |figure: Option<u64>| figure.filter(|_| is_seen).unwrap_or(0);
        let (used, held) = (of(view.used), of(view.reserved));
        let told = match is_seen {
            true => format!("{} of {}", shown(used.saturating_add(held)), shown(*limit)),
            false => format!("at most {}", shown(*limit)),
        };
        let reset = view.reset.map(|reset| UnixMillis(reset.saturating_mul(1_000)));
        let setting = match &*source.setting {
            "" => source.word.to_owned(),
            setting => format!("{}: {setting}", source.word),
        };
        AllowanceLine {
            subject: around.subject(&view.subject, key),
            kind: view.subject.kind(),
            what: view.allowance.what(),
            is_hard: *hard,
            meter: Meter { label: told.clone(), used, held, limit: *limit },
            used: told,
            resets: reset.map_or_else(String::new, |at| calendar.minute(at)),
            source: setting.into(),
            link: budget.as_ref().map(|budget| format!("/budgets/{}", budget.id)),
            binds: view.binds,
        }
    };
    ask.shared.gateway.allowances(key, ask.now).into_iter().map(line).collect()
}

/// The windows before the current ones of limits that are no budgets, which have pages of their own.
async fn past(
    ask: &Ask,
    key: &KeyRecord,
    calendar: &Calendar,
    sight: &Sight,
) -> Result<Vec<PastWindow>, Failure> {
    let admin = ask.admin()?;
    let mut past = Vec::new();
    for view in ask.shared.gateway.allowances(key, ask.now) {
        let allowance = &view.allowance;
        let Some(meter) = allowance.quantity.meter().filter(|_| allowance.budget.is_none()) else {
            continue;
        };
        if !sight.reaches(&view.subject) {
            continue;
        }
        let windows = admin.past_windows_of(&view.subject, meter).await?;
        past.extend(windows.into_iter().take(PAST_WINDOWS).map(|(span, used)| PastWindow {
            what: allowance.what(),
            kind: view.subject.kind(),
            from: calendar.minute(UnixMillis(span.start.saturating_mul(1_000))),
            used: shown(&allowance.quantity, used),
            is_spent: used >= allowance.limit,
        }));
    }
    Ok(past)
}

fn notice(
    ask: &Ask,
    around: &Around<'_>,
    key: &KeyRecord,
    calendar: &Calendar,
) -> Option<(&'static str, String)> {
    if let Some(at) = key.revoked_at {
        return Some((
            "bad",
            format!("It was revoked on {} and does not work any more.", calendar.minute(at)),
        ));
    }
    if let Some(reason) = around.organisation.suspension(key) {
        return Some(("warn", format!("It is suspended: {reason}.")));
    }
    if let Some(suspended) = &key.suspended {
        return Some(("warn", format!("It is suspended: {}.", suspended.reason)));
    }
    match (around.due(key), ask.asked("done")) {
        (_, "resumed") => Some(("good", "It works again.".to_owned())),
        (_, "changed") => Some(("good", "Saved. It holds at once.".to_owned())),
        (State::Bad, _) => Some((
            "warn",
            format!(
                "Its secret is older than {} days. Rotate it: the key keeps its \
                 limits and history.",
                around.rotate_after_days
            ),
        )),
        (State::Warn, _) => Some((
            "warn",
            format!(
                "Its secret is {} days old within a week. Rotate it then: the key \
                 keeps its limits and history.",
                around.rotate_after_days
            ),
        )),
        _ => None,
    }
}

fn facts(
    around: &Around<'_>,
    key: &KeyRecord,
    calendar: &Calendar,
    used: Option<UnixMillis>,
) -> Vec<(&'static str, Text)> {
    let list = |values: Option<Vec<String>>, all: &str| -> Text {
        values.map_or_else(|| all.to_owned(), |values| values.join(", ")).into()
    };
    let figure = |number: Option<u64>| -> Text {
        number.map_or_else(|| "the class's".to_owned(), format::count).into()
    };
    let yes = |is: bool| -> Text { if is { "yes" } else { "no" }.into() };
    let scopes: Vec<&str> = key.scopes.iter().map(|it| it.as_str()).collect();
    let regions = key.regions.as_ref();
    let regions = regions.map(|all| all.iter().map(|it| it.as_str().to_owned()).collect());
    vec![
        ("Class", key.class.as_str().into()),
        ("Owner", around.owner(key).unwrap_or_else(|| "nobody".to_owned()).into()),
        ("Team", around.team(key).unwrap_or("none: the account's").into()),
        ("May do", scopes.join(", ").into()),
        ("Models", list(key.models.clone(), "all of the account")),
        ("Regions", list(regions, "every region")),
        ("Region, where none is named", key.region.map_or("the account's", Region::as_str).into()),
        ("Lowest level", key.minimum_level.as_str().into()),
        ("Zero retention", yes(key.zero_retention)),
        ("Audit entries", yes(key.audit)),
        ("Bound of an answer", key.max_tokens.as_str().into()),
        ("Requests an hour", figure(key.requests_per_hour)),
        ("Tokens a day", figure(key.tokens_per_day)),
        ("Last used", used.map_or_else(|| "never".to_owned(), |at| calendar.ago(at)).into()),
        ("Age of its secret", around.age(key).into()),
        ("Made", calendar.minute(key.created_at).into()),
        (
            "Works until",
            key.expires_at
                .map_or_else(|| "it is revoked".to_owned(), |it| calendar.minute(it))
                .into(),
        ),
    ]
}

fn spend(ask: &Ask, chosen: &Chosen, requests: &Query, buckets: &[Bucket]) -> Bars {
    let calendar = ask.calendar();
    let slot = |bucket: &Bucket| {
        let (label, name) = labels(&calendar, chosen.step, bucket);
        let link = Some(Chosen::of_bar(requests, bucket));
        Slot { label, name, values: vec![bucket.figures.cost.0], link }
    };
    Bars {
        id: "spend",
        title: "Spend of the key".to_owned(),
        unit: Unit::Money,
        series: vec![Series { name: "spend".into(), colour: 1 }],
        slots: buckets.iter().map(slot).collect(),
        csv: ask.query.at(&format!("/keys/{}/spend.csv", ask.place("id"))),
        is_low: false,
    }
}

fn secret(secret: &SecretRecord, calendar: &Calendar, now: UnixMillis) -> SecretLine {
    let state = if secret.revoked_at.is_some() {
        Badge::new(State::Bad, "revoked")
    } else if !secret.is_valid_at(now) {
        Badge::new(State::Plain, "over")
    } else if secret.expires_at.is_some() {
        Badge::new(State::Warn, "ending")
    } else {
        Badge::new(State::Good, "valid")
    };
    SecretLine {
        prefix: secret.prefix.clone(),
        made: Moment::minute(calendar, secret.created_at),
        ends: secret.expires_at.map(|at| Moment::minute(calendar, at)),
        state,
    }
}

/// What the reader may do to the key as it stands.
fn deeds(
    ask: &Ask,
    permissions: &Permissions,
    around: &Around<'_>,
    key: &KeyRecord,
) -> Vec<Confirm> {
    if key.revoked_at.is_some() {
        return Vec::new();
    }
    let record = Record::Key(key.clone());
    let may = |verb| permissions.may(verb, &record);
    let mut deeds = Vec::new();
    if may(Verb::RotateKey) && around.ended(key).is_none() {
        deeds.push(rotation(ask, key, "24", None));
    }
    match key.suspended {
        None if may(Verb::SuspendKey) => deeds.push(suspension(ask, key, None)),
        // Whoever may stop a key may not always let it go on.
        Some(_) if may(Verb::ChangeKey) => deeds.push(resumption(ask, key)),
        _ => {}
    }
    if may(Verb::RevokeKey) {
        deeds.push(revocation(ask, key, None));
    }
    deeds
}

fn question(ask: &Ask, key: &KeyRecord, deed: &'static str, verb: &'static str) -> Confirm {
    Confirm {
        id: deed,
        action: format!("/keys/{}/{deed}", key.id),
        title: Text::new(format!("{verb} {}", key.name)),
        consequences: Vec::new(),
        fields: Vec::new(),
        name: None,
        verb,
        is_dangerous: false,
        error: None,
        back: format!("/keys/{}", key.id),
        csrf: ask.csrf(),
    }
}

/// The question before a rotation. Where the old secret ends at once, it takes the key's name.
fn rotation(ask: &Ask, key: &KeyRecord, grace: &str, error: Option<String>) -> Confirm {
    let ends_at_once = grace == "0";
    let times = [
        ("0", "not at all".into()),
        ("1", "an hour".into()),
        ("24", "a day".into()),
        ("168", "seven days".into()),
    ];
    let field = Field::select("grace", "The old secret goes on working", &times, grace);
    Confirm {
        consequences: vec![
            "It gets a new secret, which is shown once. Its limits and history go on.".to_owned(),
        ],
        fields: vec![field.id("rotate-grace")],
        name: ends_at_once.then(|| key.name.as_str().into()),
        is_dangerous: ends_at_once,
        error,
        csrf: ask.csrf_once(),
        ..question(ask, key, "rotate", "Rotate")
    }
}

fn suspension(ask: &Ask, key: &KeyRecord, error: Option<String>) -> Confirm {
    let reason = Field::new(Input::Line, "reason", "Reason").id("suspend-reason");
    Confirm {
        consequences: vec![
            "It is refused with the reason until somebody takes that back.".to_owned(),
        ],
        fields: vec![reason.hint("Callers read it.").required()],
        error,
        ..question(ask, key, "suspend", "Suspend")
    }
}

fn resumption(ask: &Ask, key: &KeyRecord) -> Confirm {
    Confirm {
        consequences: vec!["It works again at once.".to_owned()],
        ..question(ask, key, "resume", "Resume")
    }
}

fn revocation(ask: &Ask, key: &KeyRecord, error: Option<String>) -> Confirm {
    Confirm {
        consequences: vec![
            "It stops working within a second, with all its secrets. This cannot be undone."
                .to_owned(),
            "Its records and its history stay.".to_owned(),
        ],
        name: Some(key.name.as_str().into()),
        is_dangerous: true,
        error,
        ..question(ask, key, "revoke", "Revoke")
    }
}

/// A question on a page of its own, for browsers without script.
async fn ask_first(ask: Arc<Ask>) -> Answer {
    let key = key(&ask).await?;
    let admin = ask.admin()?;
    let permissions = admin.permissions().await?;
    let around = Around::of(&ask, permissions.organisation());
    let mut deeds = deeds(&ask, &permissions, &around, &key).into_iter();
    let question = deeds.find(|deed| deed.action == ask.path).ok_or(Failure::Missing)?;
    page(&ask, &Question { place: Place::Keys, question })
}

fn refused(ask: &Ask, question: Confirm) -> Answer {
    let view = Question { place: Place::Keys, question };
    page_with(StatusCode::UNPROCESSABLE_ENTITY, ask, &view)
}

async fn rotate(ask: Arc<Ask>) -> Answer {
    let key = key(&ask).await?;
    let grace = ask.form.some("grace").unwrap_or("24");
    let hours: u64 = grace.parse().unwrap_or(24).min(24 * 7);
    if hours == 0 && !is_confirmed(ask.form.get("confirm"), &key.name) {
        let why = match ask.form.has("confirm") {
            true => NOT_ITS_NAME,
            false => "Whatever uses the old secret fails at once.",
        };
        return refused(&ask, rotation(&ask, &key, "0", Some(why.to_owned())));
    }
    ask.take_once()?;
    match ask.admin()?.rotate_key(key.id.as_str(), Duration::from_secs(hours * 60 * 60)).await {
        Ok(rotation) => page(&ask, &made(&ask, &rotation.new)),
        Err(error @ (AdminError::TwoSecrets { .. } | AdminError::NotRotatable { .. })) => {
            let why = Some(sentence(&error));
            refused(&ask, rotation(&ask, &key, grace, why))
        }
        Err(other) => Err(other.into()),
    }
}

async fn suspend(ask: Arc<Ask>) -> Answer {
    let key = key(&ask).await?;
    let reason = ask.form.get("reason");
    if reason.is_empty() {
        let why = "Give a reason: whoever uses the key reads it.".to_owned();
        return refused(&ask, suspension(&ask, &key, Some(why)));
    }
    ask.admin()?.suspend(&Which::new(Kind::Key, key.id.as_str()), reason).await?;
    see_other(format!("/keys/{}", key.id))
}

async fn resume(ask: Arc<Ask>) -> Answer {
    let key = key(&ask).await?;
    ask.admin()?.resume(&Which::new(Kind::Key, key.id.as_str())).await?;
    see_other(format!("/keys/{}?done=resumed", key.id))
}

async fn do_revoke(ask: Arc<Ask>) -> Answer {
    let key = key(&ask).await?;
    if !is_confirmed(ask.form.get("confirm"), &key.name) {
        return refused(&ask, revocation(&ask, &key, Some(NOT_ITS_NAME.to_owned())));
    }
    ask.admin()?.revoke_key(key.id.as_str()).await?;
    see_other(format!("/keys/{}", key.id))
}
