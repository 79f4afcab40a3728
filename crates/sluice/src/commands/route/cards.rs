//! `sluice route cards`: what each router is, in six fields.

use std::io::{self, Write};

use sluice_routing::card::{Benchmarks, Card, guesses, rests_on};
use sluice_routing::router::Router;

use crate::commands::Exit;
use crate::config::Settings;

/// Prints the routers' model cards
///
/// Each has six fields: id, benchmark score, included models, day of the last change, stability label
/// and pricing tier. The benchmark score is RouterArena's, of the router's policy, on public
/// outcomes that were replayed; no model was asked.
#[derive(Debug, clap::Args)]
pub(super) struct CardsArgs {
    /// Prints only the card of this router
    #[arg(value_name = "ID")]
    router: Option<String>,
    /// Prints JSON, one object a line
    #[arg(long)]
    json: bool,
}

/// How many guesses a card names.
const MOST_GUESSES: usize = 5;

/// What stands on a card where the configuration does not say when the router was changed.
const UNKNOWN_DAY: &str = "unknown";

/// Runs the command.
pub(super) fn run(
    args: &CardsArgs,
    settings: &Settings,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let benchmarks = Benchmarks::committed().map_err(io::Error::other)?;
    let wanted = |id: &str| args.router.as_ref().is_none_or(|wanted| wanted == id);
    let mut found = false;
    for router in settings.catalog.routers().filter(|router| wanted(router.id.as_str())) {
        let day = router.last_changed.as_deref().unwrap_or(UNKNOWN_DAY);
        let card = Card::of(router, day, &benchmarks);
        if args.json {
            writeln!(out, "{}", serde_json::to_string(&card)?)?;
        } else {
            if found {
                writeln!(out)?;
            }
            print(&card, out)?;
            print_quality(router, settings, out)?;
        }
        found = true;
    }
    if let (Some(wanted), false) = (&args.router, found) {
        writeln!(err, "there is no router \"{wanted}\"; `sluice check` names all routers")?;
        return Ok(Exit::Usage);
    }
    if args.json {
        // A card has its six fields and no other.
        writeln!(err, "{}", benchmarks.note())?;
    } else {
        writeln!(out, "\n{}", benchmarks.note())?;
    }
    Ok(Exit::Done)
}

/// What the qualities of its members rest on, and how guesses among them come to an end.
fn print_quality(router: &Router, settings: &Settings, out: &mut dyn Write) -> io::Result<()> {
    let Some(bases) = rests_on(router) else { return Ok(()) };
    writeln!(out, "  quality           {bases}")?;
    for guess in guesses(router).take(MOST_GUESSES) {
        let (id, quality) = (&guess.model.id, &guess.quality);
        let line = settings.line_for(id.as_str(), quality.average);
        writeln!(out, "    {id} is a guess by {}; write {line}", quality.basis.as_str())?;
    }
    let more = guesses(router).count().saturating_sub(MOST_GUESSES);
    if more > 0 {
        writeln!(out, "    and {more} more; `sluice catalog quality list` names them all")?;
    }
    Ok(())
}

fn print(card: &Card, out: &mut dyn Write) -> io::Result<()> {
    let word = |value: serde_json::Result<serde_json::Value>| {
        value.ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
    };
    let models: Vec<&str> = card.included_models.iter().map(|model| model.as_str()).collect();
    writeln!(out, "{}", card.id)?;
    let score = card.benchmark_score.map_or_else(|| "not measured".to_owned(), |it| it.to_string());
    writeln!(out, "  benchmark score   {score}")?;
    writeln!(out, "  included models   {}", models.join(", "))?;
    writeln!(out, "  last changed      {}", card.last_changed)?;
    writeln!(out, "  stability         {}", card.stability.as_str())?;
    writeln!(out, "  pricing tier      {}", word(serde_json::to_value(card.pricing_tier)))
}
