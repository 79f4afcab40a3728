//! Records as somebody: lists, figures and the audit trail, as far as the table of permissions lets
//! them see.

mod calendar;
#[cfg(test)]
mod tests;
mod trail;

use std::collections::HashMap;

use sluice_core::clock::UnixMillis;
use sluice_core::ids::{AccountId, KeyId, RequestId};
use sluice_core::money::PicoUsd;
use sluice_core::organisation::Actor;
use sluice_storage::{
    By, Detail, Figures, HourFigures, Part, Question, RecordCursor, RecordsFilter, RecordsPage,
    SeenRecord, Sight, Store, Turn,
};

use crate::admin::permissions::{Rights, Verb};
use crate::admin::{Admin, AdminError, Kind};
use crate::limits::Zone;
use crate::own;

pub use calendar::{Bucket, Period, Step};

/// The most keys whose spend is told one by one: those that cost the most.
const MOST_KEYS: u32 = 10_000;
/// The most providers and models that are told one by one.
const MOST_PARTS: u32 = 200;
/// How many values of each kind a filter offers.
const OFFERED: u32 = 20;

/// The records of an account, as somebody who may see a part of them.
#[derive(Debug, Clone)]
pub struct Records<'a> {
    store: &'a Store,
    sight: Sight,
}

/// One of the parts of a sum, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedPart {
    /// What a filter takes: an id, a model, an application's name. Empty: none.
    pub value: String,
    /// What it is called, where it is an id that something goes by.
    pub name: Option<String>,
    /// What it came to.
    pub figures: Figures,
}

/// The largest parts of a sum, and what the others come to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Breakdown {
    /// The largest ones.
    pub top: Vec<NamedPart>,
    /// All others. Times are not told apart.
    pub rest: Figures,
}

/// What a filter offers: the most frequent values, with the number of their requests.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Facets {
    /// Keys, by id.
    pub keys: Vec<NamedPart>,
    /// Models that answered.
    pub models: Vec<NamedPart>,
    /// Applications.
    pub apps: Vec<NamedPart>,
    /// Outcomes, by their word.
    pub outcomes: Vec<NamedPart>,
    /// What the filter did, by its word.
    pub actions: Vec<NamedPart>,
    /// Providers that answered.
    pub providers: Vec<NamedPart>,
}

/// What a period came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overview {
    /// All of it; requests under zero retention count.
    pub total: Figures,
    /// The same of the period before it.
    pub before: Figures,
    /// Its hours or days, one after the other, also those of no request.
    pub buckets: Vec<Bucket>,
    /// By the model that answered.
    pub by_model: Breakdown,
    /// By key.
    pub by_key: Breakdown,
    /// By application.
    pub by_app: Breakdown,
}

impl<'a> Admin<'a> {
    /// The records of an account that the actor may see: of their own, or of the one with this id or
    /// name. A person has none but their own.
    pub async fn records(&self, account: Option<&str>) -> Result<Records<'a>, AdminError> {
        let (rights, account) = self.standing(account).await?;
        let sight = rights.sight(&account);
        if sight.reach == sluice_storage::Reach::Nothing {
            return Err(AdminError::Forbidden { verb: Verb::SeeRecords.as_str() });
        }
        Ok(Records { store: self.store, sight })
    }

    /// The actor's rights, and the account that is meant. Of a person, nothing but where they belong
    /// is read: pages are looked at often, and an organisation may be large.
    async fn standing(&self, account: Option<&str>) -> Result<(Rights, AccountId), AdminError> {
        let Actor::Person { id } = &self.actor else {
            let view = self.view().await?;
            let (view, account) = self.account_for(view, account).await?;
            return Ok((Rights::of(&self.actor, &view.organisation), account));
        };
        let around = self.store.organisation_around(id).await?;
        let rights = Rights::of(&self.actor, &around);
        let forbidden = AdminError::Forbidden { verb: Verb::SeeAccount.as_str() };
        let own = around.accounts.into_values().next().ok_or(forbidden)?;
        match account {
            Some(text) if text != own.id.as_str() && text != own.name => {
                Err(AdminError::NoSuch { kind: Kind::Account, text: text.to_owned() })
            }
            _ => Ok((rights, own.id)),
        }
    }
}

impl Records<'_> {
    /// Whose records are seen: what a live feed takes, too.
    pub fn sight(&self) -> &Sight {
        &self.sight
    }

    /// A page of records, at most 100. What ended in the last seconds is not in it yet.
    pub async fn page(
        &self,
        filter: &RecordsFilter,
        turn: &Turn<RecordCursor>,
        limit: u32,
    ) -> Result<RecordsPage, AdminError> {
        let mut page = self.store.records(&self.sight, filter, turn, limit).await?;
        page.records.iter_mut().for_each(name);
        Ok(page)
    }

    /// The record of a request; `None` also where it is somebody else's.
    pub async fn one(&self, id: &RequestId) -> Result<Option<SeenRecord>, AdminError> {
        let mut found = self.store.record(&self.sight, id).await?;
        found.iter_mut().for_each(name);
        Ok(found)
    }

    /// What a filter offers: the most frequent values among what its other conditions admit, so that
    /// one can be chosen instead of another.
    pub async fn facets(&self, filter: &RecordsFilter) -> Result<Facets, AdminError> {
        let kinds = [By::Key, By::Model, By::App, By::Outcome, By::Action, By::Provider];
        let others = kinds.map(|by| without(filter, by));
        let each: Vec<(By, &RecordsFilter)> = kinds.into_iter().zip(&others).collect();
        let period =
            RecordsFilter { since: filter.since, until: filter.until, ..RecordsFilter::default() };
        let question = self.question(&period, false, Detail::Requests);
        let mut parts =
            self.named(self.store.parts_of_each(&question, &each, OFFERED).await?).await?;
        let mut of = |by| parts.remove(&by).unwrap_or_default();
        Ok(Facets {
            keys: of(By::Key),
            models: of(By::Model),
            apps: of(By::App),
            outcomes: of(By::Outcome),
            actions: of(By::Action),
            providers: of(By::Provider),
        })
    }

    /// How many requests ended how, by hours or days of a time zone.
    pub async fn histogram(
        &self,
        filter: &RecordsFilter,
        step: Step,
        zone: &Zone,
        now: UnixMillis,
    ) -> Result<Vec<Bucket>, AdminError> {
        self.buckets(&self.question(filter, false, Detail::Requests), step, zone, now).await
    }

    /// The same with tokens and cost, and with the requests under zero retention, which have no
    /// records.
    pub async fn usage(
        &self,
        filter: &RecordsFilter,
        step: Step,
        zone: &Zone,
        now: UnixMillis,
    ) -> Result<Vec<Bucket>, AdminError> {
        self.buckets(&self.question(filter, true, Detail::Usage), step, zone, now).await
    }

    async fn buckets(
        &self,
        question: &Question<'_>,
        step: Step,
        zone: &Zone,
        now: UnixMillis,
    ) -> Result<Vec<Bucket>, AdminError> {
        let hours = self.by_start(question, step, zone).await?;
        let first = hours.first().map_or(now, |it| UnixMillis(it.start.saturating_mul(1000)));
        let RecordsFilter { since, until, .. } = *question.filter;
        let period = Period { since: since.unwrap_or(first), until: until.unwrap_or(now) };
        Ok(calendar::buckets(period, step, zone, &hours))
    }

    /// Hours, or days where those of the zone are those that figures are kept of.
    async fn by_start(
        &self,
        question: &Question<'_>,
        step: Step,
        zone: &Zone,
    ) -> Result<Vec<HourFigures>, AdminError> {
        Ok(match step {
            Step::Day if *zone == Zone::UTC => self.store.days(question).await?,
            _ => self.store.hours(question).await?,
        })
    }

    /// What a period came to.
    pub async fn total(&self, period: Period) -> Result<Figures, AdminError> {
        let filter = period.filter();
        Ok(self.store.total(&self.question(&filter, true, Detail::Times)).await?)
    }

    /// What a period came to, beside the period before it, with the largest `top` parts of each kind.
    pub async fn overview(
        &self,
        period: Period,
        step: Step,
        zone: &Zone,
        top: u32,
    ) -> Result<Overview, AdminError> {
        let (filter, before) = (period.filter(), period.before().filter());
        let with_times = self.question(&filter, true, Detail::Times);
        let before = self.question(&before, true, Detail::Times);
        let question = self.question(&filter, true, Detail::Usage);
        let kinds = [By::Model, By::Key, By::App];
        let (hours, before, mut parts) = tokio::try_join!(
            self.by_start(&with_times, step, zone),
            async { Ok::<_, AdminError>(self.store.total(&before).await?) },
            self.named_parts(&question, &kinds, top),
        )?;
        let total = hours.iter().fold(Figures::default(), |sum, it| sum.plus(it.figures));
        let mut of = |by| Breakdown::of(total, parts.remove(&by).unwrap_or_default());
        Ok(Overview {
            total,
            before,
            buckets: calendar::buckets(period, step, zone, &hours),
            by_model: of(By::Model),
            by_key: of(By::Key),
            by_app: of(By::App),
        })
    }

    /// What each key cost in a period, without those that cost nothing.
    pub async fn spend_by_key(
        &self,
        since: UnixMillis,
        until: UnixMillis,
    ) -> Result<HashMap<KeyId, PicoUsd>, AdminError> {
        let filter = Period { since, until }.filter();
        let question = self.question(&filter, true, Detail::Usage);
        let parts = self.store.parts(&question, &[By::Key], MOST_KEYS).await?;
        let of = |part: Part| (part.value.as_str().into(), part.figures.cost);
        Ok(parts.into_iter().map(of).filter(|(_, cost)| cost.0 > 0).collect())
    }

    /// What went to each provider in a period, by its name, and how it ended.
    pub async fn by_provider(&self, period: Period) -> Result<Vec<NamedPart>, AdminError> {
        self.parts_of(&period.filter(), By::Provider).await
    }

    /// Which models answered what a model or router was asked in a period.
    pub async fn answered_by(
        &self,
        asked: &str,
        period: Period,
    ) -> Result<Vec<NamedPart>, AdminError> {
        let filter = RecordsFilter { model: Some(asked.to_owned()), ..period.filter() };
        self.parts_of(&filter, By::Model).await
    }

    async fn parts_of(&self, filter: &RecordsFilter, by: By) -> Result<Vec<NamedPart>, AdminError> {
        let question = self.question(filter, false, Detail::Requests);
        let mut parts = self.named_parts(&question, &[by], MOST_PARTS).await?;
        Ok(parts.remove(&by).unwrap_or_default())
    }

    /// What teams, departments, people and services cost in a period, by their ids, as requests were
    /// attributed to them at the time. Without those that cost nothing.
    pub async fn spend_by_subject(
        &self,
        since: UnixMillis,
        until: UnixMillis,
    ) -> Result<HashMap<String, PicoUsd>, AdminError> {
        const KINDS: [By; 3] = [By::Department, By::Team, By::Holder];
        let filter = Period { since, until }.filter();
        let question = self.question(&filter, true, Detail::Usage);
        let parts = self.store.parts(&question, &KINDS, MOST_KEYS).await?;
        let of = |part: Part| {
            let id = part.value.split_once(':').map_or(&*part.value, |(_, id)| id).to_owned();
            (id, part.figures.cost)
        };
        Ok(parts.into_iter().map(of).filter(|(id, cost)| !id.is_empty() && cost.0 > 0).collect())
    }

    fn question<'q>(
        &'q self,
        filter: &'q RecordsFilter,
        with_sums: bool,
        detail: Detail,
    ) -> Question<'q> {
        Question { sight: &self.sight, filter, with_sums, detail }
    }

    async fn named_parts(
        &self,
        question: &Question<'_>,
        kinds: &[By],
        top: u32,
    ) -> Result<HashMap<By, Vec<NamedPart>>, AdminError> {
        self.named(self.store.parts(question, kinds, top).await?).await
    }

    async fn named(&self, parts: Vec<Part>) -> Result<HashMap<By, Vec<NamedPart>>, AdminError> {
        let keys = parts.iter().filter(|part| part.by == By::Key);
        let keys: Vec<KeyId> = keys.map(|part| part.value.as_str().into()).collect();
        let names: HashMap<KeyId, String> = match keys.as_slice() {
            [] => HashMap::new(),
            keys => self.store.key_names(keys).await?.into_iter().collect(),
        };
        let mut named: HashMap<By, Vec<NamedPart>> = HashMap::new();
        for Part { by, value, figures } in parts {
            let name = (by == By::Key).then(|| {
                let own = || own::key_name(&value).map(str::to_owned);
                names.get(value.as_str()).cloned().or_else(own)
            });
            let name = name.flatten();
            named.entry(by).or_default().push(NamedPart { value, name, figures });
        }
        Ok(named)
    }
}

/// The filter without its condition on what is told apart by `by`.
fn without(filter: &RecordsFilter, by: By) -> RecordsFilter {
    let mut others = filter.clone();
    match by {
        By::Key => others.key_id = None,
        By::Model => others.model = None,
        By::App => others.app = None,
        By::Provider => others.provider = None,
        By::Action => others.actions = Vec::new(),
        By::Outcome => others.outcomes = Vec::new(),
        By::Team => others.team_id = None,
        // A filter asks for neither.
        By::Department | By::Holder => {}
    }
    others
}

/// Names the key of what somebody asked on a page, which no table has.
fn name(seen: &mut SeenRecord) {
    if seen.key_name.is_none() {
        seen.key_name = own::key_name(seen.record.key_id.as_str()).map(str::to_owned);
    }
}

impl Breakdown {
    fn of(total: Figures, top: Vec<NamedPart>) -> Self {
        let without_times = Figures { duration_ms: 0, first_tokens: Default::default(), ..total };
        let rest = top.iter().fold(without_times, |rest, part| rest.minus(part.figures));
        Self { top, rest }
    }
}
