//! What was measured: figures with their targets, and tables; as Markdown or JSON.

use std::fmt::Write as _;

use serde_json::{Value, json};
use sluice_core::level::SecurityLevel;

use super::score::{Grouped, Ratio};
use crate::data::Provenance;

/// What a figure has to reach.
#[derive(Debug, Clone, Copy)]
pub(super) enum Target {
    AtLeast(f64),
    AtMost(f64),
    /// Only shown.
    Open,
}

impl Target {
    /// Whether `value` reaches it; None where there is nothing to reach.
    fn is_met(self, value: f64) -> Option<bool> {
        // All of many is all: only what a division rounds is tolerated.
        const TOLERANCE: f64 = 1e-9;
        match self {
            Self::AtLeast(least) => Some(value >= least - TOLERANCE),
            Self::AtMost(most) => Some(value <= most + TOLERANCE),
            Self::Open => None,
        }
    }

    fn shown(self) -> String {
        match self {
            Self::AtLeast(least) => format!("≥ {least:.3}"),
            Self::AtMost(most) => format!("≤ {most:.3}"),
            Self::Open => String::new(),
        }
    }
}

/// One measured figure of the table of targets.
struct Figure {
    what: String,
    /// None where the level makes no difference.
    level: Option<SecurityLevel>,
    ratio: Ratio,
    target: Target,
}

struct Table {
    title: String,
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// Everything that was measured.
pub(super) struct Report {
    levels: Vec<SecurityLevel>,
    data: Vec<(Provenance, usize)>,
    figures: Vec<Figure>,
    tables: Vec<Table>,
    examples: Vec<(String, Vec<String>)>,
}

impl Report {
    pub(super) fn new(levels: &[SecurityLevel]) -> Self {
        let levels = levels.to_vec();
        Self {
            levels,
            data: Vec::new(),
            figures: Vec::new(),
            tables: Vec::new(),
            examples: Vec::new(),
        }
    }

    /// Says which file was read, and how many of its rows were used.
    pub(super) fn judged_on(&mut self, file: Provenance, rows: usize) {
        self.data.push((file, rows));
    }

    /// Adds a figure for each level: `group` of `ratios`, with the targets of standard, high and
    /// maximum.
    pub(super) fn figures(
        &mut self,
        what: &str,
        ratio: impl Fn(usize) -> Ratio,
        targets: [Target; 3],
    ) {
        for (index, &level) in self.levels.iter().enumerate() {
            let (what, ratio, target) = (what.to_owned(), ratio(index), targets[level as usize]);
            if ratio.of > 0 {
                self.figures.push(Figure { what, level: Some(level), ratio, target });
            }
        }
    }

    /// Adds a figure that is the same at every level.
    pub(super) fn figure(&mut self, what: &str, ratio: Ratio, target: Target) {
        self.figures.push(Figure { what: what.to_owned(), level: None, ratio, target });
    }

    /// Adds a table with a row for each group of `ratios` that `keep` keeps, and a column a level.
    pub(super) fn grouped(
        &mut self,
        title: &str,
        group: &str,
        ratios: &Grouped,
        keep: impl Fn(&str) -> bool,
    ) {
        let levels: Vec<_> = self.levels.iter().map(|level| level.as_str().to_owned()).collect();
        self.columns(title, group, &levels, ratios, keep);
    }

    /// Adds a table with a row for each group of `ratios` that `keep` keeps, and these columns.
    pub(super) fn columns(
        &mut self,
        title: &str,
        group: &str,
        columns: &[String],
        ratios: &Grouped,
        keep: impl Fn(&str) -> bool,
    ) {
        let row = |name: &str| {
            let cells = (0..columns.len()).map(|column| ratios.ratio(name, column).to_string());
            std::iter::once(name.to_owned()).chain(cells).collect()
        };
        let rows: Vec<Vec<String>> = ratios.groups().filter(|name| keep(name)).map(row).collect();
        let mut header = vec![group];
        header.extend(columns.iter().map(String::as_str));
        self.table(title, &header, rows);
    }

    /// Adds a table as it is.
    pub(super) fn table(&mut self, title: &str, header: &[&str], rows: Vec<Vec<String>>) {
        if !rows.is_empty() {
            let header = header.iter().map(|&word| word.to_owned()).collect();
            self.tables.push(Table { title: title.to_owned(), header, rows });
        }
    }

    /// Adds examples, which only a person reads.
    pub(super) fn examples(&mut self, title: &str, lines: Vec<String>) {
        if !lines.is_empty() {
            self.examples.push((title.to_owned(), lines));
        }
    }

    /// The table of figures: a row for each, and for each level what was measured, what was to be
    /// reached, and whether it was.
    fn figures_by_level(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let mut header = vec!["figure".to_owned()];
        for level in &self.levels {
            header.extend([level.as_str(), "target", ""].map(str::to_owned));
        }
        let mut rows: Vec<Vec<String>> = Vec::new();
        for figure in &self.figures {
            // A figure's levels follow each other.
            if rows.last().is_none_or(|row| row[0] != figure.what) {
                let mut row = vec![String::new(); header.len()];
                row[0].clone_from(&figure.what);
                rows.push(row);
            }
            let Some(row) = rows.last_mut() else { continue };
            let met = figure.ratio.value().and_then(|value| figure.target.is_met(value));
            let cells = [
                figure.ratio.to_string(),
                figure.target.shown(),
                met.map_or("", |met| if met { "met" } else { "**missed**" }).to_owned(),
            ];
            // What is the same at every level stands in the columns of the first.
            let level = self.levels.iter().position(|level| Some(*level) == figure.level);
            for (cell, at) in cells.into_iter().zip(1 + 3 * level.unwrap_or(0)..) {
                row[at] = cell;
            }
        }
        (header, rows)
    }

    /// The report as Markdown.
    pub(super) fn to_markdown(&self) -> String {
        let mut out = String::new();
        let (header, rows) = self.figures_by_level();
        write_table(&mut out, "Figures", &header, &rows);
        for table in &self.tables {
            write_table(&mut out, &table.title, &table.header, &table.rows);
        }
        let data = |(file, used): &(Provenance, usize)| {
            vec![file.file.clone(), format!("{used} of {}", file.rows), file.blake3.clone()]
        };
        let header = ["file", "rows", "BLAKE3"].map(str::to_owned);
        let rows: Vec<_> = self.data.iter().map(data).collect();
        write_table(&mut out, "Data", &header, &rows);
        for (title, lines) in &self.examples {
            let _ = writeln!(out, "### {title}\n\n```text\n{}\n```\n", lines.join("\n"));
        }
        out
    }

    /// The report as JSON.
    pub(super) fn to_json(&self) -> Value {
        let figure = |figure: &Figure| {
            let value = figure.ratio.value();
            json!({
                "figure": figure.what,
                "level": figure.level.map(SecurityLevel::as_str),
                "value": value,
                "hits": figure.ratio.hits,
                "of": figure.ratio.of,
                "target": figure.target.shown(),
                "met": value.and_then(|value| figure.target.is_met(value)),
            })
        };
        let table = |table: &Table| {
            let rows = table.rows.iter().map(|row| {
                let pairs = table.header.iter().zip(row).map(|(k, v)| (k.clone(), json!(v)));
                Value::Object(pairs.collect())
            });
            json!({ "title": table.title, "rows": rows.collect::<Vec<_>>() })
        };
        let examples = self.examples.iter().map(|(title, lines)| json!([title, lines]));
        let data = |(file, used): &(Provenance, usize)| json!({ "file": file.file, "blake3": file.blake3, "rows": file.rows, "used": used });
        json!({
            "data": self.data.iter().map(data).collect::<Vec<_>>(),
            "figures": self.figures.iter().map(figure).collect::<Vec<_>>(),
            "tables": self.tables.iter().map(table).collect::<Vec<_>>(),
            "examples": examples.collect::<Vec<_>>(),
        })
    }
}

fn write_table(out: &mut String, title: &str, header: &[String], rows: &[Vec<String>]) {
    if rows.is_empty() {
        return;
    }
    // Writing to a `String` cannot fail.
    let _ = writeln!(out, "### {title}\n\n| {} |", header.join(" | "));
    let _ = writeln!(out, "|{}", " --- |".repeat(header.len()));
    for row in rows {
        let cells: Vec<_> = row.iter().map(|cell| cell.replace('|', "\\|")).collect();
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    }
    out.push('\n');
}

/// What surrounds `range` in `text`, on one line, with the range between ⟦ and ⟧.
pub(super) fn excerpt(text: &str, range: &std::ops::Range<usize>, masked: bool) -> String {
    const AROUND: usize = 48;
    let before = text.floor_char_boundary(range.start.saturating_sub(AROUND));
    let after = text.floor_char_boundary((range.end + AROUND).min(text.len()));
    let value = &text[range.clone()];
    let shown = if masked {
        let seen: String = value.chars().take(4).collect();
        format!("{seen}… {} bytes", value.len())
    } else {
        value.to_owned()
    };
    let marked = format!("{}⟦{shown}⟧{}", &text[before..range.start], &text[range.end..after]);
    one_line(&marked, usize::MAX)
}

/// The beginning of `text`, at most `length` bytes, on one line.
pub(super) fn one_line(text: &str, length: usize) -> String {
    let end = text.floor_char_boundary(length.min(text.len()));
    text[..end].replace('\r', "\\r").replace('\n', "\\n").replace('\t', "\\t")
}
