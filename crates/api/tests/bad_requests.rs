//! Requests that are refused, each with the exact error that it gets.
//!
//! An error is written in one line: `status type code param: message`, `-` where there is no
//! `param`.
#![expect(clippy::unwrap_used, reason = "this whole file is a test")]

mod common;

use bytes::Bytes;
use common::{Answered, House};
use http::header::{ALLOW, AUTHORIZATION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use http::{Method, Request};

/// A good request with one more member.
const MEMBERS: &[(&str, &str)] = &[
    // Numbers.
    (
        r#""temperature":"hot""#,
        "400 invalid_request_error invalid_type temperature: `temperature` is a string; expected a number",
    ),
    (
        r#""temperature":2.01"#,
        "400 validation_error invalid_parameter temperature: `temperature` is 2.01; expected a number from 0.0 to 2.0",
    ),
    (
        r#""temperature":-0.1"#,
        "400 validation_error invalid_parameter temperature: `temperature` is -0.1; expected a number from 0.0 to 2.0",
    ),
    (
        r#""temperature":1e400"#,
        "400 validation_error invalid_parameter temperature: `temperature` is 1e400; expected a number from 0.0 to 2.0",
    ),
    (
        r#""temperature":[]"#,
        "400 invalid_request_error invalid_type temperature: `temperature` is an array; expected a number",
    ),
    (
        r#""temperature":true"#,
        "400 invalid_request_error invalid_type temperature: `temperature` is a boolean; expected a number",
    ),
    (
        r#""top_p":1.01"#,
        "400 validation_error invalid_parameter top_p: `top_p` is 1.01; expected a number from 0.0 to 1.0",
    ),
    (
        r#""top_p":-0.1"#,
        "400 validation_error invalid_parameter top_p: `top_p` is -0.1; expected a number from 0.0 to 1.0",
    ),
    (
        r#""top_p":"x""#,
        "400 invalid_request_error invalid_type top_p: `top_p` is a string; expected a number",
    ),
    (
        r#""frequency_penalty":2.1"#,
        "400 validation_error invalid_parameter frequency_penalty: `frequency_penalty` is 2.1; expected a number from -2.0 to 2.0",
    ),
    (
        r#""frequency_penalty":{}"#,
        "400 invalid_request_error invalid_type frequency_penalty: `frequency_penalty` is an object; expected a number",
    ),
    (
        r#""presence_penalty":-2.5"#,
        "400 validation_error invalid_parameter presence_penalty: `presence_penalty` is -2.5; expected a number from -2.0 to 2.0",
    ),
    (
        r#""presence_penalty":"0""#,
        "400 invalid_request_error invalid_type presence_penalty: `presence_penalty` is a string; expected a number",
    ),
    // Integers.
    (
        r#""max_tokens":0"#,
        "400 validation_error invalid_parameter max_tokens: `max_tokens` is 0; expected an integer from 1 to 4096, or to the model's own output limit with a key made by `sluice keys create --max-tokens model`",
    ),
    (
        r#""max_tokens":-1"#,
        "400 validation_error invalid_parameter max_tokens: `max_tokens` is -1; expected an integer from 1 to 4096, or to the model's own output limit with a key made by `sluice keys create --max-tokens model`",
    ),
    (
        r#""max_tokens":4097"#,
        "400 validation_error invalid_parameter max_tokens: `max_tokens` is 4097; expected an integer from 1 to 4096; a key made with `sluice keys create --max-tokens model` takes the model's own limit instead",
    ),
    (
        r#""max_tokens":1.5"#,
        "400 invalid_request_error invalid_type max_tokens: `max_tokens` is a number; expected an integer",
    ),
    (
        r#""max_tokens":"100""#,
        "400 invalid_request_error invalid_type max_tokens: `max_tokens` is a string; expected an integer",
    ),
    (
        r#""max_tokens":99999999999"#,
        "400 validation_error invalid_parameter max_tokens: `max_tokens` is 99999999999; expected an integer from 1 to 4096, or to the model's own output limit with a key made by `sluice keys create --max-tokens model`",
    ),
    (
        r#""max_tokens":true"#,
        "400 invalid_request_error invalid_type max_tokens: `max_tokens` is a boolean; expected an integer",
    ),
    (
        r#""max_completion_tokens":0"#,
        "400 validation_error invalid_parameter max_completion_tokens: `max_completion_tokens` is 0; expected an integer from 1 to 4096, or to the model's own output limit with a key made by `sluice keys create --max-tokens model`",
    ),
    (
        r#""max_completion_tokens":4097"#,
        "400 validation_error invalid_parameter max_completion_tokens: `max_completion_tokens` is 4097; expected an integer from 1 to 4096; a key made with `sluice keys create --max-tokens model` takes the model's own limit instead",
    ),
    (
        r#""max_completion_tokens":2e3"#,
        "400 invalid_request_error invalid_type max_completion_tokens: `max_completion_tokens` is a number; expected an integer",
    ),
    (
        r#""max_completion_tokens":[1]"#,
        "400 invalid_request_error invalid_type max_completion_tokens: `max_completion_tokens` is an array; expected an integer",
    ),
    (
        r#""n":0"#,
        "400 validation_error invalid_parameter n: `n` is 0; expected an integer from 1 to 128",
    ),
    (
        r#""n":129"#,
        "400 validation_error invalid_parameter n: `n` is 129; expected an integer from 1 to 128",
    ),
    (
        r#""n":"1""#,
        "400 invalid_request_error invalid_type n: `n` is a string; expected an integer",
    ),
    (
        r#""n":1.0"#,
        "400 invalid_request_error invalid_type n: `n` is a number; expected an integer",
    ),
    (
        r#""seed":"x""#,
        "400 invalid_request_error invalid_type seed: `seed` is a string; expected an integer",
    ),
    (
        r#""seed":9223372036854775808"#,
        "400 validation_error invalid_parameter seed: `seed` is 9223372036854775808; expected an integer of 64 bits",
    ),
    (
        r#""seed":1.5"#,
        "400 invalid_request_error invalid_type seed: `seed` is a number; expected an integer",
    ),
    (
        r#""top_logprobs":21"#,
        "400 validation_error invalid_parameter top_logprobs: `top_logprobs` is 21; expected an integer from 0 to 20",
    ),
    (
        r#""top_logprobs":-1"#,
        "400 validation_error invalid_parameter top_logprobs: `top_logprobs` is -1; expected an integer from 0 to 20",
    ),
    (
        r#""top_logprobs":"5""#,
        "400 invalid_request_error invalid_type top_logprobs: `top_logprobs` is a string; expected an integer",
    ),
    // Flags.
    (
        r#""logprobs":1"#,
        "400 invalid_request_error invalid_type logprobs: `logprobs` is a number; expected true or false",
    ),
    (
        r#""stream":"true""#,
        "400 invalid_request_error invalid_type stream: `stream` is a string; expected true or false",
    ),
    (
        r#""stream":1"#,
        "400 invalid_request_error invalid_type stream: `stream` is a number; expected true or false",
    ),
    (
        r#""parallel_tool_calls":"no""#,
        "400 invalid_request_error invalid_type parallel_tool_calls: `parallel_tool_calls` is a string; expected true or false",
    ),
    (
        r#""audit_enabled":"yes""#,
        "400 invalid_request_error invalid_type audit_enabled: `audit_enabled` is a string; expected true or false",
    ),
    (
        r#""zero_retention":0"#,
        "400 invalid_request_error invalid_type zero_retention: `zero_retention` is a number; expected true or false",
    ),
    (
        r#""stream_options":[]"#,
        "400 invalid_request_error invalid_type stream_options: `stream_options` is an array; expected an object",
    ),
    (
        r#""stream_options":true"#,
        "400 invalid_request_error invalid_type stream_options: `stream_options` is a boolean; expected an object",
    ),
    (
        r#""stream":true,"stream_options":{"include_usage":"yes"}"#,
        "400 invalid_request_error invalid_type stream_options.include_usage: `stream_options.include_usage` is a string; expected true or false",
    ),
    // Words and texts.
    (
        r#""security_level":"extreme""#,
        "400 validation_error invalid_parameter security_level: `security_level` is \"extreme\"; expected one of \"standard\", \"high\", \"maximum\"",
    ),
    (
        r#""security_level":3"#,
        "400 invalid_request_error invalid_type security_level: `security_level` is a number; expected one of \"standard\", \"high\", \"maximum\"",
    ),
    (
        r#""security_level":"High""#,
        "400 validation_error invalid_parameter security_level: `security_level` is \"High\"; expected one of \"standard\", \"high\", \"maximum\"",
    ),
    (
        r#""region":"mars""#,
        "400 validation_error invalid_parameter region: `region` is \"mars\"; expected one of \"us-east\", \"us-west\", \"eu-west\", \"asia-pacific\"",
    ),
    (
        r#""region":5"#,
        "400 invalid_request_error invalid_type region: `region` is a number; expected one of \"us-east\", \"us-west\", \"eu-west\", \"asia-pacific\"",
    ),
    (
        r#""region":"""#,
        "400 validation_error invalid_parameter region: `region` is \"\"; expected one of \"us-east\", \"us-west\", \"eu-west\", \"asia-pacific\"",
    ),
    (
        r#""region":"eu-west""#,
        "400 invalid_request_error region_unavailable region: model `mock` does not run in region `eu-west`; it runs in us-east",
    ),
    (
        r#""user":7"#,
        "400 invalid_request_error invalid_type user: `user` is a number; expected a string",
    ),
    (
        r#""metadata":"x""#,
        "400 invalid_request_error invalid_type metadata: `metadata` is a string; expected an object",
    ),
    (
        r#""metadata":[]"#,
        "400 invalid_request_error invalid_type metadata: `metadata` is an array; expected an object",
    ),
    (
        r#""stop":1"#,
        "400 invalid_request_error invalid_type stop: `stop` is a number; expected a string or an array of strings",
    ),
    (
        r#""stop":{"a":1}"#,
        "400 invalid_request_error invalid_type stop: `stop` is an object; expected a string or an array of strings",
    ),
    (
        r#""stop":["a",1]"#,
        "400 invalid_request_error invalid_type stop[1]: `stop[1]` is a number; expected a string",
    ),
    (
        r#""reasoning_effort":"huge""#,
        "400 validation_error invalid_parameter reasoning_effort: `reasoning_effort` is \"huge\"; expected one of \"none\", \"minimal\", \"low\", \"medium\", \"high\", \"xhigh\"",
    ),
    (
        r#""reasoning_effort":3"#,
        "400 invalid_request_error invalid_type reasoning_effort: `reasoning_effort` is a number; expected one of \"none\", \"minimal\", \"low\", \"medium\", \"high\", \"xhigh\"",
    ),
    (
        r#""reasoning":"x""#,
        "400 invalid_request_error invalid_type reasoning: `reasoning` is a string; expected an object",
    ),
    (
        r#""reasoning":{"effort":"huge"}"#,
        "400 validation_error invalid_parameter reasoning.effort: `reasoning.effort` is \"huge\"; expected one of \"none\", \"minimal\", \"low\", \"medium\", \"high\", \"xhigh\"",
    ),
    // Tools.
    (
        r#""tools":{}"#,
        "400 invalid_request_error invalid_type tools: `tools` is an object; expected an array of tools",
    ),
    (
        r#""tools":"x""#,
        "400 invalid_request_error invalid_type tools: `tools` is a string; expected an array of tools",
    ),
    (
        r#""tools":[1]"#,
        "400 invalid_request_error invalid_type tools[0]: `tools[0]` is a number; expected an object",
    ),
    (
        r#""tools":[{}]"#,
        "400 invalid_request_error missing_field tools[0].type: `tools[0].type` is missing; expected a string",
    ),
    (
        r#""tools":[{"type":5}]"#,
        "400 invalid_request_error invalid_type tools[0].type: `tools[0].type` is a number; expected a string",
    ),
    (
        r#""tools":[{"type":"function"}]"#,
        "400 invalid_request_error missing_field tools[0].function: `tools[0].function` is missing; expected an object with a `name`",
    ),
    (
        r#""tools":[{"type":"function","function":{}}]"#,
        "400 invalid_request_error missing_field tools[0].function.name: `tools[0].function.name` is missing; expected a string",
    ),
    (
        r#""tools":[{"type":"function","function":"f"}]"#,
        "400 invalid_request_error invalid_type tools[0].function: `tools[0].function` is a string; expected an object",
    ),
    (
        r#""tools":[{"type":"function","function":{"name":5}}]"#,
        "400 invalid_request_error invalid_type tools[0].function.name: `tools[0].function.name` is a number; expected a string",
    ),
    (
        r#""tools":[{"type":"function","function":{"name":"f","parameters":"x"}}]"#,
        "400 invalid_request_error invalid_type tools[0].function.parameters: `tools[0].function.parameters` is a string; expected a JSON Schema object",
    ),
    (
        r#""tools":[{"type":"function","function":{"name":"f","strict":"x"}}]"#,
        "400 invalid_request_error invalid_type tools[0].function.strict: `tools[0].function.strict` is a string; expected true or false",
    ),
    (
        r#""tools":[{"type":"function","function":{"name":"f","description":1}}]"#,
        "400 invalid_request_error invalid_type tools[0].function.description: `tools[0].function.description` is a number; expected a string",
    ),
    (
        r#""tools":[{"type":"function","function":{"name":"f","name":"g"}}]"#,
        "400 invalid_request_error invalid_json -: the request body is not valid JSON: duplicate field `name` at line 1 column 117",
    ),
    (
        r#""tool_choice":"maybe""#,
        "400 validation_error invalid_parameter tool_choice: `tool_choice` is \"maybe\"; expected \"auto\", \"none\", \"required\", or {\"type\": \"function\", \"function\": {\"name\": …}}",
    ),
    (
        r#""tool_choice":5"#,
        "400 invalid_request_error invalid_type tool_choice: `tool_choice` is a number; expected \"auto\", \"none\", \"required\", or {\"type\": \"function\", \"function\": {\"name\": …}}",
    ),
    (
        r#""tool_choice":{"type":5}"#,
        "400 invalid_request_error invalid_type tool_choice.type: `tool_choice.type` is a number; expected a string",
    ),
    (
        r#""tool_choice":{"type":"function"}"#,
        "400 invalid_request_error missing_field tool_choice.function: `tool_choice.function` is missing; expected an object with a `name`",
    ),
    (
        r#""tool_choice":{"type":"function","function":{}}"#,
        "400 invalid_request_error missing_field tool_choice.function.name: `tool_choice.function.name` is missing; expected a string",
    ),
    (
        r#""tool_choice":{"type":"function","function":"f"}"#,
        "400 invalid_request_error invalid_type tool_choice.function: `tool_choice.function` is a string; expected an object with a `name`",
    ),
    (
        r#""tool_choice":{"type":"function","function":{"name":5}}"#,
        "400 invalid_request_error invalid_type tool_choice.function.name: `tool_choice.function.name` is a number; expected a string",
    ),
    // The form of the answer.
    (
        r#""response_format":"json""#,
        "400 invalid_request_error invalid_type response_format: `response_format` is a string; expected an object with a `type`",
    ),
    (
        r#""response_format":{}"#,
        "400 invalid_request_error missing_field response_format.type: `response_format.type` is missing; expected \"text\", \"json_object\" or \"json_schema\"",
    ),
    (
        r#""response_format":{"type":5}"#,
        "400 invalid_request_error invalid_type response_format.type: `response_format.type` is a number; expected a string",
    ),
    (
        r#""response_format":{"type":"json_schema"}"#,
        "400 invalid_request_error missing_field response_format.json_schema: `response_format.json_schema` is missing; expected an object with `name` and `schema`",
    ),
    (
        r#""response_format":{"type":"json_schema","json_schema":"x"}"#,
        "400 invalid_request_error invalid_type response_format.json_schema: `response_format.json_schema` is a string; expected an object with `name` and `schema`",
    ),
    (
        r#""response_format":{"type":"json_schema","json_schema":{}}"#,
        "400 invalid_request_error missing_field response_format.json_schema.name: `response_format.json_schema.name` is missing; expected a string",
    ),
    (
        r#""response_format":{"type":"json_schema","json_schema":{"name":5}}"#,
        "400 invalid_request_error invalid_type response_format.json_schema.name: `response_format.json_schema.name` is a number; expected a string",
    ),
    (
        r#""response_format":{"type":"json_schema","json_schema":{"name":"a","schema":"x"}}"#,
        "400 invalid_request_error invalid_type response_format.json_schema.schema: `response_format.json_schema.schema` is a string; expected a JSON Schema object",
    ),
    (
        r#""response_format":{"type":"json_schema","json_schema":{"name":"a","strict":"x"}}"#,
        "400 invalid_request_error invalid_type response_format.json_schema.strict: `response_format.json_schema.strict` is a string; expected true or false",
    ),
    // Twice.
    (
        r#""temperature":1,"temperature":1"#,
        "400 invalid_request_error invalid_json -: the request body is not valid JSON: duplicate field `temperature` at line 1 column 89",
    ),
    (
        r#""x":1,"x":2"#,
        "400 invalid_request_error invalid_json -: the request body is not valid JSON: duplicate field `x` at line 1 column 69",
    ),
    (
        r#""messages":[]"#,
        "400 invalid_request_error invalid_json -: the request body is not valid JSON: duplicate field `messages` at line 1 column 70",
    ),
    (
        r#""mod\u0065l":"other""#,
        "400 invalid_request_error invalid_json -: the request body is not valid JSON: duplicate field `model` at line 1 column 72",
    ),
];

/// A good request with other `messages`.
const MESSAGES: &[(&str, &str)] = &[
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

/// Whole bodies.
const BODIES: &[(&str, &str)] = &[
    (
        "",
        "400 invalid_request_error invalid_json -: the request body is not valid JSON: EOF while parsing a value at line 1 column 0",
    ),
    (
        "{",
        "400 invalid_request_error invalid_json -: the request body is not valid JSON: EOF while parsing an object at line 1 column 1",
    ),
    (
        r#"{"model":"mock""#,
        "400 invalid_request_error invalid_json -: the request body is not valid JSON: EOF while parsing an object at line 1 column 15",
    ),
    (
        r#"{"model":"mo"#,
        "400 invalid_request_error invalid_json -: the request body is not valid JSON: EOF while parsing a string at line 1 column 12",
    ),
    (
        r#"{"model":"mock","messages":[{"role":"user","content":"hi"}]}}"#,
        "400 invalid_request_error invalid_json -: the request body is not valid JSON: trailing characters at line 1 column 61",
    ),
    (
        r#"{"model":"mock","messages":[{"role":"user","content":"hi"}]} {}"#,
        "400 invalid_request_error invalid_json -: the request body is not valid JSON: trailing characters at line 1 column 62",
    ),
    (
        "[]",
        "400 invalid_request_error invalid_type -: `request body` is an array; expected an object",
    ),
    (
        "null",
        "400 invalid_request_error invalid_type -: `request body` is null; expected an object",
    ),
    (
        r#""x""#,
        "400 invalid_request_error invalid_type -: `request body` is a string; expected an object",
    ),
    (
        "5",
        "400 invalid_request_error invalid_type -: `request body` is a number; expected an object",
    ),
    (
        "{'model':'mock'}",
        "400 invalid_request_error invalid_json -: the request body is not valid JSON: key must be a string at line 1 column 2",
    ),
    (
        r#"{"model":"mock",}"#,
        "400 invalid_request_error invalid_json -: the request body is not valid JSON: trailing comma at line 1 column 17",
    ),
    (
        r#"{"model":"mock" "messages":[{"role":"user","content":"hi"}]}"#,
        "400 invalid_request_error invalid_json -: the request body is not valid JSON: expected `,` or `}` at line 1 column 17",
    ),
    (
        r#"{model:"mock"}"#,
        "400 invalid_request_error invalid_json -: the request body is not valid JSON: key must be a string at line 1 column 2",
    ),
    (
        r#"// hi\n{}"#,
        "400 invalid_request_error invalid_json -: the request body is not valid JSON: expected value at line 1 column 1",
    ),
    (
        r#"{"model":"mock","temperature":NaN,"messages":[{"role":"user","content":"hi"}]}"#,
        "400 invalid_request_error invalid_json -: the request body is not valid JSON: expected value at line 1 column 31",
    ),
    (
        r#"{"model":"mock","temperature":01,"messages":[{"role":"user","content":"hi"}]}"#,
        "400 invalid_request_error invalid_json -: the request body is not valid JSON: invalid number at line 1 column 32",
    ),
    (
        "{}",
        "400 invalid_request_error missing_field model: `model` is missing; expected the id of a model or router, such as one of GET /models",
    ),
    (
        r#"{"messages":[{"role":"user","content":"hi"}]}"#,
        "400 invalid_request_error missing_field model: `model` is missing; expected the id of a model or router, such as one of GET /models",
    ),
    (
        r#"{"model":null,"messages":[{"role":"user","content":"hi"}]}"#,
        "400 invalid_request_error missing_field model: `model` is missing; expected the id of a model or router, such as one of GET /models",
    ),
    (
        r#"{"model":5,"messages":[{"role":"user","content":"hi"}]}"#,
        "400 invalid_request_error invalid_type model: `model` is a number; expected a string",
    ),
    (
        r#"{"model":"","messages":[{"role":"user","content":"hi"}]}"#,
        "400 validation_error invalid_parameter model: `model` is \"\"; expected the id of a model or router",
    ),
    (
        r#"{"model":"mock"}"#,
        "400 invalid_request_error missing_field messages: `messages` is missing; expected an array with at least one message",
    ),
    (
        r#"{"model":"gpt-9","messages":[{"role":"user","content":"hi"}]}"#,
        "404 invalid_request_error model_not_found model: model `gpt-9` is not served here; GET /api/v1/models lists those that are",
    ),
    (
        r#"{"model":"Mock","messages":[{"role":"user","content":"hi"}]}"#,
        "404 invalid_request_error model_not_found model: model `Mock` is not served here; GET /api/v1/models lists those that are",
    ),
    (
        r#"{"model":"mock","model":"mock","messages":[{"role":"user","content":"hi"}]}"#,
        "400 invalid_request_error invalid_json -: the request body is not valid JSON: duplicate field `model` at line 1 column 23",
    ),
    (
        "{\"model\":\"mock\",\"messages\":[{\"role\":\"user\",\"content\":\"a\\u0001\"}],\"x\":\"\u{1}\"}",
        "400 invalid_request_error invalid_json -: the request body is not valid JSON: control character (\\u0000-\\u001F) found while parsing a string at line 1 column 71",
    ),
];
const GOOD: &str = r#"{"model":"mock","messages":[{"role":"user","content":"hi"}]}"#;

/// Sends each body, and tells all cases whose error is another than written.
async fn check(cases: impl Iterator<Item = (&'static str, String, &'static str)>) {
    let house = House::new();
    let mut wrong = Vec::new();
    for (case, body, expected) in cases {
        let answered = house.chat(body).await;
        assert_documented(&answered);
        let line = answered.error_line();
        if line != expected {
            wrong.push(format!("{case}\n  is:        {line}\n  should be: {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What holds for every answer.
fn assert_documented(answered: &Answered) {
    for name in ["limit", "remaining", "reset", "window"] {
        let header = answered.header(&format!("x-ratelimit-{name}")).unwrap();
        assert!(header.parse::<u64>().is_ok(), "{name}: {header}");
    }
    assert!(answered.header("x-request-id").unwrap().starts_with("req_"));
}

#[tokio::test]
async fn members_are_checked_one_by_one() {
    let with = |member: &str| format!("{},{member}}}", &GOOD[..GOOD.len() - 1]);
    check(MEMBERS.iter().map(|(member, expected)| (*member, with(member), *expected))).await;
}

#[tokio::test]
async fn messages_are_checked_one_by_one() {
    let with = |messages: &str| format!(r#"{{"model":"mock","messages":{messages}}}"#);
    check(MESSAGES.iter().map(|(messages, expected)| (*messages, with(messages), *expected))).await;
}

#[tokio::test]
async fn bodies_that_are_no_request_are_told_so() {
    check(BODIES.iter().map(|(body, expected)| (*body, (*body).to_owned(), *expected))).await;
}

#[tokio::test]
async fn a_body_that_is_no_text_is_told_so() {
    let house = House::new();
    let answered = house.chat(&b"{\"model\":\"\xff\"}"[..]).await;
    assert_eq!(
        answered.error_line(),
        "400 invalid_request_error invalid_json -: the request body is not valid JSON: it is not \
         valid UTF-8"
    );
}

#[tokio::test]
async fn nesting_without_end_is_refused_and_harmless() {
    let house = House::new();
    let deep = "[".repeat(100_000);
    for body in [
        deep.clone(),
        format!(r#"{{"model":"mock","messages":{deep}"#),
        format!(r#"{{"model":"mock","messages":[{{"role":"user","content":{deep}"#),
        format!(r#"{{"model":"mock","x":{deep}"#),
        format!(r#"{{"model":"mock","messages":{deep}{}}}"#, "]".repeat(100_000)),
    ] {
        let line = house.chat(body).await.error_line();
        assert!(line.starts_with("400 invalid_request_error invalid_json -: "), "{line}");
        assert!(line.len() < 300, "{line}");
    }
}

#[tokio::test]
async fn a_name_of_any_length_is_told_in_short() {
    let house = House::new();
    let line = house.chat(GOOD.replace("mock", &"é".repeat(500))).await.error_line();
    assert!(line.starts_with("404 invalid_request_error model_not_found model: model `é"));
    assert!(line.chars().count() < 250, "{line}");
    let value = format!("\"{}\"", "x".repeat(500));
    let line = house.chat(GOOD.replace("\"hi\"", "\"hi\",\"role\":") + &value).await.error_line();
    assert!(line.len() < 250, "{line}");
    let with_region = format!("{},\"region\":{value}}}", &GOOD[..GOOD.len() - 1]);
    let line = house.chat(with_region).await.error_line();
    assert!(line.contains("x…; expected one of") && line.len() < 250, "{line}");
}

#[tokio::test]
async fn the_body_has_to_be_json_and_uncompressed() {
    const TYPE: &str = "415 invalid_request_error unsupported_media_type -: ";
    const FIX: &str = "; send `Content-Type: application/json`, uncompressed";
    let house = House::new();
    for (kind, encoding, problem) in [
        (None, None, "the request has no content type"),
        (Some("text/plain"), None, "the body's content type is text/plain"),
        (
            Some("application/x-www-form-urlencoded"),
            None,
            "the body's content type is application/x-www-form-urlencoded",
        ),
        (Some("application/jsonx"), None, "the body's content type is application/jsonx"),
        (Some("application/json"), Some("gzip"), "the body's content encoding is gzip"),
    ] {
        let mut request = Request::post("/api/v1/chat/completions")
            .header(AUTHORIZATION, format!("Bearer {}", house.key("documented")));
        if let Some(kind) = kind {
            request = request.header(CONTENT_TYPE, kind);
        }
        if let Some(encoding) = encoding {
            request = request.header(CONTENT_ENCODING, encoding);
        }
        let answered = house.send(request.body(GOOD).unwrap()).await;
        assert_documented(&answered);
        assert_eq!(answered.error_line(), format!("{TYPE}{problem}{FIX}"));
    }
}

#[tokio::test]
async fn the_body_has_a_longest_length() {
    const TOO_LARGE: &str = "413 invalid_request_error request_too_large -: the request body is \
                             larger than 1 MiB, the limit of this server \
                             (`server.request_body_limit_mib`)";
    let house = House::new();
    // One that says so is refused before it is read, one that does not, while it is.
    let announced = Request::post("/api/v1/chat/completions")
        .header(AUTHORIZATION, format!("Bearer {}", house.key("documented")))
        .header(CONTENT_TYPE, "application/json; charset=utf-8")
        .header(CONTENT_LENGTH, "1048577");
    assert_eq!(house.send(announced.body("").unwrap()).await.error_line(), TOO_LARGE);
    assert_eq!(house.chat(vec![b' '; (1 << 20) + 1]).await.error_line(), TOO_LARGE);
    let at_the_limit = house.chat(vec![b' '; 1 << 20]).await;
    assert_eq!(at_the_limit.status, 400, "{}", at_the_limit.body);
}

#[tokio::test]
async fn other_methods_and_paths_are_refused() {
    const ENDPOINTS: &str = "the endpoints are GET /api/v1/models, GET /api/v1/auth/token, GET \
                             /api/v1/health, POST /api/v1/chat/completions";
    let house = House::new();
    let ask = async |method: Method, path: &str| {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(AUTHORIZATION, format!("Bearer {}", house.key("documented")));
        let answered = house.send(request.body("").unwrap()).await;
        assert_documented(&answered);
        answered
    };
    for (path, allowed) in [
        ("/api/v1/chat/completions", "POST"),
        ("/api/v1/models", "GET"),
        ("/api/v1/auth/token", "GET"),
        ("/api/v1/health", "GET"),
    ] {
        for method in [Method::GET, Method::POST, Method::PUT, Method::DELETE, Method::OPTIONS] {
            if method == allowed {
                continue;
            }
            let answered = ask(method.clone(), path).await;
            let expected = format!(
                "405 invalid_request_error method_not_allowed -: {path} takes {allowed}, not {method}"
            );
            assert_eq!(answered.error_line(), expected);
            assert_eq!(answered.headers[ALLOW], allowed);
        }
    }
    // The plants of the starter template are unknown paths too.
    for (method, path) in [
        (Method::GET, "/"),
        (Method::GET, "/api/v1"),
        (Method::POST, "/api/v1/completions"),
        (Method::POST, "/v1/chat/completions"),
        (Method::GET, "/api/v1/plants"),
        (Method::POST, "/api/v1/plants"),
        (Method::DELETE, "/api/v1/plants/7"),
        (Method::POST, "/api/v1/plant/webhook"),
    ] {
        let expected = format!(
            "404 invalid_request_error not_found -: there is no {method} {path}; {ENDPOINTS}"
        );
        assert_eq!(ask(method, path).await.error_line(), expected);
    }
}

#[tokio::test]
async fn whoever_is_not_recognised_is_told_why() {
    const REFUSED: &str = "401 authentication_error invalid_api_key -: ";
    const UNKNOWN: &str = "this API key is not known here, or was revoked";
    const PREFIX: &str = "this is not a service key: a service key begins with `svc_ent_`";
    let house = House::new();
    let known = house.key("documented").to_owned();
    let mut mistyped = known.clone();
    let other = if mistyped.pop() == Some('a') { 'b' } else { 'a' };
    mistyped.push(other);
    let bearer = |key: &str| Some(format!("Bearer {key}"));
    for (authorization, own, problem) in [
        (
            None,
            None,
            "no API key: send `Authorization: Bearer svc_ent_…`, or the header `svc-api-key`",
        ),
        (bearer("sk-1234"), None, PREFIX),
        (bearer(""), None, PREFIX),
        (Some("Basic dXNlcjpwYXNz".to_owned()), None, PREFIX),
        (None, Some("sk-1234".to_owned()), PREFIX),
        (
            bearer("svc_ent_short"),
            None,
            "this is not a service key: a service key has 44 characters; copy it whole",
        ),
        (
            bearer(&format!("{}-", &known[..43])),
            None,
            "this is not a service key: a service key has only letters and digits after `svc_ent_`",
        ),
        (
            bearer(&mistyped),
            None,
            "this is not a service key: its checksum does not fit: a character is wrong; copy it \
             again",
        ),
        (bearer(house.key("unknown")), None, UNKNOWN),
        (bearer(house.key("revoked")), None, UNKNOWN),
        (None, Some(house.key("unknown").to_owned()), UNKNOWN),
        (bearer(house.key("expired")), None, "this API key expired at 2026-11-21T09:30:00Z"),
        (
            bearer(&known),
            Some(house.key("agent").to_owned()),
            "`Authorization` and `svc-api-key` hold different keys; send one",
        ),
        // A provider's key in `Authorization` is nobody's business; the other header has to be good.
        (bearer("sk-1234"), Some("sk-5678".to_owned()), PREFIX),
    ] {
        let mut request = Request::get("/api/v1/models");
        if let Some(authorization) = &authorization {
            request = request.header(AUTHORIZATION, authorization);
        }
        if let Some(own) = &own {
            request = request.header("svc-api-key", own);
        }
        let answered = house.send(request.body("").unwrap()).await;
        assert_documented(&answered);
        assert_eq!(answered.error_line(), format!("{REFUSED}{problem}"));
        assert!(!answered.body.contains("sk-"), "{}", answered.body);
    }
}

#[tokio::test]
async fn keys_that_may_not_are_told_what_they_may() {
    const DENIED: &str = "403 permission_error insufficient_permissions ";
    let house = House::new();
    for (key, body, expected) in [
        (
            "two models",
            GOOD.replace("mock", "mock-full"),
            "model: this key may not use model `mock-full`; it may use mock, mock-free",
        ),
        (
            "small account",
            GOOD.replace("mock", "mock-full"),
            "model: model `mock-full` belongs to the full suite; this account has the basic suite",
        ),
        (
            "west",
            GOOD.replace("}]}", "}],\"region\":\"us-east\"}"),
            "region: this key may not use region `us-east`; it may use us-west, eu-west",
        ),
    ] {
        let answered = house.chat_with(key, body).await;
        assert_documented(&answered);
        assert_eq!(answered.error_line(), format!("{DENIED}{expected}"));
    }
}

#[tokio::test]
async fn a_model_that_cannot_is_told_by_name() {
    const UNSUPPORTED: &str = "400 invalid_request_error unsupported_by_model ";
    let house = House::new();
    let plain = GOOD.replace("mock", "mock-plain");
    let with = |member: &str| format!("{},{member}}}", &plain[..plain.len() - 1]);
    for (body, expected) in [
        (
            with(r#""tools":[{"type":"function","function":{"name":"f"}}]"#),
            "tools: `tools` asks for function calls; model `mock-plain` cannot take it",
        ),
        (
            with(r#""response_format":{"type":"json_schema","json_schema":{"name":"a"}}"#),
            "response_format: `response_format` asks for an answer by JSON schema; model \
             `mock-plain` cannot take it",
        ),
        (
            plain.replace(
                "\"hi\"",
                r#"[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"data:,"}}]"#,
            ),
            "messages[0].content[1]: `messages[0].content[1]` holds an image; model `mock-plain` \
             cannot take it",
        ),
    ] {
        assert_eq!(house.chat(body).await.error_line(), format!("{UNSUPPORTED}{expected}"));
    }
}

/// With such a key, a larger wish is lowered and never refused; a smaller one is refused all the
/// same.
#[tokio::test]
async fn an_agents_key_is_bound_by_the_model_only() {
    let house = House::new();
    house.expect(200, "application/json", r#"{"choices":[{"message":{"content":"x"}}]}"#);
    let large = GOOD.replace("}]}", "}],\"max_tokens\":200000}");
    assert_eq!(house.chat_with("agent", large).await.status, 200);
    let none = GOOD.replace("}]}", "}],\"max_tokens\":0}");
    let line = house.chat_with("agent", none).await.error_line();
    assert!(line.starts_with("400 validation_error invalid_parameter max_tokens: "), "{line}");
    assert!(house.all_was_sent());
}

#[tokio::test]
async fn a_limit_names_itself_and_when_to_come_back() {
    let house = House::new();
    house.expect(200, "application/json", r#"{"choices":[{"message":{"content":"x"}}]}"#);
    assert_eq!(house.chat_with("one request", GOOD).await.status, 200);
    let answered = house.chat_with("one request", GOOD).await;
    assert_documented(&answered);
    assert_eq!(
        answered.error_line(),
        "429 rate_limit_error rate_limit_exceeded -: this key has reached its limit of 1 requests \
         an hour; retry in 1800 s"
    );
    assert_eq!(answered.header("retry-after"), Some("1800"));
    assert_eq!(answered.header("x-ratelimit-remaining"), Some("0"));
}

/// What a provider says is told in the documented shape; its own code stays.
#[tokio::test]
async fn failures_of_a_provider_are_told_in_the_documented_shape() {
    let house = House::new();
    for (status, kind, body, expected) in [
        (
            400,
            "application/json",
            r#"{"error":{"message":"bad tool","param":"tools[0]","code":"bad_tool"}}"#,
            "400 invalid_request_error bad_tool tools[0]: the provider refused the request: bad tool",
        ),
        (
            400,
            "application/json",
            r#"{"error":{"message":"bad"}}"#,
            "400 invalid_request_error provider_rejected -: the provider refused the request: bad",
        ),
        (
            400,
            "application/json",
            r#"{"error":{"message":"too long","code":"context_length_exceeded"}}"#,
            "400 invalid_request_error context_length_exceeded -: the provider refused the \
             request: too long",
        ),
        (
            400,
            "application/json",
            r#"{"error":{"message":"no","code":"content_filter"}}"#,
            "400 invalid_request_error content_blocked -: the provider's content filter refused \
             the request: no",
        ),
        (
            401,
            "application/json",
            r#"{"error":{"message":"bad key"}}"#,
            "502 api_error upstream_error -: provider `lab` does not accept Sluice's credential \
             (status 401)",
        ),
        (
            429,
            "application/json",
            r#"{"error":{"message":"slow down"}}"#,
            "429 rate_limit_error rate_limit_exceeded -: the provider of model `mock` is rate \
             limited: slow down; retry in 5 s",
        ),
        (
            500,
            "text/html",
            "<html>oops</html>",
            "502 api_error upstream_error -: provider `lab`: the provider answered 500 Internal \
             Server Error without a message",
        ),
        (
            504,
            "text/html",
            "",
            "504 api_error upstream_timeout -: provider `lab`: the provider answered 504 Gateway \
             Timeout without a message",
        ),
        (
            200,
            "application/json",
            "{\"choices\":",
            "502 api_error upstream_error -: provider `lab`: malformed answer: the JSON text ends \
             early, at line 1 column 11",
        ),
    ] {
        house.expect(status, kind, body);
        let answered = house.chat(GOOD).await;
        assert_documented(&answered);
        assert_eq!(answered.error_line(), expected);
        assert_eq!(answered.header("retry-after").is_some(), answered.status == 429);
    }
    let unreachable = house.chat(GOOD).await;
    assert_eq!(
        unreachable.error_line(),
        "502 api_error upstream_error -: provider `lab`: cannot connect: nothing was expected to be \
         sent"
    );
}

/// The table is the documented promise: at least sixty.
#[test]
fn there_are_many() {
    let all = MEMBERS.len() + MESSAGES.len() + BODIES.len();
    assert!(all >= 60, "{all}");
}

/// Nothing of a body is repeated beyond the start of the value that is wrong.
#[tokio::test]
async fn content_is_never_repeated() {
    let house = House::new();
    for body in [
        r#"{"model":"mock","messages":[{"role":"user","content":"my secret"}"#,
        r#"{"model":"mock","messages":"my secret"}"#,
        r#"{"model":"mock","messages":[{"role":"user","content":"my secret"}],"tools":["my secret"]}"#,
        r#"{"model":"mock","messages":[{"role":"user","content":{"my secret":"my secret"}}]}"#,
        r#"{"model":"mock","messages":[{"role":"user","content":[{"type":"text","text":["my secret"]}]}]}"#,
        r#"my secret"#,
        r#"{"model":"mock","messages":[{"role":"user","content":"a"}],"metadata":"my secret"}"#,
    ] {
        let answered = house.chat(Bytes::from(body)).await;
        assert_eq!(answered.status, 400);
        assert!(!answered.body.contains("secret"), "{}", answered.body);
    }
}
