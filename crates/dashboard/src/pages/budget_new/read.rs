//! From the form to the budget that is asked for.

use sluice_core::money::PicoUsd;
use sluice_gateway::admin::{AdminError, BudgetWish, Kind};
use sluice_gateway::limits::{Limited, Measure, Window};

use crate::pages::key_new;
use crate::web::{Failure, Fields, sentence};

/// What is wrong with a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wrong {
    /// The field that is to be mended; `None`: no single one.
    pub(crate) field: Option<&'static str>,
    /// What is wrong, and how to mend it.
    pub(crate) text: String,
}

impl Wrong {
    pub(crate) fn new(field: &'static str, text: impl Into<String>) -> Self {
        Self { field: Some(field), text: text.into() }
    }

    /// A refusal of administration; what is no fault of the form stays a failure.
    pub(crate) fn of(error: AdminError) -> Result<Self, Failure> {
        let field = match &error {
            AdminError::NoSuch { .. }
            | AdminError::NoSuchKey
            | AdminError::Ambiguous { .. }
            | AdminError::NamesNothing { .. } => Some("name"),
            AdminError::UnknownZone(_) => Some("zone"),
            AdminError::WindowOfSession { .. } | AdminError::RehearsalOfSessions => Some("window"),
            AdminError::EmptyTopUp => Some("amount"),
            AdminError::AlreadyExpired { .. } => Some("until"),
            AdminError::Forbidden { .. }
            | AdminError::ManagedByFile { .. }
            | AdminError::ChangedMeanwhile => None,
            taken if taken.is_taken() => None,
            _ => return Err(error.into()),
        };
        Ok(Self { field, text: sentence(&error) })
    }
}

/// Whose budget it is, as the command line names it.
pub(crate) fn whose(form: &Fields) -> String {
    let kind = form.some("kind").unwrap_or("account");
    match form.some("name") {
        None if matches!(kind, "account" | "deployment") => kind.to_owned(),
        name => format!("{kind}:{}", name.unwrap_or("NAME")),
    }
}

/// A figure without the sign of its currency and what stands between its thousands.
pub(crate) fn digits(text: &str) -> String {
    key_new::read::digits(text.trim_start_matches('$'))
}

/// An amount of what is limited.
pub(crate) fn amount(limited: Limited, form: &Fields, name: &'static str) -> Result<u64, Wrong> {
    let text = form.get(name);
    let plain = digits(text);
    let number = if limited.is_money() {
        plain.parse::<PicoUsd>().ok().map(|it| it.0)
    } else {
        plain.parse::<u64>().ok().filter(|it| i64::try_from(*it).is_ok())
    };
    number.ok_or_else(|| {
        let such = if limited.is_money() {
            "is no amount of US dollars; write one such as 500 or 0.25."
        } else {
            "is no whole number; write one such as 1,000."
        };
        Wrong::new(name, format!("{text:?} {such}"))
    })
}

/// The word in the form for the life of each session.
pub(super) const SESSION: &str = "session";

/// The budget that a form asks for.
pub(super) fn budget(form: &Fields) -> Result<BudgetWish, Wrong> {
    let each_session = form.get("window") == SESSION;
    let kind = form.some("kind").unwrap_or("account");
    if form.some("name").is_none() && kind != Kind::Account.as_str() {
        return Err(Wrong::new("name", format!("Name the {kind} whose budget it is.")));
    }
    let limited = match form.some("measure").unwrap_or("usd") {
        Limited::CONCURRENCY => Limited::Concurrency,
        word => Limited::Used {
            measure: Measure::parse(word).ok_or_else(|| {
                Wrong::new("measure", "There is no such measure; choose one of the list.")
            })?,
            window: match form.some("window").unwrap_or("month") {
                SESSION => Window::Total,
                word => Window::parse(word).ok_or_else(|| {
                    Wrong::new("window", "There is no such window; choose one of the list.")
                })?,
            },
        },
    };
    Ok(BudgetWish {
        subject: whose(form),
        each_session,
        account: None,
        limited,
        limit: amount(limited, form, "limit")?,
        hard: form.get("hard") != "soft",
        zone: form.some("zone").map(str::to_owned),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wish(form: &str) -> Result<BudgetWish, Wrong> {
        budget(&Fields::parse(form.as_bytes()))
    }

    #[test]
    fn a_form_asks_for_a_budget() {
        let found = wish("kind=team&name=compilers&measure=usd&limit=%241,250.50&window=week");
        let found = found.unwrap();
        assert_eq!((found.subject.as_str(), found.hard), ("team:compilers", true));
        assert_eq!(found.limit, 1_250_500_000_000_000);
        let found = wish("measure=usd&limit=5&window=session").unwrap();
        let total = Limited::Used { measure: Measure::Usd, window: Window::Total };
        assert_eq!((found.each_session, found.limited), (true, total));
        let found = wish("measure=concurrency&limit=20&hard=soft").unwrap();
        assert_eq!((found.subject.as_str(), found.hard), ("account", false));
        assert_eq!((found.limited, found.limit), (Limited::Concurrency, 20));
    }

    #[test]
    fn what_is_wrong_is_said_at_its_field() {
        for (form, field) in [
            ("kind=team&limit=5", "name"),
            ("limit=many", "limit"),
            ("limit=-1", "limit"),
            ("limit=1.5&measure=tokens", "limit"),
            ("limit=99999999999999999999", "limit"),
            ("limit=5&measure=apples", "measure"),
            ("limit=5&window=year", "window"),
        ] {
            assert_eq!(wish(form).unwrap_err().field, Some(field), "{form}");
        }
    }
}
