//! Judged by serde_json: the same texts are accepted, and the same spans found.

use proptest::prelude::*;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::*;

fn accepts(text: &str) -> bool {
    read::<Raw<'_>>(text).is_ok()
}

fn check(text: &str) {
    let expected = serde_json::from_str::<IgnoredAny>(text).is_ok();
    assert_eq!(accepts(text), expected, "{text:?}");
}

#[test]
fn the_grammar_is_serde_jsons() {
    for text in [
        "",
        " ",
        "null",
        " null\t\r\n",
        "nul",
        "nulll",
        "truE",
        "true",
        "false",
        "fals",
        "\u{feff}1",
        "0",
        "-0",
        "-",
        "01",
        "-01",
        "1.",
        "1.5",
        ".5",
        "1e",
        "1e5",
        "1E+05",
        "1e-",
        "1.0e+",
        "+1",
        "--1",
        "1.2.3",
        "1e5.0",
        "1 2",
        "0x1",
        "NaN",
        "Infinity",
        "1e999",
        "[]",
        "[ ]",
        "[1]",
        "[1,]",
        "[,1]",
        "[1 2]",
        "[1",
        "[",
        "]",
        "[}",
        "[[],[]]",
        "[[]",
        "\u{b}[]",
        "{}",
        "{ }",
        r#"{"a":1}"#,
        r#"{"a":1,}"#,
        r#"{"a" : [ ] , "b":{"c":null}}"#,
        r#"{"a"}"#,
        r#"{"a":}"#,
        r#"{"a" 1}"#,
        "{1:2}",
        r#"{,"a":1}"#,
        r#"{"a":1"b":2}"#,
        r#"{"a":1]"#,
        "{",
        "}",
        r#"{"a"#,
        r#"{"a":{}"#,
        r#"{"a":[{"b":[1,{"c":"d"}]}]}"#,
        r#"["a":1]"#,
        r#"{"a":1,"a":2}"#,
        "{} {}",
        r#""""#,
        r#"""#,
        r#""\""#,
        r#""\"""#,
        r#""\\""#,
        r#""\x""#,
        r#""\u12""#,
        r#""\u12g4""#,
        r#""\uD800""#,
        r#""\ud83d\ude80""#,
        r#""\u+123""#,
        r#""\/\b\f\n\r\t""#,
        r#""\N""#,
        "\"a\nb\"",
        "\"a\u{7f}\u{1f}\"",
        "\"é\u{7f}🚀\"",
        "'a'",
        "\"\u{0}\"",
    ] {
        check(text);
    }
}

#[test]
fn depth_is_not_limited_where_values_are_skipped() {
    for depth in [1, 62, 63, 64, 65, 127, 128, 129, 200, 100_000] {
        let arrays = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let objects = format!("{}1{}", r#"{"a":"#.repeat(depth), "}".repeat(depth));
        let mixed = format!("{}{}", r#"[{"a":"#.repeat(depth) + "[]", "}]".repeat(depth));
        for text in [arrays, objects, mixed] {
            check(&text);
            check(&text[..text.len() - 1]);
            check(&format!("{text}]"));
            // One bracket of the wrong kind on the way out.
            let at = text.len() - depth.min(70);
            let wrong = if &text[at..=at] == "]" { "}" } else { "]" };
            check(&format!("{}{wrong}{}", &text[..at], &text[at + 1..]));
        }
    }
}

#[test]
fn escapes_are_found_wherever_they_stand() {
    let escapes = [
        r#"\""#, r"\\", r#"\\\""#, r"\n", r"\/", r"\u00e9", r"\u00g9", r"\u12", r"\x", r"\", "\n",
        "\u{1f}", "é", "\"",
    ];
    for before in 0..130 {
        for escape in escapes {
            for after in [0, 1, 3, 17, 64, 70, 130] {
                let text = format!("\"{}{escape}{}\"", "a".repeat(before), "n".repeat(after));
                check(&text);
                // Whatever follows the string does not change where it ends.
                if accepts(&text) {
                    let body = format!("[{text},\n\"{}\"]", "\\\\".repeat(after));
                    assert_eq!(read::<Vec<Raw<'_>>>(&body).unwrap()[0].get(), text);
                }
            }
        }
    }
}

#[test]
fn a_run_of_backslashes_escapes_the_quote_if_it_is_odd() {
    for before in 0..130 {
        for run in 0..140 {
            let text = format!("\"{}{}\"", "a".repeat(before), "\\".repeat(run));
            assert_eq!(accepts(&text), run % 2 == 0, "{before} {run}");
            let tail = format!("{text}{}\"", "b".repeat(80));
            assert_eq!(accepts(&tail), run % 2 == 1, "{before} {run}");
        }
    }
}

scan_object! {
    struct Outer<'a> {
        kind = "type": Str<'a>,
        inner: Vec<(Inner<'a>, Raw<'a>)>,
    }
}

scan_object! {
    struct Inner<'a> {
        text: Raw<'a>,
    }
}

#[test]
fn known_members_are_typed_and_the_rest_is_kept() {
    let json =
        r#" {"x": [1, 2],"t\u0079pe":"a\n","inner":[ {"text":"h\u0069","y":null} ],"z":{}} "#;
    let outer: Outer<'_> = read(json).unwrap();
    assert_eq!(outer.kind.as_deref(), Some("a\n"));
    let (inner, text) = &outer.inner.unwrap()[0];
    assert_eq!(text.get(), r#"{"text":"h\u0069","y":null}"#);
    assert_eq!(inner.text.unwrap().get(), r#""h\u0069""#);
    assert_eq!(inner.rest.len(), 1);
    let rest: Vec<_> = outer.rest.iter().map(|(name, raw)| (&**name, raw.get())).collect();
    assert_eq!(rest, [("x", "[1, 2]"), ("z", "{}")]);
}

#[test]
fn what_exceeds_a_bound_is_counted_and_not_kept() {
    type Two<'a> = Bounded<Raw<'a>, 2>;
    for (json, kept, count) in [("[]", 0, 0), ("[1,2]", 2, 2), ("[1, {\"a\":[]} ,3,4]", 2, 4)] {
        let bounded: Two<'_> = read(json).unwrap();
        assert_eq!((bounded.elements.len(), bounded.count), (kept, count), "{json}");
    }
    assert!(read::<Two<'_>>("[1,2,3,}]").is_err());
    let object = |members: usize| {
        let members: Vec<String> = (0..members).map(|i| format!("\"m{i}\":0")).collect();
        format!("{{{}}}", members.join(","))
    };
    assert_eq!(read::<Inner<'_>>(&object(MOST_MEMBERS)).unwrap().rest.len(), MOST_MEMBERS);
    let refused = read::<Inner<'_>>(&object(MOST_MEMBERS + 1)).err().unwrap().problem;
    assert_eq!(refused, ScanProblem::Members(MOST_MEMBERS));
}

#[test]
fn problems_have_places_and_no_values() {
    let problem = |text: &str| read::<Outer<'_>>(text).err().map(|error| error.to_string());
    let duplicate = "duplicate field `type` at line 2 column 7";
    assert_eq!(problem("{\"type\":\"a\",\n\"type\" :\"b\"}").as_deref(), Some(duplicate));
    let expected = "expected an array at line 1 column 10";
    assert_eq!(problem(r#"{"inner": "a secret"}"#).as_deref(), Some(expected));
    assert_eq!(problem("[]").as_deref(), Some("expected an object at line 1 column 0"));
    assert_eq!(problem("{} x").as_deref(), Some("invalid JSON at line 1 column 3"));
    assert_eq!(problem(r#"{"\ud800":1}"#).as_deref(), Some("invalid JSON at line 1 column 1"));
    assert!(problem(r#"{"type":null,"inner":null}"#).is_none());
    assert_eq!(format!("{:?}", read::<Raw<'_>>("\"a secret\"").unwrap()), "Raw(10 bytes)");
}

/// Text with all that strings treat specially, more often than chance would have it.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof!["[a-z]{0,40}", "[\"\\\\/\u{8}\u{c}\n\r\t\u{0}é🚀]{0,8}", ".{0,4}"];
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

fn space() -> impl Strategy<Value = String> {
    prop_oneof![4 => Just(String::new()), 1 => "[ \t\r\n]{1,3}"]
}

/// A string literal in which any character may be written as `\uXXXX`.
fn literal() -> impl Strategy<Value = String> {
    (text(), any::<u64>()).prop_map(|(text, choice)| {
        let mut out = String::from("\"");
        for (i, c) in text.chars().enumerate() {
            let mut plain = serde_json::to_string(&c).unwrap();
            if choice >> (i % 64) & 7 == 0 {
                let units: Vec<u16> = c.encode_utf16(&mut [0; 2]).to_vec();
                plain = units.iter().map(|unit| format!("\\u{unit:04X}")).collect();
                plain = format!("\"{plain}\"");
            }
            out.push_str(&plain[1..plain.len() - 1]);
        }
        out + "\""
    })
}

/// The text of any JSON value, with space wherever it may be.
fn json() -> impl Strategy<Value = String> {
    let number = prop_oneof![
        any::<i64>().prop_map(|n| n.to_string()),
        any::<f64>()
            .prop_filter("JSON has no NaN", |n| n.is_finite())
            .prop_map(|n| format!("{n:e}")),
    ];
    let leaf = prop_oneof![
        4 => literal(), 2 => number, 1 => prop::sample::select(vec!["null", "true", "false"]).prop_map(str::to_owned)
    ];
    let value = leaf.prop_recursive(6, 48, 6, |inner| {
        let spaced = (space(), inner, space()).prop_map(|(a, value, b)| a + &value + &b).boxed();
        let array = prop::collection::vec(spaced.clone(), 0..6)
            .prop_map(|elements| format!("[{}]", elements.join(",")));
        let member = (space(), literal(), space(), spaced)
            .prop_map(|(a, name, b, value)| format!("{a}{name}{b}:{value}"));
        let object = prop::collection::vec(member, 0..6)
            .prop_map(|members| format!("{{{}}}", members.join(",")));
        prop_oneof![array, object]
    });
    (space(), value, space()).prop_map(|(a, value, b)| a + &value + &b)
}

proptest! {
    #[test]
    fn spans_are_serde_jsons(values in prop::collection::vec(json(), 0..4), name in literal()) {
        let array = format!("[{}]", values.join(","));
        let expected: Vec<&RawValue> = serde_json::from_str(&array).unwrap();
        let found: Vec<Raw<'_>> = read(&array).unwrap();
        let texts = |raws: Vec<&RawValue>| raws.iter().map(|raw| raw.get().to_owned()).collect::<Vec<_>>();
        prop_assert_eq!(found.iter().map(|raw| raw.get().to_owned()).collect::<Vec<_>>(), texts(expected));

        let object = format!("{{{name}:{array}}}");
        let inner: Inner<'_> = read(&object).unwrap();
        prop_assert_eq!(&*inner.rest[0].0, serde_json::from_str::<String>(&name).unwrap());
        prop_assert_eq!(inner.rest[0].1.get(), array);
    }

    #[test]
    fn mutated_values_are_judged_alike(
        json in json(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<bool>(), "[\"\\\\{}\\[\\],:0-9eE.+a-u\u{1}\n -]{0,2}"), 1..4),
    ) {
        let mut chars: Vec<char> = json.chars().collect();
        for (at, replaces, with) in edits {
            let at = at.index(chars.len() + 1);
            let to = (at + usize::from(replaces)).min(chars.len());
            chars.splice(at..to, with.chars());
        }
        check(&chars.into_iter().collect::<String>());
    }

    #[test]
    fn any_bytes_are_judged_alike(bytes in prop::collection::vec(any::<u8>(), 0..200), text in text()) {
        check(&String::from_utf8_lossy(&bytes));
        check(&format!("\"{text}\""));
        check(&text);
    }
}

/// `cargo test --release -p sluice-core -- --ignored --nocapture json` prints what a body of 107 KB
/// costs here and by serde_json.
#[test]
#[ignore = "a measurement, for optimised builds"]
fn how_long_a_body_takes() {
    let source = include_str!("../scan.rs").repeat(20);
    let content = serde_json::to_string(&source[..100_000]).unwrap();
    let body =
        format!("{{\"model\":\"m\",\"messages\":[{{\"role\":\"user\",\"content\":{content}}}]}}");
    let measure = |name: &str, read: &dyn Fn(&str) -> bool| {
        let rounds = 2_000;
        let start = std::time::Instant::now();
        for _ in 0..rounds {
            assert!(read(std::hint::black_box(&body)));
        }
        let nanoseconds = start.elapsed().as_nanos() / rounds;
        println!("{name}: {nanoseconds} ns for {} bytes", body.len());
    };
    measure("serde_json", &|body| serde_json::from_str::<IgnoredAny>(body).is_ok());
    measure("scan", &accepts);
}

/// The elements of an array, read one by one, of which those are skipped that `skipped` says.
fn elements(text: &str, skipped: impl Fn(usize) -> bool) -> Option<Vec<&str>> {
    let known: Vec<Raw<'_>> = read(text).ok()?;
    let mut elements = Elements::begin(text).ok()?;
    let mut found = Vec::new();
    while let Some(at) = elements.next_at().ok()? {
        let element = known.get(found.len())?.get();
        assert!(text[at..].starts_with(element), "{text:?}");
        if skipped(found.len()) {
            elements.skip_to(at + element.len());
            found.push(element);
        } else {
            found.push(elements.read::<Raw<'_>>().ok()?.get());
        }
    }
    Some(found)
}

#[test]
fn elements_are_read_one_by_one_or_skipped() {
    for text in ["[]", " [ ] ", "[1]", "[ {\"a\":[1,2]} , \"é,]\" ,3 ]\n", "[[],[[]],null]"] {
        let expected: Vec<Raw<'_>> = read(text).unwrap();
        let expected: Vec<&str> = expected.into_iter().map(Raw::get).collect();
        for skipped in 0..8 {
            let found = elements(text, |i| skipped >> i & 1 == 1);
            assert_eq!(found.as_ref(), Some(&expected), "{text:?} {skipped}");
        }
    }
    let all = |text: &'static str| {
        let mut elements = Elements::begin(text)?;
        while elements.next_at()?.is_some() {
            elements.read::<Raw<'_>>()?;
        }
        Ok::<_, ScanError>(())
    };
    for text in ["", "1", "{}", "[", "[1", "[1,]", "[,1]", "[1 2]", "[1]2", "[1]]"] {
        assert!(all(text).is_err(), "{text:?}");
    }
}
