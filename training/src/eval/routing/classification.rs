//! Task type and complexity of prompts that the model has not seen: always by models from which
//! their author, source, subject, benchmark or fold was kept.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::Result;
use sluice_routing::task::{TASK_TYPES, TaskType};

use crate::routing::held::{self, Judged};
use crate::routing::measure::{self, Routed, mean};
use crate::routing::rows::{self, Example, Kind};

/// Prints a figure with its floor and its aim.
type Line = fn(&str, f64, (f64, f64));

/// Prints the tables.
pub(super) fn run(folder: &Path) -> Result<()> {
    let examples = rows::read(folder, Path::new("."))?.all;
    let field = field(&examples);
    println!("## Task type and complexity\n");
    println!("| figure | value | floor | aim |\n| --- | --- | --- | --- |");
    let line: Line = |what, value, (floor, aim)| {
        println!("| {what} | {value:.3} | {floor:.2} | {aim:.2} |");
    };
    outcomes(&examples, line);
    developers(&field, line);
    real(&examples, line);
    by_author(&examples, &field, line);
    paraphrases(&field, line);
    authors_table(&examples, &field);
    confusion(&field);
    calibration(&field);
    Ok(())
}

/// The project's prompts, each judged without its author.
fn field(examples: &[Example]) -> Vec<Judged<'_>> {
    let authors = held::authors(examples);
    let place = |example: &Example| {
        let own = example.kind == Kind::Field;
        own.then(|| authors.iter().position(|author| *author == example.source))?
    };
    held::judge(examples, authors.len(), place, |_, _| false)
}

/// The average performance gap recovered when questions are sent by `score`.
fn gap<'a>(judged: impl Iterator<Item = &'a Judged<'a>>, score: Score) -> f64 {
    let routed = judged.filter_map(|judged| {
        let (strong, weak) = judged.example.outcome?;
        Some(Routed { score: score(judged), strong, weak })
    });
    measure::performance_gap(routed.collect())
}

type Score = fn(&Judged<'_>) -> f32;

/// What questions are sent by: the router's complexity, and the baseline that it has to beat.
const SCORES: [(&str, Score); 2] = [
    ("", |judged| judged.complexity),
    (", by length alone", |judged| judged.example.size.log_length),
];

/// Questions of benchmarks, with what a strong and a weak model made of them.
fn outcomes(examples: &[Example], line: Line) {
    let is_of = |example: &Example, benchmark: &str| {
        example.kind == Kind::Outcome && example.source == benchmark
    };
    for (name, benchmark) in [("MMLU", "mmlu"), ("GSM8K", "pool/gsm8k")] {
        let fold = |e: &Example| is_of(e, benchmark).then_some(usize::from(e.fold));
        let judged = held::judge(examples, 5, fold, |_, _| false);
        for (by, score) in SCORES {
            let of_fold = |fold| gap(judged.iter().filter(|j| j.example.fold == fold), score);
            let value = mean(&(0..5).map(of_fold).collect::<Vec<_>>());
            line(&format!("APGR, {name}, mean of five folds{by}"), value, goal(name));
        }
    }
    let of_mmlu = examples.iter().filter(|example| is_of(example, "mmlu"));
    let subjects: BTreeSet<&str> = of_mmlu.map(|example| example.subject.as_str()).collect();
    let group = |example: &Example| {
        let place = subjects.iter().position(|subject| *subject == example.subject)?;
        is_of(example, "mmlu").then_some(place % GROUPS)
    };
    let judged = held::judge(examples, GROUPS, group, |_, _| false);
    for (by, score) in SCORES {
        let what = format!("APGR, MMLU, subjects that were left out{by}");
        line(&what, gap(judged.iter(), score), (0.66, 0.70));
    }
    let out = |example: &Example| is_of(example, "pool/gsm8k").then_some(0);
    let kin = |example: &Example, _| {
        example.source.ends_with("gsm8k") || example.source.ends_with("mgsm")
    };
    let judged = held::judge(examples, 1, out, kin);
    for (by, score) in SCORES {
        let what = format!("APGR, GSM8K, benchmark left out{by}");
        line(&what, gap(judged.iter(), score), goal("GSM8K"));
    }
}

/// Groups of subjects, each left out in turn.
const GROUPS: usize = 4;

fn goal(benchmark: &str) -> (f64, f64) {
    if benchmark == "MMLU" { (0.62, 0.65) } else { (0.60, 0.63) }
}

/// Easy and hard prompts of the project's authors.
fn developers(field: &[Judged<'_>], line: Line) {
    let of = |is: fn(u8) -> bool| -> Vec<(f32, (f32, &str))> {
        let chosen = field.iter().filter(|judged| judged.example.complexity.is_some_and(is));
        chosen
            .map(|judged| {
                (
                    judged.complexity,
                    (judged.example.size.log_length, judged.example.source.as_str()),
                )
            })
            .collect()
    };
    let (hard, easy) = (of(|c| c >= 4), of(|c| c == 1));
    let (all, _) = measure::ordered(&hard, &easy, |a, b| a.1 == b.1);
    let (matched, _) =
        measure::ordered(&hard, &easy, |a, b| a.1 == b.1 && (a.0 - b.0).abs() < 0.15);
    line("easy and hard prompts of one author in order, as they are", all, (0.95, 1.0));
    line("– of equal length (within a tenth)", matched, (0.70, 0.90));
}

/// Public real prompts, each judged without its source.
fn real(examples: &[Example], line: Line) {
    let sources = ["arena-hard-v0.1", "arena-hard-v2.0"];
    let place = |example: &Example| {
        (example.kind == Kind::Real).then(|| usize::from(example.source == sources[1]))
    };
    let judged = held::judge(examples, 2, place, |_, _| false);
    let fold =
        |example: &Example| (example.kind == Kind::Real).then_some(usize::from(example.fold));
    let by_fold = held::judge(examples, 5, fold, |_, _| false);
    let share = |kept: Vec<&Judged<'_>>| {
        let right = kept.iter().filter(|judged| judged.is_acceptable()).count();
        right as f64 / kept.len() as f64
    };
    line("real prompts, lenient accuracy, by fold", share(by_fold.iter().collect()), (0.74, 0.82));
    line(
        "real prompts, lenient accuracy, source left out",
        share(judged.iter().collect()),
        (0.74, 0.82),
    );
    for source in &sources {
        let part: Vec<_> =
            judged.iter().filter(|judged| judged.example.source == *source).collect();
        line(&format!("– {source}"), share(part), (0.74, 0.82));
    }
}

fn by_author(examples: &[Example], field: &[Judged<'_>], line: Line) {
    let (mut lenient, mut rank, mut f1) = (Vec::new(), Vec::new(), Vec::new());
    for author in held::authors(examples) {
        let (l, r, f) = author_figures(field, author);
        lenient.push(l);
        rank.push(r);
        f1.push(f);
        if author == "field-a" {
            line("field prompts of `field-a`: lenient accuracy", l, (0.62, 0.78));
            line("– rank correlation of complexity", r, (0.52, 0.65));
        }
    }
    line("authored prompts, macro-F1, author left out", mean(&f1), (0.78, 0.88));
    line("field prompts, lenient accuracy, author left out", mean(&lenient), (0.62, 0.78));
    line(
        "field prompts, rank correlation of complexity, author left out",
        mean(&rank),
        (0.52, 0.65),
    );
}

fn author_figures(field: &[Judged<'_>], author: &str) -> (f64, f64, f64) {
    let of: Vec<&Judged<'_>> =
        field.iter().filter(|judged| judged.example.source == author).collect();
    let right = of.iter().filter(|judged| judged.is_acceptable()).count();
    let ranks: Vec<_> =
        of.iter().map(|j| (j.complexity, f32::from(j.example.complexity.unwrap_or(3)))).collect();
    let tasks: Vec<_> =
        of.iter().filter_map(|j| Some((j.example.label?.index(), j.task().index()))).collect();
    let lenient = right as f64 / of.len() as f64;
    (lenient, measure::rank_correlation(&ranks), measure::macro_f1(&tasks, TASK_TYPES))
}

/// Prompts that mean the same, by pairs: on all of their authors, and on each one.
fn paraphrases(field: &[Judged<'_>], line: Line) {
    let grouped = || field.iter().filter(|judged| judged.example.group.is_some());
    let mut complexities: Vec<f32> = grouped().map(|judged| judged.complexity).collect();
    complexities.sort_by(f32::total_cmp);
    let part = |share: f64| {
        let place = (complexities.len() as f64 * share) as usize;
        complexities.get(place).copied().unwrap_or(0.5)
    };
    let mut groups: BTreeMap<(&str, u32), Vec<&Judged<'_>>> = BTreeMap::new();
    for judged in grouped() {
        let group = judged.example.group.unwrap_or_default();
        groups.entry((judged.example.source.as_str(), group)).or_default().push(judged);
    }
    let alike = |author: Option<&str>, same: &dyn Fn(&Judged<'_>, &Judged<'_>) -> bool| {
        let (mut pairs, mut alike) = (0.0, 0.0);
        let of = groups.iter().filter(|((by, _), _)| author.is_none_or(|author| author == *by));
        for (_, group) in of {
            for (i, a) in group.iter().enumerate() {
                for b in &group[..i] {
                    pairs += 1.0;
                    alike += f64::from(u8::from(same(a, b)));
                }
            }
        }
        alike / pairs
    };
    // Routers that save send the hardest quarter to the strong model; the median is the hardest
    // place to be steady at.
    for (name, share) in [("the median", 0.5), ("the upper quartile of", 0.75)] {
        let threshold = part(share);
        let same = |a: &Judged<'_>, b: &Judged<'_>| {
            (a.complexity < threshold) == (b.complexity < threshold)
        };
        let what = format!("pairs of paraphrases on one side of {name} complexity");
        line(&what, alike(None, &same), (0.90, 0.95));
    }
    let same = |a: &Judged<'_>, b: &Judged<'_>| a.task() == b.task();
    line("pairs of paraphrases of one task type", alike(None, &same), (0.75, 0.85));
    let authors: BTreeSet<&str> = groups.keys().map(|(author, _)| *author).collect();
    for author in authors {
        line(&format!("– {author}"), alike(Some(author), &same), (0.75, 0.85));
    }
}

fn authors_table(examples: &[Example], field: &[Judged<'_>]) {
    println!(
        "\n### By author, who was left out\n\n| author | lenient accuracy | macro-F1 | rank correlation |\n| --- | --- | --- | --- |"
    );
    for author in held::authors(examples) {
        let (lenient, rank, f1) = author_figures(field, author);
        println!("| {author} | {lenient:.3} | {f1:.3} | {rank:.3} |");
    }
}

fn confusion(field: &[Judged<'_>]) {
    let names: Vec<&str> = TaskType::ALL.into_iter().map(TaskType::as_str).collect();
    println!(
        "\n### Task types said (columns) of those that are (rows)\n\n| | {} |",
        names.join(" | ")
    );
    println!("|{}", " --- |".repeat(TASK_TYPES + 1));
    for task in TaskType::ALL {
        let of: Vec<_> = field.iter().filter(|j| j.example.label == Some(task)).collect();
        let cell = |said: TaskType| of.iter().filter(|j| j.task() == said).count().to_string();
        println!("| {} | {} |", task.as_str(), TaskType::ALL.map(cell).join(" | "));
    }
}

/// Whether probabilities are what they say.
fn calibration(field: &[Judged<'_>]) {
    println!(
        "\n### Calibration: the likeliest task type's probability\n\n| probability | prompts | mean | right | acceptable |\n| --- | --- | --- | --- | --- |"
    );
    let mut error = 0.0;
    for bin in 0..10 {
        let certainty = |j: &Judged<'_>| f64::from(j.probabilities[j.task().index()]);
        let of: Vec<_> = field.iter().filter(|j| (certainty(j) * 10.0) as usize == bin).collect();
        if of.is_empty() {
            continue;
        }
        let said = mean(&of.iter().map(|j| certainty(j)).collect::<Vec<_>>());
        let right = of.iter().filter(|j| j.example.label == Some(j.task())).count() as f64
            / of.len() as f64;
        let acceptable = of.iter().filter(|j| j.is_acceptable()).count() as f64 / of.len() as f64;
        error += (said - right).abs() * of.len() as f64 / field.len() as f64;
        println!(
            "| {:.1}–{:.1} | {} | {said:.3} | {right:.3} | {acceptable:.3} |",
            bin as f64 / 10.0,
            (bin + 1) as f64 / 10.0,
            of.len()
        );
    }
    println!("\nExpected calibration error: {error:.3}");
}
