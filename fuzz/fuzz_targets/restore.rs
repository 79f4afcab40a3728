//! However an answer is cut, it is restored as in one piece; little is held back; JSON stays JSON.
#![no_main]

use std::sync::{Arc, LazyLock};

use libfuzzer_sys::fuzz_target;
use sluice_security::kind::Kind;
use sluice_security::map::{RedactionMap, TakenWords};
use sluice_security::placeholder::PlaceholderKey;
use sluice_security::restore::{Restorer, Surrounding};
use sluice_security::surrogate::Surrogates;

/// Values that are hard to write, with a placeholder or a surrogate each.
const VALUES: [(Kind, &str); 5] = [
    (Kind::Secret, "quote\" slash\\ line\n nul\0 é"),
    (Kind::Password, "Q"),
    (Kind::Email, "\"ada\"@example.org"),
    (Kind::Card, "4929 1111 2222 3334"),
    (Kind::IpAddress, "2a00:1450::200e"),
];

static KEY: LazyLock<PlaceholderKey> = LazyLock::new(|| PlaceholderKey::new(&[7; 32], "account"));

/// The map of a request whose text is `text`.
fn redact(text: &str) -> Arc<RedactionMap> {
    let surrogates = Surrogates::new(Surrogates::OFFERED);
    let mut taken = TakenWords::new(surrogates);
    taken.collect(text);
    let mut map = RedactionMap::new(surrogates);
    for (kind, value) in VALUES {
        map.placeholder(&KEY, kind, value, |word| taken.contains(word));
    }
    Arc::new(map)
}

/// What a model might answer: the control characters 1 to 5 are placeholders, 14 to 18 their first
/// halves and 19 to 23 their second ones, which the fuzzer would never find by itself.
fn answer(text: &str, map: &RedactionMap) -> String {
    let mut answer = String::new();
    for c in text.chars() {
        let word = |number: u32| map.redactions()[number as usize].placeholder;
        match u32::from(c) {
            n @ 1..=5 => answer.push_str(word(n - 1)),
            n @ 14..=18 => answer.push_str(&word(n - 14)[..9]),
            n @ 19..=23 => answer.push_str(&word(n - 19)[9..]),
            _ => answer.push(c),
        }
    }
    answer
}

/// What comes out when `text` is pushed in pieces of these lengths, the last one taking the rest.
fn restore(
    map: &Arc<RedactionMap>,
    surrounding: Surrounding,
    text: &str,
    lengths: &[u8],
) -> String {
    let mut restorer = Restorer::new(Arc::clone(map), surrounding);
    let mut out = String::new();
    let mut rest = text;
    for &length in lengths {
        let length = rest.ceil_char_boundary(usize::from(length).min(rest.len()));
        let (piece, after) = rest.split_at(length);
        restorer.push(piece, &mut out);
        assert!(restorer.held() <= Restorer::MOST_HELD, "{} held of {text:?}", restorer.held());
        rest = after;
    }
    restorer.push(rest, &mut out);
    restorer.finish(&mut out);
    out
}

fuzz_target!(|input: &[u8]| {
    let Some((lengths, text)) = sluice_fuzz::cut(input) else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };

    // Text that was there before comes back as it was, also where it is one of our own words.
    let map = redact(text);
    assert_eq!(restore(&map, Surrounding::Text, text, lengths), text);

    let answer = answer(text, &map);
    let whole = restore(&map, Surrounding::Text, &answer, &[]);
    assert_eq!(restore(&map, Surrounding::Text, &answer, lengths), whole);

    let Ok(arguments) = serde_json::to_string(&answer) else { return };
    let restored = restore(&map, Surrounding::JsonString, &arguments, lengths);
    assert!(serde_json::from_str::<String>(&restored).is_ok(), "{restored}");
});
