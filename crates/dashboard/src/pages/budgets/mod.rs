//! All budgets, from the account inwards, and what is left of them.

mod view;

use std::sync::Arc;

use sluice_core::clock::UnixMillis;
use sluice_gateway::BudgetRecord;
use sluice_gateway::admin::{BudgetView, Verb};
use sluice_gateway::limits::{Allowance, AllowanceView, Amount, Quantity};

use crate::charts::Meter;
use crate::components::{Badge, Empty, State, Text};
use crate::format::{self, Calendar};
use crate::layout::Head;
use crate::pages::organisation::kinds;
use crate::web::{Access, Answer, Ask, Route, get, page};
use view::{BudgetRow, Budgets};

pub(crate) use view::samples;

pub(crate) const ROUTES: &[Route] =
    &[get("/budgets", Access::May(Verb::SeeBudget), |ask| Box::pin(list(ask)))];

async fn list(ask: Arc<Ask>) -> Answer {
    let budgets = ask.admin()?.budgets().await?;
    let calendar = ask.calendar();
    let may_set = ask.session()?.may_at_all(Verb::SetBudget);
    let empty = Empty::new(
        "No budget yet",
        "A budget limits requests, tokens, US dollars or requests at once: of the account, a department, \
         a team, a person, a service or a key. Limits of classes and tiers hold beside it.",
    );
    let view = Budgets {
        head: Head::new("Budgets").stamp(format!("as of {}", calendar.second(ask.now))),
        rows: budgets.iter().map(|it| row(&ask, it, &calendar)).collect(),
        empty: if may_set { empty.action("Set a budget", "/budgets/new") } else { empty },
        may_set,
        notice: match ask.asked("done") {
            "removed" => Some(("good", "The budget is removed.".to_owned())),
            _ => None,
        },
    };
    page(&ask, &view)
}

fn row(ask: &Ask, view: &BudgetView, calendar: &Calendar) -> BudgetRow {
    let budget = &view.budget;
    let left = Left::of(ask, budget);
    BudgetRow {
        id: budget.id.to_string(),
        subject: whose(view),
        kind: budget.subject.kind(),
        depth: depth(budget.subject.kind()),
        limit: left.limit(),
        is_hard: budget.hard,
        used: left.used(),
        meter: left.meter(),
        state: left.state(budget.hard),
        resets: left.resets(calendar),
        is_files: budget.is_the_files(),
    }
}

/// How far a kind of subject stands from the account.
fn depth(kind: &str) -> usize {
    match kind {
        "account" => 0,
        "department" => 1,
        _ => 2,
    }
}

/// What people call whose budget it is.
pub(crate) fn whose(view: &BudgetView) -> Text {
    match &view.whose {
        Some(record) => kinds::name(record).into(),
        None => view.budget.subject.id().into(),
    }
}

/// An amount, as pages show it.
pub(crate) fn shown(quantity: &Quantity, figure: u64) -> String {
    match quantity.amount(figure) {
        Amount::Usd(amount) => format::money(amount),
        Amount::Count(number) => format::count(number),
    }
}

/// What is left of a budget right now.
pub(crate) struct Left(pub(crate) AllowanceView);

impl Left {
    pub(crate) fn of(ask: &Ask, budget: &BudgetRecord) -> Self {
        let known = ask.shared.gateway.budget(budget, ask.now);
        Self(known.unwrap_or_else(|| AllowanceView {
            subject: budget.subject.clone(),
            allowance: Allowance::of_budget(budget),
            used: None,
            reserved: None,
            reset: None,
            binds: false,
        }))
    }

    pub(crate) fn shown(&self, figure: u64) -> String {
        shown(&self.0.allowance.quantity, figure)
    }

    /// The limit with what was granted on top, in words: `$800 a month`.
    pub(crate) fn limit(&self) -> String {
        let allowance = &self.0.allowance;
        let what = allowance.what().trim_start_matches("US dollars ");
        format!("{} {what}", self.shown(allowance.limit))
    }

    pub(crate) fn used_and_held(&self) -> (u64, u64) {
        (self.0.used.unwrap_or(0), self.0.reserved.unwrap_or(0))
    }

    pub(crate) fn used(&self) -> String {
        self.shown(self.used_and_held().0)
    }

    pub(crate) fn meter(&self) -> Meter {
        let ((used, held), limit) = (self.used_and_held(), self.0.allowance.limit);
        let label = format!("{} of {}", self.shown(used.saturating_add(held)), self.shown(limit));
        Meter { label, used, held, limit }
    }

    pub(crate) fn state(&self, is_hard: bool) -> Badge {
        let ((used, held), limit) = (self.used_and_held(), self.0.allowance.limit);
        let taken = u128::from(used.saturating_add(held));
        if u128::from(used) >= u128::from(limit) {
            match is_hard {
                true => Badge::new(State::Bad, "spent"),
                false => Badge::new(State::Warn, "exceeded"),
            }
        } else if taken * 10 >= u128::from(limit) * 8 {
            Badge::new(State::Warn, "low")
        } else {
            Badge::new(State::Good, "within")
        }
    }

    pub(crate) fn resets(&self, calendar: &Calendar) -> String {
        let reset = self.0.reset.map(|reset| UnixMillis(reset.saturating_mul(1_000)));
        reset.map_or_else(String::new, |at| calendar.minute(at))
    }
}
