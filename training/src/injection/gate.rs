//! Chooses the phrases that open a place of a text, and what each weighs: as many attacks as can be
//! are to be opened, while little harmless text is.
//!
//! Candidates are those that were written down and whatever begins a word in attacks of several
//! sources. A linear model over the phrases of a stretch of text gives their weights, none of which
//! is negative; most are nothing, and so are not looked for.

use std::collections::HashMap;
use std::ops::Range;

use anyhow::{Result, bail};
use sluice_security::injection::prefilter::{
    ENOUGH, KEY_BYTES, LONGEST, SHORTEST, TOGETHER, Weighted,
};

use super::corpus::Example;
use crate::chance::Chance;

/// The phrases that were written down, parted by `|`; `¦` stands for a `|` in them.
const WRITTEN: &str = include_str!("phrases.txt");

/// How long candidates are that are taken from attacks, in bytes.
const LENGTHS: [usize; 4] = [SHORTEST, SHORTEST + 2, SHORTEST + 4, LONGEST];
/// In how many sources of attacks such a candidate stands at least.
const SOURCES: u32 = 4;
/// In how many attacks.
const ATTACKS: u32 = 12;
/// How many times more often in attacks than in harmless text, per byte.
const TELLING: f32 = 4.0;
/// How long a stretch of harmless text is that is opened or not, in bytes.
const STRETCH: usize = 400;

/// How to choose.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    /// How often each text is seen.
    pub(crate) epochs: usize,
    /// The first step's length.
    pub(crate) rate: f32,
    /// What each step takes from every weight that it touches.
    pub(crate) thrift: f32,
    /// How much more of those whose keys stand once in a kilobyte by chance.
    pub(crate) keys: f32,
    /// How much harmless text counts, with attacks counting 1 in all.
    pub(crate) harmless: f32,
    /// What a written phrase weighs before anything is learnt, in parts of what is enough.
    pub(crate) written: f32,
    /// How many phrases are kept at most.
    pub(crate) phrases: usize,
    /// The share of public harmless stretches that may be opened.
    pub(crate) opened: f32,
}

/// A text as the gate sees it.
struct Stretch {
    /// Where which candidates stand, in order.
    seen: Vec<(u32, u32)>,
    /// Which texts it belongs to.
    example: usize,
}

/// What is known of all texts before any source is held out.
pub(crate) struct Gate {
    candidates: Vec<Candidate>,
    attacks: Vec<Stretch>,
    harmless: Vec<Stretch>,
}

struct Candidate {
    phrase: Vec<u8>,
    is_written: bool,
    /// In which sources of attacks it stands.
    sources: u128,
    /// Where its four keys begin that are rarest in harmless text.
    offset: usize,
    /// How often one of them stands there by chance, per kilobyte.
    cost: f32,
}

impl Gate {
    /// Collects candidates and where they stand. Fails where there is nothing to choose by.
    pub(crate) fn new(examples: &[Example], sources: &[&str]) -> Result<Self> {
        let source_of = |example: &Example| {
            sources.iter().position(|source| *source == example.source).unwrap_or(0)
        };
        let mut candidates = candidates(examples, source_of);
        let index = Index::new(&candidates);
        let (mut attacks, mut harmless) = (Vec::new(), Vec::new());
        let mut common: HashMap<Vec<u8>, u32> = HashMap::new();
        let mut bytes = 0;
        for (i, example) in examples.iter().enumerate() {
            let text = example.text.to_ascii_lowercase().into_bytes();
            if example.is_attack {
                let part = example.payload.clone().unwrap_or(0..text.len());
                attacks.push(Stretch { seen: index.seen(&text, part), example: i });
                continue;
            }
            if !is_public(example) {
                continue;
            }
            bytes += text.len();
            for key in text.windows(KEY_BYTES) {
                *common.entry(key.to_vec()).or_default() += 1;
            }
            for from in (0..text.len()).step_by(STRETCH) {
                let part = from..text.len().min(from + STRETCH);
                harmless.push(Stretch { seen: index.seen(&text, part), example: i });
            }
        }
        if attacks.is_empty() {
            bail!("the data has no attacks that phrases could be chosen from");
        }
        if harmless.is_empty() {
            bail!("the data has no public harmless texts that phrases could be measured by");
        }
        for candidate in &mut candidates {
            candidate.find_keys(&common, bytes);
        }
        Ok(Self { candidates, attacks, harmless })
    }

    /// The phrases chosen without the sources in `held_out`.
    pub(crate) fn choose(
        &self,
        examples: &[Example],
        sources: &[&str],
        settings: Settings,
        held_out: &[String],
    ) -> Vec<Weighted> {
        let is_held = |source: &str| held_out.iter().any(|held| held == source);
        let seen: u128 = sources
            .iter()
            .enumerate()
            .filter(|(_, source)| !is_held(source))
            .fold(0, |bits, (i, _)| bits | 1 << (i % 128));
        let may: Vec<bool> = self
            .candidates
            .iter()
            .map(|known| known.is_written || (known.sources & seen).count_ones() >= SOURCES)
            .collect();
        let attacks: Vec<&Stretch> =
            self.attacks.iter().filter(|s| !is_held(&examples[s.example].source)).collect();
        let harmless: Vec<&Stretch> =
            self.harmless.iter().filter(|s| !is_held(&examples[s.example].source)).collect();
        let of: Vec<&Example> = attacks.iter().map(|s| &examples[s.example]).collect();
        let attack_weights = super::rows::weights(&of);
        let fit = |may: &[bool]| {
            let mut fitter = Fitter::new(&self.candidates, may, settings);
            fitter.fit(&attacks, &attack_weights, &harmless);
            fitter.weights
        };
        let mut weights = fit(&may);
        let mut order: Vec<usize> = (0..weights.len()).collect();
        order.sort_by(|a, b| weights[*b].total_cmp(&weights[*a]).then(a.cmp(b)));
        let mut kept = vec![false; weights.len()];
        for i in order.into_iter().take(settings.phrases).filter(|i| weights[*i] > 0.02) {
            kept[i] = true;
        }
        weights = fit(&kept);
        self.weighted(&weights, enough(&weights, &harmless, examples, settings.opened))
    }

    fn weighted(&self, weights: &[f32], enough: f32) -> Vec<Weighted> {
        let mut phrases = Vec::new();
        for (known, weight) in self.candidates.iter().zip(weights) {
            let weight = (weight / enough * ENOUGH as f32).round().clamp(0.0, ENOUGH as f32) as u32;
            if weight > 0 {
                let (phrase, offset) = (known.phrase.clone(), known.offset);
                phrases.push(Weighted { phrase, weight, offset });
            }
        }
        phrases.sort_by(|a, b| a.phrase.cmp(&b.phrase));
        phrases
    }
}

impl Candidate {
    fn new(phrase: Vec<u8>, is_written: bool, sources: u128) -> Self {
        Self { phrase, is_written, sources, offset: 0, cost: 0.0 }
    }

    /// Chooses the keys that are rarest in `bytes` bytes of harmless text, where each stands as often
    /// as `common` says.
    fn find_keys(&mut self, common: &HashMap<Vec<u8>, u32>, bytes: usize) {
        let count = |key: &[u8]| u64::from(common.get(key).copied().unwrap_or(0));
        let cost = |offset: usize| -> u64 {
            self.phrase[offset..offset + SHORTEST].windows(KEY_BYTES).map(count).sum()
        };
        let costs = (0..=self.phrase.len() - SHORTEST).map(|offset| (cost(offset), offset));
        if let Some((cost, offset)) = costs.min() {
            self.offset = offset;
            self.cost = cost as f32 * 1000.0 / bytes.max(1) as f32;
        }
    }
}

/// What somebody else published, rather than what was written or chosen to be hard.
fn is_public(example: &Example) -> bool {
    let is_ours = ["own:", "real:"].iter().any(|ours| example.source.starts_with(ours));
    !is_ours && !example.is_extra
}

/// From which sum on no more than a share of harmless stretches is opened: the mean of sources.
fn enough(weights: &[f32], harmless: &[&Stretch], examples: &[Example], share: f32) -> f32 {
    let mut sums: Vec<f32> = harmless
        .iter()
        .filter(|s| !examples[s.example].source.starts_with("code"))
        .map(|stretch| heaviest(weights, &stretch.seen).1)
        .collect();
    sums.sort_by(f32::total_cmp);
    let at = (sums.len() as f32 * (1.0 - share)) as usize;
    sums.get(at.min(sums.len().saturating_sub(1))).copied().unwrap_or(1.0).max(0.1)
}

/// The candidates that a window of [`TOGETHER`] bytes has, where they weigh most.
fn heaviest(weights: &[f32], seen: &[(u32, u32)]) -> (Range<usize>, f32) {
    let mut best = (0..0, 0.0);
    let mut from = 0;
    for to in 0..seen.len() {
        if weights[seen[to].1 as usize] <= 0.0 {
            continue;
        }
        while (seen[to].0 - seen[from].0) as usize > TOGETHER {
            from += 1;
        }
        let window = &seen[from..=to];
        let is_first = |i: usize| !window[..i].iter().any(|(_, known)| *known == window[i].1);
        let sum = (0..window.len())
            .filter(|i| weights[window[*i].1 as usize] > 0.0 && is_first(*i))
            .map(|i| weights[window[i].1 as usize])
            .sum();
        if sum > best.1 {
            best = (from..to + 1, sum);
        }
    }
    best
}

struct Fitter<'a> {
    candidates: &'a [Candidate],
    may: &'a [bool],
    weights: Vec<f32>,
    squares: Vec<f32>,
    settings: Settings,
}

/// What the sum is compared with while weights are learnt.
const MIDDLE: f32 = 3.0;

impl<'a> Fitter<'a> {
    fn new(candidates: &'a [Candidate], may: &'a [bool], settings: Settings) -> Self {
        let begin = |(known, may): (&Candidate, &bool)| {
            if known.is_written && *may { settings.written * MIDDLE } else { 0.0 }
        };
        let weights = candidates.iter().zip(may).map(begin).collect();
        Self { candidates, may, weights, squares: vec![0.05; candidates.len()], settings }
    }

    fn fit(&mut self, attacks: &[&Stretch], attack_weights: &[f32], harmless: &[&Stretch]) {
        let attack_total: f32 = attack_weights.iter().sum();
        let scale = attacks.len() as f32 / attack_total.max(1e-6);
        let cost = self.settings.harmless * attacks.len() as f32 / harmless.len().max(1) as f32;
        let mut order: Vec<usize> = (0..attacks.len() + harmless.len()).collect();
        let mut chance = Chance::named("gate");
        for epoch in 0..self.settings.epochs {
            chance.shuffle(&mut order);
            for &i in &order {
                match i.checked_sub(attacks.len()) {
                    None => self.learn(attacks[i], 1.0, attack_weights[i] * scale, epoch == 0),
                    Some(i) => self.learn(harmless[i], 0.0, cost, epoch == 0),
                }
            }
        }
    }

    fn learn(&mut self, stretch: &Stretch, target: f32, weight: f32, is_first: bool) {
        if stretch.seen.is_empty() {
            return;
        }
        let (window, sum) = heaviest(&self.weights, &stretch.seen);
        // While nothing is known, all that an attack has may tell.
        let window =
            if is_first && target > 0.5 && sum < 0.5 { 0..stretch.seen.len() } else { window };
        let error = super::fit::logistic(sum - MIDDLE) - target;
        if error.abs() < 0.01 {
            return;
        }
        let mut known: Vec<u32> = stretch.seen[window].iter().map(|(_, known)| *known).collect();
        known.sort_unstable();
        known.dedup();
        for i in known {
            let i = i as usize;
            if !self.may[i] {
                continue;
            }
            let gradient = error * weight;
            self.squares[i] += gradient * gradient;
            let step = self.settings.rate / self.squares[i].sqrt();
            let dear = 1.0 + self.settings.keys * self.candidates[i].cost;
            let weight = self.weights[i] - step * (gradient + self.settings.thrift * dear);
            self.weights[i] = weight.clamp(0.0, 2.0 * MIDDLE);
        }
    }
}

/// Finds candidates in texts.
struct Index {
    /// By their first bytes.
    by_head: HashMap<[u8; SHORTEST], Vec<(u32, Vec<u8>)>>,
}

impl Index {
    fn new(candidates: &[Candidate]) -> Self {
        let mut by_head: HashMap<[u8; SHORTEST], Vec<(u32, Vec<u8>)>> = HashMap::new();
        for (i, known) in candidates.iter().enumerate() {
            if let Some(head) = known.phrase.first_chunk() {
                by_head.entry(*head).or_default().push((i as u32, known.phrase.clone()));
            }
        }
        Self { by_head }
    }

    fn seen(&self, text: &[u8], part: Range<usize>) -> Vec<(u32, u32)> {
        let mut seen = Vec::new();
        for at in part {
            let Some(head) = text.get(at..).and_then(<[u8]>::first_chunk) else { break };
            for (i, phrase) in self.by_head.get(head).into_iter().flatten() {
                if text[at..].starts_with(phrase) {
                    seen.push((at as u32, *i));
                }
            }
        }
        seen
    }
}

/// What was written, and what begins words in attacks of several sources.
fn candidates(examples: &[Example], source_of: impl Fn(&Example) -> usize) -> Vec<Candidate> {
    let mut found: HashMap<Vec<u8>, (u128, u32, u32)> = HashMap::new();
    let (mut attack_bytes, mut harmless_bytes) = (0, 0);
    for example in examples.iter().filter(|example| example.is_attack) {
        let text = example.text.to_ascii_lowercase().into_bytes();
        let part = example.payload.clone().unwrap_or(0..text.len());
        attack_bytes += part.len();
        let mut once = Vec::new();
        beginnings(&text, part, |phrase| once.push(phrase.to_vec()));
        once.sort_unstable();
        once.dedup();
        for phrase in once {
            let (sources, attacks, _) = found.entry(phrase).or_default();
            *sources |= 1 << (source_of(example) % 128);
            *attacks += 1;
        }
    }
    found.retain(|_, (sources, attacks, _)| sources.count_ones() >= SOURCES && *attacks >= ATTACKS);
    for example in examples.iter().filter(|example| !example.is_attack && is_public(example)) {
        let text = example.text.to_ascii_lowercase().into_bytes();
        harmless_bytes += text.len();
        beginnings(&text, 0..text.len(), |phrase| {
            if let Some((_, _, harmless)) = found.get_mut(phrase) {
                *harmless += 1;
            }
        });
    }
    let ratio = attack_bytes as f32 / harmless_bytes.max(1) as f32;
    found.retain(|_, (_, attacks, harmless)| *attacks as f32 > TELLING * ratio * *harmless as f32);
    let mut all: Vec<Candidate> = Vec::new();
    for phrase in WRITTEN.lines().flat_map(|line| line.split('|')) {
        let phrase = phrase.replace('¦', "|");
        // Too short ones are words or begin one.
        let phrase = if phrase.len() < SHORTEST { format!(" {phrase}") } else { phrase };
        let mut phrase = phrase.into_bytes();
        phrase.truncate(LONGEST);
        if phrase.len() < SHORTEST || std::str::from_utf8(&phrase).is_err() {
            continue;
        }
        let sources = found.remove(&phrase).map_or(0, |(sources, _, _)| sources);
        all.push(Candidate::new(phrase, true, sources));
    }
    let mut mined: Vec<Candidate> = found
        .into_iter()
        .map(|(phrase, (sources, _, _))| Candidate::new(phrase, false, sources))
        .collect();
    mined.sort_by(|a, b| a.phrase.cmp(&b.phrase));
    all.extend(mined);
    all.sort_by(|a, b| a.phrase.cmp(&b.phrase).then(b.is_written.cmp(&a.is_written)));
    all.dedup_by(|b, a| a.phrase == b.phrase);
    all
}

/// Gives what words of `text` begin with to `found`, at each of [`LENGTHS`].
fn beginnings(text: &[u8], part: Range<usize>, mut found: impl FnMut(&[u8])) {
    for at in part {
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || !byte.is_ascii();
        let begins = is_word(text[at]) && at.checked_sub(1).is_none_or(|b| !is_word(text[b]));
        if !begins {
            continue;
        }
        for length in LENGTHS {
            let Some(phrase) = text.get(at..at + length) else { break };
            if phrase.iter().any(u8::is_ascii_control) {
                break;
            }
            if std::str::from_utf8(phrase).is_ok() {
                found(phrase);
            }
        }
    }
}

#[cfg(test)]
mod tests;
