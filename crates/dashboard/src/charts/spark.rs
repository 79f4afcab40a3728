//! Lines without words, and meters.

use std::fmt::{self, Write};

use crate::components::{Escaped, Markup};

/// A line that shows how a figure went, without axes; nothing where there is nothing to compare.
#[expect(clippy::cast_precision_loss, reason = "a place on a screen has four digits at most")]
pub fn spark(values: &[u64]) -> Option<Markup> {
    const HEIGHT: f64 = 24.0;
    if values.len() < 2 {
        return None;
    }
    let largest = values.iter().copied().max().unwrap_or(0).max(1) as f64;
    let last = (values.len() - 1) as f64;
    let mut path = String::new();
    for (place, value) in values.iter().enumerate() {
        let x = place as f64 * 120.0 / last;
        let y = 2.0 + (HEIGHT - 3.0) * (1.0 - *value as f64 / largest);
        let verb = if place == 0 { 'M' } else { 'L' };
        let _ = write!(path, "{verb}{x:.1} {y:.1}");
    }
    Some(Markup(format!(
        "<svg class=\"spark\" viewBox=\"0 0 120 {HEIGHT}\" preserveAspectRatio=\"none\" \
         aria-hidden=\"true\"><path class=\"area\" d=\"{path}L120 {HEIGHT}L0 {HEIGHT}Z\"/>\
         <path class=\"line\" d=\"{path}\"/></svg>"
    )))
}

/// How much of a limit is used, and how much running requests hold.
#[derive(Debug, Clone)]
pub struct Meter {
    /// In words, for readers of the screen: `$641.90 of $800`.
    pub label: String,
    /// Used.
    pub used: u64,
    /// Reserved by requests that are under way.
    pub held: u64,
    /// The limit.
    pub limit: u64,
}

impl Meter {
    /// Thousandths of the limit.
    fn shares(&self) -> (u64, u64) {
        let share = |part: u64| {
            let part = u128::from(part) * 1_000 / u128::from(self.limit.max(1));
            u64::try_from(part.min(1_000)).unwrap_or(1_000)
        };
        let used = if self.limit == 0 { 1_000 } else { share(self.used) };
        (used, share(self.held).min(1_000 - used))
    }

    /// Whether nothing is left.
    pub fn is_full(&self) -> bool {
        self.used >= self.limit
    }
}

impl fmt::Display for Meter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (used, held) = self.shares();
        let class = match used {
            1_000 => "over",
            800.. => "near",
            _ => "used",
        };
        write!(
            f,
            "<svg class=\"meter\" viewBox=\"0 0 1000 6\" width=\"100%\" height=\"6\" \
             preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{}\">\
             <rect class=\"{class}\" width=\"{used}\" height=\"6\"/>\
             <rect class=\"held\" x=\"{used}\" width=\"{held}\" height=\"6\"/></svg>",
            Escaped(&self.label),
        )
    }
}
