//! False alarms of attacks: how many harmless texts of a folder are flagged, and how many refused.
//!
//! The folder has files `*.jsonl`, one text a line: `text`, `kind` (code, release notes, …), `origin`
//! (`tool` or `user`). Such texts are easily gathered from any machine, and are not a part of this
//! repository: they should be ones that nobody has looked at.

use std::fs;

use anyhow::{Context as _, Result};
use serde::Deserialize;
use sluice_core::level::SecurityLevel;
use sluice_security::injection::{self, Origin};
use sluice_security::level::{InjectionAction, Rules};

use super::Judge;
use super::report::{Report, Target, one_line};
use super::score::{Grouped, Ratio};
use super::secrets::first_of_each;

/// A line of a file.
#[derive(Deserialize)]
struct Row {
    text: String,
    kind: String,
    origin: String,
    /// Where it is from, for whoever looks at what was mistaken.
    #[serde(default)]
    source: String,
}

/// Judges the folder that the arguments name, if there is one.
pub(super) fn judge(judge: &Judge<'_>, report: &mut Report) -> Result<()> {
    let Some(folder) = &judge.arguments.harmless else { return Ok(()) };
    let mut paths = Vec::new();
    for entry in
        fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?
    {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "jsonl") {
            paths.push(path);
        }
    }
    paths.sort();
    let (mut by_kind, mut examples) = (Grouped::default(), Vec::new());
    let mut refused = vec![Ratio::default(); judge.levels.len()];
    for path in &paths {
        for (i, line) in fs::read_to_string(path)?.lines().enumerate() {
            let row: Row = serde_json::from_str(line)
                .with_context(|| format!("{} line {} is not a row", path.display(), i + 1))?;
            let origin = if row.origin == "tool" { Origin::Tool } else { Origin::User };
            let score = injection::score(&row.text, origin);
            for group in ["all", row.kind.as_str()] {
                by_kind.add(group, 0, score >= injection::USUAL);
                by_kind.add(group, 1, score >= injection::STRICT);
            }
            for (level, refused) in judge.levels.iter().zip(&mut refused) {
                refused.add(is_refused(score, origin, *level));
            }
            if score >= injection::USUAL {
                let place = injection::explain(&row.text, origin).map(|known| known.place);
                let place = place.and_then(|place| row.text.get(place)).unwrap_or_default();
                let shown = format!("{score:.3} {}: {}", row.source, one_line(place, 200));
                examples.push((row.kind, shown));
            }
        }
    }
    let what = "harmless texts of the folder flagged";
    report.figure(what, by_kind.ratio("all", 0), Target::AtMost(0.01));
    let what = "harmless texts of the folder refused";
    let most = [0.0, 0.002, 0.002].map(Target::AtMost);
    report.figures(what, |level| refused[level], most);
    let columns = ["flagged", "above the strict threshold"].map(str::to_owned);
    report.columns("Harmless texts of the folder", "kind", &columns, &by_kind, |_| true);
    report.examples("Harmless texts flagged", first_of_each(examples, judge.arguments.misses));
    Ok(())
}

/// Whether a text with such a score is refused at `level`, by the table of levels as it is delivered.
fn is_refused(score: f32, origin: Origin, level: SecurityLevel) -> bool {
    let is_document = origin == Origin::Tool;
    match Rules::of(level).injection {
        InjectionAction::Off | InjectionAction::Flag => false,
        InjectionAction::BlockStrict => is_document && score >= injection::STRICT,
        InjectionAction::Withhold => !is_document && score >= injection::STRICT,
        InjectionAction::Block => score >= injection::USUAL,
    }
}
