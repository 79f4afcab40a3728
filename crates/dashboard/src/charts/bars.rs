//! Stacked bars by hour or day, with their legend, their table, and the way to a CSV file.

use std::fmt::{self, Write};

use super::scale::{Scale, Unit};
use crate::components::{Escaped, Text};

/// Stacked bars.
#[derive(Debug, Clone)]
pub struct Bars {
    /// Of the element.
    pub id: &'static str,
    /// What it shows: `Spend a day by team`.
    pub title: String,
    /// What its values are.
    pub unit: Unit,
    /// What is stacked, from below.
    pub series: Vec<Series>,
    /// The bars, from left to right.
    pub slots: Vec<Slot>,
    /// Where the same figures are as a file.
    pub csv: String,
    /// Whether it only stands above a table, in a tenth of the height.
    pub is_low: bool,
}

/// One colour of the bars.
#[derive(Debug, Clone)]
pub struct Series {
    /// What it is.
    pub name: Text,
    /// Its colour, 1 to 8; 0 is grey, for the rest and for what was only summed.
    pub colour: u8,
}

/// One bar.
#[derive(Debug, Clone)]
pub struct Slot {
    /// Below it, short: `22`.
    pub label: String,
    /// In its title and in the table: `22 Nov`.
    pub name: String,
    /// A value for each series.
    pub values: Vec<u64>,
    /// Where its rows are.
    pub link: Option<String>,
}

impl Slot {
    fn sum(&self) -> u64 {
        self.values.iter().fold(0, |sum, value| sum.saturating_add(*value))
    }
}

/// A cell of a file. What a spreadsheet would take for a formula is not one any more.
pub fn csv_cell(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let text = if is_formula { format!("'{text}") } else { text.to_owned() };
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}

/// How many words fit below the bars, on a wide and on a narrow page.
const LABELS: (usize, usize) = (16, 7);

impl Bars {
    /// The same figures as comma-separated values (RFC 4180). Money is in dollars, exactly.
    pub(crate) fn to_csv(&self) -> String {
        let names = self.series.iter().map(|series| csv_cell(series.name.plain()));
        let head: Vec<String> = std::iter::once("period".to_owned()).chain(names).collect();
        let mut text = head.join(",") + "\r\n";
        for slot in &self.slots {
            let values = slot.values.iter().map(|value| self.unit.plain(*value));
            let line: Vec<String> = std::iter::once(csv_cell(&slot.name)).chain(values).collect();
            text.push_str(&(line.join(",") + "\r\n"));
        }
        text
    }

    fn height(&self) -> u32 {
        if self.is_low { 56 } else { 220 }
    }

    /// Over all bars: what a series sums up to.
    fn total(&self, series: usize) -> u64 {
        let values = self.slots.iter().filter_map(|slot| slot.values.get(series));
        values.fold(0, |sum, value| sum.saturating_add(*value))
    }

    fn write_axis(&self, f: &mut fmt::Formatter<'_>, scale: Scale) -> fmt::Result {
        let height = self.height();
        write!(
            f,
            "<svg class=\"axis\" width=\"56\" height=\"{}\" aria-hidden=\"true\">",
            height + 8
        )?;
        for (value, word) in scale.ticks(self.unit) {
            let y = 8.0 + f64::from(height) * (1.0 - scale.share(value)) + 4.0;
            write!(f, "<text x=\"48\" y=\"{y:.1}\" class=\"end\">{}</text>", Escaped(&word))?;
        }
        f.write_str("</svg>")
    }

    fn write_plot(&self, f: &mut fmt::Formatter<'_>, scale: Scale) -> fmt::Result {
        let height = self.height();
        let title = Escaped(&self.title);
        // A picture has nothing in it that leads anywhere.
        let role = if self.slots.iter().any(|slot| slot.link.is_some()) { "group" } else { "img" };
        write!(
            f,
            "<svg class=\"plot\" width=\"100%\" height=\"{}\" role=\"{role}\" aria-label=\"{title}\">",
            height + 8
        )?;
        for (value, _) in scale.ticks(self.unit) {
            let y = 8.0 + f64::from(height) * (1.0 - scale.share(value));
            write!(f, "<line class=\"grid\" x1=\"0\" x2=\"100%\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>")?;
        }
        for (place, slot) in self.slots.iter().enumerate() {
            self.write_slot(f, scale, place, slot)?;
        }
        f.write_str("</svg>")
    }

    fn write_slot(
        &self,
        f: &mut fmt::Formatter<'_>,
        scale: Scale,
        place: usize,
        slot: &Slot,
    ) -> fmt::Result {
        let height = f64::from(self.height());
        let width = share_of(1, self.slots.len());
        let left = share_of(place, self.slots.len());
        if let Some(link) = &slot.link {
            // The table has the same links for the keyboard. The script takes the title away.
            let (link, name) = (Escaped(link), Escaped(&slot.name));
            write!(f, "<a href=\"{link}\" tabindex=\"-1\" aria-label=\"{name}\">")?;
        }
        write!(
            f,
            "<g data-at=\"{place}\"><rect class=\"hit\" x=\"{left:.3}%\" y=\"0\" width=\"{width:.3}%\" height=\"100%\"/>"
        )?;
        // A few bars are not wider than many.
        let bar_width = (width * 0.72).min(9.0);
        let bar_left = left + (width - bar_width) / 2.0;
        let mut below: u64 = 0;
        for (series, value) in self.series.iter().zip(&slot.values).filter(|(_, value)| **value > 0)
        {
            let above = below.saturating_add(*value);
            let (from, to) = (scale.share(below), scale.share(above));
            // What is there is seen, however little it is.
            let tall = ((to - from) * height).max(1.0);
            let top = 8.0 + height * (1.0 - from) - tall;
            write!(
                f,
                "<rect class=\"c{}\" x=\"{bar_left:.3}%\" y=\"{top:.1}\" width=\"{bar_width:.3}%\" height=\"{tall:.1}\"/>",
                series.colour.min(8),
            )?;
            below = above;
        }
        write!(
            f,
            "<title>{}: {}</title></g>",
            Escaped(&slot.name),
            Escaped(&self.unit.shown(slot.sum()))
        )?;
        if slot.link.is_some() {
            f.write_str("</a>")?;
        }
        Ok(())
    }

    fn write_labels(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let every = |most: usize| self.slots.len().div_ceil(most).max(1);
        let (wide, narrow) = (every(LABELS.0), every(LABELS.1));
        // What is seen on narrow pages is a part of what is seen on wide ones.
        let narrow = narrow.div_ceil(wide) * wide;
        f.write_str("<svg class=\"labels\" width=\"100%\" height=\"20\" aria-hidden=\"true\">")?;
        for (place, slot) in self.slots.iter().enumerate().filter(|(at, _)| at.is_multiple_of(wide))
        {
            let x = share_of(2 * place + 1, 2 * self.slots.len());
            let class = if place.is_multiple_of(narrow) { "mid" } else { "mid wide" };
            write!(
                f,
                "<text x=\"{x:.2}%\" y=\"14\" class=\"{class}\">{}</text>",
                Escaped(&slot.label)
            )?;
        }
        f.write_str("</svg>")
    }

    fn write_table(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Figures of the chart\"><table><thead><tr><th scope=\"col\">Time</th>")?;
        for series in &self.series {
            write!(f, "<th scope=\"col\" class=\"num\">{}</th>", series.name)?;
        }
        if self.series.len() > 1 {
            f.write_str("<th scope=\"col\" class=\"num\">Sum</th>")?;
        }
        f.write_str("</tr></thead><tbody>")?;
        for (place, slot) in self.slots.iter().enumerate() {
            let name = Escaped(&slot.name);
            write!(f, "<tr data-at=\"{place}\"><th scope=\"row\">")?;
            match &slot.link {
                Some(link) => write!(f, "<a href=\"{}\">{name}</a></th>", Escaped(link))?,
                None => write!(f, "{name}</th>")?,
            }
            for place in 0..self.series.len() {
                let value = slot.values.get(place).copied().unwrap_or(0);
                write!(f, "<td class=\"num\">{}</td>", Escaped(&self.unit.shown(value)))?;
            }
            if self.series.len() > 1 {
                write!(f, "<td class=\"num\">{}</td>", Escaped(&self.unit.shown(slot.sum())))?;
            }
            f.write_str("</tr>")?;
        }
        f.write_str("</tbody></table></div>")
    }
}

impl fmt::Display for Bars {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let largest = self.slots.iter().map(Slot::sum).max().unwrap_or(0);
        let low = if self.is_low { " low" } else { "" };
        write!(f, "<figure class=\"chart{low}\" id=\"{}\">", self.id)?;
        if largest == 0 {
            f.write_str("<p class=\"nothing\">Nothing in this period.</p>")?;
        } else {
            let scale = Scale::for_largest(largest, if self.is_low { 1 } else { 4 });
            f.write_str("<div class=\"drawn\">")?;
            self.write_axis(f, scale)?;
            self.write_plot(f, scale)?;
            self.write_labels(f)?;
            f.write_str("</div>")?;
        }
        f.write_str("<figcaption>")?;
        if self.series.len() > 1 {
            f.write_str("<ul class=\"legend\">")?;
            for (place, series) in self.series.iter().enumerate() {
                let mut total = String::new();
                write!(total, "{}", Escaped(&self.unit.shown(self.total(place))))?;
                let colour = series.colour.min(8);
                write!(f, "<li><i class=\"c{colour}\"></i>{} {total}</li>", series.name)?;
            }
            f.write_str("</ul>")?;
        }
        f.write_str("<details class=\"data\"><summary>Table</summary>")?;
        self.write_table(f)?;
        write!(
            f,
            "</details><a class=\"csv\" href=\"{}\">CSV</a></figcaption></figure>",
            Escaped(&self.csv)
        )
    }
}

/// `part / whole` in percent.
#[expect(clippy::cast_precision_loss, reason = "a chart has a few hundred bars")]
fn share_of(part: usize, whole: usize) -> f64 {
    part as f64 * 100.0 / whole.max(1) as f64
}
