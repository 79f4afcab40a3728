use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::kind::Kinds;
use crate::restore::{Restorer, Surrounding};

fn key() -> PlaceholderKey {
    PlaceholderKey::new(&[7; 32], "account")
}

fn restore(map: &RedactionMap, text: &str) -> String {
    let mut restorer = Restorer::new(Arc::new(map.clone()), Surrounding::Text);
    let mut out = String::new();
    restorer.push(text, &mut out);
    restorer.finish(&mut out);
    out
}

#[test]
fn a_value_has_one_placeholder_and_the_first_kind() {
    let mut map = RedactionMap::default();
    let first = map.placeholder(&key(), Kind::Person, "Ada", |_| false).to_owned();
    assert_eq!(map.placeholder(&key(), Kind::Password, "Ada", |_| false), first);
    map.placeholder(&key(), Kind::Person, "Bob", |_| false);
    assert_eq!(map.counts(), [(Kind::Person, 2)]);
    assert_eq!(map.redactions()[0].count, 2);
    assert_eq!(map.resolve(first.to_lowercase().as_bytes()).unwrap().value, "Ada");
    assert!(map.resolve(&first.as_bytes()[..17]).is_none());
    let text = format!("Q{first}, {}", first.to_lowercase());
    let found: Vec<_> = map.find_in(&text).map(|(place, r)| (place, r.value)).collect();
    assert_eq!(found, [(1..19, "Ada"), (21..39, "Ada")]);
    assert_eq!(map.find_in(&text[..38]).count(), 1);
}

#[test]
fn a_word_that_was_there_stands_for_nothing_else() {
    let usual = key().mint(Kind::Person, "Ada", 0);
    let (head, tail) = usual.split_at(9);
    for text in [usual.clone(), usual.to_lowercase(), format!("{head}-\n  // {tail}")] {
        let mut taken = TakenWords::default();
        taken.collect(&format!("a{text}b"));
        let mut map = RedactionMap::default();
        let placeholder = map.placeholder(&key(), Kind::Person, "Ada", |w| taken.contains(w));
        assert_eq!(placeholder, key().mint(Kind::Person, "Ada", 1));
        let redacted = format!("{text} {placeholder}");
        assert_eq!(restore(&map, &redacted), format!("{text} Ada"));
    }
}

#[test]
fn surrogates_have_their_kinds_syntax() {
    let mut map = RedactionMap::new(Surrogates::new(Surrogates::OFFERED));
    let mut mint = |kind, value: &str| map.placeholder(&key(), kind, value, |_| false).to_owned();
    let email = mint(Kind::Email, "ada@corp.io");
    assert!(email.starts_with("qmail") && email.ends_with("@example.com"), "{email}");
    let ipv4: Ipv4Addr = mint(Kind::IpAddress, "8.8.4.4").parse().unwrap();
    assert!((240..255).contains(&ipv4.octets()[0]));
    let text = mint(Kind::IpAddress, "2a00:1450::200e");
    let ipv6: Ipv6Addr = text.parse().unwrap();
    assert_eq!(
        (ipv6.segments()[..4].to_vec(), ipv6.to_string()),
        (vec![0x2001, 0xdb8, 0, 0], text)
    );
    let card = mint(Kind::Card, "4929 1111-222233334");
    assert!(card.starts_with("9990 7"), "{card}");
    assert_eq!((card.len(), card.find('-')), (19, Some(9)));
    // What has not the syntax, or whose kind has no surrogates, gets a placeholder.
    for (kind, value) in
        [(Kind::Email, "a@b@c"), (Kind::Card, "4929"), (Kind::IpAddress, "8.8"), (Kind::Phone, "1")]
    {
        assert!(mint(kind, value).starts_with('Q'), "{value}");
    }
    let phones = Surrogates::new(Kinds::of(&[Kind::Phone]));
    assert!(phones.is_empty() && phones == Surrogates::default());
}

#[test]
fn surrogates_are_restored_in_other_spellings() {
    let mut map = RedactionMap::new(Surrogates::new(Surrogates::OFFERED));
    let mut mint = |kind, value: &str| map.placeholder(&key(), kind, value, |_| false).to_owned();
    let email = mint(Kind::Email, "ada+x@corp.io");
    let ipv4 = mint(Kind::IpAddress, "8.8.4.4");
    let card = mint(Kind::Card, "4929111122223334");
    let grouped: Vec<&str> = [0, 4, 8, 12].map(|at| &card[at..at + 4]).to_vec();
    for (text, expected) in [
        (format!("<{}>", email.to_uppercase()), "<ada+x@corp.io>"),
        (format!("?to={}&", email.replace('@', "%40")), "?to=ada%2Bx%40corp.io&"),
        (email.replace('@', "\\@").replace('.', "\\."), "ada+x@corp.io"),
        (email.replace('@', "@\n+ "), "ada+x@corp.io"),
        (format!("{ipv4}:80"), "8.8.4.4:80"),
        (ipv4.replace('.', "\\."), "8.8.4.4"),
        (grouped.join(" "), "4929111122223334"),
        (grouped.join("-"), "4929111122223334"),
        (grouped.join("\n"), "4929111122223334"),
    ] {
        assert_eq!(restore(&map, &text), expected, "{text}");
    }
    for text in [grouped.join("  "), ipv4.replace('.', " "), email.replace('@', " at ")] {
        assert_eq!(restore(&map, &text), text);
    }
}

proptest! {
    #[test]
    fn whatever_was_there_comes_back(
        pieces in proptest::collection::vec((0..6_usize, 0..8_usize, 0..4_usize), 0..12),
        surrogates: bool,
    ) {
        // Values, and the words that they would get, in their own and in broken forms.
        let values = [
            (Kind::Email, "ada@corp.io"), (Kind::Email, "bob@corp.io"), (Kind::Card, "4929111122223334"),
            (Kind::IpAddress, "8.8.4.4"), (Kind::IpAddress, "2a00:1450::200e"), (Kind::Secret, "hunter2"),
        ];
        let kinds = if surrogates { Surrogates::OFFERED } else { Kinds::NONE };
        let surrogates = Surrogates::new(kinds);
        let piece = |(value, form, attempt): &(usize, usize, usize)| {
            let (kind, value) = values[*value];
            let attempt = *attempt as u32;
            let word = surrogates.mint(&key(), kind, value, attempt)
                .unwrap_or_else(|| key().mint(kind, value, attempt));
            let (head, tail) = word.split_at(6);
            match form {
                0..4 => format!("\u{1}{value}\u{2}"),
                4 => word,
                5 => format!("{head}\n+ {tail}"),
                6 => key().mint(kind, value, attempt).to_lowercase(),
                _ => format!("{head}-\u{200b}\n {tail} "),
            }
        };
        let original: String = pieces.iter().map(piece).collect();
        let mut taken = TakenWords::new(surrogates);
        taken.collect(&original);
        let mut map = RedactionMap::new(surrogates);
        let mut redacted = String::new();
        for piece in original.split_inclusive(['\u{1}', '\u{2}']) {
            match piece.strip_suffix('\u{2}') {
                Some(value) => {
                    let (kind, _) = values.into_iter().find(|(_, v)| *v == value).unwrap();
                    let taken = |word: &str| taken.contains(word);
                    redacted.push_str(map.placeholder(&key(), kind, value, taken));
                    redacted.push('\u{2}');
                }
                None => redacted.push_str(piece),
            }
        }
        prop_assert_eq!(restore(&map, &redacted), original);
    }

    #[test]
    fn surrogates_are_words_that_begin_no_other_word(
        values in proptest::collection::vec("[0-9]{12,19}", 2),
        ip: u32,
    ) {
        let surrogates = Surrogates::new(Surrogates::OFFERED);
        let mint = |kind, value: &str| surrogates.mint(&key(), kind, value, 0).unwrap();
        let cards: Vec<String> = values.iter().map(|value| mint(Kind::Card, value)).collect();
        for (value, card) in values.iter().zip(&cards) {
            prop_assert_eq!(value.len(), card.len());
            let digits = card.bytes().rev().enumerate().map(|(i, b)| match (i % 2, usize::from(b - b'0')) {
                (1, digit) => digit * 2 / 10 + digit * 2 % 10,
                (_, digit) => digit,
            });
            prop_assert_eq!(digits.sum::<usize>() % 10, 0);
        }
        prop_assert!(values[0] == values[1] || !cards[0].starts_with(&cards[1]));
        prop_assert_eq!(mint(Kind::PrivateIp, &Ipv4Addr::from(ip).to_string()).len(), 15);
    }
}
