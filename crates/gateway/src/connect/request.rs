//! One request, as a program sends it: what the playground shows beside an answer.

use serde_json::{Map, Value};

/// Members that OpenAI's package for Python has no parameter for.
const OWN: [&str; 4] = sluice_core::source::OWN_MEMBERS;

/// The first request of somebody who has just got a key, as a command for `curl`.
pub fn first(base_url: &str, model: &str) -> String {
    let message = Value::from_iter([("role", "user"), ("content", "Say hello.")]);
    let body = [("model", Value::from(model)), ("messages", Value::from(vec![message]))];
    curl(base_url, &body.map(|(name, value)| (name.to_owned(), value)).into_iter().collect())
}

/// `body` as a command for `curl`.
pub fn curl(base_url: &str, body: &Map<String, Value>) -> String {
    let streams = body.get("stream") == Some(&Value::Bool(true));
    let buffering = if streams { " --no-buffer" } else { "" };
    let json = told(&Value::Object(body.clone())).replace('\'', "'\\''");
    format!(
        "curl{buffering} \"{base_url}/chat/completions\" \\\n  \
         -H \"Authorization: Bearer $SLUICE_API_KEY\" \\\n  \
         -H \"Content-Type: application/json\" \\\n  -d '{json}'"
    )
}

/// `body` as a program of OpenAI's package for Python.
pub fn python(base_url: &str, body: &Map<String, Value>) -> String {
    let mut arguments = String::new();
    let is_own = |name: &&String| OWN.contains(&name.as_str());
    for (name, value) in body.iter().filter(|(name, _)| !is_own(name)) {
        arguments.push_str(&format!("    {name}={},\n", literal(value)));
    }
    let own = body.iter().filter(|(name, _)| is_own(name));
    let own: Map<String, Value> = own.map(|(name, value)| (name.clone(), value.clone())).collect();
    if !own.is_empty() {
        arguments.push_str(&format!("    extra_body={},\n", literal(&Value::Object(own))));
    }
    let (begin, print) = match body.get("stream") {
        Some(Value::Bool(true)) => (
            "stream",
            "for chunk in stream:\n    if chunk.choices:\n        \
             print(chunk.choices[0].delta.content or \"\", end=\"\", flush=True)\nprint()",
        ),
        _ => ("answer", "print(answer.choices[0].message.content)"),
    };
    format!(
        "import os\n\nfrom openai import OpenAI\n\n\
         client = OpenAI(base_url=\"{base_url}\", api_key=os.environ[\"SLUICE_API_KEY\"])\n\
         {begin} = client.chat.completions.create(\n{arguments})\n{print}"
    )
}

/// A value as JSON. What would turn the direction of the text around it is written out.
fn told(value: &Value) -> String {
    let mut told = String::new();
    for character in value.to_string().chars() {
        match character {
            '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                told.push_str(&format!("\\u{:04x}", u32::from(character)));
            }
            _ => told.push(character),
        }
    }
    told
}

/// A value as Python writes it. Its texts are those of JSON.
fn literal(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(_) => told(value),
        Value::Array(values) => {
            let values: Vec<String> = values.iter().map(literal).collect();
            format!("[{}]", values.join(", "))
        }
        Value::Object(members) => {
            let member = |(name, value): (&String, &Value)| {
                format!("{}: {}", told(&Value::String(name.clone())), literal(value))
            };
            let members: Vec<String> = members.iter().map(member).collect();
            format!("{{{}}}", members.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_request_can_be_sent_by_a_program() {
        let body = json!({
            "model": "mock", "stream": true, "zero_retention": true,
            "messages": [{ "content": "It's \"so\"\n$HOME\u{202e}" }],
        });
        let body = body.as_object().unwrap();
        let url = "http://localhost/api/v1";
        let curl = curl(url, body);
        assert!(curl.contains(r#""content":"It'\''s \"so\"\n$HOME\u202e""#), "{curl}");
        let python = python(url, body);
        for line in [
            r#"    messages=[{"content": "It's \"so\"\n$HOME\u202e"}],"#,
            "    stream=True,",
            r#"    extra_body={"zero_retention": True},"#,
            "for chunk in stream:",
        ] {
            assert!(python.lines().any(|it| it == line), "{line} is not in {python}");
        }
    }
}
