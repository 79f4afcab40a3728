//! What was redacted comes back, in every place and wherever a stream is cut.

use super::*;

#[test]
fn restores_in_every_place_of_a_whole_answer() {
    let scene = Scene::new();
    let mut guard = scene.guard(SecurityLevel::Standard, "");
    let raw = |text: String| RawJson::parse(&text).unwrap();
    let named = |value| vec![Member { name: "annotations".into(), value }];
    let mut answer = ChatAnswer {
        id: "a".into(),
        upstream_model: "m".into(),
        choices: vec![Choice {
            index: 0,
            message: AnswerMessage {
                content: Some(format!("Write to {}.", scene.mail.to_lowercase()).into()),
                reasoning: Some(scene.mail.as_str().into()),
                reasoning_details: vec![ReasoningBlock::Text {
                    text: scene.mail.as_str().into(),
                    signature: Some("signed".into()),
                }],
                refusal: Some(scene.password.as_str().into()),
                tool_calls: vec![ToolCall {
                    id: "call".into(),
                    name: "f".into(),
                    arguments: format!("{{\"p\":\"{}\"}}", scene.password).into(),
                    signature: None,
                    cache_breakpoint: None,
                }],
                extra: named(raw(format!("[{{\"title\":\"{}\"}}]", scene.password))),
            },
            finish_reason: FinishReason::ToolCalls,
            logprobs: Some(raw("{}".into())),
            extra: named(raw(format!("\"{}\"", scene.mail))),
        }],
        usage: None,
        extra: named(raw(format!("\"{}\"", scene.mail))),
    };
    guard.whole(&mut answer);
    let choice = &answer.choices[0];
    let message = &choice.message;
    assert_eq!(heard(&message.content), format!("Write to {MAIL}."));
    assert_eq!(heard(&message.reasoning), MAIL);
    let signed = ReasoningBlock::Text { text: MAIL.into(), signature: Some("signed".into()) };
    assert_eq!(message.reasoning_details, [signed]);
    assert_eq!(heard(&message.refusal), PASSWORD);
    let arguments: serde_json::Value =
        serde_json::from_str(&message.tool_calls[0].arguments.decode()).unwrap();
    assert_eq!(arguments["p"], PASSWORD);
    let annotations: serde_json::Value = message.extra[0].value.decode().unwrap();
    assert_eq!(annotations[0]["title"], PASSWORD);
    assert_eq!(choice.extra[0].value.as_str(), format!("\"{MAIL}\""));
    assert_eq!(answer.extra[0].value.as_str(), format!("\"{MAIL}\""));
    assert!(choice.logprobs.is_none());
    let report = guard.report();
    assert_eq!(report.action, AnswerAction::Restore);
    assert_eq!((report.restored.of(Kind::Email), report.restored.of(Kind::Password)), (5, 3));
    assert!(report.flags.is_empty() && report.withheld.is_empty());
}

#[test]
fn restores_in_a_stream_wherever_it_is_cut() {
    let scene = Scene::new();
    let said = Said {
        reasoning: format!("é{}é", scene.mail),
        content: format!("[mail](mailto:{}) 🚀", scene.mail),
        calls: vec![format!("{{\"p\":\"{}\"}}", scene.password), "{}".into()],
    };
    for cut in 1..30 {
        let mut guard = scene.guard(SecurityLevel::Standard, "");
        let heard = streamed(&mut guard, &[said.clone(), said.clone()], &[cut]);
        for heard in heard {
            assert_eq!(heard.reasoning, format!("é{MAIL}é"));
            assert_eq!(heard.content, format!("[mail](mailto:{MAIL}) 🚀"));
            let arguments: serde_json::Value = serde_json::from_str(&heard.calls[0]).unwrap();
            assert_eq!(arguments["p"], PASSWORD);
            assert_eq!(heard.calls[1], "{}");
            assert_eq!(heard.finish, Some(FinishReason::Stop));
        }
        assert_eq!(guard.report().restored.of(Kind::Email), 4);
    }
}

#[test]
fn a_clean_stream_keeps_its_literals() {
    let literals = ["\"He\\u006clo \"", "\"\"", "\"w\\/rld, a quick q\"", "\"uestion\\ud83d\""];
    for map in [RedactionMap::default(), (*Scene::new().map).clone()] {
        let is_empty = map.is_empty();
        let scene = Scene { map: Arc::new(map), ..Scene::new() };
        let mut guard = scene.guard(SecurityLevel::Standard, "");
        let (mut out, mut sent) = (Vec::new(), Vec::new());
        for literal in literals {
            let content = Some(JsonText::trusted_literal(literal.into()));
            guard.delta(Delta { content, ..Delta::default() }, &mut out);
        }
        guard.finish(&mut out);
        for delta in &out {
            delta.content.as_ref().unwrap().write_literal(&mut sent);
        }
        if is_empty {
            assert_eq!(sent, literals.concat().as_bytes());
        } else {
            assert!(sent.starts_with(literals[0].as_bytes()));
        }
        let said: Vec<_> = out.iter().map(|delta| heard(&delta.content)).collect();
        assert_eq!(said.concat(), "Hello w/rld, a quick question\u{FFFD}");
    }
}

#[test]
fn a_pair_that_is_cut_between_literals_stays_one_character() {
    let scene = Scene::new();
    let mut guard = scene.guard(SecurityLevel::High, "");
    let mut out = Vec::new();
    for literal in ["\"a \\ud83d\"", "\"\\ude80 b\""] {
        let content = Some(JsonText::trusted_literal(literal.into()));
        guard.delta(Delta { content, ..Delta::default() }, &mut out);
    }
    guard.finish(&mut out);
    let said: Vec<_> = out.iter().map(|delta| heard(&delta.content)).collect();
    assert_eq!(said.concat(), "a 🚀 b");
}

#[test]
fn a_signature_comes_after_all_of_its_thought() {
    let scene = Scene::new();
    let (head, tail) = scene.mail.split_at(7);
    let mut guard = scene.guard(SecurityLevel::Standard, "");
    let mut out = Vec::new();
    for (text, signature) in [(head, None), (tail, None), (" Q", None), ("", Some("signed"))] {
        let block =
            ReasoningBlock::Text { text: text.into(), signature: signature.map(JsonText::from) };
        guard.delta(Delta { reasoning_details: vec![block], ..Delta::default() }, &mut out);
    }
    let blocks: Vec<_> = out.into_iter().flat_map(|delta| delta.reasoning_details).collect();
    let block = |text: &str, signature: Option<&str>| ReasoningBlock::Text {
        text: text.into(),
        signature: signature.map(JsonText::from),
    };
    assert_eq!(blocks, [block(MAIL, None), block(" ", None), block("Q", Some("signed"))]);
}

#[test]
fn steps_without_text_pass() {
    let scene = Scene::new();
    let mut guard = scene.guard(SecurityLevel::Standard, "");
    let mut out = Vec::new();
    guard.delta(Delta::default(), &mut out);
    let held = Some(JsonText::plain(&scene.mail[..5]));
    guard.delta(Delta { content: held, ..Delta::default() }, &mut out);
    assert_eq!(out.len(), 1, "a step of which everything is held back waits");
    let finish_reason = Some(FinishReason::Length);
    guard.delta(Delta { finish_reason, ..Delta::default() }, &mut out);
    assert_eq!((out.len(), heard(&out[1].content).as_str()), (2, &scene.mail[..5]));
    guard.delta(Delta::default(), &mut out);
    guard.finish(&mut out);
    assert_eq!(out.len(), 3);
    assert_eq!(guard.report(), AnswerReport::default());
}
