//! The example configuration, printed from the comments and defaults of the sections.
//!
//! Every setting is there as a comment: `#key = value`, without a space, so that taking the `#`
//! away turns it on. Explanations are `# text`.

use std::fmt::Write as _;

use super::read::{Key, Node, Schema, Shape};
use super::sections::Root;
use toml::de::DeValue;

/// The whole file.
pub(crate) fn example() -> String {
    let mut text = String::new();
    explain(&mut text, Root::SCHEMA.doc);
    settings(&mut text, Root::SCHEMA, None);
    for key in Root::SCHEMA.keys {
        match key.shape {
            Shape::Value => {}
            Shape::Section(schema) => section(&mut text, key.name, schema, key.default),
            Shape::Sections(schema) => {
                text.push('\n');
                explain(&mut text, schema.doc);
                let _ = writeln!(text, "#[[{}]]", key.name);
                settings(&mut text, schema, None);
            }
        }
    }
    text
}

/// `[path]`, its settings, and the sections within. `default` is what the section around says.
fn section(text: &mut String, path: &str, schema: &Schema, default: Option<&str>) {
    let given = default.and_then(|default| DeValue::parse(default).ok());
    text.push('\n');
    explain(text, schema.doc);
    let _ = writeln!(text, "[{path}]");
    settings(text, schema, given.as_ref());
    for key in schema.keys {
        if let (Shape::Section(inner), Some(default)) = (key.shape, key.default) {
            let given = DeValue::parse(default).ok();
            text.push('\n');
            explain(text, key.doc);
            let _ = writeln!(text, "[{path}.{}]", key.name);
            settings(text, inner, given.as_ref());
        }
    }
}

/// The settings of one line each.
fn settings(text: &mut String, schema: &Schema, given: Option<&Node<'_>>) {
    for key in schema.keys {
        let in_one_line = match key.shape {
            Shape::Value => true,
            // A section within a repeated section is written inline.
            Shape::Section(_) => key.default.is_none(),
            Shape::Sections(_) => false,
        };
        if !in_one_line {
            continue;
        }
        let follows_a_header = |line: &str| line.starts_with('[') || line.starts_with("#[[");
        if !text.lines().last().is_some_and(follows_a_header) {
            text.push('\n');
        }
        explain(text, key.doc);
        let value = value_of(key, given);
        if key.alternative {
            let _ = writeln!(text, "# {} = {value}", key.name);
        } else {
            let _ = writeln!(text, "#{} = {value}", key.name);
        }
    }
}

/// What to write behind the key: what the section around says, else its default or example.
fn value_of(key: &Key, given: Option<&Node<'_>>) -> String {
    let given = given.and_then(|given| given.get_ref().get(key.name));
    given
        .and_then(|value| written(value.get_ref()))
        .unwrap_or_else(|| one_line(key.default.or(key.example).unwrap_or_default()))
}

/// A value of a section's default, in TOML; `None` where none of them is such a value.
fn written(value: &DeValue<'_>) -> Option<String> {
    Some(match value {
        DeValue::String(word) => format!("{word:?}"),
        DeValue::Integer(number) => grouped(number.as_str()),
        DeValue::Boolean(yes) => yes.to_string(),
        DeValue::Array(values) => {
            let values: Option<Vec<String>> =
                values.iter().map(|value| written(value.get_ref())).collect();
            format!("[{}]", values?.join(", "))
        }
        _ => return None,
    })
}

/// `1000000` as `1_000_000`.
fn grouped(digits: &str) -> String {
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push('_');
        }
        grouped.push(digit);
    }
    grouped
}

/// The compiler may have broken a long value into lines.
fn one_line(toml: &str) -> String {
    toml.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn explain(text: &mut String, doc: &[&str]) {
    for line in doc {
        let _ = writeln!(text, "#{}", line.trim_end());
    }
}

/// The file with every setting turned on.
#[cfg(test)]
pub(crate) fn turned_on(example: &str) -> String {
    let mut text = String::new();
    for line in example.lines() {
        let setting = line.strip_prefix('#').filter(|rest| rest.starts_with(|c| c != ' '));
        text.push_str(setting.unwrap_or(line));
        text.push('\n');
    }
    text
}
