//! Heads and ends of tables. Rows are written by the page that has them.

use std::fmt;

use askama::Template;

use super::text::Escaped;

/// The head of a column.
#[derive(Debug, Clone, Default)]
pub struct Column {
    label: &'static str,
    is_number: bool,
    /// The narrower the panel, the fewer columns: 5 goes first, 1 last, 0 never.
    drop: u8,
    sort: Option<(String, Option<bool>)>,
}

impl Column {
    /// A column of words.
    pub fn text(label: &'static str) -> Self {
        Self { label, ..Self::default() }
    }

    /// A column of figures, aligned right.
    pub fn number(label: &'static str) -> Self {
        Self { label, is_number: true, ..Self::default() }
    }

    /// Left out in narrow panels: 5 first, 1 last. The cells below need the class, `d5` to `d1`.
    #[must_use]
    pub fn drop(self, drop: u8) -> Self {
        Self { drop, ..self }
    }

    /// With a link that sorts by it; `descends` tells how it is sorted now.
    #[must_use]
    pub fn sorted(self, link: impl Into<String>, descends: Option<bool>) -> Self {
        Self { sort: Some((link.into(), descends)), ..self }
    }
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<th scope=\"col\"")?;
        let classes = [
            if self.is_number { "num" } else { "" },
            match self.drop {
                0 => "",
                1 => "d1",
                2 => "d2",
                3 => "d3",
                4 => "d4",
                _ => "d5",
            },
        ];
        let classes: Vec<_> = classes.into_iter().filter(|class| !class.is_empty()).collect();
        if !classes.is_empty() {
            write!(f, " class=\"{}\"", classes.join(" "))?;
        }
        let label = Escaped(self.label);
        match &self.sort {
            None if self.label.is_empty() => f.write_str("><span class=\"unseen\">Actions</span>"),
            None => write!(f, ">{label}"),
            Some((link, descends)) => {
                let (word, arrow) = match descends {
                    Some(true) => (" aria-sort=\"descending\"", " ↓"),
                    Some(false) => (" aria-sort=\"ascending\"", " ↑"),
                    None => ("", ""),
                };
                let link = Escaped(link);
                write!(
                    f,
                    "{word}><a href=\"{link}\">{label}<span aria-hidden=\"true\">{arrow}</span></a>"
                )
            }
        }?;
        f.write_str("</th>")
    }
}

/// The way to the rows before and after, by key and not by number: no page gets slower.
#[derive(Debug, Clone, Default, Template)]
#[template(path = "components/pager.html")]
pub struct Pager {
    /// What is shown: `50 of 184,206`.
    pub shown: String,
    /// Where newer rows are.
    pub newer: Option<String>,
    /// Where older rows are.
    pub older: Option<String>,
}
