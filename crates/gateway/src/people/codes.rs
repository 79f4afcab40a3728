//! One-time codes (RFC 6238: SHA-1, 6 digits, 30 seconds) and recovery codes.
//!
//! A code of the step before or after counts as well, since clocks differ. A step whose code was
//! used, and those before it, are over.

use ring::hmac;
use sluice_core::clock::UnixMillis;
use sluice_core::secret::Secret;
use subtle::{ConditionallySelectable as _, ConstantTimeEq as _};

use crate::service_key::NoRandomness;

const STEP_SECONDS: u64 = 30;
/// Bytes of a secret: as many as SHA-1 gives (RFC 4226, section 4).
const SECRET_BYTES: usize = 20;
/// Recovery codes that somebody gets.
pub(super) const RECOVERY_CODES: usize = 10;
/// Characters of a recovery code: 80 bits.
const RECOVERY_LENGTH: usize = 16;

/// RFC 4648, which authenticators read.
const BASE32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
/// Without letters that look like digits or each other.
const RECOVERY_ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// A new secret of one-time codes.
pub(super) fn new_secret() -> Result<Secret<Vec<u8>>, NoRandomness> {
    random::<SECRET_BYTES>().map(|bytes| Secret::new(bytes.to_vec()))
}

/// The secret as people type it into an authenticator: base32 without padding.
pub(super) fn base32(secret: &[u8]) -> String {
    in_fives(secret, BASE32)
}

/// What an authenticator reads off a QR code.
pub(super) fn otpauth_url(email: &str, secret: &[u8]) -> String {
    let account = escaped(email);
    format!(
        "otpauth://totp/Sluice:{account}?secret={}&issuer=Sluice&algorithm=SHA1&digits=6&period=30",
        base32(secret)
    )
}

/// The step that `given` is the code of, if it is one of those around `now` and later than `last`.
pub(super) fn step_of(
    secret: &[u8],
    given: &str,
    now: UnixMillis,
    last: Option<u64>,
) -> Option<u64> {
    let digits: Vec<u8> = given.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let current = now.seconds() / STEP_SECONDS;
    let mut found = 0;
    // All three are compared: how long it takes says nothing.
    for step in current.saturating_sub(1)..=current + 1 {
        let expected = code_at(secret, step);
        let fits = expected.as_bytes().ct_eq(&digits);
        found.conditional_assign(&step, fits);
    }
    (found > last.unwrap_or(0)).then_some(found)
}

/// The code of a step.
pub(super) fn code_at(secret: &[u8], step: u64) -> String {
    format!("{:06}", number(secret, step) % 1_000_000)
}

/// The number that a code is the last digits of (RFC 4226, section 5.3).
fn number(secret: &[u8], step: u64) -> u32 {
    let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, secret);
    let tag = hmac::sign(&key, &step.to_be_bytes());
    let hash = tag.as_ref();
    let offset = usize::from(hash.last().copied().unwrap_or(0) & 15);
    let bytes = hash.iter().skip(offset).take(4);
    bytes.fold(0_u32, |number, byte| number << 8 | u32::from(*byte)) & 0x7fff_ffff
}

/// New recovery codes: `0123-4567-89ab-cdef`.
pub(super) fn recovery_codes() -> Result<Vec<Secret<String>>, NoRandomness> {
    (0..RECOVERY_CODES)
        .map(|_| {
            let text = in_fives(&random::<10>()?, RECOVERY_ALPHABET);
            let groups: Vec<&str> = (0..4).filter_map(|at| text.get(at * 4..at * 4 + 4)).collect();
            Ok(Secret::new(groups.join("-")))
        })
        .collect()
}

/// A recovery code as it is hashed, where `given` may be one: letters that look like digits are
/// read as those.
pub(super) fn recovery_code(given: &str) -> Option<Secret<String>> {
    let read = |c: char| match c.to_ascii_lowercase() {
        'o' => '0',
        'i' | 'l' => '1',
        'u' => 'v',
        other => other,
    };
    let plain = given.chars().filter(|c| !c.is_whitespace() && *c != '-').map(read);
    let plain: String = plain.take(RECOVERY_LENGTH + 1).collect();
    let fits = plain.len() == RECOVERY_LENGTH
        && plain.bytes().all(|byte| RECOVERY_ALPHABET.contains(&byte));
    fits.then(|| Secret::new(plain))
}

fn random<const N: usize>() -> Result<[u8; N], NoRandomness> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(NoRandomness::of)?;
    Ok(bytes)
}

/// Five bits a character. Both lengths here are multiples of five bytes.
fn in_fives(bytes: &[u8], alphabet: &[u8; 32]) -> String {
    let mut text = String::with_capacity(bytes.len() * 8 / 5 + 1);
    let (mut bits, mut held) = (0_u32, 0);
    for byte in bytes {
        bits = bits << 8 | u32::from(*byte);
        held += 8;
        while held >= 5 {
            held -= 5;
            text.push(char::from(alphabet[(bits >> held & 31) as usize]));
        }
    }
    text
}

/// Percent-encoding of everything that is not plain in a path.
fn escaped(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~@".contains(&byte);
    text.bytes().fold(String::new(), |text, byte| match plain(byte) {
        true => text + &char::from(byte).to_string(),
        false => text + &format!("%{byte:02X}"),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECRET: &[u8] = b"12345678901234567890";

    /// RFC 6238, appendix B, the rows of SHA-1; codes of 6 digits are the last ones of those.
    const VECTORS: [(u64, u32); 6] = [
        (59, 94_287_082),
        (1_111_111_109, 7_081_804),
        (1_111_111_111, 14_050_471),
        (1_234_567_890, 89_005_924),
        (2_000_000_000, 69_279_037),
        (20_000_000_000, 65_353_130),
    ];

    #[test]
    fn the_vectors_of_rfc_6238() {
        for (seconds, eight_digits) in VECTORS {
            let step = seconds / STEP_SECONDS;
            assert_eq!(number(SECRET, step) % 100_000_000, eight_digits, "at {seconds}");
            let code = format!("{:06}", eight_digits % 1_000_000);
            let now = UnixMillis(seconds * 1000);
            assert_eq!(step_of(SECRET, &code, now, None), Some(step));
            let spaced = format!(" {} {} ", &code[..3], &code[3..]);
            assert_eq!(step_of(SECRET, &spaced, now, None), Some(step));
        }
    }

    proptest! {
        /// Good one step early or late, and never twice.
        #[test]
        fn a_code_counts_around_its_step_and_once(
            step in 1_u64..1 << 40, late in -3_i64..=3, last in proptest::option::of(-3_i64..=3),
        ) {
            let code = code_at(SECRET, step);
            let now = UnixMillis(step.saturating_add_signed(late) * STEP_SECONDS * 1000);
            let last = last.map(|last| step.saturating_add_signed(last));
            let found = step_of(SECRET, &code, now, last);
            // Another step's code may be the same by chance, but never an old one's.
            let is_good = late.abs() <= 1 && last.is_none_or(|last| last < step);
            if is_good || found == Some(step) {
                prop_assert_eq!(is_good, found.is_some());
            }
            prop_assert!(found.is_none_or(|found| last.is_none_or(|last| found > last)));
        }

        #[test]
        fn whatever_is_typed_is_no_code_and_no_panic(text in ".{0,30}") {
            let found = step_of(SECRET, &text, UnixMillis(59_000), None);
            prop_assert!(found.is_none() || text.contains("287082"));
            if let Some(code) = recovery_code(&text) {
                prop_assert_eq!(code.expose().len(), RECOVERY_LENGTH);
            }
        }
    }

    #[test]
    fn authenticators_read_the_secret_and_the_url() {
        // RFC 4648, section 10, and the RFC's secret as authenticators show it.
        assert_eq!(base32(b"fooba"), "MZXW6YTB");
        assert_eq!(base32(SECRET), "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
        let url = otpauth_url("ada+x@example.org", SECRET);
        assert!(
            url.starts_with("otpauth://totp/Sluice:ada%2Bx@example.org?secret=GEZDGNBV"),
            "{url}"
        );
        assert_eq!(base32(new_secret().unwrap().expose()).len(), 32);
    }

    #[test]
    fn recovery_codes_are_read_as_people_write_them() {
        let codes = recovery_codes().unwrap();
        assert_eq!(codes.len(), RECOVERY_CODES);
        for code in &codes {
            let text = code.expose();
            assert_eq!(text.len(), 19, "{text}");
            let plain = recovery_code(text).unwrap();
            assert_eq!(plain.expose(), &text.replace('-', ""));
            let typed = format!(" {} ", text.to_uppercase().replace('0', "O").replace('-', " "));
            assert_eq!(recovery_code(&typed).unwrap(), plain);
        }
        let different: std::collections::HashSet<&str> =
            codes.iter().map(|code| code.expose().as_str()).collect();
        assert_eq!(different.len(), RECOVERY_CODES);
        for text in ["", "0123-4567-89ab-cde", "0123-4567-89ab-cdeff", "123456"] {
            assert!(recovery_code(text).is_none(), "{text}");
        }
    }
}
