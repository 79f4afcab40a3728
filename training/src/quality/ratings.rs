//! All leaderboards on the scale of Arena's ratings.
//!
//! People who compare two answers like well-made ones, which small models can write as well; tests of
//! what code does tell more of dear models. What aider's exercises say of a tenfold price beyond the
//! rating of the same models for code is added to Arena's ratings of all tasks.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result};
use sluice_core::chat::ReasoningEffort;
use sluice_routing::quality::leaderboard::{BoardRow, arena_rating};
use sluice_routing::quality::line::Line;
use sluice_routing::quality::name::ModelName;
use sluice_routing::quality::table::versions_between;
use sluice_routing::task::{TASK_TYPES, TaskType};

use super::boards::{Given, Inputs};
use super::kin::Prices;

/// A model, and the thinking effort that it was measured at.
pub(super) type Key = (String, Option<ReasoningEffort>);

/// What the leaderboards say of one model.
#[derive(Debug, Clone)]
pub(super) struct Rated {
    /// The rating by task type.
    pub(super) by_task: [f64; TASK_TYPES],
    /// What says so.
    pub(super) sources: Vec<&'static str>,
    /// The day of the latest of them.
    pub(super) date: String,
}

/// All models.
pub(super) struct Ratings {
    models: BTreeMap<Key, Rated>,
    /// See [`sluice_routing::quality::table::Scale`].
    pub(super) tenfold_price: f64,
}

/// The tasks that aider's exercises are of; refactorings are edits alone.
const EXERCISED: [TaskType; 4] = [TaskType::Code, TaskType::Edit, TaskType::Debug, TaskType::Test];

/// How much a board weighs beside Arena's rating, which counts 1.
const WEIGHTS: [(&str, f64); 3] =
    [("aider_polyglot", 1.0), ("aider_edit", 0.3), ("aider_refactor", 0.3)];

/// Points of a rating for one standard deviation fewer invented facts: the board is one of
/// summaries only, and runs against the others.
const FAITHFUL: f64 = 8.0;

/// How much of a rating stays that rests on one old source alone; the rest is the family's.
const OWN: f64 = 0.7;
/// How much of what a model's code is better or worse than usual holds for its other work, where
/// only its code is known.
const CARRIED: f64 = 0.6;

impl Ratings {
    /// Everything that `given` says.
    pub(super) fn of(given: &Inputs) -> Result<Self> {
        let board = |name: &str| {
            let mut boards = given.boards.iter();
            boards.find(|given| given.source.name == name).with_context(|| format!("no {name}"))
        };
        let arena = board("arena")?;
        let mut models = arena_models(arena);
        let prices = &given.prices;

        let polyglot = solved(board("aider_polyglot")?);
        let tenfold_price = tenfold_price(&models, &polyglot, prices)?;
        let usual = median(prices.values().map(|price| price.log10()).collect());
        for (key, of) in &mut models {
            let dear = prices.get(&key.0).map_or(0.0, |price| price.log10() - usual);
            for rating in &mut of.by_task {
                *rating += tenfold_price * dear;
            }
        }
        for (name, weight) in WEIGHTS {
            exercised(&mut models, board(name)?, name, weight)?;
        }
        faithful(&mut models, board("vectara")?);
        let mut ratings = Self { models, tenfold_price };
        ratings.draw_old_ones_to_their_families(&arena.source.date);
        ratings.add_what_models_do_by_themselves();
        Ok(ratings)
    }

    /// All models, with what is known of them.
    pub(super) fn models(&self) -> impl Iterator<Item = (&Key, &Rated)> {
        self.models.iter()
    }

    /// What is known of a model at this effort, or else of what it does by itself.
    pub(super) fn get(&self, model: &str, effort: Option<ReasoningEffort>) -> Option<&Rated> {
        let of = |effort| self.models.get(&(model.to_owned(), effort));
        of(effort).or_else(|| of(None))
    }

    /// A model of which one old board alone tells says little of itself: where it is to be
    /// expected among its relatives counts as well.
    fn draw_old_ones_to_their_families(&mut self, newest: &str) {
        let a_year_before = |day: &str| year(newest) - year(day) >= 1.0;
        let names: BTreeMap<Key, ModelName> = self
            .models
            .keys()
            .filter_map(|key| Some((key.clone(), ModelName::parse(&key.0)?)))
            .collect();
        let old: Vec<Key> = self
            .models
            .iter()
            .filter(|(_, of)| of.sources.len() == 1 && a_year_before(&of.date))
            .map(|(key, _)| key.clone())
            .collect();
        for key in old {
            let Some(name) = names.get(&key) else { continue };
            let relatives: Vec<[f64; TASK_TYPES]> = self
                .models
                .iter()
                .filter(|(other, of)| {
                    let relative = names.get(*other).is_some_and(|other| {
                        other.family() == name.family()
                            && versions_between(other, name).is_some_and(|of| of.abs() < 1.0)
                    });
                    **other != key && relative && of.sources.len() > 1
                })
                .map(|(_, of)| of.by_task)
                .collect();
            if relatives.is_empty() {
                continue;
            }
            #[expect(clippy::cast_precision_loss, reason = "a handful")]
            let count = relatives.len() as f64;
            if let Some(of) = self.models.get_mut(&key) {
                for (task, rating) in of.by_task.iter_mut().enumerate() {
                    let theirs = relatives.iter().map(|of| of[task]).sum::<f64>() / count;
                    *rating = OWN * *rating + (1.0 - OWN) * theirs;
                }
            }
        }
    }

    /// A model that was only measured at efforts that were asked for: by itself, it does what it
    /// does at the middle one.
    fn add_what_models_do_by_themselves(&mut self) {
        let models: BTreeSet<String> = self.models.keys().map(|(model, _)| model.clone()).collect();
        for model in models {
            let by_itself = (model.clone(), None);
            if self.models.contains_key(&by_itself) {
                continue;
            }
            let wanted = ReasoningEffort::Medium as i8;
            let measured = self.models.iter().filter(|((of, _), _)| *of == model);
            let middle = measured.min_by_key(|((_, effort), _)| {
                effort.map_or(0, |effort| (effort as i8).abs_diff(wanted))
            });
            if let Some(of) = middle.map(|(_, of)| of.clone()) {
                self.models.insert(by_itself, of);
            }
        }
    }
}

fn year(day: &str) -> f64 {
    let mut parts = day.split('-').map(|part| part.parse::<f64>().unwrap_or(0.0));
    parts.next().unwrap_or(0.0) + (parts.next().unwrap_or(1.0) - 1.0) / 12.0
}

fn key(row: &BoardRow) -> Option<Key> {
    let known = row.known.as_ref().filter(|known| !known.is_quantised())?;
    Some((known.key(), row.effort))
}

/// Arena's ratings; of several snapshots of a model the latest counts.
fn arena_models(arena: &Given) -> BTreeMap<Key, Rated> {
    let mut models: BTreeMap<Key, (f64, Rated)> = BTreeMap::new();
    for row in &arena.board.rows {
        let (Some(key), Some(full)) = (key(row), row.figure("full")) else { continue };
        let by_task = TaskType::ALL.map(|task| arena_rating(row, task).unwrap_or(full));
        let rated = Rated { by_task, sources: vec!["arena"], date: arena.source.date.clone() };
        // Makers replace a snapshot by a better one: without a day, the better is the later.
        match models.get(&key) {
            Some((known, _)) if *known >= full => {}
            _ => {
                models.insert(key, (full, rated));
            }
        }
    }
    models.into_iter().map(|(key, (_, rated))| (key, rated)).collect()
}

/// The logarithm of the odds that a model solves an exercise; of its snapshots the best counts.
fn solved(board: &Given) -> BTreeMap<Key, f64> {
    let mut solved: BTreeMap<Key, f64> = BTreeMap::new();
    for row in &board.board.rows {
        let (Some(key), Some(odds)) = (key(row), board.board.strength(row, TaskType::Edit)) else {
            continue;
        };
        let known = solved.entry(key).or_insert(odds);
        *known = known.max(odds);
    }
    solved
}

/// The rating of a model of an aider board: at its effort, or else by itself.
fn rating_of<'a>(models: &'a BTreeMap<Key, Rated>, key: &Key) -> Option<&'a Rated> {
    models.get(key).or_else(|| models.get(&(key.0.clone(), None)))
}

/// What exercises say of a tenfold price beyond the rating of the same model for code.
fn tenfold_price(
    models: &BTreeMap<Key, Rated>,
    solved: &BTreeMap<Key, f64>,
    prices: &Prices,
) -> Result<f64> {
    let code = TaskType::Code.index();
    let both: Vec<(&str, f64, f64)> = solved
        .iter()
        .filter_map(|(key, odds)| {
            Some((key.0.as_str(), *odds, rating_of(models, key)?.by_task[code]))
        })
        .collect();
    let pairs: Vec<(f64, f64)> = both.iter().map(|(_, odds, rating)| (*odds, *rating)).collect();
    let line = Line::through(&pairs)?;
    let beyond: Vec<(f64, f64)> = both
        .iter()
        .filter_map(|(model, odds, rating)| {
            Some((prices.get(*model)?.log10(), line.at(*odds) - rating))
        })
        .collect();
    Ok(slope(&beyond))
}

/// The slope of a straight line through these pairs, by least squares.
fn slope(pairs: &[(f64, f64)]) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "some hundred models")]
    let count = pairs.len() as f64;
    let x = pairs.iter().map(|pair| pair.0).sum::<f64>() / count;
    let y = pairs.iter().map(|pair| pair.1).sum::<f64>() / count;
    let both = pairs.iter().map(|pair| (pair.0 - x) * (pair.1 - y)).sum::<f64>();
    both / pairs.iter().map(|pair| (pair.0 - x).powi(2)).sum::<f64>()
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(0.0)
}

/// Adds what a board of aider says: mixed with what is known of a model's code, and carried over in
/// part to the other tasks of a model that only aider knows.
fn exercised(
    models: &mut BTreeMap<Key, Rated>,
    board: &Given,
    name: &'static str,
    weight: f64,
) -> Result<()> {
    let solved = solved(board);
    let edit = TaskType::Edit.index();
    let pairs: Vec<(f64, f64)> = solved
        .iter()
        .filter_map(|(key, odds)| Some((*odds, rating_of(models, key)?.by_task[edit])))
        .collect();
    let line = Line::through(&pairs)?;
    let usual = median(models.values().map(|of| of.by_task[edit]).collect());
    let days: BTreeMap<Key, String> =
        board.board.rows.iter().filter_map(|row| Some((key(row)?, row.date.clone()?))).collect();
    let tasks: &[TaskType] = if name == "aider_refactor" { &[TaskType::Edit] } else { &EXERCISED };
    for (key, odds) in solved {
        let shown = line.at(odds);
        let day = days.get(&key).cloned().unwrap_or_else(|| board.source.date.clone());
        let base = rating_of(models, &key).cloned();
        let of = models.entry(key).or_insert_with(|| {
            base.unwrap_or_else(|| Rated {
                by_task: [usual + CARRIED * (shown - usual); TASK_TYPES],
                sources: Vec::new(),
                date: String::new(),
            })
        });
        #[expect(clippy::cast_precision_loss, reason = "four at most")]
        let known =
            if of.sources.is_empty() { 0.0 } else { 1.0 + 0.5 * (of.sources.len() - 1) as f64 };
        for task in tasks {
            let rating = &mut of.by_task[task.index()];
            *rating = (known * *rating + weight * shown) / (known + weight);
        }
        if !of.sources.contains(&name) {
            of.sources.push(name);
        }
        of.date = of.date.clone().max(day);
    }
    Ok(())
}

/// Moves what a model makes of given texts by how seldom it invents facts.
fn faithful(models: &mut BTreeMap<Key, Rated>, board: &Given) {
    let odds: Vec<(Key, f64)> = board
        .board
        .rows
        .iter()
        .filter_map(|row| Some((key(row)?, board.board.strength(row, TaskType::Transform)?)))
        .filter(|(key, _)| models.contains_key(key))
        .collect();
    #[expect(clippy::cast_precision_loss, reason = "some hundred models")]
    let count = odds.len() as f64;
    let mean = odds.iter().map(|of| of.1).sum::<f64>() / count;
    let spread = (odds.iter().map(|of| (of.1 - mean).powi(2)).sum::<f64>() / count).sqrt();
    for (key, odds) in odds {
        let Some(of) = models.get_mut(&key) else { continue };
        of.by_task[TaskType::Transform.index()] +=
            FAITHFUL * ((odds - mean) / spread).clamp(-2.0, 2.0);
        if !of.sources.contains(&"vectara") {
            of.sources.push("vectara");
        }
        of.date = of.date.clone().max(board.source.date.clone());
    }
}
