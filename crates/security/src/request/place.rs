//! Where something stands in a request, in words for people: `messages[3].content[0].text`.

use sluice_core::json::end_of_literal;
use sluice_core::source::Source;

use super::Found;

/// Names that are the protocol's own. Any other one is the caller's content, and shown as `…`.
const NAMES: [&str; 44] = [
    "messages",
    "tools",
    "tool_choice",
    "response_format",
    "stop",
    "user",
    "metadata",
    "functions",
    "reasoning",
    "stream_options",
    "role",
    "content",
    "name",
    "tool_calls",
    "tool_call_id",
    "id",
    "type",
    "text",
    "image_url",
    "url",
    "detail",
    "input_audio",
    "file",
    "file_data",
    "filename",
    "file_id",
    "data",
    "source",
    "refusal",
    "reasoning_content",
    "reasoning_details",
    "function",
    "function_call",
    "arguments",
    "description",
    "parameters",
    "properties",
    "items",
    "enum",
    "default",
    "examples",
    "json_schema",
    "schema",
    "cache_control",
];

/// The places of `found`, which is in order as the filter gave it, in the request that it was found
/// in.
pub fn places(source: &Source, found: &[Found]) -> Vec<String> {
    let mut places = Vec::with_capacity(found.len());
    for of_member in found.chunk_by(|a, b| a.member == b.member) {
        let member = of_member.first().and_then(|found| source.members.get(found.member));
        let Some(member) = member else { continue };
        let offsets = of_member.iter().map(|found| found.at);
        places.extend(paths(known(&member.name), member.value.as_str(), offsets));
    }
    places
}

/// A container that is open.
enum Open<'a> {
    Object(&'a str),
    Array(usize),
}

/// The paths to what stands at `offsets`, which are in order, of the JSON text `value`.
fn paths(root: &str, value: &str, offsets: impl Iterator<Item = usize>) -> Vec<String> {
    let mut open: Vec<Open<'_>> = Vec::new();
    let mut at = 0;
    let mut paths = Vec::new();
    for offset in offsets {
        while let Some(byte) = value.as_bytes().get(at) {
            let end = match byte {
                b'"' => end_of_literal(value, at).unwrap_or(value.len()),
                _ => at + 1,
            };
            if byte == &b'"'
                && let Some(Open::Object(name)) = open.last_mut()
                && value[end..].trim_start().starts_with(':')
            {
                *name = &value[at + 1..end - 1];
            }
            if offset < end {
                break;
            }
            match byte {
                b'{' => open.push(Open::Object("")),
                b'[' => open.push(Open::Array(0)),
                b'}' | b']' => {
                    open.pop();
                }
                b',' => {
                    if let Some(Open::Array(index)) = open.last_mut() {
                        *index += 1;
                    }
                }
                _ => {}
            }
            at = end;
        }
        paths.push(path(root, &open));
    }
    paths
}

fn path(root: &str, open: &[Open<'_>]) -> String {
    let mut path = root.to_owned();
    for container in open {
        match container {
            Open::Object(name) => {
                path.push('.');
                path.push_str(known(name));
            }
            Open::Array(index) => path.push_str(&format!("[{index}]")),
        }
    }
    path
}

fn known(name: &str) -> &str {
    NAMES.into_iter().find(|known| *known == name).unwrap_or("…")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_name_what_is_the_protocols() {
        let value = r#"[{"role":"user","content":[{"text":"é \" A"}, "B"]},
            {"a@b.c" : 7, "tool_calls":[{"function":{"arguments":"C"}}], "content": "D"}]"#;
        let offset = |what| value.find(what).unwrap();
        let offsets = ["A", "B", "a@b", "7", "C", "D"].map(offset);
        assert_eq!(
            paths("messages", value, offsets.into_iter()),
            [
                "messages[0].content[0].text",
                "messages[0].content[1]",
                "messages[1].…",
                "messages[1].…",
                "messages[1].tool_calls[0].function.arguments",
                "messages[1].content",
            ]
        );
        assert_eq!(paths("user", r#""x""#, [1].into_iter()), ["user"]);
    }
}
