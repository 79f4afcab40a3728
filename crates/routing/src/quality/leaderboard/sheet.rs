//! A file as columns and lines, whatever it is written in.
//!
//! | Written in | By | Is |
//! | --- | --- | --- |
//! | CSV | LiveBench, oneself | a line of column names, and a line for each model |
//! | JSON | Arena | `{"coding": {"gpt-5": {"rating": 1400.5}}}`, category by category |
//! | YAML | aider | a list of runs, each with `model: …` and its figures |

use std::collections::BTreeMap;

use saphyr::{LoadableYamlNode as _, MarkedYaml, Scalar, YamlData};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::wrong::{Place, Wrong};

/// A table of texts.
pub(super) struct Sheet {
    pub(super) columns: Vec<String>,
    /// What stands in the columns; fields at the end may be missing.
    pub(super) lines: Vec<(Place, Vec<String>)>,
}

impl Sheet {
    /// Reads a file. What it is written in is seen from its first character.
    pub(super) fn read(text: &str) -> Result<Self, Wrong> {
        let begins = |with: char| text.trim_start().starts_with(with);
        let sheet = if begins('{') {
            Self::of_json(text)
        } else if begins('-') {
            Self::of_yaml(text)
        } else {
            Self::of_csv(text)
        }?;
        if sheet.columns.iter().all(String::is_empty) || sheet.lines.is_empty() {
            return Err(Wrong::Empty);
        }
        Ok(sheet)
    }

    fn of_csv(text: &str) -> Result<Self, Wrong> {
        let mut reader = csv::ReaderBuilder::new()
            .trim(csv::Trim::All)
            // Leaderboards leave out the last fields of models that were not asked everything.
            .flexible(true)
            .from_reader(text.as_bytes());
        let table = |error: csv::Error| Wrong::Table(error.to_string());
        let columns: Vec<String> =
            reader.headers().map_err(table)?.iter().map(str::to_owned).collect();
        let mut lines = Vec::new();
        for record in reader.records() {
            let record = record.map_err(table)?;
            let line = Place::Line(record.position().map_or(0, csv::Position::line));
            if record.len() > columns.len() {
                let problem = format!(
                    "it has {} fields, and the first line names {}; put quotes around a field \
                     with a comma",
                    record.len(),
                    columns.len()
                );
                return Err(Wrong::Line { line, problem });
            }
            lines.push((line, record.iter().map(|field| field.trim().to_owned()).collect()));
        }
        Ok(Self { columns, lines })
    }

    fn of_json(text: &str) -> Result<Self, Wrong> {
        #[derive(Deserialize)]
        struct Rated {
            rating: f64,
        }
        let table = |what: String| {
            let expected = r#"expected Arena's {"category": {"model": {"rating": …}}}"#;
            Wrong::Table(format!("{what}; {expected}"))
        };
        let categories: Map<String, Value> =
            serde_json::from_str(text).map_err(|error| table(error.to_string()))?;
        let mut models: BTreeMap<String, BTreeMap<usize, f64>> = BTreeMap::new();
        let mut columns = vec!["model".to_owned()];
        for (category, rated) in categories {
            let rated: BTreeMap<String, Rated> = serde_json::from_value(rated)
                .map_err(|error| table(format!("`{category}`: {error}")))?;
            for (model, Rated { rating }) in rated {
                models.entry(model).or_default().insert(columns.len(), rating);
            }
            columns.push(category);
        }
        let lines = (1..).zip(models).map(|(entry, (model, ratings))| {
            let rating = |column| ratings.get(&column).map(f64::to_string).unwrap_or_default();
            let fields = [model].into_iter().chain((1..columns.len()).map(rating));
            (Place::Entry(entry), fields.collect())
        });
        Ok(Self { lines: lines.collect(), columns })
    }

    fn of_yaml(text: &str) -> Result<Self, Wrong> {
        let documents =
            MarkedYaml::load_from_str(text).map_err(|error| Wrong::Table(error.to_string()))?;
        let runs = documents.iter().filter_map(|document| document.data.as_vec()).flatten();
        let mut columns: Vec<String> = Vec::new();
        let mut lines = Vec::new();
        for run in runs {
            let line = Place::Line(u64::try_from(run.span.start.line()).unwrap_or(u64::MAX));
            let Some(members) = run.data.as_mapping() else {
                let problem = "expected a run of aider: `model: …` and its figures".to_owned();
                return Err(Wrong::Line { line, problem });
            };
            let mut fields = vec![String::new(); columns.len()];
            for (name, value) in members {
                let (Some(name), Some(value)) = (word(name), word(value)) else { continue };
                match columns.iter().position(|column| *column == name) {
                    Some(at) => fields[at] = value,
                    None => {
                        columns.push(name);
                        fields.push(value);
                    }
                }
            }
            lines.push((line, fields));
        }
        Ok(Self { columns, lines })
    }
}

/// A scalar as text; nothing for lists and the like.
fn word(node: &MarkedYaml<'_>) -> Option<String> {
    let YamlData::Value(value) = &node.data else { return None };
    Some(match value {
        Scalar::Null => String::new(),
        Scalar::Boolean(value) => value.to_string(),
        Scalar::Integer(value) => value.to_string(),
        Scalar::FloatingPoint(value) => value.to_string(),
        Scalar::String(value) => value.trim().to_owned(),
    })
}
