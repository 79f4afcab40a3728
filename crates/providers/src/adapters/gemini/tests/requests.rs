//! Requests: what is sent, and what is refused before anything is.

use bytes::Bytes;
use http::Request;
use serde_json::{Value, json};

use super::{BASE_URL, GeminiGenerateContent, example, target};
use crate::adapter::Adapter;
use crate::error::Unsupported;
use crate::testing::chat;

fn encode(body: &Value, model: &str) -> Result<Request<Bytes>, Unsupported> {
    GeminiGenerateContent.encode(&chat(body.clone()), &target(model))
}

fn encoded(example: &str, model: &str) -> Value {
    let body = serde_json::from_str(example).unwrap();
    sent(&encode(&body, model).unwrap())
}

/// A request as JSON; a header that must not be logged shows as such.
fn sent(request: &Request<Bytes>) -> Value {
    let headers: Value = request
        .headers()
        .iter()
        .map(|(name, value)| (name.to_string(), json!(format!("{value:?}"))))
        .collect::<serde_json::Map<_, _>>()
        .into();
    let body: Value = serde_json::from_slice(request.body()).unwrap();
    json!({ "uri": request.uri().to_string(), "headers": headers, "body": body })
}

#[test]
fn a_conversation_with_tools_is_translated() {
    let sent = encoded(example!("request_tools.json"), "gemini-3-pro-preview");
    insta::assert_json_snapshot!(sent);
}

#[test]
fn calls_that_gemini_did_not_make_need_a_placeholder_from_version_3_on_only() {
    let signatures = |model| {
        let body: Value = serde_json::from_str(example!("request_tools.json")).unwrap();
        let sent = sent(&encode(&body, model).unwrap());
        let turns = sent["body"]["contents"].as_array().unwrap().clone();
        let parts = turns.iter().flat_map(|turn| turn["parts"].as_array().unwrap().clone());
        parts
            .filter(|part| part.get("functionCall").is_some())
            .map(|part| part["thoughtSignature"].as_str().unwrap_or("-").to_owned())
            .collect::<Vec<_>>()
    };
    let placeholder = "skip_thought_signature_validator";
    assert_eq!(signatures("gemini-3-flash-preview"), ["EpwCCpkCAXLI2nw=", "-", placeholder]);
    assert_eq!(signatures("gemini-2.5-flash"), ["EpwCCpkCAXLI2nw=", "-", "-"]);
}

#[test]
fn images_audio_and_files_are_translated() {
    let sent = encoded(example!("request_media.json"), "models/gemini-3-flash-preview");
    insta::assert_json_snapshot!(sent);
}

#[test]
fn a_schema_and_every_setting_are_translated() {
    let body: Value = serde_json::from_str(example!("request_schema.json")).unwrap();
    let mut target = target("gemini-2.5-flash");
    target.max_tokens = Some(2048);
    let request = GeminiGenerateContent.encode(&chat(body), &target).unwrap();
    insta::assert_json_snapshot!(sent(&request));
}

#[test]
fn a_tool_choice_is_translated() {
    let check = |choice: Value, expected: Value| {
        let body = json!({
            "messages": [{ "role": "user", "content": "Hi" }],
            "tools": [{ "type": "function", "function": { "name": "f" } }],
            "tool_choice": choice,
        });
        let sent = sent(&encode(&body, "gemini-2.5-flash").unwrap());
        assert_eq!(sent["body"]["toolConfig"]["functionCallingConfig"], expected);
    };
    check(Value::Null, Value::Null);
    check(json!("auto"), json!({ "mode": "AUTO" }));
    check(json!("none"), json!({ "mode": "NONE" }));
    check(json!("required"), json!({ "mode": "ANY" }));
    check(
        json!({ "type": "function", "function": { "name": "f" } }),
        json!({ "mode": "ANY", "allowedFunctionNames": ["f"] }),
    );
}

#[test]
fn instructions_alone_become_a_turn() {
    let body = json!({ "messages": [{ "role": "system", "content": "Say hi." }] });
    let sent = sent(&encode(&body, "gemini-2.5-flash").unwrap());
    let expected = json!({
        "contents": [{ "role": "user", "parts": [{ "text": "Say hi." }] }],
        "generationConfig": {},
    });
    assert_eq!(sent["body"], expected);
}

#[test]
fn json_and_hints_are_no_reason_to_refuse() {
    let body = json!({
        "messages": [{ "role": "user", "content": "Hi", "name": "ada" }],
        "response_format": { "type": "json_object" },
        "parallel_tool_calls": false,
        "logit_bias": {},
        "modalities": ["text"],
        "store": true,
        "service_tier": "flex",
    });
    let sent = sent(&encode(&body, "tunedModels/mine").unwrap());
    let uri = format!("{BASE_URL}/v1beta/tunedModels/mine:generateContent");
    assert_eq!(sent["uri"], json!(uri));
    let config = json!({ "responseMimeType": "application/json" });
    assert_eq!(sent["body"]["generationConfig"], config);
}

#[test]
fn what_gemini_cannot_express_is_refused_by_field() {
    let check = |model: &str, member: Value, expected: &str| {
        let mut body = json!({ "messages": [{ "role": "user", "content": "Hi" }] });
        body.as_object_mut().unwrap().extend(member.as_object().unwrap().clone());
        let refusal = encode(&body, model).expect_err(expected).to_string();
        assert_eq!(refusal, expected);
    };
    let newest = "gemini-3-flash-preview";
    let tool = json!({ "type": "function", "function": { "name": "f" } });
    let parts = |part: Value| json!({ "messages": [{ "role": "user", "content": [part] }] });

    check(
        newest,
        json!({ "tools": [tool], "parallel_tool_calls": false }),
        "`parallel_tool_calls` is false, but Gemini cannot be kept from calling several functions \
         in a turn",
    );
    check(newest, json!({ "logit_bias": { "1": 5 } }), "`logit_bias` has no counterpart in Gemini");
    check(
        newest,
        json!({ "modalities": ["text", "audio"] }),
        "`modalities` asks for more than text",
    );
    check(
        newest,
        json!({ "tools": [tool, { "type": "web_search" }] }),
        "`tools[1]` is not of type `function`, the only one that Gemini takes",
    );
    check(
        newest,
        json!({ "tools": [tool], "tool_choice": { "type": "allowed_tools" } }),
        "`tool_choice` has a form that Gemini has no counterpart of",
    );
    check(
        newest,
        json!({ "tool_choice": "required" }),
        "`tool_choice` asks for a call, but `tools` is empty",
    );
    check(
        newest,
        json!({ "response_format": { "type": "grammar" } }),
        "`response_format` has a form that Gemini does not know",
    );
    check(
        "gemini-2.5-pro",
        json!({ "response_format": { "type": "json_object" }, "tools": [tool] }),
        "`response_format` asks for JSON together with `tools`, which Gemini takes from version 3 \
         on",
    );
    check(
        newest,
        json!({ "stop": ["a", "b", "c", "d", "e", "f"] }),
        "`stop` holds more than 5 texts, Gemini's limit",
    );
    check(newest, json!({ "n": 9 }), "`n` is more than 8, Gemini's limit");
    check(
        newest,
        json!({ "logprobs": true, "top_logprobs": 21 }),
        "`top_logprobs` is more than 20, Gemini's limit",
    );
    check(
        newest,
        json!({ "seed": 4_294_967_296_i64 }),
        "`seed` does not fit into Gemini's 32 bits",
    );
    check(
        "gemini-2.0-flash",
        json!({ "reasoning_effort": "high" }),
        "`reasoning_effort` is `high`, but this model does not think",
    );
    check(
        newest,
        json!({ "messages": [{ "role": "user", "content": "" }] }),
        "`messages` hold no content, and Gemini needs some",
    );
    check(
        newest,
        json!({ "messages": [{ "role": "system", "content": [
            { "type": "image_url", "image_url": { "url": "data:image/png;base64,AA==" } }
        ] }] }),
        "`messages[0].content[0]` is not text, which is all that Gemini takes as an instruction",
    );
    check(
        newest,
        parts(json!({ "type": "image_url", "image_url": { "url": "data:image/gif;base64,AA==" } })),
        "`messages[0].content[0].image_url.url` holds an image of a type that Gemini does not \
         take; it takes PNG, JPEG, WebP, HEIC and HEIF",
    );
    check(
        newest,
        parts(json!({ "type": "image_url", "image_url": { "url": "data:image/png,%89PNG" } })),
        "`messages[0].content[0].image_url.url` is a `data:` URL without a media type or not in \
         base64",
    );
    check(
        newest,
        parts(json!({ "type": "image_url", "image_url": { "url": "http://example.org/a.png" } })),
        "`messages[0].content[0].image_url.url` is neither a `data:` nor an `https:` URL, which \
         is what Gemini takes",
    );
    check(
        "gemini-2.0-flash",
        parts(json!({ "type": "image_url", "image_url": { "url": "https://example.org/a.png" } })),
        "`messages[0].content[0].image_url.url` is an address, which this model does not fetch; \
         send a `data:` URL",
    );
    check(
        newest,
        parts(json!({ "type": "input_audio", "input_audio": { "data": "", "format": "pcm16" } })),
        "`messages[0].content[0].input_audio.format` is not a format that Gemini takes; it takes \
         wav, mp3, aiff, aac, ogg, flac",
    );
    check(
        newest,
        parts(json!({ "type": "file", "file": { "file_id": "file-1" } })),
        "`messages[0].content[0].file.file_id` names an uploaded file, which Gemini cannot read; \
         send it as `file_data`",
    );
    check(
        newest,
        parts(json!({ "type": "video_url", "video_url": { "url": "https://example.org/" } })),
        "`messages[0].content[0]` is of type `video_url`, which Gemini does not take",
    );
    check(
        newest,
        json!({ "messages": [{ "role": "assistant", "tool_calls": [
            { "id": "c", "function": { "name": "f", "arguments": "{\"cut\":" } }
        ] }] }),
        "`messages[0].tool_calls[0].function.arguments` is not a JSON object, which is what Gemini \
         takes as arguments",
    );
    check(
        newest,
        json!({ "messages": [{ "role": "tool", "tool_call_id": "c", "content": "1" }] }),
        "`messages[0].tool_call_id` names no call of an earlier message, so that Gemini could not \
         be told whose result this is",
    );
    check(
        "gemini-2.5-pro",
        json!({ "messages": [
            { "role": "assistant", "tool_calls": [
                { "id": "c", "function": { "name": "f", "arguments": "{}" } }
            ] },
            { "role": "tool", "tool_call_id": "c", "content": [
                { "type": "image_url", "image_url": { "url": "data:image/png;base64,AA==" } }
            ] },
        ] }),
        "`messages[1].content[0]` is not text, which is all that this model takes as a result",
    );
}
