//! What the routers' choices rest on: which of the models are guesses, and how that ends.

use std::io::{self, Write};
use std::sync::Arc;

use serde_json::{Value, json};
use sluice_routing::catalog::Model;
use sluice_routing::quality::{Basis, Quality};

use crate::commands::catalog::quality::{is_chosen_from, rounded};
use crate::config::Settings;

/// How many guesses are named.
const MOST: usize = 5;

/// The models that routers choose from, with what they are taken for.
fn qualities(settings: &Settings) -> Vec<(&Arc<Model>, Quality)> {
    let models = settings.catalog.models().iter();
    let chosen = models.filter(|model| is_chosen_from(model));
    chosen.map(|model| (model, model.expected_quality())).collect()
}

pub(super) fn summarise(settings: &Settings, out: &mut dyn Write) -> io::Result<()> {
    let qualities = qualities(settings);
    let count = |basis| qualities.iter().filter(|(_, quality)| quality.basis == basis).count();
    let counts = Basis::ALL.map(|basis| (basis.as_str(), count(basis)));
    let parts: Vec<String> = counts
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .map(|(basis, count)| format!("{count} by {basis}"))
        .collect();
    if parts.is_empty() {
        return Ok(());
    }
    writeln!(out, "quality:   {}", parts.join(", "))?;
    // Simulated models need no figure.
    let guesses = || {
        let guesses = qualities.iter().filter(|(_, quality)| quality.basis.is_guess());
        guesses.filter(|(model, _)| !model.simulated)
    };
    for (model, quality) in guesses().take(MOST) {
        let line = settings.line_for(model.id.as_str(), quality.average);
        let basis = quality.basis.as_str();
        writeln!(out, "           {} is a guess by {basis}; write {line}", model.id)?;
    }
    let more = guesses().count().saturating_sub(MOST);
    if more > 0 {
        let all = "`sluice catalog quality list` names them all";
        writeln!(out, "           and {more} more; {all}")?;
    }
    Ok(())
}

pub(super) fn as_json(settings: &Settings) -> Vec<Value> {
    let shown = |(model, quality): (&Arc<Model>, Quality)| json!({ "model": model.id, "basis": quality.basis, "average": rounded(quality.average) });
    qualities(settings).into_iter().map(shown).collect()
}
