//! What the simulator reads of a request in OpenAI's chat-completions format; the rest is ignored,
//! as a real provider may.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;

use super::tokens;

/// Most answers to one request, as at OpenAI.
const MOST_CHOICES: u32 = 128;

/// A chat request.
#[derive(Deserialize)]
pub(super) struct Request {
    pub(super) model: String,
    pub(super) messages: Vec<Message>,
    #[serde(default)]
    tools: Option<Vec<Tool>>,
    #[serde(default)]
    pub(super) tool_choice: Option<Value>,
    #[serde(default)]
    pub(super) parallel_tool_calls: Option<bool>,
    #[serde(default)]
    pub(super) response_format: Option<Value>,
    #[serde(default)]
    max_tokens: Option<u32>,
    #[serde(default)]
    max_completion_tokens: Option<u32>,
    #[serde(default)]
    stop: Option<Stop>,
    #[serde(default)]
    pub(super) seed: Option<i64>,
    #[serde(default)]
    n: Option<u32>,
    #[serde(default)]
    logprobs: Option<bool>,
    #[serde(default)]
    top_logprobs: Option<usize>,
    #[serde(default)]
    stream: Option<bool>,
    #[serde(default)]
    stream_options: Option<StreamOptions>,
    #[serde(default)]
    pub(super) reasoning_effort: Option<String>,
}

/// One message of the conversation.
#[derive(Deserialize)]
pub(super) struct Message {
    pub(super) role: String,
    #[serde(default)]
    content: Option<Content>,
    #[serde(default)]
    tool_calls: Option<Vec<PastCall>>,
    #[serde(default)]
    pub(super) tool_call_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Parts(Vec<Part>),
}

#[derive(Deserialize)]
struct Part {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    text: Option<String>,
}

/// A call that the assistant made in an earlier turn.
#[derive(Deserialize)]
pub(super) struct PastCall {
    #[serde(default)]
    pub(super) id: String,
    #[serde(default)]
    pub(super) function: Option<PastFunction>,
}

/// What an earlier call was of.
#[derive(Deserialize)]
pub(super) struct PastFunction {
    pub(super) name: String,
    #[serde(default)]
    arguments: String,
}

#[derive(Deserialize)]
struct Tool {
    #[serde(default)]
    function: Option<Function>,
}

/// A function that may be called.
#[derive(Deserialize)]
pub(super) struct Function {
    pub(super) name: String,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    pub(super) parameters: Value,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Stop {
    One(String),
    Several(Vec<String>),
}

#[derive(Deserialize)]
struct StreamOptions {
    #[serde(default)]
    include_usage: Option<bool>,
}

impl Request {
    /// Reads a body, or says what is wrong with it: where, never what it says.
    pub(super) fn parse(body: &[u8]) -> Result<Self, String> {
        let request: Self = serde_json::from_slice(body).map_err(|error| {
            format!(
                "The body is not a chat completion request in JSON: {:?} error at line {}, column {}.",
                error.classify(),
                error.line(),
                error.column(),
            )
        })?;
        if request.messages.is_empty() {
            return Err("`messages` is empty; expected at least one message.".to_owned());
        }
        let n = request.choices();
        if n == 0 || n > MOST_CHOICES {
            return Err(format!("`n` is {n}; expected 1 to {MOST_CHOICES}."));
        }
        Ok(request)
    }

    /// The functions that may be called. Tools of other types are not simulated.
    pub(super) fn functions(&self) -> Vec<&Function> {
        self.tools.iter().flatten().filter_map(|tool| tool.function.as_ref()).collect()
    }

    /// How many answers are wanted.
    pub(super) fn choices(&self) -> u32 {
        self.n.unwrap_or(1)
    }

    /// The bound on generated tokens, the newer member before the older one.
    pub(super) fn max_tokens(&self) -> Option<u32> {
        self.max_completion_tokens.or(self.max_tokens)
    }

    /// The texts at which an answer ends.
    pub(super) fn stops(&self) -> &[String] {
        match &self.stop {
            None => &[],
            Some(Stop::One(stop)) => std::slice::from_ref(stop),
            Some(Stop::Several(stops)) => stops,
        }
    }

    /// How many alternatives to each token are wanted with its log probability, if that is wanted.
    pub(super) fn logprobs(&self) -> Option<usize> {
        self.logprobs.unwrap_or(false).then(|| self.top_logprobs.unwrap_or(0))
    }

    pub(super) fn streams(&self) -> bool {
        self.stream.unwrap_or(false)
    }

    pub(super) fn include_usage(&self) -> bool {
        self.stream_options.as_ref().and_then(|options| options.include_usage).unwrap_or(false)
    }

    /// The text of the last message of role user; empty where there is none.
    pub(super) fn last_user_text(&self) -> Cow<'_, str> {
        let last = self.messages.iter().rev().find(|message| message.role == "user");
        last.map(Message::text).unwrap_or_default()
    }

    /// The name of the function that an earlier call with this identifier was of.
    pub(super) fn called_function(&self, call_id: &str) -> Option<&str> {
        let calls =
            self.messages.iter().rev().flat_map(|message| message.tool_calls.iter().flatten());
        let call = calls.into_iter().find(|call| call.id == call_id)?;
        call.function.as_ref().map(|function| function.name.as_str())
    }

    /// Tokens of the prompt: its texts' tokens, 85 an image or other part, 4 a message, and 3 for
    /// the answer's beginning, after the rule of thumb in OpenAI's cookbook ("How to count tokens").
    pub(super) fn prompt_tokens(&self) -> u64 {
        let messages: u64 = self.messages.iter().map(Message::prompt_tokens).sum();
        let functions: u64 = self
            .functions()
            .iter()
            .map(|function| {
                tokens::count(&function.name)
                    + tokens::count(function.description.as_deref().unwrap_or_default())
                    + tokens::count(&function.parameters.to_string())
            })
            .sum();
        messages + functions + 3
    }
}

impl Message {
    /// All of the message's text, its parts joined without anything between them.
    pub(super) fn text(&self) -> Cow<'_, str> {
        match &self.content {
            None => Cow::Borrowed(""),
            Some(Content::Text(text)) => Cow::Borrowed(text),
            Some(Content::Parts(parts)) => {
                Cow::Owned(parts.iter().filter_map(|part| part.text.as_deref()).collect())
            }
        }
    }

    fn prompt_tokens(&self) -> u64 {
        let others = match &self.content {
            Some(Content::Parts(parts)) => parts.iter().filter(|part| part.kind != "text").count(),
            _ => 0,
        };
        let calls = self.tool_calls.iter().flatten().filter_map(|call| call.function.as_ref());
        let calls: u64 = calls
            .map(|function| tokens::count(&function.name) + tokens::count(&function.arguments))
            .sum();
        4 + tokens::count(&self.text()) + 85 * others as u64 + calls
    }
}
