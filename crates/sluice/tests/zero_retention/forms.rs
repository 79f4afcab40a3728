//! What a text looks like once somebody has written it down in another way, or computed something
//! from it without a key.
//!
//! Everything is compared in small letters, so that neither the case of a text nor that of its
//! encodings matters.

use std::hash::Hasher as _;

use ring::digest::{self, digest};

/// A text in some form: the form's name, and its bytes.
pub(crate) type Form = (&'static str, Vec<u8>);

/// The ways in which a text can be written.
pub(crate) fn spellings(text: &str) -> Vec<Form> {
    let bytes = text.as_bytes();
    let escaped = |escape: &str| {
        let digits = hex(bytes);
        let pairs = digits.as_bytes().chunks(2);
        pairs.flat_map(|pair| [escape.as_bytes(), pair].concat()).collect()
    };
    let list = bytes.iter().map(u8::to_string).collect::<Vec<_>>().join(",");
    let mut forms = vec![
        ("as it is", bytes.to_vec()),
        ("reversed", text.chars().rev().collect::<String>().into_bytes()),
        ("UTF-16", text.encode_utf16().flat_map(u16::to_le_bytes).collect()),
        ("hexadecimal", hex(bytes).into_bytes()),
        ("percent-encoded", escaped("%")),
        ("JSON escapes", escaped("\\u00")),
        ("a list of bytes", list.clone().into_bytes()),
        ("a list of bytes with spaces", list.replace(',', ", ").into_bytes()),
    ];
    for before in 0..3 {
        forms.extend(base64(bytes, before).into_iter().map(|digits| ("base64", digits)));
    }
    forms
}

/// What can be computed from a text without a key, in the ways in which that is written.
pub(crate) fn digests(text: &[u8]) -> Vec<Form> {
    let mut forms = Vec::new();
    let long = [
        ("SHA-1", digest(&digest::SHA1_FOR_LEGACY_USE_ONLY, text).as_ref().to_vec()),
        ("SHA-256", digest(&digest::SHA256, text).as_ref().to_vec()),
        ("SHA-512", digest(&digest::SHA512, text).as_ref().to_vec()),
        ("BLAKE3", blake3::hash(text).as_bytes().to_vec()),
    ];
    for (name, sum) in long {
        // A shortened sum is one, too: so its beginning is sought.
        let sum = &sum[..12];
        forms.push((name, sum.to_vec()));
        forms.push((name, hex(sum).into_bytes()));
        forms.extend(base64(sum, 0).into_iter().map(|digits| (name, digits)));
    }
    for (name, sum) in [("FNV-1a", fnv1a(text)), ("SipHash", siphash(text))] {
        forms.push((name, sum.to_le_bytes().to_vec()));
        forms.push((name, sum.to_be_bytes().to_vec()));
        forms.push((name, format!("{sum:016x}").into_bytes()));
        forms.push((name, sum.to_string().into_bytes()));
        forms.push((name, sum.cast_signed().to_string().into_bytes()));
    }
    let crc = crc32fast::hash(text);
    forms.push(("CRC-32", format!("{crc:08x}").into_bytes()));
    forms.push(("CRC-32", crc.to_string().into_bytes()));
    forms
}

/// What of a longer text's base64 depends on `bytes` alone, where so many stand before them modulo 3:
/// in the usual digits, and in those for URLs.
fn base64(bytes: &[u8], before: usize) -> Vec<Vec<u8>> {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut digits, mut bits, mut held) = (Vec::new(), 0_u32, 0);
    for byte in std::iter::repeat_n(&0, before).chain(bytes) {
        (bits, held) = (bits << 8 | u32::from(*byte), held + 8);
        while held >= 6 {
            held -= 6;
            digits.push(DIGITS[(bits >> held & 63) as usize]);
        }
    }
    digits.drain(..(before * 8).div_ceil(6));
    let for_urls = digits.iter().map(|digit| match digit {
        b'+' => b'-',
        b'/' => b'_',
        other => *other,
    });
    let for_urls: Vec<u8> = for_urls.collect();
    if digits == for_urls { vec![digits] } else { vec![digits, for_urls] }
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}

fn fnv1a(text: &[u8]) -> u64 {
    text.iter().fold(0xcbf2_9ce4_8422_2325, |sum: u64, byte| {
        (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The standard library's hash without a key.
fn siphash(text: &[u8]) -> u64 {
    let mut hasher = std::hash::DefaultHasher::new();
    hasher.write(text);
    hasher.finish()
}

#[test]
fn base64_is_found_wherever_it_begins() {
    // By `printf '%s' … | base64`.
    for (before, whole) in ["bWFyaw==", "LW1hcms=", "LS1tYXJr"].into_iter().enumerate() {
        let part = String::from_utf8(base64(b"mark", before)[0].clone()).unwrap();
        assert!(whole.contains(&part) && part.len() >= 4, "{part} in {whole}");
    }
}
