//! A text that matches a regular expression: the shortest that is easy to name.

use regex_syntax::hir::{Class, Hir, HirKind};

/// Longest text to build, in bytes: `(x{1000}){1000}` asks for a million.
const LONGEST: usize = 4096;

/// A text that matches `pattern`, made `least` characters long where a repetition allows it.
/// `None` for what is not a regular expression here (look-around, back references) or needs a
/// longer text.
pub(super) fn example(pattern: &str, least: usize) -> Option<String> {
    let hir = regex_syntax::parse(pattern).ok()?;
    let mut text = String::new();
    write(&hir, 0, &mut text)?;
    let short = text.chars().count();
    if short >= least {
        return Some(text);
    }
    // The first open-ended repetition is written that often more. Where its unit is longer than a
    // character the text gets longer than needed, which `maxLength` seldom forbids.
    let mut longer = String::new();
    write(&hir, u32::try_from(least - short).ok()?, &mut longer)?;
    Some(longer)
}

fn write(hir: &Hir, more: u32, text: &mut String) -> Option<()> {
    if text.len() > LONGEST {
        return None;
    }
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => text.push_str(std::str::from_utf8(&literal.0).ok()?),
        HirKind::Class(class) => text.push(pick(class)?),
        HirKind::Repetition(repetition) => {
            let most = repetition.max.unwrap_or(u32::MAX);
            for _ in 0..repetition.min.saturating_add(more).min(most) {
                write(&repetition.sub, 0, text)?;
            }
        }
        HirKind::Capture(capture) => write(&capture.sub, more, text)?,
        HirKind::Concat(parts) => {
            let longest = parts.iter().position(is_open);
            for (index, part) in parts.iter().enumerate() {
                write(part, if longest == Some(index) { more } else { 0 }, text)?;
            }
        }
        HirKind::Alternation(parts) => write(parts.first()?, more, text)?,
    }
    Some(())
}

/// Whether this part can be made longer.
fn is_open(hir: &Hir) -> bool {
    hir.properties().maximum_len() != hir.properties().minimum_len()
}

/// A letter if the class has one, else a digit, else its first character.
fn pick(class: &Class) -> Option<char> {
    match class {
        Class::Unicode(class) => {
            let has = |c: &char| class.iter().any(|r| r.start() <= *c && *c <= r.end());
            "aA1".chars().find(has).or_else(|| class.iter().next().map(|range| range.start()))
        }
        Class::Bytes(class) => {
            let first = class.iter().next()?.start();
            first.is_ascii().then_some(char::from(first))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples() {
        let cases = [
            (r"^[A-Z]{3}-\d{4}$", 0, Some("AAA-1111")),
            (r"^(foo|bar)+$", 0, Some("foo")),
            (r"^\w*$", 5, Some("aaaaa")),
            (r"^x[0-9]+$", 4, Some("x111")),
            (r"^[^@]+@[^@]+\.com$", 0, Some("a@a.com")),
            (r"^(?=look)ahead$", 0, None),
            (r"(x{1000}){1000}", 0, None),
        ];
        for (pattern, least, expected) in cases {
            assert_eq!(example(pattern, least).as_deref(), expected, "{pattern}");
        }
    }
}
