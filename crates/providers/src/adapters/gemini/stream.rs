//! A streamed answer: each event is a `GenerateContentResponse` that goes on where the last ended.
//!
//! Function calls come whole. There is no end mark: an answer is complete if the connection ends
//! and every candidate has said why it stopped. Until then a finish reason is held back, since some
//! models repeat it on every step, and since only the end shows whether functions were called.

use std::collections::BTreeMap;

use sluice_core::answer::FinishReason;
use sluice_core::chat::ToolCall;
use sluice_core::event::{AnswerHead, Delta, StreamEvent, ToolCallDelta};
use sluice_core::usage::Usage;

use super::classify::error_in_body;
use super::decode::{CallIds, blocked, parse, said};
use super::finish::Finish;
use super::logprobs::logprobs;
use super::wire::{Candidate, GenerateContentResponse};
use crate::adapter::StreamDecoder;
use crate::counted::Counted;
use crate::error::StreamError;
use crate::framing::sse::Frame;

/// What has been seen of one streamed answer.
#[derive(Default)]
pub(super) struct GeminiStream {
    /// The answer's name, once it has begun.
    id: Option<String>,
    candidates: BTreeMap<u32, Seen>,
    usage: Option<Usage>,
    has_ended: bool,
}

/// What has been seen of one candidate.
struct Seen {
    ids: CallIds,
    finish: Option<FinishReason>,
}

impl StreamDecoder for GeminiStream {
    fn frame(&mut self, frame: &Frame, events: &mut Vec<StreamEvent>) -> Result<(), StreamError> {
        if frame.data.is_empty() {
            return Ok(());
        }
        let answer = parse(&frame.data)?;
        if let Some(error) = answer.error {
            return Err(error_in_body(error).into());
        }
        self.start(&answer, events);
        self.count(&answer, events);
        if let Some(blocked) = blocked(&answer) {
            return Err(blocked.into());
        }
        for candidate in answer.candidates.iter().flatten() {
            self.step(frame, candidate, events)?;
        }
        Ok(())
    }

    fn end(&mut self, events: &mut Vec<StreamEvent>) {
        let is_complete = !self.candidates.is_empty()
            && self.candidates.values().all(|seen| seen.finish.is_some());
        if !is_complete || self.has_ended {
            return;
        }
        self.has_ended = true;
        for (&choice, seen) in &self.candidates {
            let finish_reason = seen.finish;
            events.push(StreamEvent::Delta(Delta { choice, finish_reason, ..Delta::default() }));
        }
        events.push(StreamEvent::End);
    }
}

impl GeminiStream {
    fn start(&mut self, answer: &GenerateContentResponse<'_>, events: &mut Vec<StreamEvent>) {
        if self.id.is_some() {
            return;
        }
        let id = answer.response_id.clone().unwrap_or_default();
        self.id = Some(id.clone());
        events.push(StreamEvent::Start(AnswerHead {
            id: id.into(),
            upstream_model: answer.model_version.clone().unwrap_or_default().into(),
            extra: Vec::new(),
        }));
    }

    /// Gives out the sums so far, where they say something new. Those of an early step count the
    /// prompt alone; taken for the answer's, they would make it look free.
    fn count(&mut self, answer: &GenerateContentResponse<'_>, events: &mut Vec<StreamEvent>) {
        let Some(Counted(Some(counted))) = answer.usage_metadata else {
            return;
        };
        let is_last = answer
            .candidates
            .as_ref()
            .is_none_or(|candidates| candidates.iter().any(|c| c.finish_reason.is_some()));
        if counted.candidates_token_count.is_none() && !is_last {
            return;
        }
        let usage = counted.usage();
        if let Some(usage) = usage.filter(|usage| self.usage != Some(*usage)) {
            self.usage = Some(usage);
            events.push(StreamEvent::Usage(usage));
        }
    }

    fn step(
        &mut self,
        frame: &Frame,
        candidate: &Candidate<'_>,
        events: &mut Vec<StreamEvent>,
    ) -> Result<(), StreamError> {
        let choice = candidate.index;
        let response_id = self.id.as_deref().unwrap_or_default();
        let seen = self.candidates.entry(choice).or_insert_with(|| Seen {
            ids: CallIds::new(response_id, &frame.data, choice),
            finish: None,
        });
        let first_call = seen.ids.given;
        let said = said(&frame.data, candidate, &mut seen.ids)?;
        let delta = Delta {
            choice,
            content: said.content,
            reasoning: said.reasoning,
            tool_calls: (first_call..).zip(said.tool_calls).map(whole_call).collect(),
            logprobs: candidate.logprobs_result.as_ref().and_then(logprobs),
            extra: said.extra,
            ..Delta::default()
        };
        let says_something =
            delta.says_something() || delta.logprobs.is_some() || !delta.extra.is_empty();
        if says_something {
            events.push(StreamEvent::Delta(delta));
        }
        match candidate.finish_reason.as_deref().and_then(Finish::of) {
            Some(finish) => seen.finish = Some(finish.reason(seen.ids.given > 0)?),
            // It goes on after all, so the reason was not its last.
            None if says_something => seen.finish = None,
            None => {}
        }
        Ok(())
    }
}

fn whole_call((index, call): (u32, ToolCall)) -> ToolCallDelta {
    ToolCallDelta {
        index,
        id: Some(call.id),
        name: Some(call.name),
        arguments: Some(call.arguments),
        signature: call.signature,
    }
}
