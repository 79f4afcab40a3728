//! Names and e-mail addresses: what may stand in them, so that two that are different look different.

use crate::admin::AdminError;

/// A name without the space around it, with one space where several stand in a row: a browser shows
/// no more of them.
pub fn checked_name(name: &str) -> Result<String, AdminError> {
    let name = name.trim();
    let is_plain = !name.chars().any(|c| c.is_control() || is_unseen(c));
    let name = spaced_once(name);
    let fits = (1..=100).contains(&name.chars().count());
    if fits && is_plain { Ok(name) } else { Err(AdminError::InvalidName) }
}

/// An e-mail address in lower case. Whether it exists, only a message tells.
pub fn checked_email(text: &str) -> Result<String, AdminError> {
    let email = text.trim().to_lowercase();
    let has_parts = email
        .split_once('@')
        .is_some_and(|(name, host)| !name.is_empty() && !host.is_empty() && !host.contains('@'));
    let is_plain = !email.chars().any(|c| c.is_control() || c.is_whitespace() || is_unseen(c));
    if has_parts && is_plain && email.len() <= 254 {
        Ok(email)
    } else {
        Err(AdminError::InvalidEmail(text.chars().take(100).collect()))
    }
}

/// A name as somebody reads it, and so types it: without what is not seen, and with one space where
/// several stand in a row. Names that were stored before [`checked_name`] refused such characters
/// may differ from it.
pub fn as_read(name: &str) -> String {
    let seen: String = name.chars().filter(|c| !is_unseen(*c)).collect();
    spaced_once(&seen)
}

fn spaced_once(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Format characters of Unicode: they are not seen, or change the direction of the text around them.
pub(crate) fn is_unseen(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_sees_stands_in_no_name_and_no_address() {
        for unseen in [
            '\u{ad}',
            '\u{61c}',
            '\u{180e}',
            '\u{200b}',
            '\u{202e}',
            '\u{2066}',
            '\u{feff}',
            '\u{e0041}',
            '\n',
            '\0',
        ] {
            let name = checked_name(&format!("pro{unseen}d"));
            assert!(matches!(name, Err(AdminError::InvalidName)), "{unseen:?}: {name:?}");
            let email = checked_email(&format!("ada{unseen}@example.org"));
            assert!(matches!(email, Err(AdminError::InvalidEmail(_))), "{unseen:?}: {email:?}");
        }
        assert_eq!(checked_name(" Zoë  \u{a0} Łuka–1 ").unwrap(), "Zoë Łuka–1");
        assert_eq!(checked_name(&"x".repeat(100)).unwrap().len(), 100);
        assert!(checked_name(&"x".repeat(101)).is_err() && checked_name("  ").is_err());
        assert_eq!(checked_email(" Ada@Example.org ").unwrap(), "ada@example.org");
    }

    #[test]
    fn a_name_reads_as_it_is_shown() {
        assert_eq!(as_read("prod\u{200b}"), "prod");
        assert_eq!(as_read(" ci  \t review\u{202e} "), "ci review");
        assert_eq!(as_read("Zoë"), "Zoë");
    }
}
