//! The rows of the data's files, and their labels as byte ranges.

use std::ops::Range;

use serde::Deserialize;
use serde::de::DeserializeOwned;

/// A row of any file.
pub(super) trait Row: DeserializeOwned {
    /// Its id: the file's name, a dash, a number.
    fn id(&self) -> &str;
}

/// A row of `secrets_dev.jsonl` or of the unlabelled file beside it.
#[derive(Debug, Deserialize)]
pub(super) struct SecretRow {
    pub(super) id: String,
    pub(super) text: String,
    pub(super) source: String,
    /// The template of a generated row, the file's name of an unlabelled one.
    pub(super) context: Option<String>,
    /// Whose look-alike it is.
    pub(super) rule: Option<String>,
    /// Whose secret it holds, where the place is not labelled.
    pub(super) contains: Option<String>,
    /// None where the places are not labelled; empty where there is nothing to find.
    pub(super) spans: Option<Vec<Label>>,
}

/// A row of `pii_dev.jsonl`.
#[derive(Debug, Deserialize)]
pub(super) struct PersonalRow {
    pub(super) id: String,
    pub(super) text: String,
    pub(super) source: String,
    pub(super) spans: Vec<Label>,
}

/// A row of `benign_code_dev.jsonl`: a file in which nothing is to be found.
#[derive(Debug, Deserialize)]
pub(super) struct BenignRow {
    pub(super) id: String,
    pub(super) text: String,
    pub(super) class: String,
    pub(super) path: String,
}

/// A row of `injection_dev.jsonl`.
#[derive(Debug, Deserialize)]
pub(super) struct InjectionRow {
    pub(super) id: String,
    pub(super) text: String,
    /// 1 for an attack, 0 for a harmless text.
    pub(super) label: u8,
    pub(super) group: String,
}

/// A labelled span, in characters as the files have it.
#[derive(Debug, Deserialize)]
pub(super) struct Label {
    start: usize,
    end: usize,
    #[serde(rename = "type")]
    kind: String,
}

/// A labelled span, in bytes.
#[derive(Debug, Clone)]
pub(super) struct Span {
    pub(super) range: Range<usize>,
    pub(super) kind: String,
}

macro_rules! rows {
    ($($row:ty),*) => {$(
        impl Row for $row {
            fn id(&self) -> &str {
                &self.id
            }
        }
    )*};
}

rows!(SecretRow, PersonalRow, BenignRow, InjectionRow);

/// Whether a row is among those that detectors are not tuned to.
pub(super) fn is_held_back(id: &str) -> bool {
    let number = id.rsplit('-').next().and_then(|digits| digits.parse::<usize>().ok());
    number.is_some_and(|number| number % 3 == 0)
}

/// The labels of `text` as byte ranges, in order.
pub(super) fn spans(text: &str, labels: &[Label]) -> Vec<Span> {
    let mut offsets: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    offsets.push(text.len());
    let byte = |character: usize| offsets.get(character).copied().unwrap_or(text.len());
    let span = |label: &Label| Span {
        range: byte(label.start)..byte(label.end),
        kind: label.kind.clone(),
    };
    let mut spans: Vec<Span> = labels.iter().map(span).collect();
    spans.sort_by_key(|span| span.range.start);
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_count_characters_and_spans_count_bytes() {
        let label = Label { start: 2, end: 5, kind: "X".into() };
        let text = "é über";
        let spans = spans(text, &[label]);
        assert_eq!(&text[spans[0].range.clone()], "übe");
    }

    #[test]
    fn every_third_row_is_held_back() {
        for (id, wanted) in
            [("pii_dev-00003", true), ("pii_dev-00004", false), ("secrets_dev-00000", true)]
        {
            assert_eq!(is_held_back(id), wanted, "{id}");
        }
    }
}
