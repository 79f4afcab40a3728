//! Check digits. All functions take ASCII digits.

/// The value of an ASCII digit.
pub(super) fn value(digit: u8) -> u32 {
    u32::from(digit.wrapping_sub(b'0'))
}

/// ISO/IEC 7812-1, annex B: every second digit from the right is doubled.
pub(super) fn luhn(digits: &[u8]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(i, digit)| match (i % 2, value(*digit)) {
            (0, value) => value,
            (_, value) if value > 4 => value * 2 - 9,
            (_, value) => value * 2,
        })
        .sum();
    sum.is_multiple_of(10)
}

/// The number's remainder.
#[inline]
pub(super) fn remainder(digits: &[u8], modulus: u32) -> u32 {
    digits.iter().fold(0, |rest, digit| (rest * 10 + value(*digit)) % modulus)
}

/// The sum of the digits times `weights`.
pub(super) fn weighted(digits: &[u8], weights: &[u32]) -> u32 {
    digits.iter().zip(weights).map(|(digit, weight)| value(*digit) * weight).sum()
}

/// ISO/IEC 7064, MOD 11,10: each digit is added, doubled modulo 11.
pub(super) fn mod_11_10(digits: &[u8]) -> bool {
    let Some((check, digits)) = digits.split_last() else { return false };
    let product = digits.iter().fold(10, |product, digit| {
        let sum = (value(*digit) + product) % 10;
        (if sum == 0 { 10 } else { sum }) * 2 % 11
    });
    (11 - product) % 10 == value(*check)
}

/// Verhoeff's scheme, over the dihedral group of order ten.
pub(super) fn verhoeff(digits: &[u8]) -> bool {
    const PERMUTATION: [u8; 10] = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4];
    let permute = |digit: u8, times: usize| {
        (0..times % 8).fold(digit, |digit, _| PERMUTATION[usize::from(digit)])
    };
    let multiply = |a: u8, b: u8| match (a < 5, b < 5) {
        (true, true) => (a + b) % 5,
        (true, false) => (a + b - 5) % 5 + 5,
        (false, true) => (a + 5 - b) % 5 + 5,
        (false, false) => (a + 5 - b) % 5,
    };
    digits
        .iter()
        .rev()
        .enumerate()
        .fold(0, |check, (i, digit)| multiply(check, permute(digit.wrapping_sub(b'0') % 10, i)))
        == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_numbers_pass_and_their_neighbours_fail() {
        type Check = fn(&[u8]) -> bool;
        let known: [(Check, &str); 4] = [
            (luhn, "4111111111111111"),
            (verhoeff, "2363"),
            (verhoeff, "999941057058"),
            (mod_11_10, "86095742719"),
        ];
        for (check, number) in known {
            assert!(check(number.as_bytes()), "{number}");
            for place in 0..number.len() {
                let mut other = number.as_bytes().to_vec();
                other[place] = if other[place] == b'9' { b'0' } else { other[place] + 1 };
                assert!(!check(&other), "{number} with another digit at {place}");
            }
        }
    }
}
