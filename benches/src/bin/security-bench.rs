//! What the security filter costs on its own, in CPU time of one core; as JSON on standard output.
//!
//! Every figure is the lowest of several rounds, as whatever else runs on the machine only ever
//! adds. `cargo xtask bench security` runs this and shows the figures beside their targets.
#![expect(clippy::print_stdout, reason = "this is what it is for")]

use std::fs;
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context;
use clap::{Parser, Subcommand};
use serde_json::{Value, json};
use sluice_bench::prompt::Size;
use sluice_bench::texts::{Text, Worst, ordinary, pieces};
use sluice_core::event::Delta;
use sluice_core::json::{JsonText, RawJson};
use sluice_core::level::SecurityLevel;
use sluice_core::sealed::SealedPlaces;
use sluice_core::source::{Dialect, Source, SourceMember};
use sluice_security::answer::{AnswerGuard, GuardParts};
use sluice_security::injection::{self, Origin};
use sluice_security::kind::Kind;
use sluice_security::level::{Action, InjectionAction, Rules, UnreadableAction};
use sluice_security::map::RedactionMap;
use sluice_security::placeholder::PlaceholderKey;
use sluice_security::request::{Filter, FilterSettings, Subject};
use sluice_security::restore::{Restorer, Surrounding};
use sluice_security::scan::{Scanner, ScannerSettings};

/// As in the gateway.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// Bytes of each ordinary text.
const ORDINARY_BYTES: usize = 2_000_000;
/// Bytes of a message in the measurement of short texts.
const SHORT_BYTES: usize = 1000;
/// Bytes of a request.
const REQUEST_BYTES: usize = 100_000;
/// Bytes of what an agent loop sends again and again.
const LOOP_BYTES: usize = 150_000;
/// How many of its turns are measured in a round.
const LOOP_TURNS: usize = 100;
/// Bytes of a message of a request.
const MESSAGE_BYTES: usize = 2000;
/// Bytes of a chunk of a streamed answer.
const CHUNK_BYTES: usize = 4;
/// A worst text that takes so many times the usual time per byte is not tried at a larger size.
const HOPELESS_RATIO: f64 = 200.0;

/// The reader of answers.
const ANSWER: &str = "answer";
/// What the analysis of answers alone stops at: links, commands, calls that send something.
const WORST_ANSWERS: &[(&str, &str)] = &[
    ("links", "https://a.io/ "),
    ("link with a value", "https://a.io/?d=q8Zt5LmX2vBn7RwK9cYp "),
    ("https:", "https:"),
    ("www.", "www."),
    ("](//", "](//"),
    ("commands", "curl "),
    ("commands with a host", "curl a.io "),
    ("commands over lines", "curl \\\n"),
    ("calls over lines", "fetch(https://a.io/x\n"),
    ("open brackets", "(\n"),
    ("members with a URL", "{\"url\":\"https://a.io\"}"),
    ("harm", "rm -rf / "),
    ("functions", "(){"),
    ("eval(", "eval("),
    ("dup2(", "dup2("),
    ("base64 -d|", "base64 -d|"),
    ("-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----"),
];

#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    what: What,
    /// Rounds; the lowest figure counts.
    #[arg(long, default_value_t = 5, global = true)]
    rounds: u32,
    /// CPU seconds that a measurement takes at least.
    #[arg(long, default_value_t = 0.2, global = true)]
    seconds: f64,
}

#[derive(Subcommand)]
enum What {
    /// Megabytes a second of scanning, by level and text.
    Scan {
        /// A folder with labelled data, whose harmless files are measured, too.
        #[arg(long)]
        data: Option<PathBuf>,
    },
    /// The worst texts' time per byte beside that of ordinary ones.
    Worst {
        /// Bytes of each of the worst texts.
        #[arg(long, default_value_t = 10_000_000)]
        bytes: usize,
        /// Only the texts whose names contain this.
        #[arg(long, default_value = "")]
        text: String,
        /// Only this reader: standard, high, maximum, request, answer.
        #[arg(long)]
        reader: Option<String>,
    },
    /// Nanoseconds that analysing and restoring costs a chunk of a streamed answer.
    Stream,
    /// What filtering a whole request costs, and what a further turn of a conversation does.
    Request,
    /// Filters the turns of a conversation and measures nothing, for programs that count instructions.
    Turns {
        /// The level: standard, high, maximum.
        level: String,
        /// How many values are in the conversation.
        #[arg(long, default_value_t = 0)]
        values: usize,
    },
    /// Scans one text a number of times and measures nothing, for programs that count instructions.
    Passes {
        /// The text: code, prose, json, the name of one of the worst, or `prompt` for the large request
        /// that the whole gateway is measured with.
        text: String,
        /// The level: standard, high, maximum.
        level: String,
        /// How often to scan it.
        passes: u32,
        /// Its size.
        #[arg(long, default_value_t = 1_000_000)]
        bytes: usize,
        /// Filter a request with that text instead of scanning the text alone.
        #[arg(long)]
        request: bool,
    },
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let scanner = Scanner::new(&ScannerSettings::default())?;
    let bench = Bench { scanner, rounds: arguments.rounds, seconds: arguments.seconds };
    let measured = match &arguments.what {
        What::Scan { data } => bench.scan(data.as_deref())?,
        What::Worst { bytes, text, reader } => bench.worst(*bytes, text, reader.as_deref())?,
        What::Stream => bench.stream()?,
        What::Request => bench.request()?,
        What::Turns { level, values } => {
            let level = SecurityLevel::parse(level).context("no such level")?;
            let subject = subject("bench", level);
            let requests = turns(*values)?;
            for _ in 0..arguments.rounds {
                let filter = Filter::new(&FilterSettings::default(), [7; 32])?;
                for (source, _) in &requests {
                    black_box(filter.request(black_box(source), &subject).is_ok());
                }
            }
            return Ok(());
        }
        What::Passes { text, level, passes, bytes, request } => {
            return bench.passes(text, level, *passes, *bytes, *request);
        }
    };
    println!("{measured}");
    Ok(())
}

/// Something that reads a text.
type Reader<'b> = Box<dyn Fn(&str) + 'b>;
/// Makes a text of so many bytes.
type WorstText = Box<dyn Fn(usize) -> String>;

struct Bench {
    scanner: Scanner,
    rounds: u32,
    seconds: f64,
}

/// An account's requests at a level, of which no value is sealed.
fn subject(account: &str, level: SecurityLevel) -> Subject<'_> {
    Subject { account, level, zero_retention: false, sealed: SealedPlaces::NONE }
}

impl Bench {
    fn scan(&self, data: Option<&Path>) -> anyhow::Result<Value> {
        let mut texts = Vec::from(ordinary(ORDINARY_BYTES));
        if let Some(text) = data.map(harmless_files).transpose()?.flatten() {
            texts.push(text);
        }
        let mut figures = Vec::new();
        for level in SecurityLevel::ALL {
            let kinds = Rules::of(level).redact;
            for text in &texts {
                let seconds =
                    self.lowest(|| _ = black_box(self.scanner.scan(&text.text, kinds)))?;
                let found = self.scanner.scan(&text.text, kinds).len();
                figures.push(figure(text.name, level, text.text.len(), seconds, found));
            }
            let [code, ..] = &texts[..] else { continue };
            let messages = pieces(&code.text, SHORT_BYTES);
            let all = || {
                for message in &messages {
                    black_box(self.scanner.scan(message, kinds));
                }
            };
            let bytes = messages.iter().map(|message| message.len()).sum();
            figures.push(figure("code in messages of 1 KB", level, bytes, self.lowest(all)?, 0));
        }
        Ok(json!({ "scan": figures }))
    }

    fn worst(&self, bytes: usize, name: &str, reader: Option<&str>) -> anyhow::Result<Value> {
        let mut figures = Vec::new();
        for (what, work) in self.readers()? {
            if reader.is_some_and(|reader| reader != what) {
                continue;
            }
            let mut reference = 0.0;
            let usual = ordinary(ORDINARY_BYTES);
            for text in &usual {
                let seconds = self.lowest(|| work(&text.text))?;
                reference += seconds * 1e9 / text.text.len() as f64 / usual.len() as f64;
            }
            let mut texts: Vec<(&str, WorstText)> = Vec::new();
            for worst in Worst::all() {
                texts.push((worst.name, Box::new(move |size| worst.text(size))));
            }
            if what == ANSWER {
                for &(name, unit) in WORST_ANSWERS {
                    texts.push((name, Box::new(move |size| unit.repeat(size / unit.len()))));
                }
            }
            for (input, text) in texts.into_iter().filter(|(input, _)| input.contains(name)) {
                // From small to large: a text whose cost grows faster than its length is told
                // before it takes hours.
                for size in [bytes / 100, bytes / 10, bytes] {
                    let text = text(size);
                    let run = || self.once(|| work(&text));
                    let Ok(seconds) = catch_unwind(AssertUnwindSafe(run)) else {
                        figures.push(json!({ "input": input, "what": what, "panicked": true }));
                        break;
                    };
                    let nanoseconds = seconds? * 1e9 / text.len() as f64;
                    let ratio = nanoseconds / reference;
                    if size == bytes || ratio > HOPELESS_RATIO {
                        figures.push(json!({
                            "input": input, "what": what, "bytes": text.len(), "ratio": ratio,
                            "ns_per_byte": nanoseconds,
                        }));
                        break;
                    }
                }
            }
        }
        Ok(json!({ "worst": figures }))
    }

    /// All that reads a text: scanning at each level, a request with that text, an answer with it.
    fn readers(&self) -> anyhow::Result<Vec<(&'static str, Reader<'_>)>> {
        let mut readers: Vec<(&str, Reader<'_>)> = Vec::new();
        for level in SecurityLevel::ALL {
            let kinds = Rules::of(level).redact;
            let scan = move |text: &str| _ = black_box(self.scanner.scan(text, kinds));
            readers.push((level.as_str(), Box::new(scan)));
        }
        // The strictest level, which reads most; but nothing is refused unread.
        let strict = Rules {
            injection: InjectionAction::Flag,
            unreadable: UnreadableAction::Flag,
            answer: Action::Withhold,
            ..Rules::of(SecurityLevel::Maximum)
        };
        let settings =
            FilterSettings { cache_bytes: 0, rules: [strict; 3], ..FilterSettings::default() };
        let filter = Filter::new(&settings, [7; 32])?;
        readers.push((
            "request",
            Box::new(move |text| {
                let subject = Subject {
                    account: "bench",
                    level: SecurityLevel::Maximum,
                    zero_retention: true,
                    sealed: SealedPlaces::NONE,
                };
                if let Ok(source) = request(&[text]) {
                    black_box(filter.request(&source, &subject).is_ok());
                }
            }),
        ));
        let mut map = RedactionMap::default();
        let key = PlaceholderKey::new(&[7; 32], "bench");
        map.placeholder(&key, Kind::Email, "ada@busy-mill.org", |_| false);
        let parts = GuardParts {
            scanner: Arc::new(Scanner::new(&ScannerSettings::default())?),
            map: Arc::new(map),
            rules: strict,
            request: request(&["some words of a request. ".repeat(2000).as_str()])?.members,
            suspect: false,
        };
        readers.push((
            ANSWER,
            Box::new(move |text| {
                let mut guard = AnswerGuard::new(parts.clone());
                let mut out = Vec::new();
                for chunk in pieces(text, SHORT_BYTES) {
                    guard.delta(said(chunk), &mut out);
                    out.clear();
                }
                guard.finish(&mut out);
            }),
        ));
        Ok(readers)
    }

    fn stream(&self) -> anyhow::Result<Value> {
        let [code, prose, _] = ordinary(100_000);
        let key = PlaceholderKey::new(&[7; 32], "bench");
        let scanner = Arc::new(Scanner::new(&ScannerSettings::default())?);
        let mut figures = Vec::new();
        for values in [0, 1, 10, 1000] {
            let mut map = RedactionMap::default();
            let words: Vec<String> = (0..values)
                .map(|i| {
                    let value = format!("person{i}@example-mail.test");
                    map.placeholder(&key, Kind::Email, &value, |_| false).to_owned()
                })
                .collect();
            let map = Arc::new(map);
            for text in [&code, &prose] {
                // A token is about four characters of prose, and a placeholder comes now and then.
                let mut chunks = Vec::new();
                for (i, chunk) in pieces(&text.text, CHUNK_BYTES).into_iter().enumerate() {
                    chunks.push(chunk);
                    if i % 200 == 199 && !words.is_empty() {
                        chunks.extend(pieces(&words[i % words.len()], CHUNK_BYTES));
                    }
                }
                let per_chunk = |work: &dyn Fn()| -> anyhow::Result<f64> {
                    Ok(self.lowest(work)? * 1e9 / chunks.len() as f64)
                };
                let restoring = per_chunk(&|| {
                    let mut restorer = Restorer::new(Arc::clone(&map), Surrounding::Text);
                    let mut out = String::new();
                    for chunk in &chunks {
                        out.clear();
                        restorer.push(chunk, &mut out);
                        black_box(&out);
                    }
                })?;
                let deltas: Vec<Delta> = chunks.iter().map(|chunk| said(chunk)).collect();
                let request = request(&["Read https://docs.example/guide and go on."])?.members;
                let mut guarding = Vec::new();
                for level in SecurityLevel::ALL {
                    let parts = GuardParts {
                        scanner: Arc::clone(&scanner),
                        map: Arc::clone(&map),
                        rules: Rules::of(level),
                        request: request.clone(),
                        suspect: false,
                    };
                    guarding.push(per_chunk(&|| {
                        let mut guard = AnswerGuard::new(parts.clone());
                        let mut out = Vec::new();
                        for delta in &deltas {
                            out.clear();
                            guard.delta(delta.clone(), &mut out);
                            black_box(&out);
                        }
                        guard.finish(&mut out);
                    })?);
                }
                figures.push(json!({
                    "values": values, "text": text.name, "restoring_ns": restoring,
                    "standard_ns": guarding[0], "high_ns": guarding[1], "maximum_ns": guarding[2],
                }));
            }
        }
        Ok(json!({ "stream": figures }))
    }

    fn request(&self) -> anyhow::Result<Value> {
        let (mut whole, mut turns, mut scores) = (Vec::new(), Vec::new(), Vec::new());
        for text in ordinary(REQUEST_BYTES) {
            let messages = pieces(&text.text, MESSAGE_BYTES);
            let seconds = self.lowest(|| {
                for message in &messages {
                    black_box(injection::score(message, Origin::User));
                }
            })?;
            let per_kb = seconds * 1e6 / (text.text.len() as f64 / 1e3);
            scores.push(json!({ "text": text.name, "us_per_kb": per_kb }));
        }
        for level in SecurityLevel::ALL {
            let settings = FilterSettings { cache_bytes: 0, ..FilterSettings::default() };
            let forgetful = Filter::new(&settings, [7; 32])?;
            let subject = subject("bench", level);
            for text in ordinary(REQUEST_BYTES) {
                let source = request(&pieces(&text.text, MESSAGE_BYTES))?;
                let work = || _ = black_box(forgetful.request(&source, &subject));
                let seconds = self.lowest(work)?;
                whole.push(figure(text.name, level, source.body_bytes, seconds, 0));
            }
            for values in [0, 10] {
                turns.push(self.turn(&subject, values)?);
            }
        }
        Ok(json!({ "score": scores, "request": whole, "turn": turns }))
    }

    /// A turn of an agent loop: a request of which all is known but the last message.
    fn turn(&self, subject: &Subject<'_>, values: usize) -> anyhow::Result<Value> {
        let requests = turns(values)?;
        let kinds = Rules::of(subject.level).redact;
        let (mut turn, mut cold, mut scan) = (f64::INFINITY, f64::INFINITY, f64::INFINITY);
        let mut first = f64::INFINITY;
        let settings = FilterSettings { cache_bytes: 0, ..FilterSettings::default() };
        let forgetful = Filter::new(&settings, [7; 32])?;
        for _ in 0..self.rounds {
            let filter = Filter::new(&FilterSettings::default(), [7; 32])?;
            for (i, (source, new)) in requests.iter().enumerate() {
                // A body that was read just now is in the processor's caches.
                let members = source.members.iter().map(|member| member.value.as_str());
                black_box(members.flat_map(str::bytes).fold(0, u8::wrapping_add));
                // Too short for the clock of CPU time: the lowest of many is what it costs.
                let begin = Instant::now();
                black_box(filter.request(source, subject).is_ok());
                let seconds = begin.elapsed().as_secs_f64();
                if i == 0 {
                    cold = cold.min(seconds);
                } else {
                    turn = turn.min(seconds);
                }
                let begin = Instant::now();
                black_box(self.scanner.scan(new, kinds));
                scan = scan.min(begin.elapsed().as_secs_f64());
                let alone = request(&[new])?;
                let begin = Instant::now();
                black_box(forgetful.request(&alone, subject).is_ok());
                first = first.min(begin.elapsed().as_secs_f64());
            }
        }
        // What is hashed is JSON, which is longer than what it says; the new text is short.
        let rest = requests[0].0.members.last().map_or("", |messages| messages.value.as_str());
        let hash = self.lowest(|| _ = black_box(blake3::keyed_hash(&[7; 32], rest.as_bytes())))?;
        Ok(json!({
            "level": subject.level.as_str(),
            "values": values,
            "cold_us": cold * 1e6,
            "turn_us": turn * 1e6,
            "scan_of_new_text_us": scan * 1e6,
            "new_text_alone_us": first * 1e6,
            "hash_of_the_rest_us": hash * 1e6,
        }))
    }

    fn passes(
        &self,
        text: &str,
        level: &str,
        passes: u32,
        bytes: usize,
        is_request: bool,
    ) -> anyhow::Result<()> {
        let level = SecurityLevel::parse(level).context("no such level")?;
        let (text, source) = if text == "prompt" {
            let messages = Size::Large.messages();
            (messages.to_string(), with_messages(&messages)?)
        } else {
            let usual = ordinary(bytes).into_iter().find(|one| one.name == text);
            let worst = || Worst::all().into_iter().find(|one| one.name == text);
            let text = match usual {
                Some(text) => text.text,
                None => worst().context("no such text")?.text(bytes),
            };
            let source = request(&pieces(&text, MESSAGE_BYTES))?;
            (text, source)
        };
        let filter = Filter::new(&FilterSettings::default(), [7; 32])?;
        for pass in 0..passes {
            if is_request {
                // What is remembered is an account's own: each pass is the first of one.
                let account = pass.to_string();
                let subject = subject(&account, level);
                black_box(filter.request(black_box(&source), &subject).is_ok());
            } else {
                black_box(self.scanner.scan(black_box(&text), Rules::of(level).redact));
            }
        }
        println!("{}", text.len());
        Ok(())
    }

    /// The lowest CPU time of one run of `work`, in seconds, over all rounds.
    fn lowest(&self, work: impl Fn()) -> anyhow::Result<f64> {
        let mut lowest = f64::INFINITY;
        for _ in 0..self.rounds {
            lowest = lowest.min(repeated(self.seconds, &work)?);
        }
        Ok(lowest)
    }

    /// The CPU time of one run of `work`, in seconds: of as few as fill a tick of the clock some
    /// times over. There are hundreds of worst texts and readers, and what matters is whether one
    /// takes ten times as long as another.
    fn once(&self, work: impl Fn()) -> anyhow::Result<f64> {
        repeated(self.seconds / 8.0, &work)
    }
}

/// The turns of an agent loop, each a request of which all is known but the last message, and that
/// message. So many values are in the rest.
fn turns(values: usize) -> anyhow::Result<Vec<(Source, String)>> {
    let [code, ..] = ordinary(LOOP_BYTES);
    let mut messages: Vec<String> =
        pieces(&code.text, MESSAGE_BYTES).into_iter().map(str::to_owned).collect();
    for i in 0..values {
        let at = i * messages.len() / values;
        messages[at].push_str(&format!("\nmaintainer: person{i}@busy-mill.org\n"));
    }
    let [further, ..] = ordinary(MESSAGE_BYTES * LOOP_TURNS);
    let further = pieces(&further.text, MESSAGE_BYTES).into_iter().take(LOOP_TURNS).enumerate();
    let turn = |(i, new)| {
        let new = format!("turn {i}: {new}");
        let all: Vec<&str> = messages.iter().chain([&new]).map(String::as_str).collect();
        Ok((request(&all)?, new))
    };
    further.map(turn).collect()
}

/// A step of a stream that says `text`.
fn said(text: &str) -> Delta {
    Delta { content: Some(JsonText::plain(text)), ..Delta::default() }
}

/// A request whose messages say `messages`.
fn request(messages: &[&str]) -> anyhow::Result<Source> {
    let roles = ["user", "assistant"].iter().cycle();
    let message = |(content, role): (&&str, &&str)| json!({ "role": role, "content": content });
    with_messages(&messages.iter().zip(roles).map(message).collect())
}

/// A request with these messages.
fn with_messages(messages: &Value) -> anyhow::Result<Source> {
    let members = vec![
        SourceMember { name: "model".into(), value: RawJson::from_value(&"bench")? },
        SourceMember { name: "messages".into(), value: RawJson::from_value(messages)? },
    ];
    let body_bytes = members.iter().map(|member| member.value.as_str().len()).sum();
    Ok(Source { dialect: Dialect::OpenAiChat, members, body_bytes, reader: |_| None })
}

/// The CPU time of one run of `work` in seconds: the mean of as many as fill `at_least` seconds.
fn repeated(at_least: f64, work: &impl Fn()) -> anyhow::Result<f64> {
    let (begin, before) = (Instant::now(), cpu_seconds()?);
    let mut runs = 0_u32;
    while runs == 0 || begin.elapsed().as_secs_f64() < at_least {
        work();
        runs += 1;
    }
    Ok((cpu_seconds()? - before) / f64::from(runs))
}

/// CPU time of this thread so far.
///
/// Linux brings it up to date at every tick of its clock, so that it takes some hundred of them to
/// measure to a percent.
fn cpu_seconds() -> anyhow::Result<f64> {
    let stat = fs::read_to_string("/proc/thread-self/schedstat")?;
    let nanoseconds = stat.split_whitespace().next().context("an empty schedstat")?;
    Ok(nanoseconds.parse::<f64>()? / 1e9)
}

fn figure(text: &str, level: SecurityLevel, bytes: usize, seconds: f64, found: usize) -> Value {
    json!({
        "text": text,
        "level": level.as_str(),
        "mb_per_second": bytes as f64 / 1e6 / seconds,
        "us_per_kb": seconds * 1e6 / (bytes as f64 / 1e3),
        "found_per_mb": found as f64 * 1e6 / bytes as f64,
    })
}

/// The harmless source files of the labelled data, as one text; None where there are none.
fn harmless_files(folder: &Path) -> anyhow::Result<Option<Text>> {
    let file = folder.join("benign_code_dev.jsonl");
    if !file.exists() {
        return Ok(None);
    }
    let mut text = String::new();
    for line in fs::read_to_string(&file)?.lines() {
        let row: Value = serde_json::from_str(line)?;
        if row["class"] == "clean" {
            text.push_str(row["text"].as_str().unwrap_or_default());
            text.push('\n');
        }
    }
    Ok(Some(Text { name: "real source files", text }))
}
