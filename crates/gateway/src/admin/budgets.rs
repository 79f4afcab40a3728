//! Budgets: set, topped up, removed, listed.
//!
//! A subject has one budget of each kind: what it limits, for how long, hard or soft. To set it again
//! changes its limit, and what was used in its window goes on counting.

use std::collections::{BTreeMap, HashMap, HashSet};

use sluice_core::clock::UnixMillis;
use sluice_core::ids::KeyId;
use sluice_core::measure::{Limited, Measure};
use sluice_core::organisation::{Actor, Subject};
use sluice_core::window::{Span, Window, Zone};
use sluice_storage::{
    BudgetRecord, DAY_SECONDS, HOUR_SECONDS, Item, ItemChange, KeyRecord, MANAGED_BY_FILE,
    PastRequest, PersonRecord, Record, TopUp, Used, window_start,
};

use crate::admin::find::name_of;
use crate::admin::permissions::{Rights, Verb};
use crate::admin::{Admin, AdminError, FileItems, Kind, View};
use crate::limits::{Meter, Rehearsal};
use crate::service_key::random_name;

/// What ids of budgets begin with.
const ID: &str = "bud_";
/// Past windows that are told.
const PAST_WINDOWS: usize = 12;
/// Hours or days that are told of the current window.
const SLOTS: u64 = 62;
const FIVE_HOURS: u64 = 5 * HOUR_SECONDS;

/// The budget to set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BudgetWish {
    /// Whose: `account` for the only account, else `account:A`, `department:D`, `team:T`, `person:P`,
    /// `service:S` or `key:K`, by id or name.
    pub subject: String,
    /// The id or name of the account, where there are several.
    pub account: Option<String>,
    /// Whether each session has so much to itself. It lasts as long as the session.
    pub each_session: bool,
    /// What it limits.
    pub limited: Limited,
    /// How much: requests, tokens or pico-dollars. 0 blocks.
    pub limit: u64,
    /// Whether a request that does not fit is refused.
    pub hard: bool,
    /// The time zone whose calendar its window follows; `None`: as it was, else UTC.
    pub zone: Option<String>,
}

impl BudgetWish {
    /// Whether it is this budget that is wished for.
    fn is_of(&self, budget: &BudgetRecord) -> bool {
        (self.limited, self.hard, self.each_session)
            == (budget.limited, budget.hard, budget.each_session)
    }
}

/// What a budget would have done to the requests of a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rehearsed {
    /// The day's first moment.
    pub from: UnixMillis,
    /// The first moment after it.
    pub until: UnixMillis,
    /// How many requests there were that left a record.
    pub requests: u64,
    /// How many of them it would have refused.
    pub refused: u64,
}

/// A budget, and whose it is.
#[derive(Debug, Clone)]
pub struct BudgetView {
    /// The budget.
    pub budget: BudgetRecord,
    /// Whose use it limits; `None` for a key that is gone.
    pub whose: Option<Record>,
}

impl BudgetView {
    /// Whose it is, in words: `team compilers`.
    pub fn whose_name(&self) -> String {
        let subject = &self.budget.subject;
        match &self.whose {
            Some(record) => format!("{} {}", subject.kind(), name_of(record)),
            None => format!("{} {}", subject.kind(), subject.id()),
        }
    }
}

impl Admin<'_> {
    /// Sets a budget: changes the one of this kind, else makes it. Returns it as it is now, and as it
    /// was.
    pub async fn set_budget(
        &self,
        wish: BudgetWish,
    ) -> Result<(BudgetRecord, Option<BudgetRecord>), AdminError> {
        if let (true, Some(window)) = (wish.each_session, wish.limited.window())
            && window != Window::Total
        {
            return Err(AdminError::WindowOfSession { window });
        }
        let view = self.view().await?;
        let whose = self.subject_named(&view, &wish.subject, wish.account.as_deref()).await?;
        let zone = match &wish.zone {
            Some(name) => Some(Zone::parse(name)?.to_string()),
            None => None,
        };
        let subject = whose.subject();
        let old = view.organisation.budgets.of(&subject).find(|it| wish.is_of(it)).cloned();
        let new = match &old {
            Some(old) => {
                let zone = zone.unwrap_or_else(|| old.zone.clone());
                let managed_by = self.manager().or_else(|| old.managed_by.clone());
                let mut new = BudgetRecord { limit: wish.limit, managed_by, ..old.clone() };
                if follows_a_calendar(wish.limited) && zone != old.zone {
                    // Other windows: it begins anew.
                    (new.zone, new.counts_from) = (zone, self.now);
                    new.used_before = self.used_today(&subject).await?;
                }
                new
            }
            None => BudgetRecord {
                id: format!("{ID}{}", random_name(16)?).into(),
                account_id: whose.account_id().clone(),
                limited: wish.limited,
                zone: zone
                    .filter(|_| follows_a_calendar(wish.limited))
                    .unwrap_or_else(|| Zone::UTC.to_string()),
                limit: wish.limit,
                hard: wish.hard,
                counts_from: self.now,
                used_before: self.used_today(&subject).await?,
                top_ups: Vec::new(),
                managed_by: self.manager(),
                created_at: self.now,
                removed_at: None,
                changed: 0,
                each_session: wish.each_session,
                subject,
            },
        };
        if old.as_ref() != Some(&new) {
            self.carry_out_budget(&view, Verb::SetBudget, &whose, (old.clone(), new.clone()))
                .await?;
        }
        Ok((new, old))
    }

    /// Makes the budgets of the configuration file what it says: sets them, takes over those that are
    /// there, removes those that it holds no more. Only the file itself, as [`Actor::File`], may do it.
    pub async fn apply_file_budgets(&self, wishes: &[BudgetWish]) -> Result<FileItems, AdminError> {
        if self.actor != Actor::File {
            return Err(AdminError::Forbidden { verb: "configuration-file.apply" });
        }
        let mut done = FileItems::default();
        let mut held = HashSet::new();
        for wish in wishes {
            match self.set_budget(wish.clone()).await {
                Ok((budget, old)) => {
                    if old.as_ref() != Some(&budget) {
                        done.changed.push(format!("budget {} of {}", budget.id, wish.subject));
                    }
                    held.insert(budget.id);
                }
                Err(error) if error.is_nobody() => done.waiting.push(wish.subject.clone()),
                Err(error) => return Err(error),
            }
        }
        // What cannot be told apart from what the file names is not taken for something else.
        if !done.waiting.is_empty() {
            return Ok(done);
        }
        let view = self.view().await?;
        let is_over =
            |it: &&BudgetRecord| it.is_there() && it.is_the_files() && !held.contains(&it.id);
        for budget in view.organisation.budgets.iter().filter(is_over) {
            self.remove_budget(budget.id.as_str()).await?;
            done.removed.push(format!("budget {} of {}", budget.id, budget.subject));
        }
        Ok(done)
    }

    /// What a budget would have done yesterday, by its own calendar. Sets nothing.
    pub async fn rehearse_budget(&self, wish: &BudgetWish) -> Result<Rehearsed, AdminError> {
        if wish.each_session {
            return Err(AdminError::RehearsalOfSessions);
        }
        let view = self.view().await?;
        let whose = self.subject_named(&view, &wish.subject, wish.account.as_deref()).await?;
        if !view.rights.allow(Verb::SetBudget, &whose, &view.organisation) {
            return Err(AdminError::Forbidden { verb: Verb::SetBudget.as_str() });
        }
        let subject = whose.subject();
        let old = view.organisation.budgets.of(&subject).find(|it| wish.is_of(it));
        let zone = wish.zone.as_deref().or(old.map(|old| old.zone.as_str()));
        let zone = zone.map_or(Ok(Zone::UTC), Zone::parse)?;
        let today = Window::Day.span(&zone, self.now.seconds()).start;
        let yesterday = Window::Day.span(&zone, today.saturating_sub(1));
        let window_start = match wish.limited.window() {
            Some(window) if window != Window::FiveHours => {
                window.span(&zone, yesterday.start).start
            }
            _ => yesterday.start,
        };
        let began = old.map_or(0, |old| old.counts_from.seconds());
        let is_new = old.is_none() && wish.limited.window() == Some(Window::Total);
        // One that never ends begins at zero, like any new one.
        let before = match is_new {
            true => Used::default(),
            false => {
                let from = window_start.max(began).min(yesterday.start);
                self.store.used_in(&subject, (from, yesterday.start)).await?
            }
        };
        let before = (yesterday.start, before);
        let mut rehearsal = Rehearsal::new(wish.limited, wish.limit, zone, before);
        let millis = |seconds: u64| UnixMillis(seconds.saturating_mul(1000));
        let (from, until) = (millis(yesterday.start), millis(yesterday.end));
        let look = |request: &PastRequest| rehearsal.request(request);
        self.store.past_requests(&subject, (from, until), look).await?;
        let (requests, refused) = rehearsal.result();
        Ok(Rehearsed { from, until, requests, refused })
    }

    /// Changes a budget's limit, and returns it as it is now.
    pub async fn change_limit(&self, id: &str, limit: u64) -> Result<BudgetRecord, AdminError> {
        let view = self.view().await?;
        let (old, whose) = self.there(&view, id).await?;
        let new = BudgetRecord { limit, ..old.clone() };
        if old != new {
            self.carry_out_budget(&view, Verb::SetBudget, &whose, (Some(old), new.clone())).await?;
        }
        Ok(new)
    }

    /// A budget that is there and may be seen, and whose it is.
    async fn there(&self, view: &View, id: &str) -> Result<(BudgetRecord, Record), AdminError> {
        let BudgetView { budget, whose } = self.find_budget(view, id).await?;
        let whose = whose.filter(|_| budget.is_there());
        let none = || AdminError::NoSuchBudget { text: id.to_owned() };
        Ok((budget, whose.ok_or_else(none)?))
    }

    /// Who in the account may grant more of a budget: for whoever met it.
    pub async fn who_may_top_up(&self, whose: &Record) -> Result<Vec<PersonRecord>, AdminError> {
        self.who_may(Verb::TopUpBudget, whose).await
    }

    /// Who in the account may do something with what is theirs.
    pub async fn who_may(
        &self,
        verb: Verb,
        whose: &Record,
    ) -> Result<Vec<PersonRecord>, AdminError> {
        let view = self.view().await?;
        let may = |person: &&PersonRecord| {
            let actor = Actor::Person { id: person.id.clone() };
            let rights = Rights::of(&actor, &view.organisation);
            rights.allow(verb, whose, &view.organisation)
        };
        let people = view.organisation.people.values();
        let of_account = people.filter(|it| it.account_id == *whose.account_id());
        let mut may: Vec<PersonRecord> = of_account.filter(may).cloned().collect();
        may.sort_by(|a, b| (a.life.created_at, &a.id).cmp(&(b.life.created_at, &b.id)));
        Ok(may)
    }

    /// Grants an amount on top of a budget's limit until `until`, and returns the budget as it is now.
    /// Where nobody says until when: until its window ends; for ever where that never does.
    pub async fn top_up(
        &self,
        id: &str,
        amount: u64,
        until: Option<UnixMillis>,
    ) -> Result<BudgetRecord, AdminError> {
        if amount == 0 {
            return Err(AdminError::EmptyTopUp);
        }
        if let Some(until) = until.filter(|until| *until <= self.now) {
            let (given, now) = (until.to_rfc3339(), self.now.to_rfc3339());
            return Err(AdminError::AlreadyExpired { given, now });
        }
        let view = self.view().await?;
        let (old, whose) = self.there(&view, id).await?;
        let until = until.unwrap_or_else(|| self.end_of_window(&old));
        let mut new = old.clone();
        // What is over stays in the trail.
        new.top_ups.retain(|it| it.until > self.now);
        new.top_ups.push(TopUp { amount, from: self.now, until });
        self.carry_out_budget(&view, Verb::TopUpBudget, &whose, (Some(old), new.clone())).await?;
        Ok(new)
    }

    /// Removes a budget. What was recorded stays.
    pub async fn remove_budget(&self, id: &str) -> Result<BudgetRecord, AdminError> {
        let view = self.view().await?;
        let (old, whose) = self.there(&view, id).await?;
        let new = BudgetRecord { removed_at: Some(self.now), ..old.clone() };
        self.carry_out_budget(&view, Verb::RemoveBudget, &whose, (Some(old), new.clone())).await?;
        Ok(new)
    }

    /// All budgets that are there and may be seen: the account's first, then inwards.
    pub async fn budgets(&self) -> Result<Vec<BudgetView>, AdminError> {
        let view = self.view().await?;
        let there: Vec<&BudgetRecord> =
            view.organisation.budgets.iter().filter(|it| it.is_there()).collect();
        let has_keys = there.iter().any(|it| matches!(it.subject, Subject::Key(_)));
        let keys = if has_keys { self.store.keys().await? } else { Default::default() };
        let keys: HashMap<&KeyId, &KeyRecord> = keys.iter().map(|key| (&key.id, key)).collect();
        let mut views: Vec<BudgetView> = there
            .into_iter()
            .filter_map(|budget| {
                let whose = match &budget.subject {
                    Subject::Key(id) => keys.get(id).map(|key| Record::Key((*key).clone())),
                    other => view.record_of(other),
                }?;
                let sees = view.rights.allow(Verb::SeeBudget, &whose, &view.organisation);
                sees.then(|| BudgetView { budget: budget.clone(), whose: Some(whose) })
            })
            .collect();
        views.sort_by_cached_key(|it| {
            let order = Kind::ALL.iter().position(|kind| kind.as_str() == it.budget.subject.kind());
            (order, it.whose_name(), it.budget.limited, !it.budget.hard, it.budget.id.clone())
        });
        Ok(views)
    }

    /// The windows before the current one, the latest first, with what was used in each since the
    /// budget began.
    pub async fn past_windows(
        &self,
        budget: &BudgetRecord,
    ) -> Result<Vec<(Span, u64)>, AdminError> {
        let Limited::Used { measure, window } = budget.limited else { return Ok(Vec::new()) };
        if window == Window::FiveHours && !budget.each_session {
            return self.past_five_hours(budget, measure).await;
        }
        if !window.follows_the_calendar() || budget.each_session {
            return Ok(Vec::new());
        }
        let zone = zone_of(budget);
        let began = budget.counts_from.seconds();
        let mut past = Vec::new();
        let mut start = window.span(&zone, self.now.seconds()).start;
        while start > began && past.len() < PAST_WINDOWS {
            let span = window.span(&zone, start - 1);
            let used = if began > span.start {
                // What was used before it is known by days.
                let midnight = window_start(budget.counts_from, DAY_SECONDS);
                let used = self.store.used_in(&budget.subject, (midnight, span.end)).await?;
                used.minus(budget.used_before)
            } else {
                self.store.used_in(&budget.subject, (span.start, span.end)).await?
            };
            past.push((span, used.of(measure)));
            start = span.start;
        }
        Ok(past)
    }

    /// The same for windows of five hours, which began with a use. They are known for forty days.
    async fn past_five_hours(
        &self,
        budget: &BudgetRecord,
        measure: Measure,
    ) -> Result<Vec<(Span, u64)>, AdminError> {
        // The latest may be open.
        let most = u32::try_from(PAST_WINDOWS + 1).unwrap_or(u32::MAX);
        let began = budget.counts_from.seconds();
        let mut past = Vec::new();
        for start in self.store.past_five_hours(&budget.subject, most).await? {
            let span = Window::FiveHours.span(&Zone::UTC, start);
            if span.end > self.now.seconds() || span.end <= began || past.len() == PAST_WINDOWS {
                continue;
            }
            let since = start.max(began);
            let used = self.store.used_exactly_since(&budget.subject, since).await?;
            let after = self.store.used_exactly_since(&budget.subject, span.end).await?;
            past.push((span, used.minus(after).of(measure)));
        }
        Ok(past)
    }

    /// The windows before the current one of a limit of a class, a tier, a key or an account, the latest
    /// first: of hours or days in UTC. Whether somebody may know is for the caller to ask.
    pub async fn past_windows_of(
        &self,
        subject: &Subject,
        meter: &Meter,
    ) -> Result<Vec<(Span, u64)>, AdminError> {
        let length = match meter.window {
            Window::Hour => HOUR_SECONDS,
            Window::Day => DAY_SECONDS,
            _ => return Ok(Vec::new()),
        };
        let now = self.now.seconds();
        let current = now - now % length;
        let first = current.saturating_sub(length.saturating_mul(PAST_WINDOWS as u64));
        let by_day = meter.window == Window::Day;
        let mut sums: BTreeMap<u64, u64> = BTreeMap::new();
        for (at, used) in self.store.used_by_time(subject, first, by_day).await? {
            let sum = sums.entry(at - at % length).or_default();
            *sum = sum.saturating_add(used.of(meter.measure));
        }
        let starts = (1..=PAST_WINDOWS as u64).map(|it| current.saturating_sub(it * length));
        let window = |start| {
            let span = Span { start, end: start + length };
            (span, sums.get(&start).copied().unwrap_or(0))
        };
        Ok(starts.map(window).collect())
    }

    /// How a budget was used in its current window: by hours where that is a day or shorter, else by
    /// days in UTC; the first second of each, and what was used in it. Empty where nothing adds up.
    pub async fn use_of_budget(
        &self,
        budget: &BudgetRecord,
    ) -> Result<Vec<(u64, u64)>, AdminError> {
        let Limited::Used { measure, window } = budget.limited else { return Ok(Vec::new()) };
        if budget.each_session {
            return Ok(Vec::new());
        }
        let now = self.now.seconds();
        let by_day = matches!(window, Window::Week | Window::Month | Window::Total);
        let step = if by_day { DAY_SECONDS } else { HOUR_SECONDS };
        let start = match window {
            Window::FiveHours => now.saturating_sub(FIVE_HOURS),
            window => window.span(&zone_of(budget), now).start,
        };
        let start = start.max(budget.counts_from.seconds());
        let start = (start - start % step).max(now.saturating_sub(SLOTS * step));
        let mut used = self.store.used_by_time(&budget.subject, start, by_day).await?;
        let began = window_start(budget.counts_from, DAY_SECONDS);
        if let (true, Some((at, first))) = (by_day, used.first_mut())
            && *at == began
        {
            *first = first.minus(budget.used_before);
        }
        let slots = (now - start) / step + 1;
        let mut steps: Vec<(u64, u64)> = (0..slots).map(|it| (start + it * step, 0)).collect();
        for (at, used) in used {
            let place = usize::try_from(at.saturating_sub(start) / step).unwrap_or(usize::MAX);
            if let Some((_, sum)) = steps.get_mut(place) {
                *sum = sum.saturating_add(used.of(measure));
            }
        }
        Ok(steps)
    }

    /// The budget with this id, also where it was removed; or that of what is named, where it has one
    /// alone.
    pub async fn budget(&self, id: &str) -> Result<BudgetView, AdminError> {
        self.find_budget(&self.view().await?, id).await
    }

    async fn find_budget(&self, view: &View, id: &str) -> Result<BudgetView, AdminError> {
        let none = || AdminError::NoSuchBudget { text: id.to_owned() };
        if !id.starts_with(ID) {
            return self.only_budget_of(view, id).await;
        }
        let found = view.organisation.budgets.iter().find(|it| it.id.as_str() == id);
        let budget = found.cloned().ok_or_else(none)?;
        let whose = self.record_of_subject(view, &budget.subject).await?;
        let may_see =
            |record: &Record| view.rights.allow(Verb::SeeBudget, record, &view.organisation);
        match whose {
            Some(record) if may_see(&record) => Ok(BudgetView { budget, whose: Some(record) }),
            _ => Err(none()),
        }
    }

    /// The budget of what `text` names, where that has one alone.
    async fn only_budget_of(&self, view: &View, text: &str) -> Result<BudgetView, AdminError> {
        let whose = match self.subject_named(view, text, None).await {
            Err(AdminError::NamesNothing { .. }) => {
                return Err(AdminError::NoSuchBudget { text: text.to_owned() });
            }
            found => found?,
        };
        let budgets: Vec<&BudgetRecord> = view.organisation.budgets.of(&whose.subject()).collect();
        match budgets.as_slice() {
            _ if !view.rights.allow(Verb::SeeBudget, &whose, &view.organisation) => {
                Err(AdminError::NoSuchBudget { text: text.to_owned() })
            }
            [] => Err(AdminError::NoSuchBudget { text: text.to_owned() }),
            [budget] => Ok(BudgetView { budget: (*budget).clone(), whose: Some(whose) }),
            several => Err(AdminError::SeveralBudgets {
                text: text.to_owned(),
                ids: several.iter().map(|it| it.id.to_string()).collect(),
            }),
        }
    }

    /// Who alone may change what the actor sets.
    fn manager(&self) -> Option<String> {
        (self.actor == Actor::File).then(|| MANAGED_BY_FILE.to_owned())
    }

    /// What a subject used today, as far as database and journal know.
    async fn used_today(&self, subject: &Subject) -> Result<Used, AdminError> {
        // The database first: what is ingested between the two readings is in neither, so that the
        // budget counts it rather than giving it away.
        let stored = self.store.used_today(subject, self.now).await?;
        let tail = self.store.journal_tail(self.master_key).await?;
        let midnight = window_start(self.now, DAY_SECONDS);
        let waiting = tail.used_since(midnight, |whose| whose.subjects().any(|it| it == *subject));
        Ok(stored.plus(waiting))
    }

    fn end_of_window(&self, budget: &BudgetRecord) -> UnixMillis {
        let zone = zone_of(budget);
        let span = budget.limited.window().map(|it| it.span(&zone, self.now.seconds()));
        let end = span.and_then(|span| span.reset());
        end.map_or(TopUp::NEVER, |end| UnixMillis(end.saturating_mul(1000)))
    }

    async fn carry_out_budget(
        &self,
        view: &View,
        verb: Verb,
        whose: &Record,
        (old, new): (Option<BudgetRecord>, BudgetRecord),
    ) -> Result<(), AdminError> {
        if !view.rights.allow(verb, whose, &view.organisation) {
            return Err(AdminError::Forbidden { verb: verb.as_str() });
        }
        let is_the_files = old.as_ref().is_some_and(BudgetRecord::is_the_files);
        if is_the_files && self.actor != Actor::File {
            return Err(AdminError::ManagedByFile { what: format!("budget {}", new.id) });
        }
        // Whether the subject is there, and what the actor may do, must still be so.
        let change = ItemChange {
            verb: verb.as_str(),
            account_id: new.account_id.clone(),
            old: old.map(Item::Budget),
            new: Some(Item::Budget(new)),
        };
        self.write_item(view, change).await
    }
}

/// The zone was checked when it was set.
fn zone_of(budget: &BudgetRecord) -> Zone {
    Zone::parse(&budget.zone).unwrap_or(Zone::UTC)
}

/// Whether a time zone decides when its windows begin.
fn follows_a_calendar(limited: Limited) -> bool {
    limited.window().is_some_and(Window::follows_the_calendar)
}
