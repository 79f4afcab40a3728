//! Probes: secrets of many shapes in grammars that the labelled data does not have, and things in
//! the same places that are none: variables, calls, words that stand for a value.
//!
//! They are made here, and nobody tunes a detector to them: what is right on the labelled data and
//! wrong here was learnt by heart.

use anyhow::Result;

use super::Judge;
use super::numbers::{DIGITS, HEX, LOWER, MIXED, Numbers, UPPER};
use super::report::{Report, Target, excerpt};
use super::score::{Coverage, Grouped, coverage};
use super::secrets::first_of_each;

/// Grammars: a name, what fits in (`password`, `token` or `any`), and a text with a `{}`.
const CONTEXTS: &str = include_str!("texts/contexts.txt");
/// What is written where a secret would be, a line each.
const NO_SECRETS: &str = include_str!("texts/no_secrets.txt");

/// How often each context is filled with each shape.
const TIMES: usize = 3;

struct Context {
    name: &'static str,
    fits: &'static str,
    text: &'static str,
}

fn contexts() -> impl Iterator<Item = Context> {
    CONTEXTS.split("\n---\n").filter_map(|context| {
        let (head, text) = context.split_once('\n')?;
        let (name, fits) = head.split_once(" | ")?;
        Some(Context { name, fits, text: text.trim_end() })
    })
}

/// Judges the detectors of secrets on the probes.
pub(super) fn judge(judge: &Judge<'_>, report: &mut Report) -> Result<()> {
    let (mut recall, mut altered) = (Grouped::default(), Grouped::default());
    let (mut missed, mut wrong) = (Vec::new(), Vec::new());
    for (index, &level) in judge.levels.iter().enumerate() {
        let mut numbers = Numbers::new(11);
        for context in contexts() {
            for (shape, fits, make) in SHAPES {
                if context.fits != "any" && context.fits != *fits {
                    continue;
                }
                for _ in 0..TIMES {
                    let value = make(&mut numbers);
                    let (text, range) = filled(&context, &value);
                    let findings = judge.scan(&text, level);
                    let is_whole = coverage(&text, &range, &findings, |_| true) == Coverage::Whole;
                    recall.add("all", index, is_whole);
                    recall.add(&format!("context: {}", context.name), index, is_whole);
                    recall.add(&format!("shape: {shape}"), index, is_whole);
                    if !is_whole && index == 0 {
                        let example = format!("{shape}: {}", excerpt(&text, &range, false));
                        missed.push((context.name.to_owned(), example));
                    }
                }
            }
            for value in NO_SECRETS.lines() {
                let (text, range) = filled(&context, value);
                let findings = judge.scan(&text, level);
                let is_altered = coverage(&text, &range, &findings, |_| true) != Coverage::None;
                altered.add("all", index, is_altered);
                altered.add(value, index, is_altered);
                if is_altered && index == 0 {
                    let example = excerpt(&text, &range, false);
                    wrong.push((value.to_owned(), format!("{}: {example}", context.name)));
                }
            }
        }
    }
    let least = [0.98, 0.98, 0.99].map(Target::AtLeast);
    report.figures("secrets recall, probes", |level| recall.ratio("all", level), least);
    let none = [Target::Open; 3];
    report.figures("probes without a secret altered", |level| altered.ratio("all", level), none);
    let is_incomplete = |ratios: &Grouped, name: &str, wanted: bool| {
        let ratio = ratios.ratio(name, 0);
        name != "all" && (judge.arguments.verbose || (ratio.hits == ratio.of) != wanted)
    };
    let title = "Probes: recall by context and shape, where not all is found";
    report.grouped(title, "probe", &recall, |name| is_incomplete(&recall, name, true));
    let title = "Probes without a secret that are altered";
    let is_altered = |name: &str| name != "all" && altered.ratio(name, 0).hits > 0;
    report.grouped(title, "value", &altered, is_altered);
    report.examples("Probes missed", first_of_each(missed, judge.arguments.misses));
    report.examples("Probes found wrongly", first_of_each(wrong, judge.arguments.misses));
    Ok(())
}

/// A context's text with `value` in it, and where that is.
fn filled(context: &Context, value: &str) -> (String, std::ops::Range<usize>) {
    let at = context.text.find("{}").unwrap_or(0);
    (context.text.replacen("{}", value, 1), at..at + value.len())
}

/// A shape of secrets: its name, where it fits in, and how one is made.
type Shape = (&'static str, &'static str, fn(&mut Numbers) -> String);

/// Lengths and alphabets are those that the vendors document.
const SHAPES: &[Shape] = &[
    ("password, letters and digits", "password", |n| {
        format!("{}{}", n.letters(MIXED, 13), n.below(10))
    }),
    ("password with a sign", "password", |n| {
        format!("{}{}{}", n.letters(MIXED, 6), n.one_of(&["!", "#", "_", "-"]), n.letters(MIXED, 6))
    }),
    ("password of words", "password", |n| {
        let words = ["Falcon", "orchid", "Harbor", "winter", "Copper", "lantern"];
        let sign = n.one_of(&["-", "_", "!", ""]);
        format!("{}{sign}{}{}", n.one_of(&words), n.one_of(&words), n.below(9000) + 100)
    }),
    ("hexadecimal, 32", "token", |n| n.letters(HEX, 32)),
    ("hexadecimal, 64", "token", |n| n.letters(HEX, 64)),
    ("letters and digits, 40", "token", |n| n.letters(MIXED, 40)),
    ("base64, 44", "token", |n| format!("{}=", n.letters(MIXED, 43))),
    ("AWS access key id", "token", |n| format!("AKIA{}", n.letters(UPPER, 16))),
    ("GitHub", "token", |n| format!("ghp_{}", n.letters(MIXED, 36))),
    ("GitLab", "token", |n| format!("glpat-{}", n.letters(MIXED, 20))),
    ("Slack bot", "token", |n| {
        let (team, bot) = (n.letters(DIGITS, 12), n.letters(DIGITS, 12));
        format!("xoxb-{team}-{bot}-{}", n.letters(MIXED, 24))
    }),
    ("Stripe", "token", |n| format!("sk_live_{}", n.letters(MIXED, 24))),
    ("SendGrid", "token", |n| format!("SG.{}.{}", n.letters(MIXED, 22), n.letters(MIXED, 43))),
    ("Google API", "token", |n| format!("AIza{}", n.letters(MIXED, 35))),
    ("OpenAI project", "token", |n| format!("sk-proj-{}", n.letters(MIXED, 48))),
    ("npm", "token", |n| format!("npm_{}", n.letters(MIXED, 36))),
    ("Hugging Face", "token", |n| format!("hf_{}", n.letters(MIXED, 34))),
    ("DigitalOcean", "token", |n| format!("dop_v1_{}", n.letters(HEX, 64))),
    ("Shopify", "token", |n| format!("shpat_{}", n.letters(HEX, 32))),
    ("Grafana", "token", |n| format!("glsa_{}_{}", n.letters(MIXED, 32), n.letters(HEX, 8))),
    ("Linear", "token", |n| format!("lin_api_{}", n.letters(MIXED, 40))),
    ("Groq", "token", |n| format!("gsk_{}", n.letters(MIXED, 52))),
    ("Telegram", "token", |n| format!("{}:AA{}", n.letters(DIGITS, 10), n.letters(MIXED, 33))),
    ("JWT", "token", |n| {
        let (claims, signature) = (n.letters(MIXED, 60), n.letters(MIXED, 43));
        format!("eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJ{claims}.{signature}")
    }),
    ("name, unknown vendor", "token", |n| {
        format!("{}_{}", n.letters(LOWER, 4), n.letters(MIXED, 32))
    }),
];
