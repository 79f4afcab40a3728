//! The simulator's own tokens. They are the provider's count here, so they need to be stable and
//! about as long as real ones, and nothing else.
//!
//! A token is up to six letters or digits with one space before them, or up to eight other white
//! space characters, or any other single character. Ideographs and kana are one token each.
//! English comes to about four characters a token, as with real tokenizers.

/// Most letters of one token.
const LETTERS: usize = 6;
/// Most white space characters of one token.
const SPACES: usize = 8;

/// Cuts `text` into tokens; put together again they are the text.
pub(super) fn split(text: &str) -> Tokens<'_> {
    Tokens { rest: text }
}

/// How many tokens `text` has.
pub(super) fn count(text: &str) -> u64 {
    split(text).map(|_| 1).sum()
}

/// The length in bytes of the first token of `text`; 0 where it is empty.
pub(super) fn first_len(text: &str) -> usize {
    let unspaced = text.strip_prefix(' ').unwrap_or(text);
    let letters = len_of(unspaced, LETTERS, is_letter);
    if letters > 0 {
        return text.len() - unspaced.len() + letters;
    }
    let spaces = len_of(text, SPACES, char::is_whitespace);
    if spaces > 0 {
        return spaces;
    }
    text.chars().next().map_or(0, char::len_utf8)
}

/// The tokens of a text, in order.
pub(super) struct Tokens<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Tokens<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        if self.rest.is_empty() {
            return None;
        }
        let (token, rest) = self.rest.split_at(first_len(self.rest));
        self.rest = rest;
        Some(token)
    }
}

fn len_of(text: &str, most: usize, belongs: fn(char) -> bool) -> usize {
    text.chars().take(most).take_while(|&c| belongs(c)).map(char::len_utf8).sum()
}

/// Letters of scripts that put spaces between words.
fn is_letter(c: char) -> bool {
    c.is_alphanumeric() && !('\u{2E80}'..='\u{9FFF}').contains(&c)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_punctuation_and_ideographs() {
        let tokens: Vec<_> = split("A simulated day,\n\n  at 日本!").collect();
        assert_eq!(
            tokens,
            ["A", " simula", "ted", " day", ",", "\n\n  ", "at", " ", "日", "本", "!"]
        );
    }

    proptest! {
        #[test]
        fn tokens_join_to_the_text_and_are_never_empty(text in any::<String>()) {
            prop_assert!(split(&text).all(|token| !token.is_empty()));
            prop_assert_eq!(split(&text).collect::<String>(), text);
        }

        #[test]
        fn a_prefix_of_tokens_has_the_same_tokens(text in any::<String>(), most in 0_usize..20) {
            let prefix: Vec<_> = split(&text).take(most).collect();
            let joined = prefix.concat();
            prop_assert_eq!(split(&joined).collect::<Vec<_>>(), prefix);
        }
    }
}
