//! A chat request as a call of `POST /v1/messages`.

use bytes::Bytes;
use http::header::ACCEPT;
use http::{HeaderValue, Request};
use sluice_core::chat::{ChatRequest, ResponseFormat};
use sluice_core::json::{JsonText, RawJson};

use super::model::{Model, Sampling};
use super::wire::{MessagesRequest, Metadata, OutputConfig, OutputFormat, Text};
use super::{breakpoints, conversation, thinking, tools, unsupported};
use crate::endpoint::Target;
use crate::error::Unsupported;
use crate::request;

/// The version of the API whose documentation this adapter follows.
pub(super) const VERSION: &str = "2023-06-01";

pub(super) fn encode(chat: &ChatRequest, target: &Target) -> Result<Request<Bytes>, Unsupported> {
    refuse_what_has_no_words(chat)?;
    let model = Model::of(&target.upstream_model);
    let max_tokens =
        target.max_tokens.or(target.output_limit).unwrap_or(model.default_max_tokens());
    let conversation = conversation::translate(&chat.messages, model)?;
    let plan = thinking::plan(chat, model, max_tokens, extra(chat, "thinking"))?;
    let (temperature, top_p) = sampling(chat, model, plan.thinks())?;
    let mut message = MessagesRequest {
        model: &target.upstream_model,
        max_tokens,
        tools: tools::tools(&chat.tools, model)?,
        tool_choice: tools::choice(chat)?,
        system: conversation.system,
        messages: conversation.turns,
        thinking: plan.thinking,
        output_config: OutputConfig { effort: plan.effort, format: format(chat, model)? },
        temperature,
        top_p,
        top_k: extra(chat, "top_k"),
        stop_sequences: stop_sequences(&chat.stop)?,
        metadata: user_id(chat).map(|user_id| Metadata { user_id }),
        cache_control: extra(chat, "cache_control"),
        stream: chat.stream,
    };
    breakpoints::limit(&mut message);
    let body = serde_json::to_vec(&message)
        .map_err(|_| unsupported("messages", "hold a text that cannot be written as JSON"))?;
    let mut request = request::post(target, "/v1/messages", body)?;
    let accept = if chat.stream { "text/event-stream" } else { "application/json" };
    let headers = request.headers_mut();
    headers.entry("anthropic-version").or_insert(HeaderValue::from_static(VERSION));
    headers.entry(ACCEPT).or_insert(HeaderValue::from_static(accept));
    Ok(request)
}

/// Refuses what no model of Anthropic's can be asked.
fn refuse_what_has_no_words(chat: &ChatRequest) -> Result<(), Unsupported> {
    if chat.n > 1 {
        let reason = format!("is {}, but Anthropic gives one answer a request", chat.n);
        return Err(unsupported("n", reason));
    }
    if chat.logprobs || chat.top_logprobs.is_some_and(|top| top > 0) {
        let field = if chat.logprobs { "logprobs" } else { "top_logprobs" };
        return Err(unsupported(field, "is set, but Anthropic gives no log probabilities"));
    }
    for (field, penalty) in
        [("frequency_penalty", chat.frequency_penalty), ("presence_penalty", chat.presence_penalty)]
    {
        if penalty.is_some_and(|penalty| penalty != 0.0) {
            return Err(unsupported(field, "is not 0, but Anthropic has no penalties"));
        }
    }
    for member in &chat.extra {
        let reason = match (&*member.name, member.value.as_str()) {
            (_, "null") | ("logit_bias", "{}") => continue,
            ("logit_bias", _) => "is set, but Anthropic takes no bias of tokens",
            ("modalities", wanted) if !wanted.contains("audio") => continue,
            ("audio" | "modalities", _) => "asks for speech, but Anthropic answers in text",
            ("functions" | "function_call", _) => {
                "is OpenAI's older form of `tools`, which is not translated for Anthropic"
            }
            ("web_search_options", _) => "asks for OpenAI's own search, which Anthropic has not",
            _ => continue,
        };
        return Err(unsupported(&*member.name, reason));
    }
    Ok(())
}

/// `temperature` and `top_p`, as far as `model` takes them.
fn sampling(
    chat: &ChatRequest,
    model: Model,
    thinks: bool,
) -> Result<(Option<f64>, Option<f64>), Unsupported> {
    let temperature = chat.temperature.filter(|temperature| *temperature != 1.0);
    let top_p = chat.top_p.filter(|top_p| *top_p != 1.0);
    if let Some(temperature) = temperature {
        let why = match model.sampling() {
            _ if temperature > 1.0 => "but Anthropic's ends at 1",
            Sampling::No => "but this model takes none: leave it out",
            _ if thinks => "but this model takes none while it thinks: leave it or thinking out",
            _ => "",
        };
        if !why.is_empty() {
            return Err(unsupported("temperature", format!("is {temperature}, {why}")));
        }
    }
    if let Some(top_p) = top_p {
        let why = match model.sampling() {
            Sampling::No => "but this model takes none: leave it out",
            _ if thinks && top_p < 0.95 => "but while this model thinks it takes 0.95 or more",
            Sampling::One if temperature.is_some() => {
                "but this model takes either `top_p` or `temperature`: leave one out"
            }
            _ => "",
        };
        if !why.is_empty() {
            return Err(unsupported("top_p", format!("is {top_p}, {why}")));
        }
    }
    Ok((temperature, top_p))
}

fn format(chat: &ChatRequest, model: Model) -> Result<Option<OutputFormat<'_>>, Unsupported> {
    match &chat.response_format {
        None | Some(ResponseFormat::Text) => Ok(None),
        Some(_) if !model.takes_schemas() => {
            Err(unsupported("response_format", "is set, but this model holds answers to no schema"))
        }
        Some(ResponseFormat::JsonSchema { schema: Some(schema), .. }) => {
            Ok(Some(OutputFormat::JsonSchema { schema }))
        }
        Some(ResponseFormat::JsonSchema { schema: None, .. }) => {
            let field = "response_format.json_schema.schema";
            Err(unsupported(field, "is missing, without which Anthropic promises no form"))
        }
        Some(ResponseFormat::JsonObject) => Err(unsupported(
            "response_format",
            "is json_object, but Anthropic holds answers to a schema only: use json_schema",
        )),
        Some(ResponseFormat::Other(_)) => {
            Err(unsupported("response_format", "is of a type that Anthropic does not have"))
        }
    }
}

fn stop_sequences(stop: &[JsonText]) -> Result<Vec<Text<'_>>, Unsupported> {
    for (index, text) in stop.iter().enumerate() {
        if text.decode().trim().is_empty() {
            let reason = "is nothing but white space, at which Anthropic does not stop";
            return Err(unsupported(format!("stop[{index}]"), reason));
        }
    }
    Ok(stop.iter().map(Text::new).collect())
}

/// The caller's name for its end user: `user`, what OpenAI puts in its place, or Anthropic's own
/// member.
fn user_id(chat: &ChatRequest) -> Option<Text<'_>> {
    #[derive(serde::Deserialize)]
    struct Metadata {
        user_id: Option<String>,
    }
    if let Some(user) = &chat.user {
        return Some(Text::new(user));
    }
    let identifier = || extra(chat, "safety_identifier")?.decode::<String>().ok();
    let named = || extra(chat, "metadata")?.decode::<Metadata>().ok()?.user_id;
    identifier().or_else(named).map(Text::owned)
}

/// A member of the request that chat types have no name for.
fn extra<'a>(chat: &'a ChatRequest, name: &str) -> Option<&'a RawJson> {
    let member = chat.extra.iter().find(|member| &*member.name == name)?;
    Some(&member.value).filter(|value| !value.is_null())
}
