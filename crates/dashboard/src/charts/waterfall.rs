//! What happened in a request, step by step: a table whose middle column is drawn.

use std::fmt;

use super::scale::{Scale, Unit};
use crate::components::{Escaped, Span, State, Text};

/// The steps of a request.
#[derive(Debug, Clone, Default)]
pub struct Waterfall {
    /// In the order in which they began.
    pub steps: Vec<Step>,
}

/// One step.
#[derive(Debug, Clone)]
pub struct Step {
    /// What it was.
    pub name: Text,
    /// When it began, in milliseconds from the request's arrival.
    pub from_ms: u64,
    /// When it ended.
    pub to_ms: u64,
    /// How it ended.
    pub state: State,
    /// What is to say about it.
    pub note: Text,
}

impl fmt::Display for Waterfall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = self.steps.iter().map(|step| step.to_ms.max(step.from_ms)).max().unwrap_or(0);
        let scale = Scale::for_largest(end.max(1), 5);
        f.write_str(
            "<table class=\"waterfall\"><thead><tr><th scope=\"col\">Step</th>\
             <th scope=\"col\" class=\"track\"><span class=\"unseen\">When</span>\
             <svg width=\"100%\" height=\"16\" aria-hidden=\"true\">",
        )?;
        let last = scale.ticks(Unit::Millis).count().saturating_sub(1);
        for (place, (value, word)) in scale.ticks(Unit::Millis).enumerate() {
            let x = scale.share(value) * 100.0;
            let class = if value == 0 {
                ""
            } else if x > 99.0 {
                "end"
            } else {
                "mid"
            };
            // A narrow panel has room for every other one, a phone for the ends.
            let room = match last.saturating_sub(place) {
                0 => "",
                _ if place == 0 => "",
                it if it % 2 == 1 => " d2",
                _ => " d1",
            };
            write!(
                f,
                "<text x=\"{x:.2}%\" y=\"12\" class=\"{class}{room}\">{}</text>",
                Escaped(&word)
            )?;
        }
        f.write_str("</svg></th><th scope=\"col\" class=\"num\">Took</th></tr></thead><tbody>")?;
        for step in &self.steps {
            write_step(f, scale, step)?;
        }
        f.write_str("</tbody></table>")
    }
}

fn write_step(f: &mut fmt::Formatter<'_>, scale: Scale, step: &Step) -> fmt::Result {
    let took = step.to_ms.saturating_sub(step.from_ms);
    let from = scale.share(step.from_ms) * 100.0;
    // A step of no time is still a mark.
    let width = (scale.share(step.to_ms) * 100.0 - from).max(0.4);
    write!(
        f,
        "<tr><th scope=\"row\">{}{}{}</th><td class=\"track\"><svg width=\"100%\" height=\"16\" aria-hidden=\"true\">",
        step.name,
        if step.note.is_empty() { "" } else { "<br>" },
        if step.note.is_empty() { String::new() } else { format!("<small>{}</small>", step.note) },
    )?;
    for (value, _) in scale.ticks(Unit::Millis) {
        let x = scale.share(value) * 100.0;
        write!(f, "<line class=\"grid\" x1=\"{x:.2}%\" x2=\"{x:.2}%\" y1=\"-40\" y2=\"60\"/>")?;
    }
    let class = step.state.class();
    write!(
        f,
        "<rect class=\"w-{class}\" x=\"{:.2}%\" y=\"3\" width=\"{width:.2}%\" height=\"10\" rx=\"2\"/></svg></td>",
        from.min(99.6),
    )?;
    write!(f, "<td class=\"num\">{}</td></tr>", Span(Some(took)))
}
