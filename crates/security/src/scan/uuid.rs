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
    let before = bytes[at.saturating_sub(LENGTH)..at].iter().rev();
    let is_part = |byte: &&u8| byte.is_ascii_hexdigit() || **byte == b'-';
    let start = at - before.take_while(is_part).count();
    begins(bytes, start).then_some(start + LENGTH)
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
