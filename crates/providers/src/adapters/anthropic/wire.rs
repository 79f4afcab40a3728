//! A request in Anthropic's words.
//!
//! Source: the Anthropic API reference, "Create a Message". Texts are borrowed from the chat
//! request and leave as the literals that they came as, so that an untouched prompt keeps its bytes.

use std::borrow::Cow;

use serde::ser::Error as _;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use sluice_core::chat::CacheBreakpoint;
use sluice_core::json::{JsonText, RawJson};

#[derive(Serialize)]
pub(super) struct MessagesRequest<'a> {
    pub(super) model: &'a str,
    pub(super) max_tokens: u32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_choice: Option<ToolChoice<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) system: Vec<Block<'a>>,
    pub(super) messages: Vec<Turn<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) thinking: Option<Thinking<'a>>,
    #[serde(skip_serializing_if = "OutputConfig::is_empty")]
    pub(super) output_config: OutputConfig<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) top_k: Option<&'a RawJson>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) stop_sequences: Vec<Text<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) metadata: Option<Metadata<'a>>,
    /// Automatic caching: the provider places one more breakpoint itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cache_control: Option<&'a RawJson>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) stream: bool,
}

/// One turn of the conversation.
#[derive(Serialize)]
pub(super) struct Turn<'a> {
    pub(super) role: Speaker,
    pub(super) content: Vec<Block<'a>>,
}

#[derive(Serialize, Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(super) enum Speaker {
    User,
    Assistant,
}

/// One block of a turn.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Block<'a> {
    Text {
        text: Text<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl<'a>>,
    },
    Image {
        source: MediaSource<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl<'a>>,
    },
    Document {
        source: MediaSource<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl<'a>>,
    },
    ToolUse {
        id: Cow<'a, str>,
        name: Text<'a>,
        input: Box<RawValue>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl<'a>>,
    },
    ToolResult {
        tool_use_id: Cow<'a, str>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        content: Vec<Block<'a>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl<'a>>,
    },
    Thinking {
        thinking: Text<'a>,
        signature: Text<'a>,
    },
    RedactedThinking {
        data: Text<'a>,
    },
}

impl<'a> Block<'a> {
    /// Where a cache breakpoint is set; thinking takes none.
    pub(super) fn cache_control(&mut self) -> Option<&mut Option<CacheControl<'a>>> {
        match self {
            Self::Text { cache_control, .. }
            | Self::Image { cache_control, .. }
            | Self::Document { cache_control, .. }
            | Self::ToolUse { cache_control, .. }
            | Self::ToolResult { cache_control, .. } => Some(cache_control),
            Self::Thinking { .. } | Self::RedactedThinking { .. } => None,
        }
    }
}

/// Where an image or document is.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum MediaSource<'a> {
    Base64 { media_type: String, data: Cow<'a, str> },
    Url { url: Cow<'a, str> },
}

/// A cache breakpoint.
#[derive(Serialize)]
pub(super) struct CacheControl<'a> {
    r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl: Option<Cow<'a, str>>,
}

impl<'a> CacheControl<'a> {
    pub(super) fn new(ttl: Option<Cow<'a, str>>) -> Self {
        Self { r#type: "ephemeral", ttl }
    }

    pub(super) fn of(breakpoint: Option<&'a CacheBreakpoint>) -> Option<Self> {
        breakpoint.map(|breakpoint| Self::new(breakpoint.ttl.as_deref().map(Cow::Borrowed)))
    }
}

/// A function that the model may call, or one of Anthropic's own tools.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Tool<'a> {
    Function {
        name: Text<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        description: Option<Text<'a>>,
        input_schema: Cow<'a, RawJson>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        strict: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl<'a>>,
    },
    Anthropic(&'a RawJson),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum ToolChoice<'a> {
    Auto {
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        disable_parallel_tool_use: bool,
    },
    Any {
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        disable_parallel_tool_use: bool,
    },
    Tool {
        name: Text<'a>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        disable_parallel_tool_use: bool,
    },
    None,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Thinking<'a> {
    Enabled {
        budget_tokens: u32,
    },
    Adaptive {
        #[serde(skip_serializing_if = "Option::is_none")]
        display: Option<&'static str>,
    },
    Disabled,
    /// Anthropic's own member, sent by the caller.
    #[serde(untagged)]
    AsSent(&'a RawJson),
}

#[derive(Serialize, Default)]
pub(super) struct OutputConfig<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) format: Option<OutputFormat<'a>>,
}

impl OutputConfig<'_> {
    fn is_empty(&self) -> bool {
        self.effort.is_none() && self.format.is_none()
    }
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum OutputFormat<'a> {
    JsonSchema { schema: &'a RawJson },
}

#[derive(Serialize)]
pub(super) struct Metadata<'a> {
    pub(super) user_id: Text<'a>,
}

/// A text that leaves as the literal that it came as.
pub(super) struct Text<'a>(Cow<'a, JsonText>);

impl<'a> Text<'a> {
    pub(super) fn new(text: &'a JsonText) -> Self {
        Self(Cow::Borrowed(text))
    }

    pub(super) fn owned(text: String) -> Self {
        Self(Cow::Owned(text.into()))
    }
}

impl Serialize for Text<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &*self.0 {
            // A lone surrogate makes Anthropic refuse the body; decoding replaces it.
            JsonText::Literal(literal)
                if !literal.contains("\\ud") && !literal.contains("\\uD") =>
            {
                let raw: &RawValue = serde_json::from_str(literal).map_err(S::Error::custom)?;
                raw.serialize(serializer)
            }
            text => serializer.serialize_str(&text.decode()),
        }
    }
}
