//! Members of a request, one by one.

/// A good request with one more member.
pub(crate) const MEMBERS: &[(&str, &str)] = &[
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
