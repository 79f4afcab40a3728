//! The table of instructions in the documentation: read, compared, written.

use std::fmt;
use std::fs;

use anyhow::{Context, bail};

use crate::shell::output;

/// By how much a figure may rise above the table's: a tenth.
const RISE: f64 = 1.1;

/// What the line above the table begins with.
const SETUP: &str = "Counted with ";
/// The table's first two lines.
const HEADER: &str = "| User instructions | filter on | filter off |";
const RULE: &str = "| --- | ---: | ---: |";

/// What code is chosen by when it runs, of what valgrind passes on from the processor.
const FEATURES: [&str; 5] = ["sse4_2", "pclmulqdq", "avx2", "bmi2", "fma"];

/// The figures, and what they were counted with.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Table {
    /// Toolchain and processor features.
    pub(super) setup: String,
    pub(super) rows: Vec<Counts>,
}

/// The instructions of one load.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Counts {
    pub(super) name: String,
    pub(super) about: String,
    pub(super) on: u64,
    pub(super) off: u64,
}

/// What the documented table says to new figures.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Verdict {
    /// None is more than a tenth above it.
    Kept,
    /// These are.
    Risen(Vec<String>),
    /// These are, and the table is of another toolchain or processor.
    RisenElsewhere(Vec<String>),
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kept => f.write_str("none is more than a tenth above the table"),
            Self::Risen(which) => {
                write!(f, "more than a tenth above the table: {}", which.join(", "))
            }
            Self::RisenElsewhere(which) => {
                let which = which.join(", ");
                write!(f, "above the table, which another toolchain or processor counted: {which}")
            }
        }
    }
}

impl Table {
    /// The table of `document`.
    pub(super) fn read(document: &str) -> anyhow::Result<Self> {
        let (_, found) = document.split_once(SETUP).context("no line `Counted with …:`")?;
        let (setup, rest) = found.split_once(':').context("no colon after `Counted with …`")?;
        let (_, rest) =
            rest.split_once(&format!("{HEADER}\n{RULE}\n")).context("no table of instructions")?;
        let rows = rest.lines().take_while(|line| line.starts_with('|')).map(|line| {
            let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
            let &[load, on, off] = cells.as_slice() else {
                bail!("a row of {} cells: {line}", cells.len())
            };
            let (name, about) = load.split_once(", ").with_context(|| line.to_owned())?;
            Ok(Counts {
                name: name.trim_matches('`').to_owned(),
                about: about.to_owned(),
                on: number(on)?,
                off: number(off)?,
            })
        });
        Ok(Self { setup: one_line(setup), rows: rows.collect::<anyhow::Result<_>>()? })
    }

    /// `document` with this table in place of its own.
    pub(super) fn write_into(&self, document: &str) -> anyhow::Result<String> {
        let (before, found) = document.split_once(SETUP).context("no line `Counted with …:`")?;
        let (_, rest) = found.split_once(RULE).context("no table of instructions")?;
        let behind = rest.trim_start_matches('\n').lines().skip_while(|line| line.starts_with('|'));
        let mut text = format!("{before}{SETUP}{}:\n\n{HEADER}\n{RULE}\n", self.setup);
        for row in &self.rows {
            let (on, off) = (grouped(row.on), grouped(row.off));
            text.push_str(&format!("| `{}`, {} | {on} | {off} |\n", row.name, row.about));
        }
        for line in behind {
            text.push_str(line);
            text.push('\n');
        }
        Ok(text)
    }

    /// These figures beside those of `documented`, as rows to print.
    pub(super) fn beside(&self, documented: &Self) -> Vec<Vec<String>> {
        let titles = ["", "filter on", "table", "", "filter off", "table", ""];
        let mut rows = vec![titles.map(str::to_owned).to_vec()];
        for row in &self.rows {
            let known = documented.row(&row.name);
            let mut cells = vec![row.name.clone()];
            for (count, known) in
                [(row.on, known.map(|it| it.on)), (row.off, known.map(|it| it.off))]
            {
                let change = |known| (ratio(count, known) - 1.0) * 100.0;
                cells.push(grouped(count));
                cells.push(known.map_or_else(|| "-".to_owned(), grouped));
                cells.push(
                    known.map_or_else(String::new, |known| format!("{:+.1}%", change(known))),
                );
            }
            rows.push(cells);
        }
        rows
    }

    /// What `documented` says to these figures.
    pub(super) fn judge(&self, documented: &Self) -> Verdict {
        let mut risen = Vec::new();
        for row in &self.rows {
            let Some(known) = documented.row(&row.name) else {
                // A load that nobody wrote down yet would go unguarded.
                risen.push(format!("`{}` (not in the table)", row.name));
                continue;
            };
            for (filter, count, known) in [("on", row.on, known.on), ("off", row.off, known.off)] {
                let ratio = ratio(count, known);
                if ratio > RISE {
                    let percent = (ratio - 1.0) * 100.0;
                    risen.push(format!("`{}` with the filter {filter} (+{percent:.0}%)", row.name));
                }
            }
        }
        if risen.is_empty() {
            Verdict::Kept
        } else if self.setup == documented.setup {
            Verdict::Risen(risen)
        } else {
            Verdict::RisenElsewhere(risen)
        }
    }

    fn row(&self, name: &str) -> Option<&Counts> {
        self.rows.iter().find(|row| row.name == name)
    }
}

fn ratio(count: u64, known: u64) -> f64 {
    count as f64 / known.max(1) as f64
}

/// What counts here: compiler, valgrind, C library, and what the processor offers.
pub(super) fn setup() -> anyhow::Result<String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let compiler = output(crate::shell::program(rustc).arg("--version"))?;
    let compiler = compiler.split(" (").next().unwrap_or(&compiler).to_owned();
    let valgrind = output(crate::shell::program("valgrind").arg("--version"))?;
    let c_library = output(crate::shell::program("getconf").arg("GNU_LIBC_VERSION"))
        .unwrap_or_else(|_| "another C library".to_owned());
    let processor = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let flags = processor.lines().find_map(|line| line.strip_prefix("flags")).unwrap_or_default();
    let has = |feature: &&str| flags.split_whitespace().any(|flag| flag == *feature);
    let features: Vec<&str> = FEATURES.into_iter().filter(has).collect();
    let architecture = std::env::consts::ARCH;
    let features = features.join(" ");
    Ok(format!("{compiler}, {valgrind} and {c_library} on {architecture} with {features}"))
}

/// Text that a document may have broken into lines.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `1 234 567`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

fn number(text: &str) -> anyhow::Result<u64> {
    text.replace(' ', "").parse().with_context(|| format!("`{text}` is no number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(setup: &str, on: u64) -> Table {
        let row = |name: &str, on| Counts {
            name: name.to_owned(),
            about: "a request: 1 KB, whole".to_owned(),
            on,
            off: 1_000,
        };
        Table { setup: setup.to_owned(), rows: vec![row("small", on), row("large", 1_234_567)] }
    }

    const DOCUMENT: &str = "# Title\n\nCounted with nothing yet:\n\n\
        | User instructions | filter on | filter off |\n| --- | ---: | ---: |\n| `a`, b | 1 | 2 |\n\nMore.\n";

    #[test]
    fn a_table_is_read_as_it_was_written_and_the_rest_of_the_document_stays() {
        let written = table("rustc 1.2.3", 999).write_into(DOCUMENT).unwrap();
        assert!(written.starts_with("# Title\n\nCounted with rustc 1.2.3:\n\n| User"), "{written}");
        assert!(
            written.contains("| `large`, a request: 1 KB, whole | 1 234 567 | 1 000 |\n\nMore.\n")
        );
        assert_eq!(Table::read(&written).unwrap(), table("rustc 1.2.3", 999));
        assert_eq!(table("rustc 1.2.3", 999).write_into(&written).unwrap(), written);
    }

    #[test]
    fn a_rise_of_more_than_a_tenth_is_a_failure_where_the_table_was_counted() {
        let documented = table("here", 10_000);
        assert_eq!(table("here", 11_000).judge(&documented), Verdict::Kept);
        assert_eq!(table("elsewhere", 5_000).judge(&documented), Verdict::Kept);
        let risen = vec!["`small` with the filter on (+12%)".to_owned()];
        assert_eq!(table("here", 11_200).judge(&documented), Verdict::Risen(risen.clone()));
        assert_eq!(table("there", 11_200).judge(&documented), Verdict::RisenElsewhere(risen));
    }

    #[test]
    fn a_load_that_the_table_does_not_have_is_told() {
        let documented = Table::read(DOCUMENT).unwrap();
        assert!(
            matches!(table("nothing yet", 1).judge(&documented), Verdict::Risen(which) if which.len() == 2)
        );
    }

    #[test]
    fn the_documentation_has_the_table() {
        let document =
            fs::read_to_string(crate::shell::root().join(super::super::DOCUMENT)).unwrap();
        let table = Table::read(&document).unwrap();
        let names: Vec<&str> = table.rows.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(names, super::super::LOADS.map(|load| load.name));
    }
}
