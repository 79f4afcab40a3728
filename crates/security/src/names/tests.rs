//! What is found and what is left alone, through the trained model. The sentences are none of those
//! that it was trained on.

use proptest::prelude::*;

use super::*;

const HIGH: Kinds = Kinds::of(&[Kind::Person, Kind::Address]);

fn found(text: &str, kinds: Kinds) -> Vec<(Kind, &str)> {
    let mut findings = Vec::new();
    find(text, kinds, &mut findings);
    findings.iter().map(|finding| (finding.kind, &text[finding.range()])).collect()
}

#[track_caller]
fn check(text: &str, expected: &[(Kind, &str)]) {
    assert_eq!(found(text, HIGH), expected, "{text}");
}

#[test]
fn the_model_is_there() {
    assert!(Model::parse(include_bytes!("../../models/names.bin")).is_some());
}

#[test]
fn names_in_sentences_and_chats() {
    use Kind::{Address, Person};
    for (text, expected) in [
        (
            "Please contact Nguyễn Thị Minh Khai at the Hanoi branch.",
            &[(Person, "Nguyễn Thị Minh Khai")][..],
        ),
        (
            "Hello, I'm Xiulan Feng; my colleague Prof. Ioannidis will join from Athens.",
            &[(Person, "Xiulan Feng"), (Person, "Ioannidis")],
        ),
        (
            "The new manager, Rajesh Koothrappali, starts in May.",
            &[(Person, "Rajesh Koothrappali")],
        ),
        ("i talked to priya sharma about the refund yesterday", &[(Person, "priya sharma")]),
        ("dr. hurst is a 50 year old man from leeds", &[(Person, "hurst")]),
        (
            "Mme Élodie Lefèvre, 24 rue des Martyrs, 75009 Paris, a appelé ce matin.",
            &[(Person, "Élodie Lefèvre"), (Address, "24 rue des Martyrs, 75009 Paris")],
        ),
    ] {
        check(text, expected);
    }
}

#[test]
fn names_in_code_data_and_logs() {
    for (text, name) in [
        ("commit 1f\nAuthor: Sandor Margraf <s@x.org>\n", "Sandor Margraf"),
        ("INSERT INTO users(name,email) VALUES ('Sören Schönland','a@b.de');", "Sören Schönland"),
        ("2025-11-03T10:22:41Z WARN pay customer=\"Adaeze Okonkwo\" retry=2", "Adaeze Okonkwo"),
        ("const user = { fullName: \"Tabea Söding\", id: 7 };", "Tabea Söding"),
        ("{\\\"name\\\": \\\"Lisa Ernst\\\", \\\"age\\\": 4}", "Lisa Ernst"),
        ("id,name,iban\n1,Gregory Smith,GB20WEST41109962777246\n", "Gregory Smith"),
        ("<customer><name>Hana Nováková</name></customer>", "Hana Nováková"),
        ("[2024-05-01 09:12:33] user=Katarzyna Zielińska action=export", "Katarzyna Zielińska"),
    ] {
        check(text, &[(Kind::Person, name)]);
    }
}

#[test]
fn records_and_addresses_at_the_edges() {
    for text in [
        "May 5, 1978: met Anna Meier in the office",
        "встановіть клапан Хромований на трубу",
        "{\"full_name\": \"Anna Meier\", \"driver\": \"Zorplex\", \"subject\": \"Fwibble\"}",
    ] {
        let all = found(text, Kinds::of(&Kind::ALL));
        let has = |name: &str| all.iter().any(|(_, value)| *value == name);
        assert!(!has("Хромований") && !has("Fwibble") && !has("Zorplex"), "{all:?}");
    }
}

#[test]
fn a_field_says_what_its_value_is() {
    for (text, name) in [
        ("{\"last_name\":\"Quarkhamer\",\"n\":1}", "Quarkhamer"),
        ("scan ok surname=ABRAMZELM KOTTER nr=4", "ABRAMZELM KOTTER"),
        ("<familyName>Ostrevant</familyName>", "Ostrevant"),
    ] {
        check(text, &[(Kind::Person, name)]);
    }
    for text in [
        "{\"displayName\": \"Summer Sale\", \"lastName\": null, \"firstName\": \"Required\"}",
        "font-family: \"Fira Code\"; address: \"0.0.0.0:8080\"",
        "customer: Customer, address: Address, driver: WebDriver,",
        "lastName: z.string().min(1), full_name = first_name",
    ] {
        check(text, &[]);
    }
}

#[test]
fn an_address_has_its_numbers_and_its_town() {
    for (text, address) in [
        (
            "Send it to ul. Dworcowa 18/3, 85-009 Bydgoszcz today.",
            "ul. Dworcowa 18/3, 85-009 Bydgoszcz",
        ),
        (
            "He lives at 7/210 Jacaranda Avenue, Ipswich QLD 4305.",
            "7/210 Jacaranda Avenue, Ipswich QLD 4305",
        ),
        ("Adresse: Rue du Marché 14, 1204 Genève\n", "Rue du Marché 14, 1204 Genève"),
    ] {
        check(text, &[(Kind::Address, address)]);
    }
}

#[test]
fn places_and_organisations_only_when_asked_for() {
    let text = "Amara Okafor left Siemens and moved from Lagos to Nairobi.";
    check(text, &[(Kind::Person, "Amara Okafor")]);
    let all = found(text, KINDS);
    for expected in
        [(Kind::Location, "Lagos"), (Kind::Location, "Nairobi"), (Kind::Organization, "Siemens")]
    {
        assert!(all.contains(&expected), "{all:?}");
    }
    assert_eq!(found(text, Kinds::of(&[Kind::Email])), []);
}

#[test]
fn what_only_looks_like_a_name_stays() {
    for text in [
        "Build with Maven, deploy to Jenkins. Jackson and Redis are used by Victoria Metrics.",
        "Django, Ruby, Jasmine and Tomcat run on EKS; the files are in S3, the C4 model is in the wiki.",
        "Use Dijkstra or Fibonacci heaps, Levenshtein distance and Bayes in May or June.",
        "println!(\"Hello World\"); // Lorem Ipsum",
        "public class Jackson extends ObjectMapper { private String firstName; }",
        "{\"name\": \"Premium Plan\", \"label\": \"First Name\", \"type\": \"Street Address\"}",
        "- name: Install Node Modules\n  run: npm ci\n",
        "INFO 10:22:01 Scheduler Service started in 20 ms",
        "// Copyright 2018 Jason Lingle\n//\n// Licensed under the Apache License\nfn main() {}\n",
        "let x = Person::new(name, address); // see Section 4, Table 12",
        "grep -R \"Connection Refused\" /var/log | sort | uniq -c",
    ] {
        check(text, &[]);
    }
}

/// Pieces that texts are made of, names and what cuts them among them.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("Anna Müller".to_owned()),
        Just("Dr. ".to_owned()),
        Just("12 rue de la Paix, 75002 Paris".to_owned()),
        Just("name: \"".to_owned()),
        Just("\\n".to_owned()),
        Just("’s “quoted” – ".to_owned()),
        Just("O’Brien-Ünal".to_owned()),
        Just("jared smith ".to_owned()),
        Just("PETER SMITH".to_owned()),
        Just("日本語 Иван Петров".to_owned()),
        Just(" ".to_owned()),
        "[A-Za-zé0-9_.,:;=<>{}\"'\\n -]{0,40}",
        "\\PC{0,12}",
    ]
}

proptest! {
    #[test]
    fn findings_are_parts_of_the_text_in_order(pieces in prop::collection::vec(piece(), 0..60)) {
        let text = pieces.concat();
        let mut findings = Vec::new();
        find(&text, KINDS, &mut findings);
        let mut end = 0;
        for finding in findings {
            prop_assert!(end <= finding.start && finding.start < finding.end, "{finding:?}");
            prop_assert!(text.get(finding.range()).is_some(), "{finding:?}");
            end = finding.end;
        }
    }
}
