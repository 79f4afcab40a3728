//! Budgets, as the file holds them.

use std::collections::HashSet;

use sluice_core::measure::Limited;
use sluice_core::money::PicoUsd;
use sluice_core::window::{Window, Zone};
use sluice_gateway::admin::BudgetWish;

use super::organisation::{Called, names_somebody, written};
use super::read::{FromToml, Node, Reader, Repeated, Schema, Shape, section};
use super::sections::Root;
use super::values::shown;
use super::words::Measured;

section! {
    /// A budget: how much somebody may use. Budgets can stand here or be set with commands. What
    /// stands here is read-only elsewhere, and is removed when it is taken out of the file. See
    /// docs/governance.md.
    BudgetSection {
        /// Whose: `account`, or department:D, team:T, person:P, service:S or key:K, by name or id.
        of: Called => "department:research",
        /// usd, tokens, requests or concurrency (requests at once).
        measure: Measured => "usd",
        /// hour, 5h, day, week, month or total. Default: month; none for concurrency.
        window: Option<Window> => "month",
        /// Whether each session has so much to itself, until it was idle for 24 hours. It has no other window.
        each_session: bool = false,
        /// How much: US dollars as text, such as "500" or "0.25"; else a whole number. 0 blocks.
        limit: Figure => "500",
        /// Whether requests beyond it are refused. Otherwise they are only noted.
        hard: bool = true,
        /// The time zone whose calendar its window follows. Default: UTC.
        zone: Option<ZoneName> => "Europe/Berlin",
        /// The account that all this is in. Default: the account `default`.
        account: Option<Called> => "default",
    }
}

impl Repeated for BudgetSection {
    const ENTRY: &'static Schema = Self::SCHEMA;
}

/// An amount as it is written: what it is of says how it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Figure(String);

impl FromToml for Figure {
    const SHAPE: Shape = Shape::Value;

    fn read(value: &Node<'_>, _: Option<&Node<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        match value.get_ref().as_integer() {
            Some(number) => Some(Self(number.to_string())),
            None => reader.text_of(value).map(Self),
        }
    }
}

/// The name of a time zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ZoneName(String);

impl FromToml for ZoneName {
    const SHAPE: Shape = Shape::Value;

    fn read(value: &Node<'_>, _: Option<&Node<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        let name = reader.text_of(value)?;
        if Zone::parse(&name).is_err() {
            let what = format!("{} is no time zone", shown(value));
            reader.wrong(value, what, "write an IANA name such as \"Europe/Berlin\", or \"UTC\"");
            return None;
        }
        Some(Self(name))
    }
}

/// The budgets of the file, checked within themselves.
pub(super) fn check(root: &Root, reader: &mut Reader<'_>) -> Vec<BudgetWish> {
    let mut wishes: Vec<BudgetWish> = Vec::new();
    let mut seen = HashSet::new();
    for (entry, section) in written(&root.budgets) {
        let mut wrong = |key: &str, what: String, fix: &str| {
            reader.wrong_at(format!("{}.{key}", entry.path), entry.line, what, fix);
        };
        let of = &section.of.0;
        if !names_somebody(of) {
            let what = format!("\"{of}\" names nothing that has a budget");
            wrong("of", what, "write \"account\", or one such as \"team:NAME\"");
            continue;
        }
        let limited = match (section.measure.0, section.window) {
            (None, None) => Limited::Concurrency,
            (None, Some(_)) => {
                wrong("window", "requests at once have no window".to_owned(), "leave it out");
                continue;
            }
            (Some(measure), window) => {
                let default = if section.each_session { Window::Total } else { Window::Month };
                Limited::Used { measure, window: window.unwrap_or(default) }
            }
        };
        if section.each_session && limited.window().is_some_and(|it| it != Window::Total) {
            let what = "a budget of each session lasts as long as the session".to_owned();
            wrong("window", what, "leave it out, or write \"total\"");
            continue;
        }
        let Figure(text) = &section.limit;
        let limit = if limited.is_money() {
            text.parse::<PicoUsd>().ok().map(|it| it.0)
        } else {
            text.parse::<u64>().ok().filter(|it| i64::try_from(*it).is_ok())
        };
        let Some(limit) = limit else {
            let (what, fix) = match limited.is_money() {
                true => ("is no amount of US dollars", "write one such as \"500\" or \"0.25\""),
                false => ("is no whole number", "write one such as 1000"),
            };
            wrong("limit", format!("\"{text}\" {what}"), fix);
            continue;
        };
        let account = section.account.as_ref().map(|account| account.0.clone());
        let account = account.unwrap_or_else(|| "default".to_owned());
        let kind = (limited, section.hard, section.each_session);
        if !seen.insert((account.clone(), of.clone(), kind)) {
            let what = format!("another budget of \"{of}\" limits the same as well");
            wrong("of", what, "remove one of them");
            continue;
        }
        wishes.push(BudgetWish {
            subject: of.clone(),
            each_session: section.each_session,
            account: Some(account),
            limited,
            limit,
            hard: section.hard,
            // What the file does not say is the default, whatever the budget had before.
            zone: Some(
                section.zone.as_ref().map_or_else(|| "UTC".to_owned(), |zone| zone.0.clone()),
            ),
        });
    }
    wishes
}

#[cfg(test)]
mod tests {
    use sluice_core::measure::Measure;

    use super::*;
    use crate::config::Settings;
    use crate::config::environment::tests::FixedEnvironment;

    fn budgets(text: &str) -> Result<Vec<BudgetWish>, String> {
        Settings::from_text(None, text, &FixedEnvironment::default())
            .map(|settings| settings.organisation.budgets)
            .map_err(|problems| problems.to_string())
    }

    #[test]
    fn what_the_file_holds_is_read() {
        let found = budgets(
            r#"
            [[budgets]]
            of = "team:vision"
            measure = "usd"
            limit = "0.25"
            zone = "Europe/Berlin"
            [[budgets]]
            of = "account"
            measure = "concurrency"
            limit = 20
            hard = false
            account = "acme"
            [[budgets]]
            of = "key:ci"
            measure = "requests"
            window = "5h"
            limit = 1000
            "#,
        )
        .unwrap();
        let month = Limited::Used { measure: Measure::Usd, window: Window::Month };
        assert_eq!((found[0].limited, found[0].limit), (month, 250_000_000_000));
        assert_eq!(found[0].account.as_deref(), Some("default"));
        assert_eq!((found[1].limited, found[1].hard), (Limited::Concurrency, false));
        assert_eq!(found[2].limited.window(), Some(Window::FiveHours));
    }

    #[test]
    fn what_is_wrong_is_told_with_the_fix() {
        let of = |lines: &str| format!("[[budgets]]\nof = \"team:a\"\n{lines}\n");
        let usd = of("measure = \"usd\"\nlimit = \"5\"");
        for (text, key, fix) in [
            (of("measure = \"usd\""), "budgets[0].limit", "missing"),
            (of("measure = \"eur\"\nlimit = \"5\""), "budgets[0].measure", "\"usd\""),
            (of("measure = \"usd\"\nlimit = \"five\""), "budgets[0].limit", "0.25"),
            (of("measure = \"usd\"\nlimit = -5"), "budgets[0].limit", "0.25"),
            (of("measure = \"tokens\"\nlimit = \"1.5\""), "budgets[0].limit", "1000"),
            (
                of("measure = \"usd\"\nlimit = 5\nwindow = \"year\""),
                "budgets[0].window",
                "\"month\"",
            ),
            (
                of("measure = \"concurrency\"\nlimit = 5\nwindow = \"day\""),
                "window",
                "leave it out",
            ),
            (
                of("measure = \"usd\"\nlimit = 5\nzone = \"Mars\""),
                "budgets[0].zone",
                "Europe/Berlin",
            ),
            (
                "[[budgets]]\nof = \"vision\"\nmeasure = \"usd\"\nlimit = 5".into(),
                "budgets[0].of",
                "team:NAME",
            ),
            (format!("{usd}{usd}"), "budgets[1].of", "remove one"),
            (format!("{usd}each_session = true\nwindow = \"day\"\n"), "budgets[0].window", "total"),
        ] {
            let problems = budgets(&text).unwrap_err();
            assert!(problems.contains(key) && problems.contains(fix), "{text}\n{problems}");
        }
    }
}
