//! Text that somebody else wrote: a person, a caller's header, a model.

use std::fmt::{self, Write};

use sluice_gateway::admin::as_read;

/// So many characters are shown; a title has more, and the page of the thing itself has all.
const SHOWN: usize = 100;
/// So many characters stand in a title.
const IN_TITLE: usize = 300;

/// Text from outside. It is escaped, kept from changing the direction of what stands around it, and
/// cut where it is too long; style sheets cut it further, and the title has more of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Text(String);

impl Text {
    /// Text from outside.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself, for attributes and addresses; a template escapes it there.
    pub fn plain(&self) -> &str {
        &self.0
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// At most as much of it as a title or a label has.
    pub fn brief(&self) -> String {
        cut(&self.0, SHOWN).map_or_else(|| self.0.clone(), |head| format!("{head}…"))
    }

    /// All of it, for the one place of a page that shows the thing itself.
    pub fn whole(&self) -> Markup {
        Markup(format!("<bdi>{}</bdi>", Escaped(&self.0)))
    }

    /// Its first letter, for a picture of somebody.
    pub fn initial(&self) -> String {
        let first = self.0.chars().find(|character| character.is_alphanumeric());
        first.map_or_else(|| "?".to_owned(), |first| first.to_uppercase().collect())
    }

    /// As one segment of an address.
    pub fn segment(&self) -> String {
        segment(&self.0)
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Short texts are seen whole nearly everywhere; a title would only double them.
        if self.0.len() <= 24 {
            return write!(f, "<bdi>{}</bdi>", Escaped(&self.0));
        }
        match cut(&self.0, IN_TITLE) {
            None => write!(f, "<bdi title=\"{}\">", Escaped(&self.0))?,
            Some(head) => write!(
                f,
                "<bdi title=\"{}… ({} characters)\">",
                Escaped(head),
                crate::format::count(self.0.chars().count() as u64),
            )?,
        }
        match cut(&self.0, SHOWN) {
            None => write!(f, "{}</bdi>", Escaped(&self.0)),
            Some(head) => write!(f, "{}…</bdi>", Escaped(head)),
        }
    }
}

/// The first `most` characters, where there are more.
fn cut(text: &str, most: usize) -> Option<&str> {
    let (at, _) = text.char_indices().nth(most)?;
    text.get(..at)
}

/// So many bytes of a text stand in an address. No name that leads anywhere is longer.
const IN_ADDRESS: usize = 400;

/// A text as one segment of an address, or as a value of its query.
pub(crate) fn segment(text: &str) -> String {
    let mut written = String::with_capacity(text.len().min(IN_ADDRESS));
    for byte in text.get(..text.floor_char_boundary(IN_ADDRESS)).unwrap_or(text).bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                written.push(char::from(byte));
            }
            _ => {
                let _ = write!(written, "%{byte:02X}");
            }
        }
    }
    written
}

/// A text with what means something in markup written out.
#[derive(Debug, Clone, Copy)]
pub struct Escaped<'a>(pub &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.chars() {
            match character {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                // A parser of HTML would replace them anyway.
                '\0' => f.write_char('\u{FFFD}')?,
                _ => f.write_char(character)?,
            }
        }
        Ok(())
    }
}

/// Markup that this crate wrote.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Markup(pub(crate) String);

impl Markup {
    /// A sentence of ours with names of theirs at each `{}`.
    pub fn sentence(pattern: &str, names: &[&Text]) -> Self {
        let mut written = String::new();
        let mut names = names.iter();
        for (place, part) in pattern.split("{}").enumerate() {
            if let Some(name) = (place > 0).then(|| names.next()).flatten() {
                let _ = write!(written, "{name}");
            }
            let _ = write!(written, "{}", Escaped(part));
        }
        Self(written)
    }

    /// Names of theirs in a row.
    pub fn listed(names: &[Text]) -> Self {
        Self(names.iter().map(Text::to_string).collect::<Vec<_>>().join(", "))
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A sentence as text. Names of theirs may stand in it already, as in what a refusal says, so it goes
/// without the characters that would turn the rest of it around.
impl From<&str> for Markup {
    fn from(text: &str) -> Self {
        Self(Escaped(&as_read(text)).to_string())
    }
}

impl From<String> for Markup {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

impl From<Text> for Markup {
    fn from(text: Text) -> Self {
        Self(text.to_string())
    }
}

impl fmt::Display for Markup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_is_escaped_isolated_and_cut() {
        assert_eq!(Text::from("<b>&\"'").to_string(), "<bdi>&lt;b&gt;&amp;&quot;&#39;</bdi>");
        let long = Text::new("<".repeat(10_000)).to_string();
        assert!(long.starts_with("<bdi title=\"&lt;"));
        assert!(long.contains("… (10,000 characters)\">"));
        assert!(long.ends_with("…</bdi>"));
        assert!(long.len() < 4_000, "{}", long.len());
        assert_eq!(Text::new("é".repeat(200)).to_string().matches('…').count(), 1);
    }

    #[test]
    fn names_in_sentences_are_isolated() {
        let sentence = Markup::sentence("{} & {}.", &[&"<a>".into(), &"b".into()]);
        assert_eq!(sentence.to_string(), "<bdi>&lt;a&gt;</bdi> &amp; <bdi>b</bdi>.");
    }

    #[test]
    fn names_turn_nothing_around_them() {
        let turned = "\u{202e}deteled eb lliw";
        let listed = Markup::listed(&[turned.into(), "b".into()]);
        assert_eq!(listed.to_string(), format!("<bdi>{turned}</bdi>, <bdi>b</bdi>"));
        let refusal = Markup::from(format!("There is no team \"{turned}\" & no other."));
        let expected = "There is no team &quot;deteled eb lliw&quot; &amp; no other.";
        assert_eq!(refusal.to_string(), expected);
        assert_eq!(Markup::from(Text::from("<")).to_string(), "<bdi>&lt;</bdi>");
    }

    #[test]
    fn segments_hold_no_separators() {
        assert_eq!(segment("openai/gpt-5 mini?x=é&#"), "openai%2Fgpt-5%20mini%3Fx%3D%C3%A9%26%23");
    }

    #[test]
    fn a_picture_has_a_letter() {
        assert_eq!(Text::from(" ada").initial(), "A");
        assert_eq!(Text::from("→ ").initial(), "?");
    }
}
