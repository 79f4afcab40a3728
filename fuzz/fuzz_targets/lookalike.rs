//! A secret is found with characters in it that nobody sees, and in letters that only look like its own.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sluice_core::level::SecurityLevel;
use sluice_fuzz::filter::{SECRET, filtered, is_found, planted};

/// Invisible ones.
const INVISIBLE: [char; 6] = ['\u{ad}', '\u{200b}', '\u{200d}', '\u{2060}', '\u{feff}', '\u{fe0f}'];

fuzz_target!(|input: &[u8]| {
    let Some((how, text)) = planted(input) else { return };
    if !text.is_ascii() || !is_found(&text, SecurityLevel::High) {
        return;
    }
    let mut disguised = String::new();
    for (c, how) in SECRET.chars().zip(how.iter().cycle()) {
        match how % 4 {
            0 => disguised.push(c),
            1 => disguised.extend([c, INVISIBLE[usize::from(how / 4) % INVISIBLE.len()]]),
            2 => disguised.push(char::from_u32(u32::from(c) + 0xfee0).unwrap_or(c)),
            _ => disguised.push(match c {
                'A' => 'А',
                'K' => 'К',
                'M' => 'М',
                'T' => 'Т',
                other => other,
            }),
        }
    }
    let disguised = disguised.trim_end_matches(INVISIBLE);
    let whole = text.replace(SECRET, disguised);
    let Some((seen, _)) = filtered(&whole, SecurityLevel::High) else { return };
    assert!(!seen.contains(disguised), "{disguised:?} is left in {seen:?}");
});
