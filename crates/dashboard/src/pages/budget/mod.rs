//! One budget: what is left of it, how it was used, who can grant more. Refusals lead here.

mod view;

use std::sync::Arc;

use http::StatusCode;
use sluice_core::clock::UnixMillis;
use sluice_core::measure::{Limited, Measure};
use sluice_core::window::Window;
use sluice_gateway::admin::{AdminError, BudgetView, Verb, name_of};
use sluice_gateway::{BudgetRecord, PersonRecord, Record, TopUp};

use crate::charts::{Bars, Series, Slot, Unit};
use crate::components::{
    Badge, Code, Confirm, Field, Figure, Kind as Input, NOT_ITS_NAME, State, Text, is_confirmed,
};
use crate::format::{self, Calendar};
use crate::layout::{Head, Place};
use crate::pages::budget_new::read::{Wrong, amount};
use crate::pages::budgets::{Left, whose};
use crate::pages::confirm::Question;
use crate::web::{
    Access, Answer, Ask, Failure, Reply, Route, get, page, page_with, post, see_other,
};
use view::{Budget, PastWindow, TopUpLine};

pub(crate) use view::samples;

pub(crate) const ROUTES: &[Route] = &[
    get("/budgets/{id}", Access::May(Verb::SeeBudget), |ask| Box::pin(show(ask))),
    get("/budgets/{id}/left.csv", Access::May(Verb::SeeBudget), |ask| Box::pin(csv(ask))),
    get("/budgets/{id}/limit", Access::May(Verb::SetBudget), |ask| Box::pin(ask_first(ask))),
    get("/budgets/{id}/top-up", Access::May(Verb::TopUpBudget), |ask| Box::pin(ask_first(ask))),
    get("/budgets/{id}/remove", Access::May(Verb::RemoveBudget), |ask| Box::pin(ask_first(ask))),
    post("/budgets/{id}/limit", Access::May(Verb::SetBudget), |ask| Box::pin(set_limit(ask))),
    post("/budgets/{id}/top-up", Access::May(Verb::TopUpBudget), |ask| Box::pin(top_up(ask))),
    post("/budgets/{id}/remove", Access::May(Verb::RemoveBudget), |ask| Box::pin(remove(ask))),
];

/// People that are named as those who can grant more.
const NAMED: usize = 5;

/// The budget of the address.
async fn budget(ask: &Ask) -> Result<BudgetView, Failure> {
    let id = ask.place("id");
    match ask.admin()?.budget(id).await {
        Ok(found) if found.budget.id.as_str() == id => Ok(found),
        Ok(_) | Err(AdminError::NoSuchBudget { .. } | AdminError::NoSuch { .. }) => {
            Err(Failure::Missing)
        }
        Err(error) => Err(error.into()),
    }
}

async fn show(ask: Arc<Ask>) -> Answer {
    let found = budget(&ask).await?;
    let admin = ask.admin()?;
    let calendar = ask.calendar();
    let (record, left) = (&found.budget, Left::of(&ask, &found.budget));
    let past = admin.past_windows(record).await?;
    let may_raise = match &found.whose {
        Some(whose) => admin.who_may_top_up(whose).await?,
        None => Vec::new(),
    };
    let (used, held) = left.used_and_held();
    let limit = left.0.allowance.limit;
    let figure = |label, figure| Figure::new(label, Text::from(left.shown(figure)));
    let view = Budget {
        head: Head::new(whose(&found)).below("Budgets", "/budgets").stamp(format!(
            "{} · {} · as of {}",
            record.subject.kind(),
            record.id,
            calendar.second(ask.now)
        )),
        state: match record.is_there() {
            true => left.state(record.hard),
            false => Badge::new(State::Plain, "removed"),
        },
        notice: notice(&ask, record, &left),
        figures: vec![
            figure("Limit", limit),
            figure("Used", used),
            figure("Reserved", held),
            figure("Left", limit.saturating_sub(used).saturating_sub(held)),
        ],
        meter: left.meter(),
        chart: chart(&ask, &found, &left, &calendar).await?,
        facts: facts(&ask, &found, &left, &calendar),
        may_raise: named(&may_raise),
        top_ups: record.top_ups.iter().map(|it| line(it, &left, &calendar, ask.now)).collect(),
        past: past
            .into_iter()
            .map(|(span, used)| PastWindow {
                from: calendar.minute(millis(span.start)),
                until: calendar.minute(millis(span.end)),
                used: left.shown(used),
            })
            .collect(),
        deeds: deeds(&ask, &found).await?,
        command: Code::new("As command", format!("sluice budgets show {}", record.id)),
    };
    page(&ask, &view)
}

fn millis(seconds: u64) -> UnixMillis {
    UnixMillis(seconds.saturating_mul(1_000))
}

fn notice(ask: &Ask, budget: &BudgetRecord, left: &Left) -> Option<(&'static str, String)> {
    if !budget.is_there() {
        return Some(("warn", "It was removed and limits nothing any more.".to_owned()));
    }
    let (used, _) = left.used_and_held();
    match ask.asked("done") {
        "set" => return Some(("good", "It is set and holds at once.".to_owned())),
        "changed" => return Some(("good", "Saved. It holds at once.".to_owned())),
        "topped-up" => return Some(("good", "The top-up holds at once.".to_owned())),
        _ => {}
    }
    if used < left.0.allowance.limit || !budget.hard {
        return None;
    }
    if budget.each_session {
        let text = "A session has spent it: its requests are refused, and those of others go on.";
        return Some(("bad", text.to_owned()));
    }
    let resets = left.resets(&ask.calendar());
    Some(match resets.as_str() {
        "" => ("bad", "It is spent: requests are refused until somebody raises it.".to_owned()),
        at => (
            "bad",
            format!("It is spent: requests are refused until {at}, or until somebody raises it."),
        ),
    })
}

/// What was left after each hour or day of the current window.
async fn chart(
    ask: &Ask,
    found: &BudgetView,
    left: &Left,
    calendar: &Calendar,
) -> Result<Option<Bars>, Failure> {
    let budget = &found.budget;
    let Limited::Used { measure, .. } = budget.limited else { return Ok(None) };
    if budget.each_session {
        return Ok(None);
    }
    let mut steps = ask.admin()?.use_of_budget(budget).await?;
    let (used, _) = left.used_and_held();
    let told = steps.iter().fold(0_u64, |sum, (_, used)| sum.saturating_add(*used));
    // Days and hours do not begin where its window does: what was used before it is left out.
    let mut before = told.saturating_sub(used);
    for (_, used) in &mut steps {
        let out = before.min(*used);
        (*used, before) = (*used - out, before - out);
    }
    let hourly = steps.windows(2).all(|it| it[1].0 - it[0].0 < 86_400) && steps.len() > 1;
    let mut remains = left.0.allowance.limit.saturating_sub(used.saturating_sub(told));
    let slots = steps.into_iter().map(|(at, used)| {
        remains = remains.saturating_sub(used);
        let at = millis(at);
        let (day, clock) = (calendar.day(at), calendar.clock(at));
        let short = day.split(' ').next().unwrap_or_default().to_owned();
        Slot {
            label: if hourly { clock.chars().take(2).collect() } else { short },
            name: if hourly { format!("{day} {clock}") } else { day },
            values: vec![remains],
            link: None,
        }
    });
    Ok(Some(Bars {
        id: "left",
        title: "What was left".to_owned(),
        unit: match measure {
            Measure::Usd => Unit::Money,
            Measure::Tokens => Unit::Tokens,
            Measure::Requests => Unit::Count,
        },
        series: vec![Series { name: "left".into(), colour: 1 }],
        slots: slots.collect(),
        csv: format!("/budgets/{}/left.csv", budget.id),
        is_low: false,
    }))
}

async fn csv(ask: Arc<Ask>) -> Answer {
    let found = budget(&ask).await?;
    let left = Left::of(&ask, &found.budget);
    let chart = chart(&ask, &found, &left, &ask.calendar()).await?.ok_or(Failure::Missing)?;
    Ok(Reply::csv("left", chart.to_csv()))
}

fn facts(
    ask: &Ask,
    found: &BudgetView,
    left: &Left,
    calendar: &Calendar,
) -> Vec<(&'static str, Text)> {
    let budget = &found.budget;
    let mut facts: Vec<(&'static str, Text)> = vec![
        ("Limits", left.0.allowance.what().into()),
        (
            "Beyond it",
            if budget.hard { "requests are refused" } else { "requests are noted" }.into(),
        ),
        ("Limit without top-ups", left.shown(budget.limit).into()),
    ];
    if budget.each_session {
        let sessions = ask.shared.gateway.sessions_of_budget(budget, ask.now);
        facts.push(("Used and left", "by the session that has the least left".into()));
        facts.push(("Sessions now", format::count(sessions).into()));
        facts.push(("A session ends", "after 24 hours without a request".into()));
    } else if budget.limited.window().is_some() {
        facts.push(("Time zone", budget.zone.as_str().into()));
        let resets = left.resets(calendar);
        let resets = if resets.is_empty() { "never".to_owned() } else { resets };
        facts.push(("Resets", resets.into()));
        facts.push(("Counts since", calendar.minute(budget.counts_from).into()));
    }
    facts.push(("Set", calendar.minute(budget.created_at).into()));
    facts
}

/// The first few of them, in words.
pub(crate) fn named(people: &[PersonRecord]) -> Vec<Text> {
    let mut named: Vec<Text> = people.iter().take(NAMED).map(|it| it.shown_name().into()).collect();
    if people.len() > NAMED {
        named.push(format!("and {} more", people.len() - NAMED).into());
    }
    named
}

fn line(top_up: &TopUp, left: &Left, calendar: &Calendar, now: UnixMillis) -> TopUpLine {
    TopUpLine {
        amount: left.shown(top_up.amount),
        from: calendar.minute(top_up.from),
        until: top_up.ends().map_or_else(|| "for good".to_owned(), |at| calendar.minute(at)),
        state: match top_up.holds_at(now) {
            true => Badge::new(State::Good, "holds"),
            false => Badge::new(State::Plain, "over"),
        },
    }
}

/// What the reader may do to it as it stands.
async fn deeds(ask: &Ask, found: &BudgetView) -> Result<Vec<Confirm>, Failure> {
    let Some(whose) = found.whose.as_ref().filter(|_| found.budget.is_there()) else {
        return Ok(Vec::new());
    };
    if found.budget.is_the_files() {
        return Ok(Vec::new());
    }
    let permissions = ask.admin()?.permissions().await?;
    let mut deeds = Vec::new();
    if permissions.may_about_budget(Verb::SetBudget, whose) {
        deeds.push(limit_question(ask, found, None));
    }
    if permissions.may_about_budget(Verb::TopUpBudget, whose) {
        deeds.push(top_up_question(ask, found, None));
    }
    if permissions.may_about_budget(Verb::RemoveBudget, whose) {
        deeds.push(removal(ask, found, whose, None));
    }
    Ok(deeds)
}

fn question(ask: &Ask, found: &BudgetView, deed: &'static str, verb: &'static str) -> Confirm {
    let id = &found.budget.id;
    Confirm {
        id: deed,
        action: format!("/budgets/{id}/{deed}"),
        title: Text::new(format!("{verb}: {}", found.whose_name())),
        consequences: Vec::new(),
        fields: Vec::new(),
        name: None,
        verb,
        is_dangerous: false,
        error: None,
        back: format!("/budgets/{id}"),
        csrf: ask.csrf(),
    }
}

fn unit(budget: &BudgetRecord) -> &'static str {
    match budget.limited {
        Limited::Concurrency => "requests at once",
        Limited::Used { measure: Measure::Usd, .. } => "US dollars",
        Limited::Used { measure: Measure::Tokens, .. } => "tokens",
        Limited::Used { measure: Measure::Requests, .. } => "requests",
    }
}

fn marked(field: Field, name: &str, wrong: Option<&Wrong>) -> Field {
    match wrong {
        Some(wrong) if wrong.field == Some(name) => field.error(wrong.text.clone()),
        _ => field,
    }
}

fn whole(wrong: Option<&Wrong>) -> Option<String> {
    wrong.filter(|it| it.field.is_none()).map(|it| it.text.clone())
}

fn limit_question(ask: &Ask, found: &BudgetView, wrong: Option<&Wrong>) -> Confirm {
    let budget = &found.budget;
    let now = match budget.limited.is_money() {
        true => sluice_core::money::PicoUsd(budget.limit).to_string(),
        false => budget.limit.to_string(),
    };
    let value = ask.form.some("limit").map_or(now, str::to_owned);
    let limit = Field::new(Input::Number, "limit", "Limit").id("new-limit");
    let limit = limit.value(value).unit(unit(budget));
    Confirm {
        consequences: vec![
            "It holds at once, and what was used in its window goes on counting.".to_owned(),
        ],
        fields: vec![marked(limit.hint("0 refuses everything.").required(), "limit", wrong)],
        error: whole(wrong),
        ..question(ask, found, "limit", "Change limit")
    }
}

fn top_up_question(ask: &Ask, found: &BudgetView, wrong: Option<&Wrong>) -> Confirm {
    let amount = Field::new(Input::Number, "amount", "Amount").unit(unit(&found.budget));
    let until = Field::new(Input::Day, "until", "Until the end of").value(ask.form.get("until"));
    let hint = match found.budget.limited.window() {
        None => "Empty: for good.",
        Some(Window::Total) => "A day of UTC. Empty: for good.",
        Some(_) => "A day of UTC. Empty: until the current window ends.",
    };
    Confirm {
        consequences: vec![
            "The limit is higher by so much until then. What was used stays as it is.".to_owned(),
        ],
        fields: vec![
            marked(amount.value(ask.form.get("amount")).required(), "amount", wrong),
            marked(until.hint(hint), "until", wrong),
        ],
        error: whole(wrong),
        ..question(ask, found, "top-up", "Top up")
    }
}

fn removal(ask: &Ask, found: &BudgetView, whose: &Record, error: Option<String>) -> Confirm {
    Confirm {
        consequences: vec![
            "It limits nothing any more, at once. What was used stays in the records.".to_owned(),
        ],
        name: Some(name_of(whose).into()),
        is_dangerous: true,
        error,
        ..question(ask, found, "remove", "Remove")
    }
}

/// A question on a page of its own, for browsers without script.
async fn ask_first(ask: Arc<Ask>) -> Answer {
    let found = budget(&ask).await?;
    let mut deeds = deeds(&ask, &found).await?.into_iter();
    let question = deeds.find(|deed| deed.action == ask.path).ok_or(Failure::Missing)?;
    page(&ask, &Question { place: Place::Budgets, question })
}

fn refused(ask: &Ask, question: Confirm) -> Answer {
    let view = Question { place: Place::Budgets, question };
    page_with(StatusCode::UNPROCESSABLE_ENTITY, ask, &view)
}

async fn set_limit(ask: Arc<Ask>) -> Answer {
    let found = budget(&ask).await?;
    let wrong = match amount(found.budget.limited, &ask.form, "limit") {
        Err(wrong) => wrong,
        Ok(limit) => match ask.admin()?.change_limit(found.budget.id.as_str(), limit).await {
            Ok(_) => return see_other(format!("/budgets/{}?done=changed", found.budget.id)),
            Err(error) => Wrong::of(error)?,
        },
    };
    refused(&ask, limit_question(&ask, &found, Some(&wrong)))
}

async fn top_up(ask: Arc<Ask>) -> Answer {
    let found = budget(&ask).await?;
    let wrong = match top_up_wish(&ask, &found) {
        Err(wrong) => wrong,
        Ok((amount, until)) => {
            match ask.admin()?.top_up(found.budget.id.as_str(), amount, until).await {
                Ok(_) => return see_other(format!("/budgets/{}?done=topped-up", found.budget.id)),
                Err(error) => Wrong::of(error)?,
            }
        }
    };
    refused(&ask, top_up_question(&ask, &found, Some(&wrong)))
}

fn top_up_wish(ask: &Ask, found: &BudgetView) -> Result<(u64, Option<UnixMillis>), Wrong> {
    let amount = amount(found.budget.limited, &ask.form, "amount")?;
    let Some(day) = ask.form.some("until") else { return Ok((amount, None)) };
    let day = UnixMillis::parse(day).filter(|_| day.len() == 10).ok_or_else(|| {
        Wrong::new("until", format!("{day:?} is no day; write one such as 2027-01-31."))
    })?;
    // To the end of the day.
    Ok((amount, Some(UnixMillis(day.0.saturating_add(86_400_000)))))
}

async fn remove(ask: Arc<Ask>) -> Answer {
    let found = budget(&ask).await?;
    let Some(whose) = found.whose.as_ref() else { return Err(Failure::Missing) };
    if !is_confirmed(ask.form.get("confirm"), name_of(whose)) {
        return refused(&ask, removal(&ask, &found, whose, Some(NOT_ITS_NAME.to_owned())));
    }
    match ask.admin()?.remove_budget(found.budget.id.as_str()).await {
        Ok(_) => see_other("/budgets?done=removed"),
        Err(error) => {
            let wrong = Wrong::of(error)?;
            refused(&ask, removal(&ask, &found, whose, Some(wrong.text)))
        }
    }
}
