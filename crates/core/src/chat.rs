//! A chat request in Sluice's own terms.
//!
//! The typed view is what the filter, the router and the translators read. The bytes stay in
//! [`ChatRequest::source`], for providers that speak the caller's dialect.

use bytestring::ByteString;

use crate::json::{JsonText, Member, RawJson};
use crate::level::SecurityLevel;
use crate::region::Region;
use crate::sealed::SealedPlaces;
use crate::source::{Dialect, Source};

/// One request for a chat completion, checked: every value is within its documented bounds.
#[derive(Debug, Clone)]
pub struct ChatRequest {
    /// The model or router that was asked for.
    pub model: ByteString,
    /// The conversation, at least one message.
    pub messages: Vec<Message>,
    /// Functions that the model may call.
    pub tools: Vec<Tool>,
    /// Whether and which function has to be called.
    pub tool_choice: Option<ToolChoice>,
    /// Whether several functions may be called in one turn.
    pub parallel_tool_calls: Option<bool>,
    /// The form that the answer has to have.
    pub response_format: Option<ResponseFormat>,
    /// Most tokens to generate (`max_completion_tokens`, else `max_tokens`).
    pub max_tokens: Option<u32>,
    /// 0.0 to 2.0.
    pub temperature: Option<f64>,
    /// 0.0 to 1.0.
    pub top_p: Option<f64>,
    /// -2.0 to 2.0.
    pub frequency_penalty: Option<f64>,
    /// -2.0 to 2.0.
    pub presence_penalty: Option<f64>,
    /// Texts at which the model stops.
    pub stop: Vec<JsonText>,
    /// For answers that can be repeated.
    pub seed: Option<i64>,
    /// How many answers, at least 1.
    pub n: u32,
    /// Whether log probabilities of the answer's tokens are wanted.
    pub logprobs: bool,
    /// How many of the likeliest tokens are wanted at each position.
    pub top_logprobs: Option<u32>,
    /// How much the model should think.
    pub reasoning_effort: Option<ReasoningEffort>,
    /// The caller's own name for its end user.
    pub user: Option<JsonText>,
    /// Whether the answer is wanted as a stream.
    pub stream: bool,
    /// Whether the stream should end with a chunk that carries the usage.
    pub include_usage: bool,
    /// What the caller asks of Sluice itself.
    pub options: RequestOptions,
    /// Members without a name here, in the order in which they were sent.
    pub extra: Vec<Member>,
    /// The request's bytes.
    pub source: Source,
    /// Sealed values that the filter left to their provider. No other provider may get them.
    pub unread: SealedPlaces,
}

impl ChatRequest {
    /// A request that says nothing but `messages`, made here rather than read: it has no bytes.
    pub fn new(model: &str, messages: Vec<Message>) -> Self {
        Self {
            model: model.into(),
            messages,
            tools: Vec::new(),
            tool_choice: None,
            parallel_tool_calls: None,
            response_format: None,
            max_tokens: None,
            temperature: None,
            top_p: None,
            frequency_penalty: None,
            presence_penalty: None,
            stop: Vec::new(),
            seed: None,
            n: 1,
            logprobs: false,
            top_logprobs: None,
            reasoning_effort: None,
            user: None,
            stream: false,
            include_usage: false,
            options: RequestOptions::default(),
            extra: Vec::new(),
            source: Source {
                dialect: Dialect::OpenAiChat,
                members: Vec::new(),
                body_bytes: 0,
                reader: |_| None,
            },
            unread: SealedPlaces::NONE,
        }
    }
}

/// What a caller asks of Sluice itself; none of it goes to a provider.
#[derive(Debug, Clone, Default)]
pub struct RequestOptions {
    /// `security_level`.
    pub security_level: Option<SecurityLevel>,
    /// `region`.
    pub region: Option<Region>,
    /// `audit_enabled`.
    pub audit_enabled: bool,
    /// `zero_retention`.
    pub zero_retention: bool,
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Instructions.
    System,
    /// Instructions, in the newer OpenAI word.
    Developer,
    /// The person or program that asks.
    User,
    /// The model.
    Assistant,
    /// The result of a function call.
    Tool,
}

impl Role {
    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Developer => "developer",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }

    /// The role that a word on the wire stands for.
    pub fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "system" => Self::System,
            "developer" => Self::Developer,
            "user" => Self::User,
            "assistant" => Self::Assistant,
            "tool" => Self::Tool,
            _ => return None,
        })
    }
}

/// One message of the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub content: Content,
    /// The speaker's name.
    pub name: Option<JsonText>,
    /// Functions that the model called in this turn (role assistant).
    pub tool_calls: Vec<ToolCall>,
    /// The call whose result this is (role tool).
    pub tool_call_id: Option<JsonText>,
    /// What the model thought in this turn, as it gave it out (role assistant).
    pub reasoning: Vec<ReasoningBlock>,
    /// A provider may cache the prompt up to and including this message (`cache_control`).
    pub cache_breakpoint: Option<CacheBreakpoint>,
    /// Members without a name here.
    pub extra: Vec<Member>,
}

impl Message {
    /// A message that is one text.
    pub fn new(role: Role, text: &str) -> Self {
        Self {
            role,
            content: Content::Text(text.into()),
            name: None,
            tool_calls: Vec::new(),
            tool_call_id: None,
            reasoning: Vec::new(),
            cache_breakpoint: None,
            extra: Vec::new(),
        }
    }
}

/// The content of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// `null` or absent.
    None,
    /// One text.
    Text(JsonText),
    /// Several parts.
    Parts(Vec<Part>),
}

/// One part of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Text.
    Text {
        /// The text.
        text: JsonText,
        /// A provider may cache the prompt up to and including this part.
        cache_breakpoint: Option<CacheBreakpoint>,
    },
    /// An image, by `https:` or `data:` URL.
    Image {
        /// The URL, byte-identical.
        url: JsonText,
        /// `low`, `high` or `auto`.
        detail: Option<JsonText>,
        /// A provider may cache the prompt up to and including this part.
        cache_breakpoint: Option<CacheBreakpoint>,
    },
    /// A part of another type (audio, file, refusal, …), as received.
    Other {
        /// The part's `type`.
        kind: ByteString,
        /// The whole part.
        raw: RawJson,
    },
}

/// A mark that says: a provider may cache the prompt up to here.
///
/// Anthropic's `cache_control`, which OpenRouter's and LiteLLM's clients send in OpenAI messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheBreakpoint {
    /// How long the cache should live (`5m`, `1h`), where it was said.
    pub ttl: Option<ByteString>,
}

/// A piece of what a model thought, which some providers want back, signed, in the next turn.
///
/// On the OpenAI wire it is an entry of `reasoning_details` as OpenRouter writes them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReasoningBlock {
    /// Readable thinking.
    Text {
        /// The thought.
        text: JsonText,
        /// The provider's proof that the thought is its own.
        signature: Option<JsonText>,
    },
    /// Thinking that the provider encrypted.
    Redacted {
        /// The provider's opaque data.
        data: JsonText,
    },
}

/// A call of a function by the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// Names the call; its result refers to it.
    pub id: JsonText,
    /// The function's name.
    pub name: JsonText,
    /// The arguments: a JSON text, inside a string as on the wire.
    pub arguments: JsonText,
    /// A provider's signature over the thought behind the call, wanted back in the next turn.
    ///
    /// On the OpenAI wire: `extra_content.google.thought_signature`, as Gemini's own OpenAI
    /// endpoint writes it.
    pub signature: Option<JsonText>,
    /// A provider may cache the prompt up to and including this call.
    pub cache_breakpoint: Option<CacheBreakpoint>,
}

/// A function that the model may call.
#[derive(Debug, Clone)]
pub struct Tool {
    /// The function's name.
    pub name: JsonText,
    /// What it does.
    pub description: Option<JsonText>,
    /// JSON Schema of its arguments.
    pub parameters: Option<RawJson>,
    /// Whether arguments must match the schema exactly.
    pub strict: Option<bool>,
    /// A provider may cache the prompt up to and including this tool.
    pub cache_breakpoint: Option<CacheBreakpoint>,
    /// The whole entry, where it is not of type `function` (a provider's own tool).
    pub other: Option<RawJson>,
}

/// Whether and which function has to be called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolChoice {
    /// The model decides.
    Auto,
    /// None.
    None,
    /// At least one.
    Required,
    /// This one.
    Function(JsonText),
    /// Another form (`allowed_tools`, …), as received.
    Other(RawJson),
}

/// The form that the answer has to have.
#[derive(Debug, Clone)]
pub enum ResponseFormat {
    /// Any text.
    Text,
    /// Any JSON object.
    JsonObject,
    /// JSON that matches a schema.
    JsonSchema {
        /// The schema's name.
        name: JsonText,
        /// What it describes.
        description: Option<JsonText>,
        /// The JSON Schema.
        schema: Option<RawJson>,
        /// Whether it must be matched exactly.
        strict: Option<bool>,
    },
    /// Another form, as received.
    Other(RawJson),
}

/// How much a model should think before it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReasoningEffort {
    /// Not at all.
    None,
    /// As little as the model allows.
    Minimal,
    /// A little.
    Low,
    /// The usual.
    Medium,
    /// A lot.
    High,
    /// As much as the model allows.
    XHigh,
}

impl ReasoningEffort {
    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::XHigh => "xhigh",
        }
    }

    /// The effort that a word on the wire stands for.
    pub fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "none" => Self::None,
            "minimal" => Self::Minimal,
            "low" => Self::Low,
            "medium" => Self::Medium,
            "high" => Self::High,
            "xhigh" | "max" => Self::XHigh,
            _ => return None,
        })
    }
}
