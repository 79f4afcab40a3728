//! The types of single values that routers go by: figures, days, and tables by task type.

use sluice_core::clock::UnixMillis;
use sluice_routing::quality::Quality;
use sluice_routing::task::TaskType;
use toml::de::DeValue;

use super::problem::nearest;
use super::read::{FromToml, Node, Reader, Shape};
use super::values::shown;

/// A number from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Share(pub(crate) f64);

/// A number above 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Positive(pub(crate) f64);

/// A day: `2026-11-22`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Day(pub(crate) String);

/// How well a model does: one figure, or figures by task type and one for all others.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct QualityTable(pub(crate) Quality);

/// Task types that always go to one member, by the name that the file has for it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Pins(pub(crate) Vec<(TaskType, String)>);

/// A number; a text counts where a variable stands in for it.
fn number(value: &Node<'_>, reader: &mut Reader<'_>) -> Option<f64> {
    let digits = match value.get_ref() {
        DeValue::Integer(number) if number.radix() == 10 => number.as_str().to_owned(),
        DeValue::Float(number) => number.as_str().to_owned(),
        DeValue::String(text) if text.contains("${") => reader.text_of(value)?,
        _ => String::new(),
    };
    let number =
        digits.trim().replace('_', "").parse().ok().filter(|number: &f64| number.is_finite());
    if number.is_none() {
        let what = format!("expected a number, found {}", shown(value));
        reader.wrong(value, what, "write digits without quotes, such as 0.5");
    }
    number
}

impl FromToml for Share {
    const SHAPE: Shape = Shape::Value;

    fn read(value: &Node<'_>, _: Option<&Node<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        let number = number(value, reader)?;
        if !(0.0..=1.0).contains(&number) {
            reader.wrong(value, format!("{} is out of bounds", shown(value)), "set 0 to 1");
            return None;
        }
        Some(Self(number))
    }
}

impl FromToml for Positive {
    const SHAPE: Shape = Shape::Value;

    fn read(value: &Node<'_>, _: Option<&Node<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        let number = number(value, reader)?;
        if number <= 0.0 {
            reader.wrong(value, format!("{} is not above 0", shown(value)), "set more than 0");
            return None;
        }
        Some(Self(number))
    }
}

impl FromToml for Day {
    const SHAPE: Shape = Shape::Value;

    fn read(value: &Node<'_>, _: Option<&Node<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        let text = match value.get_ref() {
            DeValue::Datetime(day) => day.to_string(),
            DeValue::String(_) => reader.text_of(value)?,
            _ => String::new(),
        };
        if text.len() != 10 || UnixMillis::parse(&text).is_none() {
            let what = format!("{} is no day", shown(value));
            reader.wrong(value, what, "write year, month and day, such as 2026-11-22");
            return None;
        }
        Some(Self(text))
    }
}

impl FromToml for QualityTable {
    const SHAPE: Shape = Shape::Value;

    fn read(value: &Node<'_>, default: Option<&Node<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        let Some(table) = value.get_ref().as_table() else {
            return Share::read(value, default, reader).map(|all| Self(Quality::even(all.0)));
        };
        let (mut average, mut by_task) = (None, Vec::new());
        let mut complete = true;
        for (name, node) in table {
            let name: &str = name.get_ref();
            complete &= reader.within(name, |reader| {
                let share = Share::read(node, None, reader).map(|share| share.0);
                if name == "default" || name == "*" {
                    average = share;
                } else {
                    let task = task_type(name, &["default"], node, reader);
                    by_task.extend(task.zip(share));
                    return task.is_some() && share.is_some();
                }
                share.is_some()
            });
        }
        let quality = Quality::of(average, &by_task);
        if quality.is_none() && complete {
            reader.wrong(value, "is an empty table", "write { default = 0.8, code = 0.85 }");
        }
        quality.filter(|_| complete).map(Self)
    }
}

impl FromToml for Pins {
    const SHAPE: Shape = Shape::Value;

    fn read(value: &Node<'_>, _: Option<&Node<'_>>, reader: &mut Reader<'_>) -> Option<Self> {
        let Some(table) = value.get_ref().as_table() else {
            let what = format!("expected a table, found {}", shown(value));
            reader.wrong(value, what, "write { debug = \"a member\" }");
            return None;
        };
        let mut pins = Vec::new();
        for (name, node) in table {
            let pin = reader.within(name.get_ref(), |reader| {
                let task = task_type(name.get_ref(), &[], node, reader);
                task.zip(reader.text_of(node))
            });
            pins.extend(pin);
        }
        // What is wrong is on the list already; the rest can still be checked.
        Some(Self(pins))
    }
}

/// The task type that a key names. `others` are keys that are possible there, too.
fn task_type(
    name: &str,
    others: &[&'static str],
    node: &Node<'_>,
    reader: &mut Reader<'_>,
) -> Option<TaskType> {
    if let Some(task) = TaskType::parse(name) {
        return Some(task);
    }
    let words = || TaskType::ALL.into_iter().map(TaskType::as_str).chain(others.iter().copied());
    let fix = match nearest(name, words()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("use some of {}", words().collect::<Vec<_>>().join(", ")),
    };
    reader.wrong(node, "is no task type", &fix);
    None
}
