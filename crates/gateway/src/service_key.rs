//! A service key's text: `svc_ent_`, 30 random characters, 6 characters of checksum.
//!
//! The random part is base62, so that a double click selects a whole key; 30 characters hold 178
//! bits. The checksum is the CRC-32 of everything before it, in base62 too, as in GitHub's tokens:
//! a typo and a stranger's token are told from a key without a look-up, and scanners that search
//! code for leaked keys find no false ones.

use std::fmt;

use zeroize::Zeroizing;

/// What every key begins with.
pub const PREFIX: &str = "svc_ent_";
/// Random characters: log₂ 62 · 30 = 178 bits.
const RANDOM: usize = 30;
/// Checksum characters: 62⁶ is more than 2³².
const CHECKSUM: usize = 6;
/// Bytes of a whole key.
const LENGTH: usize = PREFIX.len() + RANDOM + CHECKSUM;
/// Characters that are kept and shown: enough to tell keys apart, 154 bits short of a key.
const SHOWN: usize = PREFIX.len() + 4;

const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// A well-formed service key. Whether it exists is another question.
///
/// Holds no pointer, so that recognising a key allocates nothing. Never printed; wiped when dropped.
#[derive(Clone)]
pub struct ServiceKey(Zeroizing<[u8; LENGTH]>);

/// Why a text is not a service key. It says nothing about the text but its form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotAServiceKey {
    /// It does not begin as one.
    #[error("a service key begins with `svc_ent_`")]
    Prefix,
    /// It is too short or too long.
    #[error("a service key has {LENGTH} characters; copy it whole")]
    Length,
    /// It holds something else than letters and digits.
    #[error("a service key has only letters and digits after `svc_ent_`")]
    Alphabet,
    /// Its checksum does not fit.
    #[error("its checksum does not fit: a character is wrong; copy it again")]
    Checksum,
}

/// The operating system gave no random bytes.
#[derive(Debug, thiserror::Error)]
#[error("the operating system gave no random bytes: {0}")]
pub struct NoRandomness(String);

impl NoRandomness {
    pub(crate) fn of(error: getrandom::Error) -> Self {
        Self(error.to_string())
    }
}

impl ServiceKey {
    /// A new key.
    pub fn generate() -> Result<Self, NoRandomness> {
        let mut key = Zeroizing::new([0; LENGTH]);
        let (body, checksum) = key.split_at_mut(LENGTH - CHECKSUM);
        body[..PREFIX.len()].copy_from_slice(PREFIX.as_bytes());
        fill_random(&mut body[PREFIX.len()..])?;
        checksum.copy_from_slice(&checksum_of(body));
        Ok(Self(key))
    }

    /// Reads a key, or says what about its form is wrong.
    pub fn parse(text: &str) -> Result<Self, NotAServiceKey> {
        let Some(rest) = text.strip_prefix(PREFIX) else { return Err(NotAServiceKey::Prefix) };
        let Ok(key) = <&[u8; LENGTH]>::try_from(text.as_bytes()) else {
            return Err(NotAServiceKey::Length);
        };
        if !rest.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return Err(NotAServiceKey::Alphabet);
        }
        let (body, checksum) = key.split_at(LENGTH - CHECKSUM);
        if checksum != checksum_of(body) {
            return Err(NotAServiceKey::Checksum);
        }
        Ok(Self(Zeroizing::new(*key)))
    }

    /// The key itself.
    pub fn expose(&self) -> &str {
        // All of it is ASCII, as `generate` and `parse` see to; an empty text is no key of anybody.
        std::str::from_utf8(&*self.0).unwrap_or_default()
    }

    /// The characters that may be kept and shown.
    pub fn prefix(&self) -> &str {
        &self.expose()[..SHOWN]
    }
}

impl PartialEq for ServiceKey {
    fn eq(&self, other: &Self) -> bool {
        subtle::ConstantTimeEq::ct_eq(&self.0[..], &other.0[..]).into()
    }
}

impl Eq for ServiceKey {}

impl fmt::Debug for ServiceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// A random name, such as a record's id: `count` characters of base62.
pub fn random_name(count: usize) -> Result<String, NoRandomness> {
    let mut name = vec![0; count];
    fill_random(&mut name)?;
    Ok(name.into_iter().map(char::from).collect())
}

/// Fills `text` with uniformly distributed characters.
fn fill_random(text: &mut [u8]) -> Result<(), NoRandomness> {
    let mut random = Zeroizing::new([0; 64]);
    let mut filled = 0;
    while filled < text.len() {
        getrandom::fill(&mut *random).map_err(NoRandomness::of)?;
        for byte in random.iter() {
            // 256 is no multiple of 62: what is left over would make some characters likelier.
            if *byte < 62 * 4 && filled < text.len() {
                text[filled] = ALPHABET[usize::from(byte % 62)];
                filled += 1;
            }
        }
    }
    Ok(())
}

/// The CRC-32 of `body`, as six characters with leading zeros.
fn checksum_of(body: &[u8]) -> [u8; CHECKSUM] {
    let mut rest = crc32fast::hash(body);
    let mut text = [ALPHABET[0]; CHECKSUM];
    for character in text.iter_mut().rev() {
        *character = ALPHABET[(rest % 62) as usize];
        rest /= 62;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn keys_are_read_as_they_were_made() {
        for _ in 0..100 {
            let key = ServiceKey::generate().unwrap();
            assert_eq!(key.expose().len(), 44);
            assert!(key.expose().starts_with("svc_ent_"));
            assert_eq!(key.prefix(), &key.expose()[..12]);
            assert_eq!(ServiceKey::parse(key.expose()), Ok(key));
        }
        assert_ne!(ServiceKey::generate().unwrap(), ServiceKey::generate().unwrap());
    }

    /// The form is a promise to scanners: it must not change.
    #[test]
    fn the_checksum_stays_as_published() {
        let body = "svc_ent_000000000000000000000000000000";
        let checksum = checksum_of(body.as_bytes());
        let key = format!("{body}{}", std::str::from_utf8(&checksum).unwrap());
        assert_eq!(key, "svc_ent_0000000000000000000000000000004BbKlZ");
        ServiceKey::parse(&key).unwrap();
    }

    #[test]
    fn the_reason_names_what_is_wrong() {
        let key = ServiceKey::generate().unwrap();
        let key = key.expose();
        for (text, reason) in [
            ("", NotAServiceKey::Prefix),
            ("sk-1234", NotAServiceKey::Prefix),
            ("svc_ent_", NotAServiceKey::Length),
            (&key[..43], NotAServiceKey::Length),
            (&format!("{key}0"), NotAServiceKey::Length),
            (&format!("{}-", &key[..43]), NotAServiceKey::Alphabet),
            (&format!("{}é", &key[..42]), NotAServiceKey::Alphabet),
            ("svc_ent_000000000000000000000000000000000000", NotAServiceKey::Checksum),
        ] {
            assert_eq!(ServiceKey::parse(text).unwrap_err(), reason, "{text}");
        }
    }

    #[test]
    fn a_key_is_never_printed() {
        assert_eq!(format!("{:?}", ServiceKey::generate().unwrap()), "***");
    }

    proptest! {
        #[test]
        fn any_wrong_character_is_noticed(place in 8..44_usize, other in "[0-9A-Za-z]") {
            let key = ServiceKey::generate().unwrap();
            let mut typo = key.expose().to_owned();
            typo.replace_range(place..=place, &other);
            prop_assert_eq!(ServiceKey::parse(&typo).is_ok(), typo == key.expose());
        }

        #[test]
        fn swapped_neighbours_are_noticed(place in 8..37_usize) {
            let key = ServiceKey::generate().unwrap();
            let mut typo = key.expose().as_bytes().to_vec();
            typo.swap(place, place + 1);
            let typo = String::from_utf8(typo).unwrap();
            prop_assert_eq!(ServiceKey::parse(&typo).is_ok(), typo == key.expose());
        }

        #[test]
        fn any_text_is_answered(text in ".*") {
            prop_assert!(ServiceKey::parse(&text).is_err());
            let prefixed = format!("svc_ent_{text}");
            prop_assert!(ServiceKey::parse(&prefixed).is_err());
        }
    }
}
