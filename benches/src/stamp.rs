//! The time at which a streamed chunk was made, carried in its text.
//!
//! A gateway passes text through, so the receiver can tell how long each chunk was on its way.
//! The wall clock is read on both sides, since it is the one clock that two processes share.

use std::time::{SystemTime, UNIX_EPOCH};

/// Marks the beginning of a stamp.
const MARK: u8 = b'@';

/// The time now, in nanoseconds since the Unix epoch.
#[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
pub fn now_ns() -> u64 {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since_epoch.as_nanos()).unwrap_or(u64::MAX)
}

/// The stamp for `ns`.
pub fn text(ns: u64) -> String {
    format!("{}{ns} ", char::from(MARK))
}

/// The first stamp in `bytes`, in nanoseconds since the Unix epoch.
pub fn find(bytes: &[u8]) -> Option<u64> {
    memchr::memchr_iter(MARK, bytes).find_map(|at| {
        let digits = &bytes[at + 1..];
        let length = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
        std::str::from_utf8(&digits[..length]).ok()?.parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_is_found_in_the_text_around_it() {
        let event = format!(r#"data: {{"user":"@ada","content":"{}"}}"#, text(1_790_000_000_123));
        assert_eq!(find(event.as_bytes()), Some(1_790_000_000_123));
        assert_eq!(find(b"data: [DONE]"), None);
    }
}
