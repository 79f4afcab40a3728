//! Which model a name means.
//!
//! Leaderboards, price lists and operators name one model in many ways: `gpt-5-mini-2025-08-07`,
//! `azure/eu/gpt-5-mini`, `GPT-5 Mini (high)`. A [`ModelName`] is what they have in common, so that
//! what is known about the model is found under each of them.
//!
//! A name is recognised only if **every** word of it is explained: by a family, as its version,
//! size, date, effort or precision, or as a word that changes nothing (`-instruct` where nobody
//! serves anything else). A wrong match is worse than none: a small model would be credited with
//! what its big sister can do. So fine-tunes, distilled models, mixtures of two names and names
//! whose model changes over time (`mistral-large-latest`) are unknown.

mod families;
mod words;

#[cfg(test)]
mod tests;

use families::{Brand, Line};
use sluice_core::chat::ReasoningEffort;
use words::{Figure, Size, Word};

/// What a model's name says it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelName {
    family: &'static str,
    pattern: &'static str,
    version: Option<Version>,
    size: Option<Size>,
    effort: Option<ReasoningEffort>,
    quantised: bool,
    snapshot: Option<u32>,
}

/// A version, like 4.5. Within one family the larger one is newer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// The 4 of 4.5.
    pub major: u16,
    /// The 5 of 4.5; 0 in plain 4.
    pub minor: u16,
}

/// The effort that a budget of so many thousand tokens to think with stands for.
pub(super) fn effort_of_thousands(budget: u32) -> ReasoningEffort {
    match budget {
        0 => ReasoningEffort::None,
        1..=8 => ReasoningEffort::Low,
        9..=16 => ReasoningEffort::Medium,
        17..=32 => ReasoningEffort::High,
        _ => ReasoningEffort::XHigh,
    }
}

impl ModelName {
    /// The model that `name` means, if it is certain. The case does not matter, nor what stands in
    /// front of the last `/`.
    pub fn parse(name: &str) -> Option<Self> {
        let plain = words::plain(name)?;
        let words = without_base(words::words(&plain));
        let (brand, words) = Brand::find(&words)?;
        let read = brand.lines.iter().filter_map(|line| read(brand, line, &words));
        // `gpt-5-codex-mini` also has every word of `gpt-5-mini`, but leaves one unexplained; where
        // none is left in two lines, as in `qwq-32b-preview`, the one that says more is meant.
        let (_, model) = read.max_by_key(|(said, _)| *said)?;
        // Ollama's usual tag means a small model of the family (`deepseek-r1:latest` has 8 billion
        // weights), unless the name says the size.
        let is_usual_tag = name.trim().to_ascii_lowercase().ends_with(":latest");
        (!is_usual_tag || model.size.is_some()).then_some(model)
    }

    /// The model without effort, day and precision, always written in the same way: `gpt-5-mini`,
    /// `claude-sonnet-4.5`, `llama-3.3-70b`, `deepseek-v3.1`. It is itself a name of the model.
    pub fn key(&self) -> String {
        let mut key = String::new();
        for part in self.pattern.split('-') {
            let optional = part.ends_with('?');
            let part = part.trim_end_matches('?');
            let version = self.version.map(|version| self.version_text(version));
            let is_missing = (part.contains('#') && version.is_none())
                || (part.contains('$') && self.size.is_none());
            if optional && is_missing {
                continue;
            }
            let part = part.replace('#', &version.unwrap_or_default());
            let part = part.replace('$', &self.size.map(size_text).unwrap_or_default());
            if !key.is_empty() {
                key.push('-');
            }
            key.push_str(&part);
        }
        key
    }

    /// The line of models that it is one of, in which versions (and sizes) can be compared:
    /// `gpt-mini`, `claude-sonnet`, `llama`.
    pub fn family(&self) -> &'static str {
        self.family
    }

    /// Its version, where the name has one.
    pub fn version(&self) -> Option<Version> {
        self.version
    }

    /// How many parameters it has, in billions, where the name says so. Of a mixture of experts,
    /// all of them.
    pub fn size_billions(&self) -> Option<f64> {
        let size = self.size?;
        // Experts share the attention layers: Mixtral 8x7B has 46.7 billion parameters, 8x22B has
        // 141.
        let shared = if size.experts > 1 { 0.82 } else { 1.0 };
        Some(f64::from(size.millions) * f64::from(size.experts) * shared / 1000.0)
    }

    /// The effort that the name itself states: `o3 (high)`, `claude-opus-4-5-thinking-32k`.
    pub fn effort(&self) -> Option<ReasoningEffort> {
        self.effort
    }

    /// Whether the weights are stored in fewer than sixteen bits, as far as the name says so.
    pub fn is_quantised(&self) -> bool {
        self.quantised
    }

    /// The digits of the day or month in the name, as they stand there: 20 250 807, 2507, or 324
    /// for `0324`. A newer snapshot of a model has the same [key](Self::key).
    pub fn snapshot(&self) -> Option<u32> {
        self.snapshot
    }

    /// The version as people write it: Gemini 2.0 but GPT-5.
    fn version_text(&self, version: Version) -> String {
        let Version { major, minor } = version;
        if self.family.starts_with("grok") && (major, minor) == (4, 2) {
            return "4.20".to_owned();
        }
        let keeps_zero = ["granite", "seed", "ernie"].iter().any(|f| self.family.starts_with(f))
            || (self.family.starts_with("gemini") && major < 3);
        if minor == 0 && !keeps_zero { major.to_string() } else { format!("{major}.{minor}") }
    }
}

fn size_text(size: Size) -> String {
    let (number, unit) = match size.millions {
        1_000_000.. => (f64::from(size.millions) / 1e6, "t"),
        millions => (f64::from(millions) / 1e3, "b"),
    };
    if size.experts > 1 {
        return format!("{}x{number}{unit}", size.experts);
    }
    format!("{number}{unit}")
}

/// Some models are called after the model that they were made from: `llama-3.3-nemotron-super-49b`,
/// `hermes-3-llama-3.1-405b`. They are none of its versions, so that its name is taken out. What is
/// left is enough to tell them apart.
fn without_base(mut words: Vec<Word<'_>>) -> Vec<Word<'_>> {
    let place = |words: &[Word<'_>], name| words.iter().position(|w| *w == Word::Letters(name));
    let Some(llama) = place(&words, "llama") else { return words };
    let after =
        words[llama + 1..].iter().take_while(|word| matches!(word, Word::Number { .. })).count();
    if ["tulu", "hermes"].iter().any(|name| place(&words, name).is_some()) {
        words.drain(llama..=llama + after);
    } else if words.get(llama + after + 1) == Some(&Word::Letters("nemotron")) {
        words.drain(llama..=llama + after);
        words[llama] = Word::Letters("llamanemotron");
    }
    words
}

/// `words` (without the brand) as a name of `line`, and how many of them the line itself asks for.
fn read(brand: &Brand, line: &'static Line, words: &[Word<'_>]) -> Option<(usize, ModelName)> {
    let mut rest = words.to_vec();
    for word in line.words {
        let place = rest.iter().position(|found| *found == Word::Letters(word))?;
        // What stood on both sides of the word stays apart: `3-sonnet-2` is not version 3.2.
        rest[place] = Word::Letters("");
    }
    let mut name = ModelName {
        family: line.family,
        pattern: line.pattern,
        version: None,
        size: None,
        effort: None,
        quantised: false,
        snapshot: None,
    };
    let is_moving = read_letters(brand, &rest, &mut name)?;
    read_numbers(line, &rest, &mut name)?;
    if brand.stamps {
        name.version = line.version_of_stamp(name.version, name.snapshot)?;
    }
    if line.family == "gpt" && name.version == Some(Version { major: 4, minor: 0 }) {
        // The first previews of GPT-4 Turbo were called GPT-4.
        if let Some(1106 | 125) = name.snapshot {
            (name.family, name.pattern) = ("gpt-turbo", "gpt-#-turbo");
        }
    }
    if line.family.starts_with("grok") && name.version == Some(Version { major: 4, minor: 20 }) {
        // Grok 4.20 came before 4.3.
        name.version = Some(Version { major: 4, minor: 2 });
    }
    // Qwen 3 itself thinks when asked to. What was published in July 2025 always does or never
    // does; an "instruct" without that date is somebody else's.
    if line.family == "qwen" && name.version == Some(Version { major: 3, minor: 0 }) {
        let is_instruct = rest.contains(&Word::Letters("instruct"));
        match name.snapshot {
            Some(2507) if is_instruct => name.effort = name.effort.or(Some(ReasoningEffort::None)),
            _ if is_instruct => return None,
            _ => {}
        }
    }
    if is_moving && name.version.is_none() {
        return None;
    }
    // As a word of the host (`Qwen2.5-72B-Instruct-Turbo`) it follows a size; Qwen Turbo is a
    // model.
    if rest.contains(&Word::Letters("turbo")) && name.size.is_none() {
        return None;
    }
    line.accepts(name.version, name.size).then_some((line.words.len(), name))
}

/// Reads efforts and drops what changes nothing. Whether the name says `latest`; nothing if a word
/// is left.
fn read_letters(brand: &Brand, words: &[Word<'_>], name: &mut ModelName) -> Option<bool> {
    let letters = |place: usize| match words.get(place) {
        Some(Word::Letters(word)) => *word,
        _ => "",
    };
    let thinks_at = |place: Option<usize>| {
        place.is_some_and(|p| matches!(letters(p), "thinking" | "think" | "reasoning"))
    };
    let (mut is_moving, mut thinks) = (false, false);
    let (mut stated, mut budget) = (None, None);
    for (place, word) in words.iter().enumerate() {
        let word = match word {
            Word::Letters(word) => *word,
            Word::Thousands(thousands) => {
                if thinks_at(place.checked_sub(1)) || thinks_at(Some(place + 1)) {
                    budget = Some(effort_of_thousands(*thousands));
                }
                continue;
            }
            _ => continue,
        };
        let is_negated = place > 0 && matches!(letters(place - 1), "no" | "non");
        let effort = match word {
            "" => continue,
            "latest" => {
                is_moving = true;
                continue;
            }
            "thinking" | "think" | "reasoning" | "reasoner" => {
                // `default think` says nothing.
                thinks |= place == 0 || letters(place - 1) != "default";
                is_negated.then_some(ReasoningEffort::None)
            }
            "no" | "non" if thinks_at(Some(place + 1)) => continue,
            "nothinking" | "nothink" | "nonthinking" => Some(ReasoningEffort::None),
            // LiveBench's word for Claude without thinking; elsewhere a model that was not tuned
            // yet.
            "base" if brand.word == "claude" => Some(ReasoningEffort::None),
            "max" if letters(place + 1) == "effort" => Some(ReasoningEffort::XHigh),
            "minimal" | "low" | "medium" | "high" | "xhigh" => ReasoningEffort::parse(word),
            "lowthinking" => Some(ReasoningEffort::Low),
            "mediumthinking" => Some(ReasoningEffort::Medium),
            "highthinking" => Some(ReasoningEffort::High),
            "effort" | "tokens" | "auto" if place > 0 => continue,
            _ if families::means_nothing(word) || brand.noise.contains(&word) => continue,
            _ => return None,
        };
        if !brand.thinks || (effort.is_some() && stated.is_some() && effort != stated) {
            return None;
        }
        stated = stated.or(effort);
    }
    name.effort = stated.or(budget).or(thinks.then_some(ReasoningEffort::High));
    Some(is_moving)
}

/// Reads version, size, date and precision. Nothing if one of them is there twice or cannot be
/// read.
fn read_numbers(line: &Line, words: &[Word<'_>], name: &mut ModelName) -> Option<()> {
    let mut versions = Vec::new();
    let mut revision = None;
    let is_number = |word: &Word<'_>| matches!(word, Word::Number { .. });
    for run in words.chunk_by(|one, next| is_number(one) && is_number(next)) {
        let numbers: Vec<(&str, bool)> = run
            .iter()
            .filter_map(|word| match word {
                Word::Number { text, after_v } => Some((*text, *after_v)),
                _ => None,
            })
            .collect();
        for figure in words::figures(&numbers)? {
            match figure {
                Figure::Version { version, after_v } => versions.push((version, after_v)),
                Figure::Date(date) if name.snapshot.is_none() => name.snapshot = Some(date),
                Figure::Revision(number) if revision.is_none() => revision = Some(number),
                Figure::Window => {}
                Figure::Date(_) | Figure::Revision(_) => return None,
            }
        }
        match run {
            [Word::Size(size)] if name.size.is_none() => name.size = Some(*size),
            [Word::Size(_)] => return None,
            [Word::Quantised] => name.quantised = true,
            _ => {}
        }
    }
    name.snapshot = name.snapshot.or(revision);
    // `-v1` after a model without versions, or after its version, counts the deployments. Where
    // there is nothing else to be said, neither does `-v0.1`.
    let says_nothing = match versions.last() {
        Some(((1, 0), true)) => versions.len() > 1 || !line.needs_version(),
        Some(((0, 1), true)) => !line.has_version(),
        _ => false,
    };
    if says_nothing {
        versions.pop();
    }
    name.version = match versions.as_slice() {
        [] => None,
        [((major, minor), _)] => Some(Version { major: *major, minor: *minor }),
        _ => return None,
    };
    Some(())
}
