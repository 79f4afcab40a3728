use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::kind::{Kind, Kinds};
use crate::placeholder::PlaceholderKey;
use crate::surrogate::Surrogates;

/// The map of a request with these values, and their placeholders.
fn redact<const N: usize>(values: [(Kind, &str); N]) -> (Arc<RedactionMap>, [String; N]) {
    redact_with(RedactionMap::default(), values)
}

fn redact_with<const N: usize>(
    mut map: RedactionMap,
    values: [(Kind, &str); N],
) -> (Arc<RedactionMap>, [String; N]) {
    let key = PlaceholderKey::new(&[7; 32], "account");
    let mint = |(kind, value)| map.placeholder(&key, kind, value, |_| false).to_owned();
    let placeholders = values.map(mint);
    (Arc::new(map), placeholders)
}

/// What comes out when `chunks` are pushed one after the other.
fn restore<'c>(
    map: &Arc<RedactionMap>,
    surrounding: Surrounding,
    chunks: impl IntoIterator<Item = &'c str>,
) -> String {
    let mut restorer = Restorer::new(Arc::clone(map), surrounding);
    let mut out = String::new();
    for chunk in chunks {
        restorer.push(chunk, &mut out);
        assert!(restorer.held() <= Restorer::MOST_HELD, "{} held", restorer.held());
    }
    restorer.finish(&mut out);
    out
}

/// `text` restores to `expected`, whole, cut in two anywhere, and character by character.
#[track_caller]
fn check(map: &Arc<RedactionMap>, surrounding: Surrounding, text: &str, expected: &str) {
    assert_eq!(restore(map, surrounding, [text]), expected, "{text}");
    for (cut, _) in text.char_indices() {
        let (head, tail) = text.split_at(cut);
        assert_eq!(restore(map, surrounding, [head, tail]), expected, "{text} cut at {cut}");
    }
    let characters = text.char_indices().map(|(at, c)| &text[at..at + c.len_utf8()]);
    assert_eq!(restore(map, surrounding, characters), expected, "{text} by characters");
}

#[test]
fn restores_a_placeholder_wherever_it_stands() {
    let (map, [q]) = redact([(Kind::Email, "ada@example.org")]);
    for frame in [
        "{}",
        "Write to {} today.",
        "**{}**",
        "`{}`",
        "[mail]({})",
        "<a href=\"mailto:{}\">{}</a>",
        "https://host/path?user={}&x=1",
        "'{}'",
        "«{}»",
        "+{}\n-{}",
        "x{}y",
        "{}{}",
        "QMAIL{}",
        "Q{}Q",
        "日本{}語",
        "a\\{}",
    ] {
        let expected = frame.replace("{}", "ada@example.org");
        check(&map, Surrounding::Text, &frame.replace("{}", &q), &expected);
        check(&map, Surrounding::Text, &frame.replace("{}", &q.to_lowercase()), &expected);
    }
}

#[test]
fn a_host_of_a_url_is_none_of_its_secrets() {
    let values = [(Kind::IpAddress, "fd00::1"), (Kind::Secret, "a/b"), (Kind::Email, "ada@x.org")];
    let (map, [host, token, user]) = redact(values);
    let text = format!("http://{host}/ https://{token}@x.io smtp://{user}:{token}@x.io");
    let expected = "http://fd00::1/ https://a%2Fb@x.io smtp://ada@x.org:a%2Fb@x.io";
    check(&map, Surrounding::Text, &text, expected);
}

#[test]
fn restores_a_placeholder_that_was_broken_or_padded() {
    let (map, [q]) = redact([(Kind::Secret, "s3cr3t/+\"x")]);
    let (head, tail) = q.split_at(7);
    for gap in [
        "\n",
        "\r\n",
        "\n    ",
        "\n+ ",
        "\n-   ",
        "\n> > ",
        "\n    // ",
        "\n+\t# ",
        "\n * ",
        "-\n",
        "  \n",
        " \\\n  ",
        "\\n",
        "\\r\\n",
        "\\n\\t",
        "\\\\n    ",
        "\u{ad}",
        "\u{200b}",
        "\u{feff}",
        "&shy;",
        "<wbr>",
        "<br/>\n",
        "\\u200b",
        "\\u200B\\u00AD",
        "\u{2010}\n",
    ] {
        let text = format!("a {head}{gap}{tail}{gap}b");
        check(&map, Surrounding::Text, &text, &format!("a s3cr3t/+\"x{gap}b"));
        check(&map, Surrounding::JsonString, &text, &format!("a s3cr3t/+\\\"x{gap}b"));
    }
    for gap in
        [" ", "  ", "-", "_", " \n x", "\n\n\n", "\"", "\\", "&amp;", "<b>", &"\n ".repeat(40)]
    {
        let text = format!("a {head}{gap}{tail} b");
        check(&map, Surrounding::Text, &text, &text);
    }
}

#[test]
fn holds_back_only_what_can_become_a_placeholder_of_this_map() {
    let (map, [q]) = redact([(Kind::Email, "ada@example.org")]);
    for (text, held) in [
        ("ask a quick", 0),
        ("Q", 1),
        ("FAQ", 1),
        ("QT", 0),
        ("SQL", 0),
        ("QMA", 3),
        ("QMAX", 0),
        ("QQ", 1),
        ("Q M", 0),
        ("FAQ\n\n## ", 6),
        ("FAQ\n\n## N", 0),
        (&q[..17], 17),
        (&q, 0),
        ("QSECR", 0),
        ("日本", 0),
    ] {
        let mut restorer = Restorer::new(Arc::clone(&map), Surrounding::Text);
        restorer.push(text, &mut String::new());
        assert_eq!(restorer.held(), held, "{text:?}");
    }
}

#[test]
fn holds_back_little_whatever_comes() {
    const { assert!(Restorer::MOST_HELD <= 128) };
    let (map, [q]) = redact([(Kind::Email, "ada@example.org")]);
    // A gap behind each letter, as long as they may be together, and then one blank too many.
    let gap = |blanks: usize| format!("{}\n{}{}", &q[..1], " ".repeat(blanks), &q[1..]);
    check(&map, Surrounding::Text, &gap(63), "ada@example.org");
    check(&map, Surrounding::Text, &gap(64), &gap(64));
    let spread = q.split("").collect::<Vec<_>>().join("\n   ");
    check(&map, Surrounding::Text, &spread, &spread);
    for filling in ["\n", " ", "\u{200b}", "\\", "&shy;", "\n+ ", "-", "<wbr"] {
        let text = format!("{}{}", &q[..17], filling.repeat(100));
        check(&map, Surrounding::JsonString, &text, &text);
    }
}

#[test]
fn leaves_foreign_placeholders_as_they_are() {
    let (map, [_, secret]) = redact([(Kind::Email, "ada@example.org"), (Kind::Secret, "hunter2")]);
    let foreign = PlaceholderKey::new(&[7; 32], "another account");
    for foreign in [
        foreign.mint(Kind::Email, "ada@example.org", 0),
        foreign.mint(Kind::Secret, "hunter2", 0),
        secret.replace("QSECR", "QMAIL"),
    ] {
        check(
            &map,
            Surrounding::Text,
            &format!("{foreign} {secret}"),
            &format!("{foreign} hunter2"),
        );
    }
}

#[test]
fn asks_before_it_restores() {
    let (map, [q]) = redact([(Kind::Email, "ada@example.org")]);
    let before = "é".repeat(3000) + "![](https://evil.example/?";
    let shown = format!("{q}{before}");
    let text = format!("{shown}{q})");
    for size in [1, 7, 100, 100_000] {
        let mut restorer = Restorer::new(Arc::clone(&map), Surrounding::Text);
        let (mut out, mut asked) = (String::new(), Vec::new());
        let mut allow = |before: &str, redaction: &Redaction| {
            asked.push(before.len());
            assert!(before.is_empty() || shown.ends_with(before), "{before}");
            assert_eq!(redaction.value, "ada@example.org");
            !before.contains("evil.example")
        };
        let mut rest = text.as_str();
        while !rest.is_empty() {
            let (chunk, after) = rest.split_at(rest.ceil_char_boundary(size.min(rest.len())));
            restorer.push_if(chunk, &mut out, &mut allow);
            rest = after;
        }
        restorer.finish_if(&mut out, &mut allow);
        assert_eq!(out, format!("ada@example.org{before}{q})"));
        assert!(asked[0] == 0 && asked[1] >= SHOWN && asked.len() == 2, "{asked:?}");
    }
}

#[test]
fn an_empty_map_holds_nothing() {
    let map = Arc::default();
    check(&map, Surrounding::Text, "QMAIL", "QMAIL");
    let mut restorer = Restorer::new(map, Surrounding::Text);
    restorer.push("Q", &mut String::new());
    assert_eq!(restorer.held(), 0);
}

/// A map whose values are hard to write, with placeholders and with surrogates.
fn map() -> (Arc<RedactionMap>, [String; 7]) {
    redact_with(
        RedactionMap::new(Surrogates::new(Kinds::of(&[Kind::Email, Kind::Card, Kind::PrivateIp]))),
        [
            (Kind::Phone, "ada@example.org"),
            (Kind::Secret, "quote\" slash\\ line\n nul\0 é"),
            (Kind::Password, "Q"),
            (Kind::Email, "\"ada\"@example.org"),
            (Kind::Card, "4929111122223334"),
            (Kind::PrivateIp, "10.0.0.1"),
            (Kind::PrivateIp, "fd00::1"),
        ],
    )
}

/// Text in which the words of [`map`], parts of them, and everything that may stand between their
/// letters are likely.
fn answers() -> impl Strategy<Value = String> {
    let (_, placeholders) = map();
    let placeholder = proptest::sample::select(placeholders.to_vec());
    let gap = proptest::sample::select(vec![
        "\n",
        "\n  + ",
        "\r\n\t// ",
        "\u{200b}",
        "\u{ad}",
        "&shy;",
        "<br>",
        "-\n",
        " \\\n",
        "",
        " ",
        "x",
        "\n\n",
    ]);
    let noise = proptest::sample::select(vec![
        "Q",
        "q",
        "QM",
        "qu",
        "<wbr",
        "&sh",
        "-",
        "+",
        "\\",
        "\\u20",
        "%4",
        "24",
        "2001:db8::",
        "9990 ",
        "\"",
        "é",
        "日",
        "@",
        "9",
        "QS\n",
    ]);
    let broken = (placeholder.clone(), 1..15_usize, gap)
        .prop_map(|(word, at, gap)| format!("{}{gap}{}", &word[..at], &word[at..]));
    let piece = prop_oneof![
        2 => placeholder.clone(),
        1 => placeholder.clone().prop_map(|word| word.to_lowercase()),
        1 => (placeholder, 0..15_usize).prop_map(|(word, end)| word[..end].to_owned()),
        3 => broken,
        2 => noise.prop_map(str::to_owned),
        1 => ".{0,8}",
    ];
    proptest::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

/// `text` in pieces of these sizes, over and over.
fn cut<'t>(mut text: &'t str, sizes: &'t [usize]) -> impl Iterator<Item = &'t str> {
    sizes.iter().cycle().map_while(move |size| {
        let (piece, rest) = text.split_at(text.ceil_char_boundary((*size).min(text.len())));
        text = rest;
        (!piece.is_empty() || !rest.is_empty()).then_some(piece)
    })
}

proptest! {
    #[test]
    fn a_stream_is_restored_as_the_whole_is(
        text in answers(),
        sizes in proptest::collection::vec(1..20_usize, 1..6),
        json: bool,
    ) {
        let (map, _) = map();
        let surrounding = if json { Surrounding::JsonString } else { Surrounding::Text };
        let whole = restore(&map, surrounding, [text.as_str()]);
        prop_assert_eq!(restore(&map, surrounding, cut(&text, &sizes)), whole);
    }

    #[test]
    fn json_stays_json_and_means_what_the_text_means(text in answers()) {
        // A backslash before a break is one sign in text and more in JSON: not the same bounds.
        prop_assume!(!text.contains("\\\\"));
        let (map, _) = map();
        let arguments = serde_json::to_string(&text).unwrap();
        let restored = restore(&map, Surrounding::JsonString, [arguments.as_str()]);
        let meant: String = serde_json::from_str(&restored).unwrap();
        prop_assert_eq!(meant, restore(&map, Surrounding::Text, [text.as_str()]));
    }

    #[test]
    fn text_without_placeholders_passes_unchanged(
        text in "([qQ][a-zA-Z0-9]{0,3}|\\n[+> -]{0,4}|.){0,30}",
        sizes in proptest::collection::vec(1..9_usize, 1..4),
    ) {
        let (map, _) = map();
        prop_assert_eq!(restore(&map, Surrounding::Text, cut(&text, &sizes)), text);
    }

    #[test]
    fn what_was_restored_is_redacted_to_the_same(
        values in proptest::collection::vec("[^‹›]{0,12}", 1..6),
        // Where quotes or a URL are around it, a value may be written in another way.
        places in proptest::collection::vec((0..6_usize, "[^‹›\"'/]{0,6}"), 0..10),
    ) {
        let key = PlaceholderKey::new(&[7; 32], "account");
        let mut map = RedactionMap::default();
        let values: Vec<String> = values.iter().map(|value| format!("‹{value}›")).collect();
        let mut redact = |text: &str| {
            let mut redacted = String::new();
            let mut rest = text;
            while let Some((start, end)) = rest.find('‹').zip(rest.find('›')) {
                let (value, after) = rest.split_at(end + '›'.len_utf8());
                redacted.push_str(&value[..start]);
                redacted.push_str(map.placeholder(&key, Kind::Term, &value[start..], |_| false));
                rest = after;
            }
            redacted + rest
        };
        let place = |(number, text): &(usize, String)| {
            format!("{text}{}", values[number % values.len()])
        };
        let original: String = places.iter().map(place).collect();
        let redacted = redact(&original);
        prop_assert_eq!(&redact(&original), &redacted);
        let restored = restore(&Arc::new(map.clone()), Surrounding::Text, [redacted.as_str()]);
        prop_assert_eq!(restored, original);
    }
}
