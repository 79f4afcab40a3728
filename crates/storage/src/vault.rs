//! Secrets that have to be read back, sealed under a key derived from the master key.
//!
//! AES-256-GCM (NIST SP 800-38D) with a random nonce for each value. What a value belongs to is
//! sealed with it, so that nobody who can write to the database can put one in another's place.

use std::fmt;

use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use sluice_core::secret::Secret;

use crate::error::StorageError;
use crate::master_key::{MasterKey, random_bytes, to_hex};

/// The form of what is sealed: a later one can be told from it.
const FORM: &str = "a1.";

/// Seals values for one purpose.
#[derive(Clone)]
pub struct Sealer(LessSafeKey);

impl MasterKey {
    /// What seals values for one purpose. Make it once: the derivation costs more than a seal.
    pub fn sealer(&self, purpose: &str) -> Sealer {
        Sealer::new(&self.derive(&format!("sealed {purpose}")))
    }
}

impl Sealer {
    /// What seals with a key.
    #[expect(clippy::expect_used, reason = "a key of AES-256 has 32 bytes, and so has this one")]
    pub(crate) fn new(key: &Secret<[u8; 32]>) -> Self {
        let key = UnboundKey::new(&AES_256_GCM, key.expose()).expect("the key has 32 bytes");
        Self(LessSafeKey::new(key))
    }

    /// Seals `secret`, which belongs to `whose`, as text.
    pub fn seal(&self, secret: &[u8], whose: &str) -> Result<String, StorageError> {
        let nonce = random_bytes::<NONCE_LEN>()?;
        let mut bytes = secret.to_vec();
        self.0
            .seal_in_place_append_tag(
                Nonce::assume_unique_for_key(nonce),
                Aad::from(whose),
                &mut bytes,
            )
            .map_err(|_| StorageError::Unreadable {
                column: "a secret",
                value: "***".to_owned(),
            })?;
        Ok(format!("{FORM}{}{}", to_hex(&nonce), to_hex(&bytes)))
    }

    /// What was sealed; `None` where it was not sealed here, for this, and like this.
    pub fn open(&self, sealed: &str, whose: &str) -> Option<Secret<Vec<u8>>> {
        let mut bytes = bytes_of(sealed.strip_prefix(FORM)?)?;
        let (nonce, _) = bytes.split_first_chunk::<NONCE_LEN>()?;
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let opened = self.0.open_within(nonce, Aad::from(whose), &mut bytes, NONCE_LEN..).ok()?;
        Some(Secret::new(opened.to_vec()))
    }
}

impl fmt::Debug for Sealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// The bytes that hexadecimal digits stand for; `None` where they are none.
pub(crate) fn bytes_of(hex: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let pairs = hex.as_bytes().chunks(2);
    pairs
        .map(|pair| match pair {
            [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sealer(purpose: &str) -> Sealer {
        let dir = tempfile::tempdir().unwrap();
        MasterKey::load_or_create(dir.path()).unwrap().sealer(purpose)
    }

    proptest! {
        #[test]
        fn what_was_sealed_is_opened_for_the_same_and_unchanged_only(
            secret in proptest::collection::vec(any::<u8>(), 0..80),
            at in any::<prop::sample::Index>(),
        ) {
            let sealer = sealer("test");
            let sealed = sealer.seal(&secret, "per_1").unwrap();
            let opened = sealer.open(&sealed, "per_1").unwrap();
            prop_assert_eq!(opened.expose(), &secret);
            prop_assert!(sealer.open(&sealed, "per_2").is_none());
            let mut changed = sealed.clone().into_bytes();
            let place = at.index(changed.len());
            changed[place] = if changed[place] == b'0' { b'1' } else { b'0' };
            prop_assert!(sealer.open(std::str::from_utf8(&changed).unwrap(), "per_1").is_none());
            let cut = at.index(sealed.len());
            prop_assert!(sealer.open(&sealed[..cut], "per_1").is_none());
        }
    }

    #[test]
    fn purposes_and_master_keys_are_told_apart_and_nothing_is_printed() {
        let dir = tempfile::tempdir().unwrap();
        let master = MasterKey::load_or_create(dir.path()).unwrap();
        let sealed = master.sealer("a").seal(b"secret", "x").unwrap();
        assert!(master.sealer("a").open(&sealed, "x").is_some());
        assert!(master.sealer("b").open(&sealed, "x").is_none());
        assert!(sealer("a").open(&sealed, "x").is_none());
        assert_ne!(master.sealer("a").seal(b"secret", "x").unwrap(), sealed, "no nonce twice");
        assert_eq!(format!("{:?}", master.sealer("a")), "***");
        let opened = master.sealer("a").open(&sealed, "x");
        assert_eq!(format!("{opened:?}"), "Some(***)");
    }
}
