//! The random text that opens a session or a link.

use std::fmt;

use sluice_core::secret::Secret;
use sluice_storage::{KeyHasher, MasterKey};

use crate::service_key::{NoRandomness, random_name};

/// Characters of base62: log₂ 62 · 43 = 256 bits.
const LENGTH: usize = 43;

/// What opens a session or a link. Never printed; only its keyed hash is kept.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(Secret<String>);

impl Token {
    /// A new one.
    pub fn generate() -> Result<Self, NoRandomness> {
        random_name(LENGTH).map(|text| Self(Secret::new(text)))
    }

    /// Reads one, as a cookie or a path carries it.
    pub fn parse(text: &str) -> Option<Self> {
        let fits = text.len() == LENGTH && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        fits.then(|| Self(Secret::new(text.to_owned())))
    }

    /// The text itself.
    pub fn expose(&self) -> &str {
        self.0.expose()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// What hashes the tokens of links.
pub(crate) fn link_hasher(master_key: &MasterKey) -> KeyHasher {
    master_key.hasher("person-link")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_reads_back_and_is_not_printed() {
        let token = Token::generate().unwrap();
        assert_eq!(Token::parse(token.expose()), Some(token.clone()));
        assert_ne!(Token::generate().unwrap(), token);
        assert_eq!(format!("{token:?}"), "***");
        for text in ["", "short", &"é".repeat(43), &format!("{}/", &token.expose()[1..])] {
            assert_eq!(Token::parse(text), None, "{text}");
        }
    }
}
