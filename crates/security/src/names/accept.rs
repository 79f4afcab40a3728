//! Turns labels into findings, and refuses those that would do more harm than good.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use super::gate::{Region, Window};
use super::gazetteer::Flags;
use super::key::Key;
use super::model::Thresholds;
use super::tagger::Labels;
use super::token::{Gap, Shape, Token};
use crate::finding::Finding;
use crate::kind::{Kind, Kinds};

/// The kinds of the labels behind 0, which is none, and the names of their rules.
const KINDS: [(Kind, &str); 4] = [
    (Kind::Person, "person"),
    (Kind::Address, "address"),
    (Kind::Location, "location"),
    (Kind::Organization, "organization"),
];

/// Adds the names that `labels` tells of.
pub(super) fn collect(
    text: &str,
    window: &Window<'_>,
    labels: &Labels,
    thresholds: &Thresholds,
    kinds: Kinds,
    out: &mut Vec<Finding>,
) {
    let tokens = window.tokens;
    let mut start = 0;
    while start < tokens.len() {
        let label = labels.best[start];
        let mut end = start + 1;
        if label == 0 {
            start = end;
            continue;
        }
        let (kind, rule) = KINDS[usize::from(label) - 1];
        while end < tokens.len() && labels.best[end] == label && joins(kind, tokens[end].gap) {
            end += 1;
        }
        let margin: i32 = labels.margin[start..end].iter().sum();
        let name = trimmed(kind, &tokens[start..end]);
        let threshold =
            i32::from(thresholds[window.region as usize][usize::from(label)]) + doubt(kind, name);
        let before = start.checked_sub(1).map(|i| &tokens[i]);
        if margin > threshold
            && kinds.contains(kind)
            && let (Some(first), Some(last)) = (name.first(), name.last())
            && acceptable(kind, name, before, window.region)
            && !is_attribution(text, first, last, kind, window.region)
        {
            out.push(Finding { start: first.start, end: with_dot(text, last), kind, rule });
        }
        start = end;
    }
}

/// How much surer the model has to be of a single word that is no known name, or that is more often
/// something else: `Ruby`, `June`.
fn doubt(kind: Kind, name: &[Token]) -> i32 {
    match (kind, name) {
        (Kind::Person, [word]) if word.flags.any(Flags::TECHNICAL) => 400,
        (Kind::Person, [word]) if !word.flags.any(Flags::PERSON) => 200,
        _ => 0,
    }
}

/// Whether words with `gap` between them can be one name.
fn joins(kind: Kind, gap: Gap) -> bool {
    match kind {
        Kind::Address => !matches!(
            gap,
            Gap::Quote | Gap::NextValue | Gap::Equals | Gap::Angle | Gap::Exclamation | Gap::Other
        ),
        Kind::Organization => {
            matches!(
                gap,
                Gap::Space
                    | Gap::And
                    | Gap::Comma
                    | Gap::Stop
                    | Gap::Dot
                    | Gap::Dash
                    | Gap::Genitive
            )
        }
        Kind::Person => matches!(gap, Gap::Space | Gap::Spaces | Gap::Stop | Gap::Dot | Gap::And),
        _ => matches!(gap, Gap::Space | Gap::Spaces | Gap::Stop | Gap::Dash),
    }
}

/// The name without a title in front.
fn trimmed(kind: Kind, name: &[Token]) -> &[Token] {
    let mut name = name;
    while let (Kind::Person, [first, rest @ ..]) = (kind, name)
        && first.flags.any(Flags::TITLE)
        && !first.flags.any(Flags::PERSON)
    {
        name = rest;
    }
    name
}

/// An abbreviated last word keeps its dot: `Jr.`, `Inc.`, `Str.`
fn with_dot(text: &str, last: &Token) -> usize {
    let abbreviated = last.end - last.start <= 4
        && last.flags.any(Flags::ORGANIZATION.with(Flags::STREET).with(Flags::TITLE));
    let dot = text.as_bytes().get(last.end) == Some(&b'.');
    last.end + usize::from(abbreviated && dot)
}

/// What a name has to have, however sure the model is.
fn acceptable(kind: Kind, name: &[Token], before: Option<&Token>, region: Region) -> bool {
    let any = |flags| name.iter().any(|token| token.flags.any(flags));
    let code = matches!(region, Region::Mixed | Region::Code);
    match kind {
        Kind::Person
            if name
                .iter()
                .all(|token| !token.shape.is_capital() && token.shape != Shape::Lower) =>
        {
            false
        }
        Kind::Person if name.len() == 1 => acceptable_word(&name[0], before, region),
        Kind::Person if code => {
            let keyed = matches!(name[0].key, Key::Person | Key::Party | Key::Name);
            let plain = Flags::ORDINARY.with(Flags::TECHNICAL).with(Flags::PLACES);
            keyed && !name.iter().all(|token| token.flags.any(plain))
                || name[0].shape == Shape::Initial && any(Flags::LAST) && !any(Flags::PLACES)
                || name[0].flags.any(Flags::FIRST)
                    && name[1..]
                        .iter()
                        .any(|token| token.flags.any(Flags::LAST) || !token.flags.any(plain))
        }
        Kind::Person if region == Region::Lower => {
            name.iter().any(|token| {
                token.flags.any(Flags::FIRST)
                    && !token.flags.any(Flags::COMMON.with(Flags::TECHNICAL))
            }) || is_titled(before)
        }
        Kind::Person => !name.iter().all(|token| token.flags.any(Flags::TECHNICAL)),
        Kind::Address => {
            let numbers = name.iter().any(|token| token.shape.is_number());
            let street = any(Flags::STREETS);
            name.len() >= 2
                && if code {
                    numbers && (street || name[0].key == Key::Address)
                } else {
                    numbers || street
                }
        }
        Kind::Location if code => name[0].key == Key::Place && any(Flags::PLACES),
        Kind::Organization if code => name[0].key == Key::Organization,
        _ => !name.iter().all(|token| token.flags.any(Flags::TECHNICAL)),
    }
}

/// Whether the line tells who made something: a copyright, or a comment that gives credit. Such names
/// are public, and a licence must not change.
fn is_attribution(text: &str, first: &Token, last: &Token, kind: Kind, region: Region) -> bool {
    const LOOK_BACK: usize = 160;
    if kind == Kind::Address {
        return false;
    }
    let bytes = text.as_bytes();
    let before = &bytes[first.start.saturating_sub(LOOK_BACK)..first.start];
    let before = memchr::memrchr(b'\n', before).map_or(before, |end| &before[end + 1..]);
    let line = &bytes[first.start - before.len()..last.end];
    let content = before.trim_ascii_start();
    let comment = || {
        let marks = ["//", "#", "*", "/*", "--", ";;", "..", "%", "<!--"];
        marks.iter().any(|mark| content.starts_with(mark.as_bytes()))
    };
    let code = matches!(region, Region::Mixed | Region::Code);
    let Some(words) = ATTRIBUTION.as_ref() else {
        return false;
    };
    words.find_overlapping_iter(line).any(|word| match ATTRIBUTIONS[word.pattern().as_usize()].1 {
        Attribution::Anywhere => true,
        Attribution::InCode => code && !content.starts_with(b"<"),
        Attribution::InComments => code && comment(),
    })
}

/// Where a word makes a line an attribution.
#[derive(Clone, Copy)]
enum Attribution {
    Anywhere,
    InCode,
    InComments,
}

const ATTRIBUTIONS: [(&str, Attribution); 23] = {
    use Attribution::{Anywhere, InCode, InComments};
    [
        ("copyright", Anywhere),
        ("(c) ", Anywhere),
        ("©", Anywhere),
        ("written by", InCode),
        ("adapted", InCode),
        ("contribut", InCode),
        ("thanks to", InCode),
        ("algorithm", InCode),
        ("et al", InCode),
        ("ported", InCode),
        ("__author__", InCode),
        (":author", InCode),
        ("author", InComments),
        ("thanks", InComments),
        ("credit", InComments),
        (" by ", InComments),
        ("paper", InComments),
        ("maintain", InComments),
        ("based on", InComments),
        ("inspired", InComments),
        (".. [", InComments),
        ("invented", InComments),
        ("original", InComments),
    ]
};

static ATTRIBUTION: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let words = ATTRIBUTIONS.iter().map(|(word, _)| word);
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .kind(Some(AhoCorasickKind::DFA))
        .build(words)
        .ok()
});

/// Whether a title stands in front.
fn is_titled(before: Option<&Token>) -> bool {
    before.is_some_and(|token| token.flags.any(Flags::TITLE))
}

/// Whether a single word is a person's name.
fn acceptable_word(word: &Token, before: Option<&Token>, region: Region) -> bool {
    let greeted = before.is_some_and(|token| token.flags.any(Flags::GREETING));
    let keyed = match word.key {
        Key::Person => true,
        // `to: "Washington"` is a place, or anything.
        Key::Party => word.flags.any(Flags::FIRST) && !word.flags.any(Flags::PLACES),
        _ => false,
    };
    let technical = word.flags.any(Flags::TECHNICAL);
    match region {
        _ if word.shape == Shape::Initial || word.end - word.start < 2 => false,
        Region::Prose if word.shape == Shape::Upper && !word.flags.any(Flags::PERSON) => false,
        _ if is_titled(before) => true,
        Region::Prose => !technical || word.flags.any(Flags::FIRST),
        Region::Lower => word.flags.any(Flags::FIRST) && !technical,
        _ => (keyed || greeted) && word.flags.any(Flags::PERSON) && !technical,
    }
}
