//! All detectors together, on examples, on any text, and on labelled data where it is at hand.

use super::scan::scan;
use crate::kind::{Kind, Kinds};

fn all() -> Kinds {
    Kinds::of(&Kind::ALL)
}

/// Sentences, records and logs; what is to be found stands between ⟦ and ⟧, a line's end inside an
/// example is ⏎.
#[test]
fn exactly_the_marked_values_are_found() {
    let mut wrong = Vec::new();
    for line in include_str!("examples.txt").lines().filter(|line| !line.is_empty()) {
        let line = line.replace('⏎', "\n");
        let mut expected = Vec::new();
        let mut plain = String::new();
        for part in line.split('⟦') {
            let (value, rest) = part.split_once('⟧').unwrap_or(("", part));
            expected.extend((!value.is_empty()).then_some(value));
            plain.push_str(value);
            plain.push_str(rest);
        }
        let findings = scan(&plain, all());
        let found: Vec<_> = findings.iter().map(|finding| &plain[finding.range()]).collect();
        if found != expected {
            wrong.push(format!("{line}: found {findings:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// What the scanner's pass looks at must be no less than what the plain driver does.
#[test]
fn the_scanner_finds_what_the_plain_driver_finds() {
    use crate::scan::{Scanner, ScannerSettings};

    let scanner = Scanner::new(&ScannerSettings::default()).unwrap();
    let unstructured = [Kind::Person, Kind::Address, Kind::Location, Kind::Organization];
    let secrets = [Kind::Secret, Kind::Password, Kind::PrivateKey];
    let kinds = all().without(Kinds::of(&unstructured)).without(Kinds::of(&secrets));
    for line in include_str!("examples.txt").lines().filter(|line| !line.is_empty()) {
        let text = line.replace('⏎', "\n").replace(['⟦', '⟧'], "");
        assert_eq!(scanner.scan(&text, kinds), scan(&text, kinds), "{text}");
    }
}

mod any_text {
    use super::*;
    use proptest::prelude::*;

    /// Pieces that detectors start from, in any order.
    fn pieces() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            "[0-9]{1,6}",
            "[ .:/()+x@#,'\"\\\\\n-]{1,3}",
            "[a-fA-F0-9]{1,4}:",
            Just("phone ".to_owned()),
            Just("born ".to_owned()),
            Just("GB61 VFHS ".to_owned()),
            Just("é".to_owned()),
            Just("电话".to_owned()),
            Just("\u{a0}".to_owned()),
            Just("–".to_owned()),
            Just("driver license ".to_owned()),
            Just("zip ".to_owned()),
            Just(".com".to_owned()),
            "[a-zA-Z]{1,4}",
        ];
        prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn findings_lie_inside_on_character_boundaries(text in pieces()) {
            let mut end = 0;
            for finding in scan(&text, all()) {
                prop_assert!(finding.start >= end && finding.start < finding.end);
                prop_assert!(text.get(finding.range()).is_some());
                end = finding.end;
            }
        }
    }
}

/// Text of one kind over and over must cost no more than ordinary text, whatever it is.
#[test]
#[ignore = "a measurement"]
fn speed() {
    let row =
        "17,Dale Williams,2025-03-04T10:00:03.101Z,1718465315365,12.5,833719,5512345678,0.25\n";
    let log =
        "2025-03-04 10:00:03,101 INFO [worker-12] request 8f3a2c1d took 153 ms from 10.0.3.7\n";
    let json = "{\"id\":1234567,\"ts\":1718465315,\"v\":[1.25,3.5,1000000,42],\"name\":\"x\",\"ok\":true},";
    let code =
        "    let total = items.iter().map(|item| item.price * 100).sum::<u64>(); // line 120\n";
    let texts = [
        ("table", row),
        ("log", log),
        ("json", json),
        ("code", code),
        ("digits", "1234567890"),
        ("groups", "123 456 78 "),
        ("dashes", "123-"),
        ("dots", "1.2.3."),
        ("colons", "a:b:"),
        ("eleven groups", "123 456 78 123 456 78 123 456 78 12 345, "),
        ("ats", "a@b."),
        ("at signs", "@@@@"),
        ("letters and at", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa@"),
        ("born", "born 12 "),
        ("zip", "zip "),
        ("phone", "phone 5 "),
        ("bare", "call 12345678 x"),
        ("plus", "+1 "),
        ("brackets", "((1)(2"),
        ("macs", "aa-bb-cc-"),
    ];
    for (name, unit) in texts {
        let text = unit.repeat(1_000_000 / unit.len());
        let triggers = super::scan::triggers(&text, all());
        let run = || {
            let mut out = Vec::new();
            let start = std::time::Instant::now();
            super::scan::confirm(&text, all(), &triggers, &mut out);
            start.elapsed()
        };
        let best = (0..9).map(|_| run()).min().unwrap().as_secs_f64();
        let each = best * 1e9 / triggers.len().max(1) as f64;
        let rate = text.len() as f64 / 1e6 / best;
        println!("{name}: {rate:.0} MB/s, {} triggers, {each:.0} ns each", triggers.len());
    }
}
