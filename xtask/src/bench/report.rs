//! The tables: what was measured, what it is beside nginx, and which targets it meets.

use serde_json::{Value, json};

use super::scenario::{Per, Scenario};
use super::target::Target;
use super::{Figures, Results, Round};

/// A figure that Sluice is to reach.
struct Goal {
    about: &'static str,
    limit: f64,
    unit: &'static str,
    measured: fn(&Results) -> Option<f64>,
}

/// The goals. Those in units of nginx or of the bare proxy hold on any machine; the others were
/// set on two cores of a server of 2026.
const GOALS: [Goal; 8] = [
    Goal {
        about: "CPU of a small request, saturated",
        limit: 2.0,
        unit: "x nginx",
        measured: |results| cpu_ratio(results, "small", Target::Nginx),
    },
    Goal {
        about: "CPU of a 100 KB request, saturated",
        limit: 2.2,
        unit: "x nginx",
        measured: |results| cpu_ratio(results, "large", Target::Nginx),
    },
    Goal {
        about: "CPU of a 100 KB request, saturated",
        limit: 2.0,
        unit: "x bare",
        measured: |results| cpu_ratio(results, "large", Target::Bare),
    },
    Goal {
        about: "CPU of a chunk in a burst",
        limit: 6.0,
        unit: "x nginx",
        measured: |results| cpu_ratio(results, "burst", Target::Nginx),
    },
    Goal {
        about: "CPU of a paced chunk",
        limit: 1.4,
        unit: "x nginx",
        measured: |results| cpu_ratio(results, "paced", Target::Nginx),
    },
    Goal {
        about: "added time to first token, p50",
        limit: 300.0,
        unit: "us",
        measured: |results| {
            added(results, Target::Sluice, "first-token", |figures| figures.first_token_p50_us)
        },
    },
    Goal {
        about: "resident memory, idle",
        limit: 20.0,
        unit: "MB",
        measured: |results| lowest(results, Target::Sluice, |round| round.idle_mb),
    },
    Goal {
        about: "resident memory, peak",
        limit: 50.0,
        unit: "MB",
        measured: |results| lowest(results, Target::Sluice, |round| round.peak_mb),
    },
];

/// Prints everything about `results`.
pub(crate) fn print(results: &Results, scenarios: &[&Scenario]) {
    println!("\nScenarios");
    for scenario in scenarios {
        println!("  {:12} {}", scenario.name, scenario.about);
    }
    print_cpu(results, scenarios);
    print_throughput(results, scenarios);
    print_latency(results, scenarios);
    print_memory(results);
    if results.contains_key(&Target::Sluice) {
        print_goals(results);
    }
}

fn print_cpu(results: &Results, scenarios: &[&Scenario]) {
    let mut rows = vec![header("us", servers(results), |target| match target {
        Target::Nginx => &["", "core"],
        Target::Bare => &["", "x nginx", "core"],
        _ => &["", "x nginx", "x bare", "core"],
    })];
    for scenario in scenarios {
        let cpu = |target| lowest_of(results, target, scenario.name, |figures| figures.cpu_us);
        let ratio = |target, base| cpu(target).zip(cpu(base)).map(|(cpu, base)| cpu / base);
        let per = match scenario.per {
            Per::Request => "a request",
            Per::Chunk => "a chunk",
        };
        let mut row = vec![format!("{} {per}", scenario.name)];
        for target in servers(results) {
            row.push(shown(cpu(target), if scenario.per == Per::Chunk { 2 } else { 1 }));
            if target != Target::Nginx {
                row.push(shown(ratio(target, Target::Nginx), 2));
            }
            if target == Target::Sluice {
                row.push(shown(ratio(target, Target::Bare), 2));
            }
            let share = highest_of(results, target, scenario.name, |figures| figures.core_share);
            row.push(shown(share.map(|share| share * 100.0), 0) + "%");
        }
        rows.push(row);
    }
    print_table(
        "CPU time, user and system (below 90% of its core, a target waits for its load and is \
         woken more often)",
        &rows,
    );
}

fn print_throughput(results: &Results, scenarios: &[&Scenario]) {
    let mut rows = vec![header("requests a second", results.keys().copied(), |_| &[""])];
    for scenario in scenarios.iter().filter(|scenario| !scenario.is_at_a_rate()) {
        let figure = |figures: &Figures| Some(figures.requests_per_second);
        let mut row = vec![scenario.name.to_owned()];
        for &target in results.keys() {
            row.push(shown(highest_of(results, target, scenario.name, figure), 0));
        }
        rows.push(row);
    }
    print_table("Throughput of one core", &rows);
}

fn print_latency(results: &Results, scenarios: &[&Scenario]) {
    let mut rows = vec![header("us", results.keys().copied(), |_| &[""])];
    let mut add = |scenario: &Scenario, what, figure: fn(&Figures) -> Option<f64>| {
        let mut row = vec![format!("{} {what}", scenario.name)];
        for &target in results.keys() {
            row.push(match target {
                Target::Direct => shown(lowest_of(results, target, scenario.name, figure), 0),
                _ => added(results, target, scenario.name, figure)
                    .map_or_else(|| "-".to_owned(), |added| format!("{added:+.0}")),
            });
        }
        rows.push(row);
    };
    for scenario in scenarios {
        match (scenario.is_at_a_rate(), scenario.is_paced()) {
            (true, false) => {
                add(scenario, "p50", |figures| Some(figures.latency_p50_us));
                add(scenario, "p99", |figures| Some(figures.latency_p99_us));
            }
            (true, true) => add(scenario, "to first token", |figures| figures.first_token_p50_us),
            (false, true) if scenario.per == Per::Chunk => {
                add(scenario, "chunk's way", |figures| figures.chunk_delay_p50_us);
            }
            (false, _) => {}
        }
    }
    print_table("Latency (p50 where nothing is said): direct, and what each target adds", &rows);
}

fn print_memory(results: &Results) {
    let mut rows = vec![header("MB", servers(results), |_| &[""])];
    let mut add = |label: &str, figure: fn(&Round) -> Option<f64>| {
        let mut row = vec![label.to_owned()];
        row.extend(servers(results).map(|target| shown(lowest(results, target, figure), 1)));
        rows.push(row);
    };
    add("idle", |round| round.idle_mb);
    add("peak", |round| round.peak_mb);
    print_table("Resident memory", &rows);
}

fn print_goals(results: &Results) {
    let titles = ["Sluice", "goal", "measured", ""];
    let mut rows = vec![titles.map(str::to_owned).to_vec()];
    for goal in &GOALS {
        let measured = (goal.measured)(results);
        let verdict = match measured {
            None => "not measured",
            Some(measured) if measured <= goal.limit => "met",
            Some(_) => "MISSED",
        };
        rows.push(vec![
            goal.about.to_owned(),
            format!("{} {}", goal.limit, goal.unit),
            shown(measured, if goal.limit < 10.0 { 2 } else { 0 }),
            verdict.to_owned(),
        ]);
    }
    print_table("Goals", &rows);
}

/// Every figure of every round.
pub(crate) fn to_json(results: &Results) -> Value {
    let mut json = json!({});
    for (target, rounds) in results {
        json[target.name()] = rounds.iter().map(round_to_json).collect();
    }
    json
}

fn round_to_json(round: &Round) -> Value {
    let mut scenarios = json!({});
    for (name, figures) in &round.scenarios {
        scenarios[*name] = json!({
            "cpu_us": figures.cpu_us,
            "core_share": figures.core_share,
            "requests_per_second": figures.requests_per_second,
            "latency_p50_us": figures.latency_p50_us,
            "latency_p99_us": figures.latency_p99_us,
            "first_token_p50_us": figures.first_token_p50_us,
            "chunk_delay_p50_us": figures.chunk_delay_p50_us,
        });
    }
    json!({ "idle_mb": round.idle_mb, "peak_mb": round.peak_mb, "scenarios": scenarios })
}

/// The lowest figure of all rounds.
fn lowest(
    results: &Results,
    target: Target,
    figure: impl Fn(&Round) -> Option<f64>,
) -> Option<f64> {
    results.get(&target)?.iter().filter_map(figure).reduce(f64::min)
}

fn lowest_of(
    results: &Results,
    target: Target,
    scenario: &str,
    figure: impl Fn(&Figures) -> Option<f64>,
) -> Option<f64> {
    lowest(results, target, |round| round.scenarios.get(scenario).and_then(&figure))
}

fn highest_of(
    results: &Results,
    target: Target,
    scenario: &str,
    figure: impl Fn(&Figures) -> Option<f64>,
) -> Option<f64> {
    lowest_of(results, target, scenario, |figures| figure(figures).map(|value| -value))
        .map(|value| -value)
}

/// Sluice's CPU time for a unit of `scenario`, in units of that of `base`.
fn cpu_ratio(results: &Results, scenario: &str, base: Target) -> Option<f64> {
    let cpu = |target| lowest_of(results, target, scenario, |figures| figures.cpu_us);
    Some(cpu(Target::Sluice)? / cpu(base)?)
}

/// By how much a figure of `target` is higher than without any target.
fn added(
    results: &Results,
    target: Target,
    scenario: &str,
    figure: impl Fn(&Figures) -> Option<f64>,
) -> Option<f64> {
    let with = lowest_of(results, target, scenario, &figure)?;
    Some(with - lowest_of(results, Target::Direct, scenario, &figure)?)
}

/// The targets that have a process of their own.
fn servers(results: &Results) -> impl Iterator<Item = Target> {
    results.keys().copied().filter(|target| *target != Target::Direct)
}

/// A table's first row. An empty column title stands for the target's name.
fn header(
    first: &str,
    targets: impl Iterator<Item = Target>,
    columns: impl Fn(Target) -> &'static [&'static str],
) -> Vec<String> {
    let mut header = vec![first.to_owned()];
    for target in targets {
        for column in columns(target) {
            header.push(if column.is_empty() { target.name() } else { column }.to_owned());
        }
    }
    header
}

pub(super) fn shown(figure: Option<f64>, decimals: usize) -> String {
    figure.map_or_else(|| "-".to_owned(), |figure| format!("{figure:.decimals$}"))
}

pub(super) fn print_table(title: &str, rows: &[Vec<String>]) {
    println!("\n{title}");
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column| rows.iter().filter_map(|row| row.get(column)).map(String::len).max();
    for row in rows {
        let mut line = String::from(" ");
        for column in 0..columns {
            let cell = row.get(column).map_or("", String::as_str);
            let width = width(column).unwrap_or(0);
            line.push_str(&match column {
                0 => format!(" {cell:width$}"),
                _ => format!("  {cell:>width$}"),
            });
        }
        println!("{}", line.trim_end());
    }
}
