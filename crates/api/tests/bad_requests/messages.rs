//! Messages, one by one.

/// A good request with other `messages`.
pub(crate) const MESSAGES: &[(&str, &str)] = &[
    (
        "null",
        "400 invalid_request_error missing_field messages: `messages` is missing; expected an array with at least one message",
    ),
    (
        "[]",
        "400 validation_error invalid_parameter messages: `messages` is []; expected at least one message",
    ),
    (
        "{}",
        "400 invalid_request_error invalid_type messages: `messages` is an object; expected an array of messages",
    ),
    (
        r#""hi""#,
        "400 invalid_request_error invalid_type messages: `messages` is a string; expected an array of messages",
    ),
    (
        "[1]",
        "400 invalid_request_error invalid_type messages[0]: `messages[0]` is a number; expected an object",
    ),
    (
        "[null]",
        "400 invalid_request_error invalid_type messages[0]: `messages[0]` is null; expected an object",
    ),
    (
        "[{}]",
        "400 invalid_request_error missing_field messages[0].role: `messages[0].role` is missing; expected one of \"system\", \"developer\", \"user\", \"assistant\", \"tool\"",
    ),
    (
        r#"[{"role":5,"content":"x"}]"#,
        "400 invalid_request_error invalid_type messages[0].role: `messages[0].role` is a number; expected one of \"system\", \"developer\", \"user\", \"assistant\", \"tool\"",
    ),
    (
        r#"[{"role":"function","name":"f","content":"x"}]"#,
        "400 validation_error invalid_parameter messages[0].role: `messages[0].role` is \"function\"; expected one of \"system\", \"developer\", \"user\", \"assistant\", \"tool\" (results of functions have the role \"tool\")",
    ),
    (
        r#"[{"role":"robot","content":"x"}]"#,
        "400 validation_error invalid_parameter messages[0].role: `messages[0].role` is \"robot\"; expected one of \"system\", \"developer\", \"user\", \"assistant\", \"tool\"",
    ),
    (
        r#"[{"role":"user"}]"#,
        "400 invalid_request_error missing_field messages[0].content: `messages[0].content` is missing; expected a string or an array of content parts",
    ),
    (
        r#"[{"role":"system","content":null}]"#,
        "400 invalid_request_error missing_field messages[0].content: `messages[0].content` is missing; expected a string or an array of content parts",
    ),
    (
        r#"[{"role":"user","content":5}]"#,
        "400 invalid_request_error invalid_type messages[0].content: `messages[0].content` is a number; expected a string or an array of content parts",
    ),
    (
        r#"[{"role":"user","content":{}}]"#,
        "400 invalid_request_error invalid_type messages[0].content: `messages[0].content` is an object; expected a string or an array of content parts",
    ),
    (
        r#"[{"role":"user","content":"x","content":"y"}]"#,
        "400 invalid_request_error invalid_json -: the request body is not valid JSON: duplicate field `content` at line 1 column 66",
    ),
    (
        r#"[{"role":"user","content":"x"},{"role":"user","content":[5]}]"#,
        "400 invalid_request_error invalid_type messages[1].content[0]: `messages[1].content[0]` is a number; expected an object",
    ),
    (
        r#"[{"role":"user","content":[{}]}]"#,
        "400 invalid_request_error missing_field messages[0].content[0].type: `messages[0].content[0].type` is missing; expected a string",
    ),
    (
        r#"[{"role":"user","content":[{"type":5}]}]"#,
        "400 invalid_request_error invalid_type messages[0].content[0].type: `messages[0].content[0].type` is a number; expected a string",
    ),
    (
        r#"[{"role":"user","content":[{"type":"text"}]}]"#,
        "400 invalid_request_error missing_field messages[0].content[0].text: `messages[0].content[0].text` is missing; expected a string",
    ),
    (
        r#"[{"role":"user","content":[{"type":"text","text":5}]}]"#,
        "400 invalid_request_error invalid_type messages[0].content[0].text: `messages[0].content[0].text` is a number; expected a string",
    ),
    (
        r#"[{"role":"user","content":[{"type":"image_url"}]}]"#,
        "400 invalid_request_error missing_field messages[0].content[0].image_url: `messages[0].content[0].image_url` is missing; expected an object with a `url`",
    ),
    (
        r#"[{"role":"user","content":[{"type":"image_url","image_url":5}]}]"#,
        "400 invalid_request_error invalid_type messages[0].content[0].image_url: `messages[0].content[0].image_url` is a number; expected an object",
    ),
    (
        r#"[{"role":"user","content":[{"type":"image_url","image_url":{}}]}]"#,
        "400 invalid_request_error missing_field messages[0].content[0].image_url.url: `messages[0].content[0].image_url.url` is missing; expected an https: or data: URL",
    ),
    (
        r#"[{"role":"user","content":[{"type":"image_url","image_url":{"url":5}}]}]"#,
        "400 invalid_request_error invalid_type messages[0].content[0].image_url.url: `messages[0].content[0].image_url.url` is a number; expected a string",
    ),
    (
        r#"[{"role":"user","content":[{"type":"image_url","image_url":{"url":"ftp://a.example/b.png"}}]}]"#,
        "400 validation_error invalid_parameter messages[0].content[0].image_url.url: `messages[0].content[0].image_url.url` is \"ftp://a.…\"; expected an https: or data: URL",
    ),
    (
        r#"[{"role":"user","content":[{"type":"image_url","image_url":{"url":""}}]}]"#,
        "400 validation_error invalid_parameter messages[0].content[0].image_url.url: `messages[0].content[0].image_url.url` is \"\"; expected an https: or data: URL",
    ),
    (
        r#"[{"role":"user","content":[{"type":"image_url","image_url":"cat.png"}]}]"#,
        "400 validation_error invalid_parameter messages[0].content[0].image_url: `messages[0].content[0].image_url` is \"cat.png\"; expected an https: or data: URL",
    ),
    (
        r#"[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:,","detail":5}}]}]"#,
        "400 invalid_request_error invalid_type messages[0].content[0].image_url.detail: `messages[0].content[0].image_url.detail` is a number; expected a string",
    ),
    (
        r#"[{"role":"user","content":"x","name":5}]"#,
        "400 invalid_request_error invalid_type messages[0].name: `messages[0].name` is a number; expected a string",
    ),
    (
        r#"[{"role":"tool","content":"x"}]"#,
        "400 invalid_request_error missing_field messages[0].tool_call_id: `messages[0].tool_call_id` is missing; expected the id of the call that this answers",
    ),
    (
        r#"[{"role":"tool","tool_call_id":5,"content":"x"}]"#,
        "400 invalid_request_error invalid_type messages[0].tool_call_id: `messages[0].tool_call_id` is a number; expected a string",
    ),
    (
        r#"[{"role":"tool","tool_call_id":"a"}]"#,
        "400 invalid_request_error missing_field messages[0].content: `messages[0].content` is missing; expected a string or an array of content parts",
    ),
    (
        r#"[{"role":"assistant","tool_calls":{}}]"#,
        "400 invalid_request_error invalid_type messages[0].tool_calls: `messages[0].tool_calls` is an object; expected an array",
    ),
    (
        r#"[{"role":"assistant","tool_calls":[5]}]"#,
        "400 invalid_request_error invalid_type messages[0].tool_calls[0]: `messages[0].tool_calls[0]` is a number; expected an object",
    ),
    (
        r#"[{"role":"assistant","tool_calls":[{}]}]"#,
        "400 invalid_request_error missing_field messages[0].tool_calls[0].id: `messages[0].tool_calls[0].id` is missing; expected a string",
    ),
    (
        r#"[{"role":"assistant","tool_calls":[{"id":"a"}]}]"#,
        "400 invalid_request_error missing_field messages[0].tool_calls[0].function: `messages[0].tool_calls[0].function` is missing; expected an object with `name` and `arguments`",
    ),
    (
        r#"[{"role":"assistant","tool_calls":[{"id":5,"function":{"name":"f"}}]}]"#,
        "400 invalid_request_error invalid_type messages[0].tool_calls[0].id: `messages[0].tool_calls[0].id` is a number; expected a string",
    ),
    (
        r#"[{"role":"assistant","tool_calls":[{"id":"a","function":"f"}]}]"#,
        "400 invalid_request_error invalid_type messages[0].tool_calls[0].function: `messages[0].tool_calls[0].function` is a string; expected an object",
    ),
    (
        r#"[{"role":"assistant","tool_calls":[{"id":"a","function":{}}]}]"#,
        "400 invalid_request_error missing_field messages[0].tool_calls[0].function.name: `messages[0].tool_calls[0].function.name` is missing; expected a string",
    ),
    (
        r#"[{"role":"assistant","tool_calls":[{"id":"a","function":{"name":5}}]}]"#,
        "400 invalid_request_error invalid_type messages[0].tool_calls[0].function.name: `messages[0].tool_calls[0].function.name` is a number; expected a string",
    ),
    (
        r#"[{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":{}}}]}]"#,
        "400 invalid_request_error invalid_type messages[0].tool_calls[0].function.arguments: `messages[0].tool_calls[0].function.arguments` is an object; expected a string",
    ),
];
