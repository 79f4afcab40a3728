//! The policy that a configuration amounts to: what happens at each level, where, within which
//! limits, and what is kept.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;

use serde_json::{Map, Value, json};
use sluice_core::key::{AccountTier, KeyClass};
use sluice_core::level::SecurityLevel;
use sluice_core::region::Region;
use sluice_routing::catalog::Model;
use sluice_security::kind::Kind;

use crate::commands::records::{figure, table};
use crate::config::Settings;
use crate::config::sections::LevelSettings;
use crate::config::words::word_of;

/// What is kept of requests. It is the same in every configuration.
const RETENTION: [(&str, &str); 4] = [
    ("records", "a record of each answered request, without content"),
    ("audit", "an entry for each request, without content"),
    ("zero_retention", "where a request, its key or its account asks for it: sums by key and day"),
    ("content", "never kept"),
];

/// The models that have at least this level, whatever else asks for less.
fn models_from(settings: &Settings, level: SecurityLevel) -> Vec<&str> {
    let models = settings.catalog.models();
    let of_level = models.iter().filter(|model| model.minimum_level == level);
    of_level.map(|model| model.id.as_str()).collect()
}

/// How many models run in each region.
fn regions(settings: &Settings) -> BTreeMap<&'static str, usize> {
    let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
    for region in Region::ALL {
        let runs_there = |model: &&Arc<Model>| {
            model.deployments.iter().any(|deployment| deployment.region == Some(region))
        };
        let count = settings.catalog.models().iter().filter(runs_there).count();
        counts.insert(region.as_str(), count);
    }
    counts
}

fn kinds(level: &LevelSettings) -> Vec<&'static str> {
    level.redact.iter().copied().map(Kind::as_str).collect()
}

/// Prints the policy.
pub(super) fn print(settings: &Settings, out: &mut dyn Write) -> io::Result<()> {
    let security = &settings.security;
    let minimum = security.minimum_level.as_str();
    writeln!(out, "\nSecurity: every request has at least level {minimum}.\n")?;
    let levels = SecurityLevel::ALL.map(|level| security.of(level));
    let row = |label: &str, cell: fn(&LevelSettings) -> &'static str| {
        let [standard, high, maximum] = levels.map(|level| cell(level).to_owned());
        [label.to_owned(), standard, high, maximum]
    };
    let rows = [
        row("attacks on the model", |level| word_of(level.injection)),
        row("secrets and attacks in answers", |level| word_of(level.answer)),
        row("images, audio and files", |level| word_of(level.unreadable)),
        row("when the filter fails", |level| word_of(level.filter_failure)),
        row("encoded and disguised values", |level| {
            if level.encoded_variants { "looked for" } else { "not looked for" }
        }),
    ];
    let [standard, high, maximum] = SecurityLevel::ALL.map(SecurityLevel::as_str);
    table(out, ["", standard, high, maximum], &rows)?;
    writeln!(out)?;
    for level in SecurityLevel::ALL {
        let kinds = kinds(security.of(level));
        let kinds = if kinds.is_empty() { "nothing".to_owned() } else { kinds.join(", ") };
        writeln!(out, "redacted at {}: {kinds}", level.as_str())?;
    }
    let own = [("terms", &security.terms), ("patterns", &security.patterns)];
    for (what, list) in own.into_iter().filter(|(_, list)| !list.is_empty()) {
        writeln!(out, "your own {what}: {}, as kind term", list.len())?;
    }
    if !security.allow.is_empty() {
        writeln!(out, "values that are never redacted: {}", security.allow.len())?;
    }
    for level in SecurityLevel::ALL.into_iter().filter(|level| *level > security.minimum_level) {
        let models = models_from(settings, level);
        if !models.is_empty() {
            writeln!(out, "always at least {}: {}", level.as_str(), models.join(", "))?;
        }
    }

    let default = settings.default_region.map_or("none", Region::as_str);
    let regions = regions(settings).into_iter().map(|(region, count)| format!("{region} {count}"));
    let regions: Vec<String> = regions.collect();
    writeln!(out, "\nRegions: default {default}; models by region: {}", regions.join(", "))?;

    writeln!(out, "\nLimits\n")?;
    let mut rows = Vec::new();
    for class in KeyClass::ALL {
        let of = settings.keys.of(class);
        rows.push([
            format!("key of class {}", class.as_str()),
            figure(of.requests_per_hour.0),
            figure(of.tokens_per_day.0),
            "-".to_owned(),
            "-".to_owned(),
        ]);
    }
    for tier in AccountTier::ALL {
        let of = settings.limits.of(tier);
        rows.push([
            format!("account of tier {}", tier.as_str()),
            figure(of.requests_per_hour.0),
            figure(of.tokens_per_day.0),
            figure(of.concurrent_requests.0),
            of.suite.as_str().to_owned(),
        ]);
    }
    table(out, ["", "requests/hour", "tokens/day", "at once", "models"], &rows)?;

    writeln!(out, "\nRetention")?;
    for (what, how) in RETENTION {
        writeln!(out, "  {:15} {how}", what.replace('_', " "))?;
    }
    Ok(())
}

/// The policy as JSON.
pub(super) fn as_json(settings: &Settings) -> Value {
    let security = &settings.security;
    let mut levels = Map::new();
    for level in SecurityLevel::ALL {
        let of = security.of(level);
        let value = json!({
            "redact": kinds(of),
            "encoded_variants": of.encoded_variants,
            "injection": word_of(of.injection),
            "answer": word_of(of.answer),
            "unreadable": word_of(of.unreadable),
            "filter_failure": word_of(of.filter_failure),
            "models_from_here": models_from(settings, level),
        });
        levels.insert(level.as_str().to_owned(), value);
    }
    let mut classes = Map::new();
    for class in KeyClass::ALL {
        let of = settings.keys.of(class);
        let value = json!({
            "requests_per_hour": of.requests_per_hour.0,
            "tokens_per_day": of.tokens_per_day.0,
        });
        classes.insert(class.as_str().to_owned(), value);
    }
    let mut tiers = Map::new();
    for tier in AccountTier::ALL {
        let of = settings.limits.of(tier);
        let value = json!({
            "requests_per_hour": of.requests_per_hour.0,
            "tokens_per_day": of.tokens_per_day.0,
            "concurrent_requests": of.concurrent_requests.0,
            "models": of.suite,
        });
        tiers.insert(tier.as_str().to_owned(), value);
    }
    let retention: Map<String, Value> =
        RETENTION.iter().map(|(what, how)| ((*what).to_owned(), json!(how))).collect();
    json!({
        "minimum_level": security.minimum_level,
        "levels": levels,
        "terms": security.terms.len(),
        "patterns": security.patterns.len(),
        "allow": security.allow.len(),
        "default_region": settings.default_region,
        "models_by_region": regions(settings),
        "limits": { "keys": classes, "accounts": tiers },
        "retention": retention,
    })
}
