//! Which model is how good: a table of well-known ones, and what an operator has imported.
//!
//! The table is a plain file as [`super::leaderboard`] reads them, `models/quality.csv`, and
//! `models/quality.json` says what it was made of. `cargo xtask train quality` writes both.

use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};
use sluice_core::chat::ReasoningEffort;
use sluice_core::money::Price;

use super::leaderboard::{Board, BoardRow, Format, Wrong};
use super::line::{Line, logistic, logit};
use super::name::ModelName;
use super::{Basis, Quality};
use crate::task::{TASK_TYPES, TaskType};

/// The table that is a part of the program.
const PRIORS: &str = include_str!("../../models/quality.csv");
/// What it was made of, and what else was fitted to it.
const RECORD: &str = include_str!("../../models/quality.json");

/// What was fitted beside the table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// How a rating becomes a share.
    pub scale: Scale,
    /// How a price becomes a share.
    pub price: PriceLine,
    /// What sets relatives apart.
    pub family: Kinship,
    /// The leaderboards.
    pub sources: Vec<Source>,
    /// The price list.
    pub prices: Source,
    /// The pools of outcomes that the scale was fitted to.
    pub outcomes: Vec<String>,
}

/// `share = logistic(level + slope · (rating − 1300) / 100)`, fitted to outcomes of models with
/// ratings on ordinary benchmarks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Scale {
    /// The logarithm of the odds that a model of 1300 points does an ordinary request well.
    pub level: f64,
    /// What a hundred points add to it.
    pub slope: f64,
    /// Points that a tenfold list price is worth beside the ratings of people, who like what small
    /// models write better than tests do.
    pub tenfold_price: f64,
}

impl Scale {
    /// The share that goes with a rating.
    pub fn share(&self, rating: f64) -> f64 {
        logistic(self.level + self.slope * (rating - 1_300.0) / 100.0)
    }
}

/// What a model of which nobody knows anything but the price is taken for: three parts prompt and
/// one part answer, in US dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PriceLine {
    /// The logarithm of the odds at one dollar.
    pub one_dollar: f64,
    /// What a tenfold price adds to it.
    pub tenfold: f64,
}

impl PriceLine {
    /// Below and above these prices, in US dollars, nothing was there to be fitted to.
    const BOUNDS: (f64, f64) = (0.03, 30.0);

    /// The share that goes with a price; without one, that of the cheapest.
    pub fn share(&self, price: Option<&Price>) -> f64 {
        let dollars = price.map_or(0.0, |price| {
            #[expect(clippy::cast_precision_loss, reason = "a price of a token is a small number")]
            let blend = (price.input.0 as f64 * 3.0 + price.output.0 as f64) / 4.0 / 1e6;
            blend
        });
        let dollars = dollars.clamp(Self::BOUNDS.0, Self::BOUNDS.1);
        logistic(self.one_dollar + self.tenfold * dollars.log10())
    }
}

/// What sets relatives of one family apart, as differences of the odds' logarithm.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Kinship {
    /// A version that is later by one.
    pub version: f64,
    /// Twice the size.
    pub doubling: f64,
}

/// Numbers of fewer bits cost a little: less than what sets two sizes apart.
const QUANTISED: f64 = -0.1;

/// A file that the table was made of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// What the table calls it.
    pub name: String,
    /// Where it is published.
    pub from: String,
    /// Its licence, and on what ground it is used.
    pub licence: String,
    /// The day of the file; empty where nothing says it.
    pub date: String,
    /// BLAKE3 hash of the file, as hexadecimal digits.
    pub blake3: String,
}

/// What is known of one model at one thinking effort.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// What the model is recognised as ([`ModelName::key`]), or its name in small letters.
    pub model: String,
    /// Taken apart, where it is recognised.
    pub name: Option<ModelName>,
    /// The thinking effort; `None` for what the model does by itself.
    pub effort: Option<ReasoningEffort>,
    /// The share on average.
    pub average: Option<f64>,
    /// The share by task type, in the order of [`TaskType::ALL`].
    pub by_task: [Option<f64>; TASK_TYPES],
    /// Where the figures are from: names with a space between them.
    pub source: String,
    /// The day of the latest of them (`2026-11-01`).
    pub date: String,
}

impl Row {
    fn of(row: &BoardRow) -> Self {
        let key = row.key();
        Self {
            name: ModelName::parse(&key),
            model: key,
            effort: row.effort,
            average: row.figure("average"),
            by_task: TaskType::ALL.map(|task| row.figure(task.as_str())),
            source: row.source.clone().unwrap_or_default(),
            date: row.date.clone().unwrap_or_default(),
        }
    }

    /// By model and effort; what a model does by itself comes first.
    fn in_order(a: &Self, b: &Self) -> std::cmp::Ordering {
        let effort = |row: &Self| row.effort.map(|effort| effort as u8);
        a.model.cmp(&b.model).then_with(|| effort(a).cmp(&effort(b)))
    }

    /// How many sources the figures of a row of the program have.
    pub fn sources(&self) -> usize {
        self.source.split(' ').filter(|name| !name.is_empty()).count()
    }

    /// These figures, and those of `base` where the row says nothing. An average alone moves all
    /// of them by as much, and the efforts of `base` are moved as its own figures are.
    fn over(&self, base: Option<&Quality>, basis: Basis) -> Option<Quality> {
        let said = TaskType::ALL.into_iter().zip(self.by_task);
        let said: Vec<(TaskType, f64)> =
            said.filter_map(|(task, share)| Some((task, share?))).collect();
        let Some(base) = base else {
            return Some(Quality { basis, ..Quality::of(self.average, &said)? });
        };
        let mut quality = Quality { basis, efforts: Vec::new(), ..base.clone() };
        if let Some(average) = self.average {
            quality = moved(&quality, logit(average) - logit(base.average));
            quality.average = average;
        }
        for (task, share) in &said {
            quality.by_task[task.index()] = *share;
        }
        if self.average.is_none() {
            quality.average = mean(&quality.by_task);
        }
        let shifted =
            |share: f64, from: f64, to: f64| logistic(logit(share) + logit(to) - logit(from));
        quality.efforts = base.efforts.clone();
        for (_, of) in &mut quality.efforts {
            of.average = shifted(of.average, base.average, quality.average);
            for (task, share) in of.by_task.iter_mut().enumerate() {
                *share = shifted(*share, base.by_task[task], quality.by_task[task]);
            }
            of.basis = basis;
        }
        Some(quality)
    }
}

fn mean(shares: &[f64; TASK_TYPES]) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "thirteen")]
    let count = TASK_TYPES as f64;
    shares.iter().sum::<f64>() / count
}

/// All figures with so much added to the logarithm of their odds.
fn moved(quality: &Quality, odds: f64) -> Quality {
    let shifted = |share: f64| logistic(logit(share) + odds);
    let efforts = quality.efforts.iter();
    Quality {
        average: shifted(quality.average),
        by_task: quality.by_task.map(shifted),
        basis: quality.basis,
        efforts: efforts.map(|(effort, of)| (*effort, moved(of, odds))).collect(),
    }
}

/// The figures of the well-known models and of those that an operator has imported.
#[derive(Debug, Clone, Default)]
pub struct QualityTable {
    priors: Arc<[Row]>,
    imported: Arc<[Row]>,
    kinship: Option<Kinship>,
}

impl QualityTable {
    /// The table that is a part of the program.
    pub fn built_in() -> Self {
        static TABLE: OnceLock<QualityTable> = OnceLock::new();
        // A test reads both: they cannot fail here.
        let table = TABLE.get_or_init(|| {
            let priors = rows(PRIORS).unwrap_or_default();
            Self::new(priors, record().ok().map(|record| record.family))
        });
        table.clone()
    }

    /// A table of these rows.
    pub fn new(mut priors: Vec<Row>, kinship: Option<Kinship>) -> Self {
        priors.sort_by(Row::in_order);
        Self { priors: priors.into(), imported: Arc::default(), kinship }
    }

    /// This table under figures that an operator has imported.
    #[must_use]
    pub fn with_imported(&self, imported: Vec<Row>) -> Self {
        Self { imported: imported.into(), ..self.clone() }
    }

    /// The rows that are a part of the program, by model.
    pub fn priors(&self) -> &[Row] {
        &self.priors
    }

    /// The rows that an operator has imported.
    pub fn imported(&self) -> &[Row] {
        &self.imported
    }

    /// The quality of a model with these names, of which the first counts that is known. `None`
    /// where nothing is known of any of them.
    pub fn of(&self, names: &[&str]) -> Option<Quality> {
        self.explain(names).map(|(quality, _)| quality)
    }

    /// The same, with the rows that say so, the latest first.
    pub fn explain(&self, names: &[&str]) -> Option<(Quality, Vec<&Row>)> {
        let known: Vec<ModelName> =
            names.iter().filter_map(|name| ModelName::parse(name)).collect();
        let base = known.iter().find_map(|name| self.prior(name));
        let exact = names.iter().map(|name| name.to_lowercase());
        let keys = known.iter().filter(|name| !name.is_quantised()).map(ModelName::key);
        let mut rows = exact.chain(keys).map(|name| self.imported_as(&name));
        let Some(rows) = rows.find(|rows| !rows.is_empty()) else {
            return base.map(|(quality, row)| (quality, vec![row]));
        };
        // The name may say how long the model thinks, whatever a request asks for.
        let fixed = known.first().and_then(ModelName::effort);
        let at = |effort| rows.iter().copied().filter(move |row| row.effort == effort);
        let by_itself = match fixed {
            Some(_) if at(fixed).next().is_some() => at(fixed).collect(),
            _ => at(None).collect::<Vec<_>>(),
        };
        let over = |rows: &[&Row], base: Option<Quality>| {
            rows.iter().fold(base, |below, row| row.over(below.as_ref(), Basis::Measured).or(below))
        };
        let (mut quality, said) = match (base, by_itself.is_empty()) {
            (base, false) => (over(&by_itself, base.map(|(quality, _)| quality))?, by_itself),
            (Some((quality, row)), true) => (quality, vec![row]),
            // Nothing else is known of it.
            (None, true) => (over(&rows[..1], None)?, rows[..1].to_vec()),
        };
        if fixed.is_none() {
            let mut efforts: Vec<ReasoningEffort> =
                rows.iter().filter_map(|row| row.effort).collect();
            efforts.dedup();
            for effort in efforts {
                let below = Quality { efforts: Vec::new(), ..quality.at(Some(effort)).clone() };
                let measured = over(&at(Some(effort)).collect::<Vec<_>>(), Some(below))?;
                quality.efforts.retain(|(other, _)| *other != effort);
                quality.efforts.push((effort, measured));
            }
            quality.efforts.sort_by_key(|(effort, _)| *effort as u8);
        }
        Some((quality, said.into_iter().rev().collect()))
    }

    /// What was imported under this name, or for the model that is recognised as it: by effort, the
    /// latest last.
    fn imported_as(&self, name: &str) -> Vec<&Row> {
        let mut rows: Vec<&Row> = self.imported.iter().filter(|row| row.model == name).collect();
        rows.sort_by(|a, b| Row::in_order(a, b).then_with(|| a.date.cmp(&b.date)));
        rows
    }

    /// What the table says of a model, or of its nearest relative.
    fn prior(&self, name: &ModelName) -> Option<(Quality, &Row)> {
        let (of, basis, odds) = match self.rows_of(&name.key()) {
            [] => {
                let (row, odds) = self.nearest(name)?;
                (self.rows_of(&row.model), Basis::Family, odds)
            }
            rows if name.is_quantised() => (rows, Basis::Family, QUANTISED),
            rows => (rows, Basis::Prior, 0.0),
        };
        let quality = |row: &Row| {
            let quality = row.over(None, basis)?;
            Some(if odds == 0.0 { quality } else { moved(&quality, odds) })
        };
        let by_itself = of.iter().find(|row| row.effort.is_none()).or(of.first())?;
        let mut of_model = quality(by_itself)?;
        of_model.efforts = of.iter().filter_map(|row| Some((row.effort?, quality(row)?))).collect();
        of_model.efforts.sort_by_key(|(effort, _)| *effort as u8);
        if let Some(effort) = name.effort() {
            // The name says how long it thinks, whatever a request asks for.
            let mut fixed = of_model.at(Some(effort)).clone();
            fixed.efforts = Vec::new();
            let row = of.iter().find(|row| row.effort == Some(effort));
            return Some((fixed, row.unwrap_or(by_itself)));
        }
        Some((of_model, by_itself))
    }

    /// The rows of a model: rows are sorted by model.
    fn rows_of(&self, model: &str) -> &[Row] {
        let begin = self.priors.partition_point(|row| row.model.as_str() < model);
        let end = self.priors.partition_point(|row| row.model.as_str() <= model);
        &self.priors[begin..end]
    }

    /// The nearest relative of `name`, and by how much its odds differ: by version and by size, as
    /// far as both are known.
    fn nearest(&self, name: &ModelName) -> Option<(&Row, f64)> {
        let kinship = self.kinship?;
        let relatives = self.priors.iter().filter_map(|row| {
            let relative = row.name.as_ref().filter(|of| of.family() == name.family())?;
            let between = versions_between(name, relative);
            let versions = between.unwrap_or(0.0);
            let doublings = match (name.size_billions(), relative.size_billions()) {
                (Some(own), Some(others)) => (own / others).log2(),
                (None, None) => 0.0,
                // Which of the sizes it is, nobody can tell.
                _ => return None,
            };
            let odds = kinship.version * versions.clamp(-2.0, 2.0)
                + kinship.doubling * doublings.clamp(-3.0, 3.0);
            // A name without a version can be any of them.
            let unsure = if between.is_none() { 1.0 } else { 0.0 };
            Some((versions.abs() + 0.5 * doublings.abs() + unsure, row, odds))
        });
        let nearest =
            relatives.min_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.model.cmp(&b.1.model)));
        let quantised = if name.is_quantised() { QUANTISED } else { 0.0 };
        nearest.map(|(_, row, odds)| (row, odds + quantised))
    }
}

/// By how many versions `a` is later than `b`: 0.5 from 4 to 4.5, and 0 where neither name has one.
/// `None` where only one of them has.
pub fn versions_between(a: &ModelName, b: &ModelName) -> Option<f64> {
    let number = |name: &ModelName| {
        let of = name.version()?;
        let unit = if of.minor < 10 { 0.1 } else { 0.01 };
        Some(f64::from(of.major) + unit * f64::from(of.minor))
    };
    match (number(a), number(b)) {
        (Some(a), Some(b)) => Some(a - b),
        (None, None) => Some(0.0),
        _ => None,
    }
}

/// Reads rows: a plain file, or what an operator has imported.
pub fn rows(text: &str) -> Result<Vec<Row>, Wrong> {
    let board = Board::read(text)?;
    let mut rows: Vec<Row> = board.rows.iter().map(Row::of).collect();
    rows.sort_by(Row::in_order);
    Ok(rows)
}

/// What was fitted beside the table that is a part of the program.
pub fn record() -> Result<Record, serde_json::Error> {
    serde_json::from_str(RECORD)
}

/// Writes rows as [`rows`] reads them; shares with three decimals.
pub fn to_csv(rows: &[Row]) -> Result<String, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let head = ["model", "effort", "source", "date", "average"];
    writer.write_record(head.into_iter().chain(TaskType::ALL.map(TaskType::as_str)))?;
    let share = |share: Option<f64>| share.map_or_else(String::new, |share| format!("{share:.3}"));
    for row in rows {
        let mut fields = vec![
            row.model.clone(),
            row.effort.map_or("", ReasoningEffort::as_str).to_owned(),
            row.source.clone(),
            row.date.clone(),
            share(row.average),
        ];
        fields.extend(row.by_task.map(share));
        writer.write_record(&fields)?;
    }
    let bytes = writer.into_inner().map_err(|error| error.into_error())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// A leaderboard on the scale of a table.
#[derive(Debug)]
pub struct Scaled {
    /// What it says of its models.
    pub rows: Vec<Row>,
    /// Models of which it says too little, where nothing else is known of them.
    pub left_out: Vec<String>,
}

/// The least number of task types that tell of a whole model.
const LEAST_TASKS: usize = 4;

/// What a leaderboard's models are worth beside those of `table`.
///
/// Shares of a plain file stay as they are. The figures of a leaderboard get the mean and the
/// spread that the models have in `table` that both know, task by task; a task of which fewer than
/// [`super::line::LEAST_COMMON`] are known is left out, and it is an error where all are.
pub fn on_scale(
    board: &Board,
    table: &QualityTable,
    source: &str,
    date: &str,
) -> Result<Scaled, Wrong> {
    let mut rows: Vec<Row> = board.rows.iter().map(Row::of).collect();
    let mut left_out = Vec::new();
    if board.format != Format::Plain {
        let lines = lines_to(board, table)?;
        for (row, of) in rows.iter_mut().zip(&board.rows) {
            for task in TaskType::ALL {
                let strength = board.strength(of, task).zip(lines[task.index()]);
                row.by_task[task.index()] =
                    strength.map(|(strength, line)| logistic(line.at(strength)));
            }
        }
        rows.retain(|row| {
            let said = row.by_task.iter().flatten().count();
            let is_told = said >= LEAST_TASKS
                || (said > 0 && row.name.as_ref().is_some_and(|name| table.prior(name).is_some()));
            if !is_told {
                left_out.push(row.model.clone());
            }
            is_told
        });
        rows = best_of_each(rows);
    }
    for row in &mut rows {
        if row.source.is_empty() {
            source.clone_into(&mut row.source);
        }
        if row.date.is_empty() {
            date.clone_into(&mut row.date);
        }
    }
    Ok(Scaled { rows, left_out })
}

/// By task type, how the strengths of a leaderboard become those of `table`.
fn lines_to(board: &Board, table: &QualityTable) -> Result<[Option<Line>; TASK_TYPES], Wrong> {
    let mut most_common = 0;
    let lines = TaskType::ALL.map(|task| {
        let pairs = board.rows.iter().filter_map(|row| {
            let known = row.known.as_ref().filter(|known| !known.is_quantised())?;
            let (of, _) = table.prior(known).filter(|(of, _)| of.basis == Basis::Prior)?;
            let share = of.at(row.effort).by_task[task.index()];
            Some((board.strength(row, task)?, logit(share)))
        });
        let pairs: Vec<(f64, f64)> = pairs.collect();
        most_common = most_common.max(pairs.len());
        Line::through(&pairs).ok()
    });
    if lines.iter().all(Option::is_none) {
        return Err(Wrong::TooFewKnown { found: most_common });
    }
    Ok(lines)
}

/// Of several rows of one model (snapshots of it, say), the latest, and of those the best.
fn best_of_each(mut rows: Vec<Row>) -> Vec<Row> {
    let sum = |row: &Row| row.by_task.iter().flatten().sum::<f64>();
    rows.sort_by(|a, b| {
        Row::in_order(a, b)
            .then_with(|| b.date.cmp(&a.date))
            .then_with(|| sum(b).total_cmp(&sum(a)))
    });
    rows.dedup_by(|a, b| a.model == b.model && a.effort == b.effort);
    rows
}

#[cfg(test)]
mod tests;
