//! Turns labels into findings, and refuses those that would do more harm than good.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use super::gate::{Region, Window};
use super::gazetteer::Flags;
use super::key::Key;
use super::model::Thresholds;
use super::tagger::Labels;
use super::token::{Gap, Shape, Token};
use super::{address, beside, field, things};
use crate::finding::Finding;
use crate::kind::{Kind, Kinds};

/// The kinds of the labels behind 0, which is none, and the names of their rules.
const KINDS: [(Kind, &str); 4] = [
    (Kind::Person, "person"),
    (Kind::Address, "address"),
    (Kind::Location, "location"),
    (Kind::Organization, "organization"),
];

/// Adds the names that `labels` and the rules tell of. Nothing before `covered` is touched, which then
/// is where the last name ends.
pub(super) fn collect(
    text: &str,
    window: &Window<'_>,
    labels: &Labels,
    thresholds: &Thresholds,
    kinds: Kinds,
    covered: &mut usize,
    out: &mut Vec<Finding>,
) {
    let tokens = window.tokens;
    let mut at = tokens.iter().take_while(|token| token.start < *covered).count();
    let first = at;
    let mut refused = 0;
    while at < tokens.len() {
        let named = named(text, window, at, kinds).or_else(|| {
            let label = labels.best[at];
            if label == 0 || at < refused {
                return None;
            }
            let (kind, _) = KINDS[usize::from(label) - 1];
            let end = run_end(text, tokens, labels, at);
            let accepted = labelled(text, window, labels, thresholds, kinds, (at, end));
            if accepted.is_none() {
                refused = end;
            }
            let (start, behind) = accepted?;
            Some(Named { kind, start, end: behind, run: end })
        });
        let Some(Named { kind, start, end, run }) = named else {
            at += 1;
            continue;
        };
        let (start, end) = match kind {
            Kind::Address => address::widened(tokens, start, end),
            Kind::Person => (with_particles(text, tokens, start), end),
            _ => (start, end),
        };
        let start = start.max(first);
        let (first, last) = (&tokens[start], &tokens[end - 1]);
        if first.start >= *covered {
            *covered = with_dot(text, last);
            out.push(Finding { start: first.start, end: *covered, kind, rule: rule_of(kind) });
        }
        at = run.max(end);
    }
}

/// A name, in words.
struct Named {
    kind: Kind,
    start: usize,
    end: usize,
    /// Where the words end that were labelled as it.
    run: usize,
}

fn rule_of(kind: Kind) -> &'static str {
    KINDS.iter().find(|(of, _)| *of == kind).map_or("name", |(_, rule)| rule)
}

/// The name that begins at a word by a rule: a field's value, a street.
fn named(text: &str, window: &Window<'_>, at: usize, kinds: Kinds) -> Option<Named> {
    let tokens = window.tokens;
    let value = field::value(text, &tokens[at..]).map(|(kind, words)| (kind, at + words));
    let street = || {
        let end = address::street(tokens, at).filter(|_| window.region != Region::Lower)?;
        Some((Kind::Address, end))
    };
    let person = || {
        let end = at + beside::person(text, &tokens[at..])?;
        Some((Kind::Person, end))
    };
    let (kind, end) =
        value.filter(|(kind, _)| kinds.contains(*kind)).or_else(street).or_else(person)?;
    let (first, last) = (&tokens[at], &tokens[end - 1]);
    let public = kind != Kind::Address && is_attribution(text, first, last, kind, window.region);
    (kinds.contains(kind) && !public).then_some(Named { kind, start: at, end, run: end })
}

/// Where the words of one name end that begins at `start`.
fn run_end(text: &str, tokens: &[Token], labels: &Labels, start: usize) -> usize {
    let label = labels.best[start];
    let (kind, _) = KINDS[usize::from(label) - 1];
    // A tab stands between the cells of a table, spaces between the fields of a form.
    let is_cell = |token: &Token| {
        let before = &text[..token.start];
        let field = || before.ends_with("  ") && !token.flags.any(Flags::PERSON);
        kind == Kind::Person && token.gap == Gap::Spaces && (before.ends_with('\t') || field())
    };
    let run = |mut end: usize| {
        while end < tokens.len()
            && labels.best[end] == label
            && joins(kind, tokens[end].gap)
            && !is_cell(&tokens[end])
        {
            end += 1;
        }
        end
    };
    let end = run(start + 1);
    // `Okafor, Amara`
    let reversed = kind == Kind::Person
        && end - start <= 3
        && tokens.get(end).is_some_and(|next| {
            next.gap == Gap::Comma && labels.best[end] == label && next.flags.any(Flags::FIRST)
        })
        && !tokens[start..end]
            .iter()
            .any(|token| token.flags.any(Flags::FIRST) && !token.flags.any(Flags::LAST));
    if reversed { run(end + 1) } else { end }
}

/// The words of the name in `tokens[start..end]`, all of one label, where the model is sure enough.
fn labelled(
    text: &str,
    window: &Window<'_>,
    labels: &Labels,
    thresholds: &Thresholds,
    kinds: Kinds,
    (start, end): (usize, usize),
) -> Option<(usize, usize)> {
    let tokens = window.tokens;
    let label = usize::from(labels.best[start]);
    let (kind, _) = KINDS[label - 1];
    let margin: i32 = labels.margin[start..end].iter().sum();
    let name = trimmed(kind, &tokens[start..end]);
    let threshold = i32::from(thresholds[window.region as usize][label]) + doubt(kind, name);
    let before = start.checked_sub(1).map(|i| &tokens[i]);
    if kind == Kind::Person && is_noun(text, name, before, tokens.get(end)) {
        return None;
    }
    let (first, last) = (name.first()?, name.last()?);
    let accepted = margin > threshold
        && kinds.contains(kind)
        && acceptable(kind, name, before, window.region)
        && !(kind == Kind::Person && is_thing(name, before))
        && !is_attribution(text, first, last, kind, window.region);
    accepted.then_some((end - name.len(), end))
}

/// Where the name that begins at `tokens[start]` begins with its particles: `van den`, `bin`.
fn with_particles(text: &str, tokens: &[Token], start: usize) -> usize {
    const MOST: usize = 3;
    let particle =
        |i: usize| tokens[i].flags.any(Flags::PARTICLE) && matches!(tokens[i + 1].gap, Gap::Space);
    let mut begin = start;
    // `S. Hansen`, where the initial begins a line.
    let initial = |i: usize| {
        tokens[i].shape == Shape::Initial && matches!(tokens[i + 1].gap, Gap::Stop | Gap::Dot)
    };
    if begin > 0 && initial(begin - 1) {
        return begin - 1;
    }
    while begin > 0 && start - begin < MOST && particle(begin - 1) {
        begin -= 1;
    }
    let noble = |token: &Token| {
        matches!(
            &text[token.start..token.end],
            "van"
                | "Van"
                | "von"
                | "Von"
                | "bin"
                | "bint"
                | "binte"
                | "binti"
                | "ibn"
                | "ter"
                | "ten"
                | "af"
                | "dos"
                | "della"
                | "degli"
                | "vom"
                | "zu"
        )
    };
    let titled = is_titled(begin.checked_sub(1).map(|i| &tokens[i]));
    if titled {
        return begin;
    }
    (begin..start).find(|i| noble(&tokens[*i])).unwrap_or(start)
}

/// Whether the one word of a name is rather a noun: unknown, behind an article (`der Bäcker`), or where a
/// sentence begins that goes on in small letters (`Grievance raised by`); or letters that stand for
/// words.
fn is_noun(text: &str, name: &[Token], before: Option<&Token>, next: Option<&Token>) -> bool {
    const ARTICLES: [&str; 34] = [
        "der", "die", "das", "den", "dem", "des", "ein", "eine", "einen", "einem", "einer",
        "eines", "im", "am", "zum", "zur", "vom", "beim", "mein", "meine", "meinen", "meinem",
        "meiner", "keine", "le", "la", "les", "un", "une", "el", "los", "las", "una", "the",
    ];
    if name.iter().all(|token| token.shape == Shape::Initial) {
        return true;
    }
    let [word] = name else { return false };
    if word.flags.any(Flags::PERSON) || is_titled(before) {
        return false;
    }
    let article = before.is_some_and(|before| {
        let said = &text[before.start..before.end];
        word.gap == Gap::Space && ARTICLES.iter().any(|article| article.eq_ignore_ascii_case(said))
    });
    let sentence = word.gap.begins()
        && word.flags.any(Flags::ORDINARY)
        && next.is_some_and(|next| next.gap == Gap::Space && next.shape == Shape::Lower);
    article || sentence
}

/// Whether the last word of a name is a thing's, or `name` stands before what may be anything's.
fn is_thing(name: &[Token], before: Option<&Token>) -> bool {
    let Some((last, rest)) = name.split_last() else { return false };
    let plain = Flags::ORDINARY.with(Flags::TECHNICAL);
    let is_plain = |word: &Token| {
        word.flags.any(plain) && !word.flags.any(Flags::PERSON.with(Flags::PARTICLE))
    };
    let is_told = is_titled(before) || matches!(name[0].key, Key::PersonName | Key::Person);
    // `James Brown`, `Grey`
    let is_family = last.flags.any(Flags::LAST)
        && (rest.is_empty() || rest.iter().any(|word| word.flags.any(Flags::FIRST)));
    !is_told
        && (things::is_thing_hash(last.hash) && !is_family
            || name[0].key == Key::Name && !rest.is_empty() && name.iter().any(is_plain))
}

/// How much surer the model has to be of a single word that is no known name, or that is more often
/// something else: `Ruby`, `June`.
fn doubt(kind: Kind, name: &[Token]) -> i32 {
    match (kind, name) {
        (Kind::Person, [word]) if word.flags.any(Flags::TECHNICAL) => 400,
        (Kind::Person, [word]) if !word.flags.any(Flags::PERSON) => 200,
        // `Mark all as read`
        (Kind::Person, [word]) if word.flags.any(Flags::ORDINARY) && word.gap.begins() => 300,
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
    let next = text.as_bytes().get(last.end);
    // `24157 Bergamo (BG)`
    let province = last.gap == Gap::Open && last.shape == Shape::Upper && next == Some(&b')');
    last.end + usize::from(abbreviated && next == Some(&b'.') || province)
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
            let keyed =
                matches!(name[0].key, Key::PersonName | Key::Person | Key::Party | Key::Name);
            let plain = Flags::ORDINARY.with(Flags::TECHNICAL).with(Flags::PLACES);
            let (given, family) = (any(Flags::FIRST), any(Flags::LAST));
            let known =
                |token: &Token| token.flags.any(Flags::PERSON) && !token.flags.any(Flags::ORDINARY);
            given && family && name.iter().all(known)
                || keyed && !name.iter().all(|token| token.flags.any(plain))
                || name[0].shape == Shape::Initial && any(Flags::LAST) && !any(Flags::PLACES)
                || name[0].flags.any(Flags::FIRST)
                    && name[1..]
                        .iter()
                        .filter(|token| token.shape != Shape::Initial)
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
                && name.iter().any(|token| !token.shape.is_number())
                && if code {
                    numbers && (street || name[0].key == Key::Address)
                } else {
                    numbers || street
                }
        }
        Kind::Location if code => name[0].key == Key::Place && any(Flags::PLACES),
        Kind::Organization if code => {
            name[0].key == Key::Organization && (name.len() > 1 || name[0].shape != Shape::Upper)
        }
        // `Split the bill`, `Region: …`
        Kind::Location | Kind::Organization
            if name.len() == 1
                && (name[0].flags.any(Flags::COMMON)
                    || name[0].flags.any(Flags::ORDINARY) && name[0].gap.begins()) =>
        {
            false
        }
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

/// Whether what stands before the name from `start` to `end` on its line tells who made something.
pub(super) fn credits(text: &str, start: usize, end: usize) -> bool {
    const LOOK_BACK: usize = 80;
    let bytes = text.as_bytes();
    let before = &bytes[start.saturating_sub(LOOK_BACK)..start];
    let line = start - before.len() + memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
    ATTRIBUTION.as_ref().is_some_and(|words| {
        let mut found = words.find_overlapping_iter(&bytes[line..end]);
        found.any(|word| {
            !matches!(ATTRIBUTIONS[word.pattern().as_usize()].1, Attribution::InComments)
        })
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
        ("contribut", InComments),
        ("thanks to", InCode),
        ("algorithm", InCode),
        ("et al", InCode),
        (" ported", InCode),
        ("__author__", InCode),
        (":author", InCode),
        ("authors", InComments),
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
        Key::PersonName | Key::Person => true,
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
