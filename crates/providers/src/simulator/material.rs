//! What a prompt offers to fill a JSON instance with: `name: value` pairs, quoted texts, numbers.

/// Only so much of a prompt is looked at, in bytes: a long one would be searched for every member.
const LONGEST: usize = 4096;
/// Characters of the prompt that stand in where nothing fits better.
const EXCERPT: usize = 60;

/// The values that a prompt offers. Quoted texts and numbers are taken in order, each once.
pub(super) struct Material<'a> {
    prompt: &'a str,
    quoted: std::vec::IntoIter<&'a str>,
    numbers: std::vec::IntoIter<f64>,
}

impl<'a> Material<'a> {
    /// What `prompt` offers, leaving out the names in `not`: a tool's name in backticks asks for a
    /// call and is no argument of it.
    pub(super) fn of(prompt: &'a str, not: &[&str]) -> Self {
        let prompt = head(prompt, LONGEST);
        let mut quoted = quoted(prompt);
        quoted.retain(|text| !not.contains(text));
        Self { prompt, quoted: quoted.into_iter(), numbers: numbers(prompt).into_iter() }
    }

    /// A text for the member `name`.
    pub(super) fn text(&mut self, name: &str) -> String {
        if let Some(value) = self.named(name) {
            return value.to_owned();
        }
        if let Some(text) = self.quoted.next() {
            return text.to_owned();
        }
        let excerpt: String = self.prompt.trim().chars().take(EXCERPT).collect();
        if excerpt.is_empty() { "simulated".to_owned() } else { excerpt }
    }

    /// A number for the member `name`, where the prompt has one.
    pub(super) fn number(&mut self, name: &str) -> Option<f64> {
        let named = self.named(name).and_then(|value| value.parse().ok());
        named.filter(|number: &f64| number.is_finite()).or_else(|| self.numbers.next())
    }

    /// The value in `name: value` or `name=value`, up to white space or a comma, or in quotes.
    fn named(&self, name: &str) -> Option<&'a str> {
        if name.is_empty() {
            return None;
        }
        self.prompt.match_indices(name).find_map(|(at, _)| {
            let before = self.prompt[..at].chars().next_back();
            if before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
                return None;
            }
            let after = self.prompt[at + name.len()..].trim_start_matches(['"', '`', ' ']);
            let value = after.strip_prefix([':', '='])?.trim_start_matches(' ');
            if let Some(quote) = value.chars().next().filter(|c| matches!(c, '"' | '\'' | '`')) {
                return value[1..].split_once(quote).map(|(value, _)| value);
            }
            let value = value.split([' ', ',', ';', '\n', '\t', ')', '}']).next()?;
            Some(value.trim_end_matches(['.', '!', '?'])).filter(|value| !value.is_empty())
        })
    }
}

/// The first `most` bytes of a text, or a little less where a character would be cut.
pub(super) fn head(text: &str, most: usize) -> &str {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Texts in backticks or double quotes, typographic ones too.
fn quoted(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(open) = rest.find(['"', '`', '“', '„']) {
        let quote = rest[open..].chars().next().unwrap_or('"');
        let inside = &rest[open + quote.len_utf8()..];
        let close = match quote {
            '“' => '”',
            '„' => '“',
            same => same,
        };
        let Some((text, after)) = inside.split_once(close) else {
            rest = inside;
            continue;
        };
        if !text.trim().is_empty() && !text.contains('\n') {
            found.push(text);
        }
        rest = after;
    }
    found
}

/// Numbers that stand for themselves: `3`, `-4.5`, but not the 2 in `v2`.
fn numbers(text: &str) -> Vec<f64> {
    text.split(|c: char| c.is_whitespace() || ",;:()[]{}\"'`+*/=?!°%$€".contains(c))
        .map(|word| word.trim_end_matches('.'))
        .filter(|word| word.trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit()))
        .filter_map(|word| word.parse().ok())
        .filter(|number: &f64| number.is_finite())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_values_come_first_then_quoted_ones_then_the_prompt() {
        let mut material = Material::of("`search` for \"cats\", city: Paris. limit=5", &["search"]);
        assert_eq!(material.text("city"), "Paris");
        assert_eq!(material.number("limit"), Some(5.0));
        assert_eq!(material.text("query"), "cats");
        assert_eq!(material.text("other"), "`search` for \"cats\", city: Paris. limit=5");
    }

    #[test]
    fn numbers_are_taken_in_order() {
        let mut material = Material::of("add 2 and -3.5 in v2.", &[]);
        assert_eq!([material.number("a"), material.number("b")], [Some(2.0), Some(-3.5)]);
        assert_eq!(material.number("c"), None);
    }

    #[test]
    fn no_prompt_still_gives_a_text() {
        assert_eq!(Material::of(" ", &[]).text("x"), "simulated");
    }
}
