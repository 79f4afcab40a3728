//! UUIDs: minified JSON is full of them, and none is a number or a secret.

use wide::u8x16;

/// How many bytes a UUID has.
pub(super) const LENGTH: usize = 36;
const DASHES: [usize; 4] = [8, 13, 18, 23];

/// Whether a UUID begins at `start`, whatever follows.
#[inline]
pub(super) fn begins(bytes: &[u8], start: usize) -> bool {
    let Some(uuid) = bytes.get(start..).and_then(<[u8]>::first_chunk::<LENGTH>) else {
        return false;
    };
    // All of it in three loads that overlap: a dash may stand only where one has to.
    DASHES.iter().all(|dash| uuid[*dash] == b'-')
        && are_digits(uuid, 0, 1 << 8 | 1 << 13)
        && are_digits(uuid, 16, 1 << (18 - 16) | 1 << (23 - 16))
        && are_digits(uuid, LENGTH - 16, 1 << (23 - 20))
}

/// Whether the sixteen bytes from `at` on are hexadecimal digits, those in `dashes` apart.
#[inline]
fn are_digits(uuid: &[u8; LENGTH], at: usize, dashes: u32) -> bool {
    let bytes = uuid[at..].first_chunk().map_or(u8x16::ZERO, |bytes| u8x16::new(*bytes));
    let within = |bytes: u8x16, first: u8, more: u8| {
        let above = bytes - u8x16::splat(first);
        above.min(u8x16::splat(more)).simd_eq(above)
    };
    let letters = within(bytes | u8x16::splat(0x20), b'a', 5);
    (within(bytes, b'0', 9) | letters).to_bitmask() | dashes == 0xffff
}

/// The end of the UUID that `at` is in.
pub(super) fn end(bytes: &[u8], at: usize) -> Option<usize> {
    // How far it may reach back, seen at once: how many digits stand there cannot be foretold.
    let before = match bytes[..at].last_chunk::<48>() {
        Some(before) => {
            let parts = before.as_chunks::<16>().0.iter().rev();
            let parts = parts.fold(0, |mask, part| mask << 16 | u64::from(digits_and_dashes(part)));
            (parts << 16).leading_ones() as usize
        }
        None => {
            let is_part = |byte: &&u8| byte.is_ascii_hexdigit() || **byte == b'-';
            bytes[..at].iter().rev().take_while(is_part).count()
        }
    };
    let start = at - before.min(LENGTH);
    begins(bytes, start).then_some(start + LENGTH)
}

/// Which of the bytes are hexadecimal digits or dashes.
#[inline]
fn digits_and_dashes(bytes: &[u8; 16]) -> u32 {
    let bytes = u8x16::new(*bytes);
    let within = |bytes: u8x16, first: u8, more: u8| {
        let above = bytes - u8x16::splat(first);
        above.min(u8x16::splat(more)).simd_eq(above)
    };
    let letters = within(bytes | u8x16::splat(0x20), b'a', 5);
    let dashes = bytes.simd_eq(u8x16::splat(b'-'));
    (within(bytes, b'0', 9) | letters | dashes).to_bitmask()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_is_told_from_what_is_almost_one() {
        let uuid = "123e4567-e89b-12d3-a456-42661417400f";
        assert!(begins(uuid.as_bytes(), 0));
        assert!(begins(uuid.to_uppercase().as_bytes(), 0));
        assert!(begins(format!("id={uuid}0").as_bytes(), 3));
        assert!(!begins(&uuid.as_bytes()[..35], 0));
        for i in 0..uuid.len() {
            for other in ['g', '-', '/', ':', '@', 'G', '`', ' ', '0'] {
                let mut almost = uuid.as_bytes().to_vec();
                almost[i] = other as u8;
                let stays = (other == '-') == DASHES.contains(&i) && (other == '-' || other == '0');
                assert_eq!(begins(&almost, 0), stays, "{other} at {i}");
            }
        }
    }

    #[test]
    fn the_end_is_found_from_within() {
        let text = b"\"123e4567-e89b-12d3-a456-426614174000\"";
        assert!((1..37).all(|at| end(text, at) == Some(37)));
        assert_eq!(end(b"12345678-1234-1234-1234", 3), None);
    }
}
