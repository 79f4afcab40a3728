//! Which functions a simulated model calls.
//!
//! `tool_choice` decides where it forces a call. Otherwise the last user message has to ask for
//! one by name. A name that could be a plain word (`read`, `write`) asks only in backticks, before
//! `(`, after "use", "call", "run" or "invoke", or before "tool" or "function": a coding agent
//! offers such names, and "write a poem" must not write a file.

use serde_json::Value;

use super::request::{Function, Request};

/// Phrases that ask for a tool without naming one; the first that is offered is called.
const UNNAMED: [&str; 8] = [
    "use a tool",
    "use the tool",
    "use tools",
    "use your tools",
    "call a tool",
    "call the tool",
    "call a function",
    "use a function",
];
const BEFORE: [&str; 4] = ["use", "call", "run", "invoke"];
const AFTER: [&str; 2] = ["tool", "function"];

/// The functions to call now, in the order in which `prompt` names them.
pub(super) fn to_call<'a>(request: &'a Request, prompt: &str) -> Vec<&'a Function> {
    let mut offered = request.functions();
    let choice = Choice::of(request.tool_choice.as_ref());
    if let Some(allowed) = &choice.only {
        offered.retain(|function| allowed.contains(&function.name.as_str()));
    }
    // The results of the last calls are answered before anything else is called.
    let has_results = request.messages.last().is_some_and(|message| message.role == "tool");
    let mut calls = match choice.mode {
        Mode::None => Vec::new(),
        Mode::Auto if has_results => Vec::new(),
        Mode::Auto => asked_for(&offered, prompt),
        Mode::Required => {
            let asked = asked_for(&offered, prompt);
            if asked.is_empty() { offered.into_iter().take(1).collect() } else { asked }
        }
    };
    if request.parallel_tool_calls == Some(false) {
        calls.truncate(1);
    }
    calls
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    None,
    Auto,
    Required,
}

/// What `tool_choice` says.
struct Choice<'a> {
    mode: Mode,
    only: Option<Vec<&'a str>>,
}

impl<'a> Choice<'a> {
    fn of(choice: Option<&'a Value>) -> Self {
        let choice = choice.unwrap_or(&Value::Null);
        if let Some(name) = choice.pointer("/function/name").and_then(Value::as_str) {
            return Self { mode: Mode::Required, only: Some(vec![name]) };
        }
        if let Some(tools) = choice.pointer("/allowed_tools/tools").and_then(Value::as_array) {
            let names = tools.iter().filter_map(|tool| tool.pointer("/function/name")?.as_str());
            let mode = Mode::of(choice.pointer("/allowed_tools/mode"));
            return Self { mode, only: Some(names.collect()) };
        }
        Self { mode: Mode::of(Some(choice)), only: None }
    }
}

impl Mode {
    fn of(word: Option<&Value>) -> Self {
        match word.and_then(Value::as_str) {
            Some("none") => Self::None,
            Some("required") => Self::Required,
            _ => Self::Auto,
        }
    }
}

fn asked_for<'a>(offered: &[&'a Function], prompt: &str) -> Vec<&'a Function> {
    let mut asked: Vec<(usize, &Function)> = offered
        .iter()
        .filter_map(|function| Some((asks_at(prompt, &function.name)?, *function)))
        .collect();
    asked.sort_by_key(|(at, _)| *at);
    if asked.is_empty() {
        let prompt = prompt.to_lowercase();
        if UNNAMED.iter().any(|phrase| prompt.contains(phrase)) {
            return offered.iter().take(1).copied().collect();
        }
    }
    asked.into_iter().map(|(_, function)| function).collect()
}

/// Where `prompt` asks for the function `name`, if it does.
fn asks_at(prompt: &str, name: &str) -> Option<usize> {
    if name.is_empty() {
        return None;
    }
    let is_plain_word = name.chars().all(|c| c.is_ascii_lowercase());
    let found = prompt.match_indices(name).find(|(at, _)| {
        let (before, after) = (&prompt[..*at], &prompt[at + name.len()..]);
        let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        if before.ends_with(is_name) || after.starts_with(is_name) {
            return false;
        }
        if !is_plain_word
            || before.ends_with('`') && after.starts_with('`')
            || after.starts_with('(')
        {
            return true;
        }
        let mut words = before.split_whitespace().rev();
        let mut last = words.next().unwrap_or_default();
        if last.eq_ignore_ascii_case("the") {
            last = words.next().unwrap_or_default();
        }
        let next = after.split_whitespace().next().unwrap_or_default();
        let next = next.trim_end_matches(|c: char| !c.is_alphanumeric());
        BEFORE.iter().any(|word| last.eq_ignore_ascii_case(word))
            || after.starts_with(' ') && AFTER.contains(&next)
    });
    found.map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(prompt: &str, choice: &Value, expected: &[&str]) {
        let tool = |name: &str| json!({"type": "function", "function": {"name": name}});
        let body = json!({
            "model": "demo/chat",
            "messages": [{"role": "user", "content": prompt}],
            "tools": [tool("write"), tool("get_weather"), {"type": "custom", "custom": {}}, tool("now")],
            "tool_choice": choice,
        });
        let request = Request::parse(body.to_string().as_bytes()).unwrap();
        let names: Vec<_> = to_call(&request, prompt).iter().map(|f| f.name.as_str()).collect();
        assert_eq!(names, expected, "{prompt} {choice}");
    }

    #[test]
    fn a_named_tool_is_called_and_a_plain_word_is_not() {
        let auto = json!("auto");
        check("Ask get_weather about Paris.", &auto, &["get_weather"]);
        check("get_weather, then `now`", &auto, &["get_weather", "now"]);
        check("call now(), use get_weather", &auto, &["now", "get_weather"]);
        check("Use the write tool.", &auto, &["write"]);
        check("the write tool, please", &auto, &["write"]);
        check("please write a poem now", &auto, &[]);
        check("get_weather_2 and my_get_weather", &auto, &[]);
        check("Please use a tool.", &auto, &["write"]);
        check("get_weather", &Value::Null, &["get_weather"]);
    }

    #[test]
    fn tool_choice_forces_restricts_or_forbids() {
        let named = json!({"type": "function", "function": {"name": "now"}});
        let allowed = |mode: &str| {
            let tools = json!([{"type": "function", "function": {"name": "now"}}]);
            json!({"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": tools}})
        };
        check("Hello", &json!("required"), &["write"]);
        check("get_weather", &json!("required"), &["get_weather"]);
        check("get_weather", &named, &["now"]);
        check("get_weather", &json!("none"), &[]);
        check("get_weather", &allowed("auto"), &[]);
        check("get_weather", &allowed("required"), &["now"]);
    }
}
