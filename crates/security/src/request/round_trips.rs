//! From a request to its answer and back: a value that the model repeats comes back as it stood, and
//! one that it moved comes back so that it is valid where it is.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::tests::{filter, send, subject};
use super::*;
use crate::restore::{Restorer, Surrounding};

/// A private key of PKCS #8, as long as they are, that nobody has.
fn private_key() -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut number = 7_u64;
    let mut digit = || {
        number =
            number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(DIGITS[(number >> 58) as usize])
    };
    let lines: Vec<String> = (0..8).map(|_| (0..64).map(|_| digit()).collect()).collect();
    let body = format!("MIIEvQIBADANBgkqhkiG9w0BAQEFAASC{}", lines.join("\n"));
    format!("-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----\n")
}

/// A service account's file, as its owner downloads it.
fn service_account() -> Value {
    json!({
        "type": "service_account",
        "project_id": "halvorsen-orders",
        "private_key_id": "0f3b",
        "private_key": private_key(),
        "client_email": "orders@halvorsen-orders.iam.gserviceaccount.com",
    })
}

/// A filter that finds whatever stands between `Zq` and `qZ`, besides all else.
fn finding_marked() -> Filter {
    let mut settings = FilterSettings::default();
    settings.scanner.patterns = vec![r"Zq[^\s]*?qZ".to_owned()];
    Filter::new(&settings, [7; 32]).unwrap()
}

/// What the model sees of a text, and what its placeholders stand for.
fn seen(filter: &Filter, text: &str) -> (String, Arc<RedactionMap>) {
    let request = json!({ "model": "m", "messages": [{ "role": "user", "content": text }] });
    let sent = send(filter, &request.to_string(), &subject(SecurityLevel::Standard)).unwrap();
    let body: Value = serde_json::from_str(&sent.body).unwrap();
    let content = body["messages"][0]["content"].as_str().unwrap().to_owned();
    (content, Arc::new(sent.filtered.map))
}

/// The only placeholder of a text in which `value` was found.
fn word(text: &str, value: &str) -> (String, Arc<RedactionMap>) {
    let (seen, map) = seen(&finding_marked(), text);
    let redactions = map.redactions();
    let one = redactions.iter().find(|one| one.value == value);
    let one = one.unwrap_or_else(|| panic!("{value} is not in {seen}"));
    let placeholder = one.placeholder.to_owned();
    drop(redactions);
    (placeholder, map)
}

fn restore(map: &Arc<RedactionMap>, surrounding: Surrounding, text: &str, size: usize) -> String {
    let mut restorer = Restorer::new(Arc::clone(map), surrounding);
    let (mut rest, mut out) = (text, String::new());
    while !rest.is_empty() {
        let (chunk, after) = rest.split_at(rest.ceil_char_boundary(size.min(rest.len())));
        restorer.push(chunk, &mut out);
        rest = after;
    }
    restorer.finish(&mut out);
    out
}

/// What the caller sees of an answer, which is the same however it comes.
#[track_caller]
fn answered(map: &Arc<RedactionMap>, surrounding: Surrounding, text: &str) -> String {
    let whole = restore(map, surrounding, text, text.len());
    for size in [1, 7, 17, 100] {
        assert_eq!(restore(map, surrounding, text, size), whole, "{text} in pieces of {size}");
    }
    whole
}

/// The arguments of a call that the model made, as the caller's program reads them.
#[track_caller]
fn called(map: &Arc<RedactionMap>, arguments: &Value) -> Value {
    let text = answered(map, Surrounding::JsonString, &arguments.to_string());
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn a_service_account_comes_back_as_json() {
    let account = service_account();
    let (pretty, minified) = (serde_json::to_string_pretty(&account).unwrap(), account.to_string());
    for file in
        [&pretty, &minified, &minified.replace('/', "\\/"), &pretty.replace("==", "\\u003d")]
    {
        for prompt in [
            file.clone(),
            format!("Here is my key file:\n\n```json\n{file}\n```\nPlease rename the project."),
            format!("{file}\nPlease rename the project."),
        ] {
            let (seen, map) = seen(&filter(), &prompt);
            assert!(!seen.contains("MIIEvQIBADANBgkqhkiG9w0BAQEFAASC"), "{seen}");
            let repeated = answered(&map, Surrounding::Text, &seen);
            assert_eq!(repeated, prompt);
            // In a fence, whatever the prompt was.
            let start = seen.find('{').unwrap();
            let shown = &seen[start..=seen.rfind('}').unwrap()];
            let fence =
                answered(&map, Surrounding::Text, &format!("Done:\n```json\n{shown}\n```\n"));
            assert_eq!(fence, format!("Done:\n```json\n{file}\n```\n"));
            // In a file that is written.
            let arguments = called(&map, &json!({ "path": "key.json", "content": shown }));
            assert_eq!(arguments["content"], file.as_str());
            // As a value, and as a file of its own.
            let redactions = map.redactions();
            let key = redactions.iter().find(|one| one.kind == Kind::PrivateKey).unwrap();
            let placeholder = key.placeholder;
            let arguments = called(&map, &json!({ "private_key": placeholder }));
            assert!(private_key().starts_with(arguments["private_key"].as_str().unwrap()));
        }
    }
}

#[test]
fn a_key_that_moves_from_its_file_into_json_is_escaped() {
    let key = private_key();
    let (seen, map) = seen(&filter(), &format!("key.pem:\n{key}\nPut it into JSON."));
    let redactions = map.redactions();
    let placeholder = redactions[0].placeholder;
    assert!(seen.contains(placeholder) && key.starts_with(redactions[0].value));
    let key = redactions[0].value;
    let text = format!("```json\n{{\n  \"private_key\": \"{placeholder}\\n\"\n}}\n```");
    let shown = answered(&map, Surrounding::Text, &text);
    let parsed: Value =
        serde_json::from_str(shown.trim_matches('`').trim_start_matches("json")).unwrap();
    assert_eq!(parsed["private_key"], format!("{key}\n"));
    assert_eq!(called(&map, &json!({ "key": placeholder })), json!({ "key": key }));
    let file = json!({ "private_key": placeholder }).to_string();
    let arguments = called(&map, &json!({ "content": file }));
    let parsed: Value = serde_json::from_str(arguments["content"].as_str().unwrap()).unwrap();
    assert_eq!(parsed["private_key"], key);
    let text = format!("```\n{placeholder}\n```");
    assert_eq!(answered(&map, Surrounding::Text, &text), format!("```\n{key}\n```"));
}

#[test]
fn where_a_value_stood_in_two_spellings_the_context_decides() {
    let key = private_key();
    let prompt =
        format!("key.pem:\n{key}\n.env.json:\n{{\"key\": {}}}\nDone.", json!(key.trim_end()));
    let (seen, map) = seen(&filter(), &prompt);
    assert_eq!(answered(&map, Surrounding::Text, &seen), prompt);
    let redactions = map.redactions();
    assert_eq!(redactions.len(), 2, "{seen}");
    for one in &redactions {
        let text = format!("```\n{}\n```", one.placeholder);
        assert_eq!(
            answered(&map, Surrounding::Text, &text),
            format!("```\n{}\n```", key.trim_end())
        );
        let text = format!("{{\"key\": \"{}\"}}", one.placeholder);
        let parsed: Value =
            serde_json::from_str(&answered(&map, Surrounding::Text, &text)).unwrap();
        assert_eq!(parsed["key"], key.trim_end());
    }
}

#[test]
fn a_value_that_moves_is_written_as_its_new_place_needs_it() {
    let value = "Zq\"it's\\a$b@c/d qZ".replace(' ', "#");
    let (placeholder, map) = word(&format!("db:\n  password: {value}\n"), &value);
    let text = |frame: &str| answered(&map, Surrounding::Text, &frame.replace("{}", &placeholder));
    assert_eq!(called(&map, &json!({ "password": placeholder })), json!({ "password": value }));
    let single = value.replace('\'', "'\\''");
    let double = value.replace('\\', "\\\\").replace('"', "\\\"").replace('$', "\\$");
    assert_eq!(text("export KEY='{}'"), format!("export KEY='{single}'"));
    assert_eq!(text("export KEY=\"{}\""), format!("export KEY=\"{double}\""));
    let command = called(&map, &json!({ "command": format!("login -p '{placeholder}'") }));
    assert_eq!(command["command"], format!("login -p '{single}'"));
    let body = text("```sh\ncurl -d '{\"p\": \"{}\"}' x\n```");
    let body =
        body.split_once("-d '").unwrap().1.rsplit_once("' x").unwrap().0.replace("'\\''", "'");
    assert_eq!(serde_json::from_str::<Value>(&body).unwrap(), json!({ "p": value }));
    let encoded = "Zq%22it's%5Ca$b%40c%2Fd%23qZ";
    assert_eq!(text("psql postgres://app:{}@db/x"), format!("psql postgres://app:{encoded}@db/x"));
    assert_eq!(
        text("https://x.io/?q={}&a"),
        format!("https://x.io/?q={}&a", "Zq%22it's%5Ca$b@c/d%23qZ")
    );
    for frame in
        ["It is {}.", "`{}`", "key: {}", "key: '{}'", "It's \"{}\".", "let k = \"{}\";", "x('{}')"]
    {
        assert_eq!(text(frame), frame.replace("{}", &value));
    }
}

#[test]
fn a_value_that_needs_nothing_is_never_changed() {
    for value in ["Zq-ordinary_key.0~qZ", "Zqada@example.orgqZ"] {
        let (placeholder, map) = word(&format!("It is {value} here"), value);
        for frame in [
            "{\"a\": \"{}\"}",
            "export K='{}'",
            "export K=\"{}\"",
            "https://x.io/a?b={}",
            "https://x.io/{}",
        ] {
            let text = frame.replace("{}", &placeholder);
            let expected = frame.replace("{}", value);
            assert_eq!(answered(&map, Surrounding::Text, &text), expected);
            assert_eq!(
                answered(&map, Surrounding::JsonString, &format!("\"{text}")),
                format!("\"{expected}")
            );
        }
    }
}

#[test]
fn what_was_restored_in_another_way_does_not_leave_in_the_next_turn() {
    let value = "Zq\"it's\\a$b@c/d#qZ";
    let filter = finding_marked();
    let prompt = format!("password: {value}\n");
    let (placeholder, map) = word(&prompt, value);
    for frame in
        ["{\"p\": \"{}\"}", "export KEY='{}'", "export KEY=\"{}\"", "psql postgres://app:{}@db/x"]
    {
        let answer = answered(&map, Surrounding::Text, &frame.replace("{}", &placeholder));
        let (seen, _) = seen(&filter, &format!("{prompt}{answer}"));
        assert!(!seen.contains("it'") && !seen.contains("c/d") && !seen.contains("%40c"), "{seen}");
    }
}

#[test]
fn what_was_restored_within_two_things_does_not_leave_in_the_next_turn() {
    for value in ["Zq\"it's\\a$b@c/d#qZ", "Zqq8Kd/it's$4k==+&@:?;,~qZ", "Zqq8Kd/a+4k==qZ"] {
        // Found as it stands only: what is written in another way has to be looked for.
        let mut settings = FilterSettings::default();
        settings.scanner.patterns =
            vec![value.bytes().map(|byte| format!("\\x{byte:02x}")).collect()];
        let filter = Filter::new(&settings, [7; 32]).unwrap();
        let prompt = format!("password: {value}\n");
        let (_, map) = seen(&filter, &prompt);
        let placeholder = map.redactions()[0].placeholder.to_owned();
        for frame in [
            "https://x.io/?q={}",
            "https://x.io/#{}",
            "https://x.io/a/{}",
            "psql postgres://app:{}@db/x",
            "psql postgres://{}@db/x",
            "```sh\ncurl -d '{\"p\": \"{}\"}' x\n```",
            "```sh\ncurl -d \"{\\\"p\\\": \\\"{}\\\"}\" x\n```",
            "```sh\ncurl \"https://x.io/?q={}\"\n```",
            "```sh\ncurl \"https://app:{}@x.io/\"\n```",
            "```sh\ncurl 'https://x.io/a/{}'\n```",
            "{\"a\": \"{\\\"p\\\": \\\"{}\\\"}\"}",
            "{\"command\": \"login -p '{}'\"}",
            "{\"url\": \"https://x.io/?q={}\"}",
        ] {
            let answer = answered(&map, Surrounding::Text, &frame.replace("{}", &placeholder));
            let (seen, _) = seen(&filter, &format!("{prompt}{answer}"));
            assert!(!seen.contains("Zq"), "{answer}: {seen}");
        }
    }
}

#[test]
fn what_stands_behind_a_quote_that_opens_nothing_comes_back_as_it_stood() {
    for prompt in
        ["-d '{\"p\": \"https://ada:\\\"}Zq\\nqZ", "export KEY='{\"key\": \"https://ada:\\\"}Zq'qZ"]
    {
        let (seen, map) = seen(&finding_marked(), prompt);
        assert!(!seen.contains("Zq"), "{seen}");
        assert_eq!(restore(&map, Surrounding::Text, &seen, seen.len()), prompt);
    }
}

#[test]
fn a_text_that_is_one_string_of_json_comes_back_as_it_stood() {
    for prompt in ["\"Zq\\\"qZkey: \"", "\"Zq\\\"qZ", "\"\" \"Zq\\\"qZ\"", "\"a\\\\\nZq\\\"qZ"] {
        let (seen, map) = seen(&finding_marked(), prompt);
        assert!(!seen.contains("Zq"), "{seen}");
        assert_eq!(answered(&map, Surrounding::Text, &seen), prompt);
        assert_eq!(called(&map, &json!({ "content": seen })), json!({ "content": prompt }));
    }
}

#[test]
fn what_is_beyond_the_places_that_are_read_comes_back_as_it_stood() {
    let lines = |count: usize| -> String {
        (0..count).map(|i| format!("export K{i}=\"Zqp\\$a{i}\\\\qZ\"\n")).collect()
    };
    let prompt = lines(1500);
    let (seen, map) = seen(&finding_marked(), &prompt);
    assert!(!seen.contains("Zq"));
    assert_eq!(restore(&map, Surrounding::Text, &seen, seen.len()), prompt);
    // One value, again and again.
    let prompt = lines(1).repeat(100);
    let (seen, map) = self::seen(&finding_marked(), &prompt);
    assert_eq!(restore(&map, Surrounding::Text, &seen, seen.len()), prompt);
}

proptest! {
    /// Whatever a value is made of, and wherever it stood, as long as nothing is closed in front of it
    /// that was never opened: what is around such a place does not show.
    #[test]
    fn what_the_model_repeats_comes_back_as_it_was(
        before in prop::collection::vec(prop::sample::select(opening()), 0..6),
        value in r#"([a-z"'\\$`@/%#+]|\\n|\\"|'\\''|%40){1,8}"#,
        after in prop::collection::vec(prop::sample::select(FRAGMENTS.to_vec()), 0..3),
        size in 1..40_usize,
    ) {
        let prompt = format!("{}Zq{value}qZ{}", before.concat(), after.concat());
        let (seen, map) = seen(&finding_marked(), &prompt);
        prop_assume!(!seen.contains("Zq"));
        prop_assert_eq!(restore(&map, Surrounding::Text, &seen, size), prompt.as_str());
        let arguments = json!({ "path": "a", "content": seen }).to_string();
        let arguments = restore(&map, Surrounding::JsonString, &arguments, size);
        let arguments: Value = serde_json::from_str(&arguments).unwrap();
        // A string that is nothing but the value has the value itself.
        if !seen.starts_with('Q') {
            prop_assert_eq!(&arguments["content"], prompt.as_str());
        }
    }
}

/// What may stand in front of a value.
fn opening() -> Vec<&'static str> {
    FRAGMENTS.iter().filter(|fragment| !fragment.contains('}')).copied().collect()
}

const FRAGMENTS: &[&str] = &[
    "{\"key\": \"",
    "\"}",
    "{\n  \"a\": [\"x\", \"",
    "\"]\n}",
    "export KEY='",
    "'",
    "\"",
    "KEY=\"",
    "```sh\n",
    "```\n",
    "\nlogin -p \"",
    "https://ada:",
    "@db/x",
    "https://x.io/?a=",
    "&b=",
    " ",
    "\n",
    "It's ",
    "key: \"",
    "{\\\"b\\\": \\\"",
    "\\\"}",
    "-d '{\"p\": \"",
    "$ ",
    "<a href=\"",
    "\\n",
];
