//! A request with a mark in everything that a caller can say, and answers with a mark in everything
//! that a provider can say.

use serde_json::{Value, json};
use sluice_testkit::{Ask, Script, Step, answers};

use crate::house::Caller;
use crate::marks::Marks;

/// A request that is about to be sent.
pub(crate) struct Asked {
    pub(crate) marks: Marks,
    pub(crate) key: String,
    /// Another key of the same caller, whose budget is spent.
    pub(crate) spent_key: String,
    pub(crate) body: Value,
    /// What is sent instead of the body.
    pub(crate) raw: Option<String>,
    pub(crate) content_type: String,
    pub(crate) path: String,
    /// Whether it is a `GET`.
    pub(crate) reads: bool,
}

impl Asked {
    /// The usual request of `caller`, for the model `mock`.
    pub(crate) fn new(marks: Marks, caller: &Caller) -> Self {
        let mut body = body(&marks);
        body.as_object_mut().unwrap().extend(caller.options.as_object().unwrap().clone());
        Self {
            body,
            key: caller.key.clone(),
            spent_key: caller.spent_key.clone(),
            raw: None,
            content_type: "application/json".to_owned(),
            path: format!("/api/v1/chat/completions?{}=1", marks.word("query")),
            reads: false,
            marks,
        }
    }

    /// The last message of the user.
    pub(crate) fn prompt(&mut self, text: &str) {
        self.marks.text("prompt", text);
        self.body["messages"][4]["content"] = text.into();
    }

    /// Without what level `maximum` refuses.
    pub(crate) fn without_files(&mut self) {
        self.body["messages"][1]["content"].as_array_mut().unwrap().truncate(1);
    }

    pub(crate) fn into_ask(self) -> Ask {
        let body = self.raw.unwrap_or_else(|| self.body.to_string());
        self.marks.text("body", &body);
        let ask = match self.reads {
            true => Ask::get(&self.path),
            false => Ask::post(&self.path, &self.content_type, body),
        };
        headers(ask.key(&self.key), &self.marks)
    }
}

/// Everything that a caller says beside the body.
fn headers(ask: Ask, marks: &Marks) -> Ask {
    let url = format!("https://{}.example.org/{}", marks.word("host"), marks.word("referer"));
    let named = ["x-title", "user-agent", "svc-session-id", "x-session-id", "session-id"];
    let more = ["x-claude-code-session-id", "x-session-affinity", "x-forwarded-for", "cookie"];
    let more = more.into_iter().chain(["traceparent", "idempotency-key", "accept-language"]);
    let ask = ask.header("http-referer", &url);
    named.into_iter().chain(more).fold(ask, |ask, name| ask.header(name, &marks.word(name)))
}

fn body(marks: &Marks) -> Value {
    let word = |place: &str| marks.word(place);
    let prompt = format!(
        "Write to {} with the token {} about {}.",
        marks.email("prompt's address"),
        marks.secret("prompt's token"),
        word("prompt"),
    );
    marks.text("prompt", &prompt);
    // Letters and digits are base64 of something.
    let data = |kind: &str, place: &str| format!("data:{kind};base64,{}AA", word(place));
    let call = json!({ "id": word("call"), "type": "function", "function": {
        "name": word("called"),
        "arguments": json!({ word("argument's name"): word("argument") }).to_string(),
    }});
    let properties = json!({ word("property"): {
        "type": "string", "description": word("property's text"), "enum": [word("enumerated")],
    }});
    json!({
        "model": "mock",
        "messages": [
            { "role": "system", "content": format!("You are {}.", word("system prompt")) },
            { "role": "user", "name": word("name"), "content": [
                { "type": "text", "text": prompt },
                { "type": "image_url", "image_url": { "url": data("image/png", "image") } },
                { "type": "file", "file": {
                    "filename": format!("{}.pdf", word("file name")),
                    "file_data": data("application/pdf", "file"),
                }},
            ]},
            { "role": "assistant", "content": word("earlier answer"), "tool_calls": [call] },
            { "role": "tool", "tool_call_id": word("call"), "content": word("tool result") },
            { "role": "user", "content": format!("And {}?", word("question")) },
        ],
        "tools": [{ "type": "function", "function": {
            "name": word("called"),
            "description": word("tool's text"),
            "parameters": { "type": "object", "properties": properties },
        }}],
        "stop": [word("stop")],
        "user": word("user"),
        "metadata": { word("metadata's name"): word("metadata") },
        "session_id": word("session"),
        "prompt_cache_key": word("cache key"),
        word("unknown member"): word("unknown value"),
    })
}

/// A whole answer.
pub(crate) fn whole(marks: &Marks) -> Script {
    let word = |place: &str| marks.word(place);
    let call = json!({ "id": word("answered call"), "type": "function", "function": {
        "name": word("answered name"),
        "arguments": json!({ "a": word("answered argument") }).to_string(),
    }});
    let mut answer = answers::completion("");
    answer["id"] = word("answer's id").into();
    answer["model"] = word("answer's model").into();
    answer["system_fingerprint"] = word("fingerprint").into();
    answer["choices"][0]["message"] = json!({
        "role": "assistant",
        "content": said(marks),
        "reasoning_content": word("reasoning"),
        "refusal": word("refusal"),
        "tool_calls": [call],
        "annotations": [{ "type": "url_citation", "url_citation": { "url": word("citation") } }],
    });
    Script::json(&answer)
}

/// A text that has everything in it that the filter looks for in answers.
pub(crate) fn said(marks: &Marks) -> String {
    let said = format!(
        "Ask {} or use {}; {}.",
        marks.email("answered address"),
        marks.secret("answered token"),
        marks.word("answer")
    );
    marks.text("answer", &said);
    said
}

/// The beginning of a streamed answer.
pub(crate) fn opening(marks: &Marks) -> String {
    let word = |place: &str| marks.word(place);
    let call = json!({ "tool_calls": [{ "index": 0, "id": word("answered call"),
        "type": "function",
        "function": { "name": word("answered name"), "arguments": word("answered argument") } }] });
    let chunk = |delta: Value| answers::event(&answers::chunk(delta, None));
    let first = format!("{} ", marks.word("first words"));
    answers::opening(&[&first])
        + &chunk(json!({ "reasoning_content": word("reasoning") }))
        + &chunk(json!({ "content": said(marks) }))
        + &chunk(json!({ "refusal": word("refusal") }))
        + &chunk(call)
}

/// A streamed answer.
pub(crate) fn streamed(marks: &Marks) -> Script {
    Script::events(&(opening(marks) + &answers::ending()))
}

/// A streamed answer that breaks off with `fault` once its beginning was heard: what came together
/// with the fault might count as never said.
pub(crate) fn breaking(marks: &Marks, fault: impl IntoIterator<Item = Step>) -> Script {
    let begun = Script::stream().send(opening(marks)).then(Step::Wait(marks.heard.clone()));
    fault.into_iter().fold(begun, Script::then)
}

/// An error that quotes the request, as each dialect writes its errors.
pub(crate) fn quoted(marks: &Marks) -> Value {
    json!({ "type": "error", "error": {
        "message": format!(
            "Cannot read {} of {}: {}.",
            marks.word("prompt"), marks.secret("prompt's token"), marks.word("error's text")
        ),
        "type": marks.word("error's type"),
        "code": marks.word("error's code"),
        "param": marks.word("error's param"),
        "status": marks.word("error's status"),
    }})
}

/// An answer with this status that quotes the request.
pub(crate) fn quoting(status: &str, marks: &Marks) -> Script {
    let id = format!("x-request-id: {}", marks.word("provider's request id"));
    let headers = ["content-type: application/json", &id];
    Script::answer(status, &headers, &quoted(marks).to_string())
}
