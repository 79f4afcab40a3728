//! Judges the model on whole sources that it has not been trained on.

use std::collections::BTreeMap;
use std::fmt;
use std::thread;

use serde::Serialize;
use sluice_security::injection::model::Curve;
use sluice_security::injection::prefilter::Prefilter;
use sluice_security::injection::{Origin, PROMISING, windows};

use super::corpus::Example;
use super::fit::{Bag, Settings, log_odds};
use super::{fit_on, looked_at, rows};

/// The log-odds of a text in which nothing is worth a look.
const NOTHING: f32 = -100.0;

/// What was measured.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Figures {
    /// What the figures mean.
    pub(crate) meaning: &'static str,
    /// By source: attacks found and harmless texts mistaken.
    pub(crate) sources: BTreeMap<String, Figure>,
    /// Attacks of public sources found at the usual threshold: the mean over sources.
    pub(crate) found_mean_of_sources: f32,
    /// The same over all texts.
    pub(crate) found_of_texts: f32,
}

/// What was measured on one source.
#[derive(Debug, Default, Clone, Copy, Serialize)]
pub(crate) struct Figure {
    /// Attacks in it.
    pub(crate) attacks: usize,
    /// Share of the attacks that score above the usual threshold.
    pub(crate) found: f32,
    /// Share of the attacks that score above the strict threshold.
    pub(crate) found_strict: f32,
    /// Harmless texts in it.
    pub(crate) harmless: usize,
    /// Share of the harmless texts that score above the usual threshold.
    pub(crate) mistaken: f32,
    /// Share of the harmless texts that score above the strict threshold.
    pub(crate) mistaken_strict: f32,
}

/// The figures and what follows from them for the model.
pub(crate) struct Judged {
    /// The figures.
    pub(crate) figures: Figures,
    /// How log-odds become the score of what people say.
    pub(crate) of_user: Curve,
    /// The same for what tools return.
    pub(crate) of_tool: Curve,
}

/// Scores each source by a model that has not seen it.
pub(crate) fn judge(
    examples: &[Example],
    bags: &[Bag],
    choose: &(dyn Fn(&[String]) -> Prefilter + Sync),
    settings: Settings,
) -> Judged {
    let folds = folds(examples);
    let score_half = |half: usize| {
        let of_half = folds.iter().skip(half).step_by(2);
        let scored = of_half.map(|fold| score(examples, bags, choose, settings, fold));
        scored.collect::<Vec<_>>().concat()
    };
    let mut scored = thread::scope(|scope| {
        let other = scope.spawn(|| score_half(1));
        let mut scored = score_half(0);
        scored.extend(other.join().unwrap_or_default());
        scored
    });
    scored.sort_by_key(|(i, _)| *i);
    measure(examples, &scored)
}

/// The sources that are held out together: each source of attacks with one of harmless texts.
fn folds(examples: &[Example]) -> Vec<Vec<String>> {
    let mut attacks: Vec<&str> = Vec::new();
    let mut harmless: Vec<&str> = Vec::new();
    for example in examples.iter().filter(|example| !example.is_extra) {
        let sources = if example.is_attack { &mut attacks } else { &mut harmless };
        if !sources.contains(&example.source.as_str()) {
            sources.push(&example.source);
        }
    }
    harmless.retain(|source| !attacks.contains(source));
    let mut folds: Vec<Vec<String>> = attacks.iter().map(|s| vec![(*s).to_owned()]).collect();
    let count = folds.len().max(1);
    for (i, source) in harmless.iter().enumerate() {
        if let Some(fold) = folds.get_mut(i % count) {
            fold.push((*source).to_owned());
        }
    }
    folds
}

fn score(
    examples: &[Example],
    bags: &[Bag],
    choose: &(dyn Fn(&[String]) -> Prefilter + Sync),
    settings: Settings,
    fold: &[String],
) -> Vec<(usize, f32)> {
    let weights = fit_on(examples, bags, settings, |example| !fold.contains(&example.source));
    let prefilter = choose(fold);
    let held_out = (0..examples.len())
        .filter(|i| !examples[*i].is_extra && fold.contains(&examples[*i].source));
    held_out.map(|i| (i, worst(&weights, &looked_at(&prefilter, &examples[i])))).collect()
}

/// The log-odds of a text by what scoring looks at in it.
fn worst(weights: &[f32], looked_at: &[(Bag, Bag)]) -> f32 {
    let (mut worst, mut tokens) = (NOTHING, 0);
    for (near, wide) in looked_at {
        let odds = log_odds(weights, near);
        let is_promising = odds > PROMISING;
        let (bag, odds) = if is_promising { (wide, log_odds(weights, wide)) } else { (near, odds) };
        worst = worst.max(odds);
        tokens += bag.ends.len();
    }
    worst - windows::doubt(tokens)
}

/// The shares of harmless texts that may be mistaken at a threshold.
struct Shares {
    /// Of public texts, whatever their origin.
    public: f32,
    /// Of our own, most of which use the words of attacks: what people typed.
    user: f32,
    /// The same of what tools returned.
    tool: f32,
    /// Of pieces of real files.
    real: f32,
}

const USUALLY: Shares = Shares { public: 0.002, user: 0.006, tool: 0.04, real: 0.004 };
const STRICTLY: Shares = Shares { public: 0.0005, user: 0.0015, tool: 0.0015, real: 0.001 };

/// The threshold of texts of an origin.
#[derive(Clone, Copy)]
struct Thresholds {
    user: f32,
    tool: f32,
}

impl Thresholds {
    fn of(self, origin: Origin) -> f32 {
        if origin == Origin::Tool { self.tool } else { self.user }
    }

    /// The lowest at which no larger shares are mistaken.
    fn new(examples: &[Example], scored: &[(usize, f32)], shares: &Shares) -> Self {
        let threshold = |kind: Kind, origin: Option<Origin>, share: f32| {
            let of_kind = |example: &Example| {
                !example.is_attack
                    && Kind::of(example) == kind
                    && example.source != rows::QUOTING
                    && origin.is_none_or(|origin| origin == example.origin)
            };
            let mut scores: Vec<f32> =
                scored.iter().filter(|(i, _)| of_kind(&examples[*i])).map(|(_, s)| *s).collect();
            scores.sort_by(f32::total_cmp);
            above_all_but(&scores, share)
        };
        let public = threshold(Kind::Public, None, shares.public);
        let of_origin = |origin, own: f32| {
            let own = threshold(Kind::Own, Some(origin), own);
            let real = threshold(Kind::Real, Some(origin), shares.real);
            public.max(own).max(real)
        };
        Self {
            user: of_origin(Origin::User, shares.user),
            tool: of_origin(Origin::Tool, shares.tool),
        }
    }
}

/// Where a harmless text is from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Public,
    Own,
    Real,
}

impl Kind {
    fn of(example: &Example) -> Self {
        match example.source.split(':').next() {
            Some("own") => Self::Own,
            Some("real") => Self::Real,
            _ => Self::Public,
        }
    }
}

fn measure(examples: &[Example], scored: &[(usize, f32)]) -> Judged {
    let usual = Thresholds::new(examples, scored, &USUALLY);
    let strict = Thresholds::new(examples, scored, &STRICTLY);
    let apart = |origin| (strict.of(origin) - usual.of(origin)).max(0.5);

    let mut sources: BTreeMap<String, Figure> = BTreeMap::new();
    for (i, score) in scored {
        let example = &examples[*i];
        let origin = if example.origin == Origin::Tool { "tool" } else { "user" };
        let part = example.group.as_ref().map_or_else(String::new, |group| format!("/{group}"));
        let name = format!("{}{part} ({origin})", example.source);
        let figure = sources.entry(name).or_default();
        let beyond = score - usual.of(example.origin);
        let above = |threshold: f32| if beyond > threshold { 1.0 } else { 0.0 };
        if example.is_attack {
            figure.attacks += 1;
            figure.found += above(0.0);
            figure.found_strict += above(apart(example.origin));
        } else {
            figure.harmless += 1;
            figure.mistaken += above(0.0);
            figure.mistaken_strict += above(apart(example.origin));
        }
    }
    for figure in sources.values_mut() {
        let attacks = figure.attacks.max(1) as f32;
        let harmless = figure.harmless.max(1) as f32;
        figure.found /= attacks;
        figure.found_strict /= attacks;
        figure.mistaken /= harmless;
        figure.mistaken_strict /= harmless;
    }
    let public: Vec<&Figure> = sources
        .iter()
        .filter(|(name, figure)| !name.starts_with("own:") && figure.attacks > 0)
        .map(|(_, figure)| figure)
        .collect();
    let texts: usize = public.iter().map(|figure| figure.attacks).sum();
    let found: f32 = public.iter().map(|figure| figure.found * figure.attacks as f32).sum();
    let mean: f32 = public.iter().map(|figure| figure.found).sum();
    let figures = Figures {
        meaning: "each source judged by a model that was trained without it; the usual threshold \
                  of an origin is where at most 0.2 % of the public harmless texts, of our own, \
                  which use the words of attacks, 0.6 % of what people typed and 4 % of what tools \
                  returned, and 0.4 % of pieces of real files are mistaken; the strict one where it \
                  is 0.05 %, 0.15 %, 0.15 % and 0.1 %",
        found_mean_of_sources: mean / public.len().max(1) as f32,
        found_of_texts: found / texts.max(1) as f32,
        sources,
    };
    // The usual threshold becomes a score of 0.5, the strict one of 0.9: 0 and 4/3 on its curve.
    let curve = |origin| {
        let slope = 4.0 / 3.0 / apart(origin);
        Curve { shift: -usual.of(origin) * slope, slope }
    };
    Judged { figures, of_user: curve(Origin::User), of_tool: curve(Origin::Tool) }
}

/// The score that all but a share of `scores`, which are sorted, do not exceed.
fn above_all_but(scores: &[f32], share: f32) -> f32 {
    let at = (scores.len() as f32 * (1.0 - share)) as usize;
    scores.get(at.min(scores.len().saturating_sub(1))).copied().unwrap_or(0.0)
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:38} {:>8} {:>6} {:>6} {:>8} {:>6} {:>6}",
            "source", "attacks", "found", "strict", "harmless", "wrong", "strict"
        )?;
        for (name, x) in &self.sources {
            writeln!(
                f,
                "{name:38} {:8} {:6.3} {:6.3} {:8} {:6.4} {:6.4}",
                x.attacks, x.found, x.found_strict, x.harmless, x.mistaken, x.mistaken_strict
            )?;
        }
        writeln!(
            f,
            "found: {:.3} mean of sources, {:.3} of texts",
            self.found_mean_of_sources, self.found_of_texts
        )
    }
}
