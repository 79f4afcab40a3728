//! One of a request's answers on its way back: its channels, and the order in which they come out.

use std::sync::Arc;

use sluice_core::answer::{Choice, FinishReason};
use sluice_core::chat::ReasoningBlock;
use sluice_core::event::{Delta, ToolCallDelta};
use sluice_core::json::{JsonText, Member, RawJson};

use super::channel::Channel;
use super::examine::Examiner;
use super::report::AnswerAction;
use crate::level::Action;
use crate::map::RedactionMap;
use crate::restore::Surrounding;

/// The channels of one answer.
pub(super) struct Answer {
    map: Arc<RedactionMap>,
    waits: bool,
    /// Calls leave when the answer is complete, so that none leaves in part.
    keeps_calls: bool,
    reasoning: Channel,
    details: Channel,
    content: Channel,
    refusal: Channel,
    calls: Vec<Call>,
    /// How far the answer has come, so that what waits comes out before what follows it.
    stage: Stage,
    state: State,
}

/// One function call's arguments, by its index.
struct Call {
    index: u32,
    arguments: Channel,
    /// What waits for the end of the answer.
    kept: ToolCallDelta,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    /// Its finish reason has come, and nothing is held back. A provider that goes on all the same
    /// opens it again: what it says then is judged and restored as the rest was.
    Finished,
    /// It was ended: whatever follows is swallowed.
    Stopped,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Start,
    Reasoning,
    Content,
    Calls,
}

impl Answer {
    pub(super) fn new(map: &Arc<RedactionMap>, action: Action) -> Self {
        let waits = action >= Action::Withhold;
        let text = || Channel::new(map, Surrounding::Text, waits);
        Self {
            map: Arc::clone(map),
            waits,
            keeps_calls: action == Action::Block,
            reasoning: text(),
            details: text(),
            content: Channel::of_content(map, waits),
            refusal: text(),
            calls: Vec::new(),
            stage: Stage::Start,
            state: State::Open,
        }
    }

    /// A whole answer.
    pub(super) fn whole(&mut self, choice: &mut Choice, examiner: &mut Examiner) {
        let before = examiner.report.restored;
        self.choice_texts(choice, examiner);
        if examiner.take_stop() {
            choice.finish_reason = FinishReason::ContentFilter;
            choice.message.tool_calls.clear();
            choice.message.extra.clear();
            choice.extra.clear();
            choice.logprobs = None;
            examiner.report.act(AnswerAction::Block);
        } else if self.waits || examiner.report.restored != before {
            choice.logprobs = None;
        }
    }

    fn choice_texts(&mut self, choice: &mut Choice, examiner: &mut Examiner) {
        let message = &mut choice.message;
        whole_text(&mut message.reasoning, &mut self.reasoning, examiner);
        let mut details = std::mem::take(&mut message.reasoning_details);
        for block in &mut details {
            self.whole_block(block, examiner);
        }
        // Thoughts in part are no use for the next turn.
        if !examiner.is_stopped() {
            message.reasoning_details = details;
        }
        whole_text(&mut message.content, &mut self.content, examiner);
        whole_text(&mut message.refusal, &mut self.refusal, examiner);
        for call in &mut message.tool_calls {
            if examiner.is_stopped() {
                return;
            }
            let mut name = Some(call.name.clone());
            whole_text(&mut name, &mut self.text(Surrounding::Text), examiner);
            call.name = name.unwrap_or_else(|| call.name.clone());
            let mut arguments = Some(call.arguments.clone());
            whole_text(&mut arguments, &mut self.text(Surrounding::JsonString), examiner);
            call.arguments = arguments.unwrap_or_else(|| "".into());
        }
        self.members(&mut message.extra, examiner);
        self.members(&mut choice.extra, examiner);
    }

    fn whole_block(&mut self, block: &mut ReasoningBlock, examiner: &mut Examiner) {
        let ReasoningBlock::Text { text, signature } = block else { return };
        let mut channel = self.text(Surrounding::Text);
        let mut whole = Some(text.clone());
        whole_text(&mut whole, &mut channel, examiner);
        *text = whole.unwrap_or_else(|| "".into());
        if channel.has_withheld() {
            *signature = None;
        }
    }

    /// One step of a stream.
    pub(super) fn delta(
        &mut self,
        mut delta: Delta,
        examiner: &mut Examiner,
        out: &mut Vec<Delta>,
    ) {
        if self.state == State::Stopped {
            return;
        }
        let said_something = delta.says_something();
        let before = examiner.report.restored;
        self.advance(&delta, examiner, out);
        if examiner.is_stopped() {
            delta = Delta { choice: delta.choice, ..Delta::default() };
        } else {
            self.texts(&mut delta, examiner);
        }
        if delta.finish_reason.is_some() {
            if !examiner.is_stopped() {
                self.close(&mut delta, examiner);
            }
            self.state = State::Finished;
        } else if said_something {
            self.state = State::Open;
        }
        if examiner.take_stop() {
            self.stop(&mut delta, examiner);
        }
        let changed = examiner.report.restored != before || said_something && self.holds();
        if self.waits || changed {
            delta.logprobs = None;
        }
        let is_left = delta.says_something()
            || delta.finish_reason.is_some()
            || delta.logprobs.is_some()
            || !delta.extra.is_empty();
        if is_left || !said_something {
            out.push(delta);
        }
    }

    /// The stream is over, or broke off.
    pub(super) fn finish(&mut self, index: u32, examiner: &mut Examiner, out: &mut Vec<Delta>) {
        if self.state != State::Open {
            return;
        }
        let mut delta = Delta { choice: index, ..Delta::default() };
        self.close(&mut delta, examiner);
        self.state = State::Finished;
        if examiner.take_stop() {
            self.stop(&mut delta, examiner);
        }
        if delta.says_something() || delta.finish_reason.is_some() {
            out.push(delta);
        }
    }

    /// Ends the segments of what the answer has left behind: a client that shows text as it comes
    /// must not see the end of a sentence after the call that followed it.
    fn advance(&mut self, delta: &Delta, examiner: &mut Examiner, out: &mut Vec<Delta>) {
        let stage = if !delta.tool_calls.is_empty() {
            Stage::Calls
        } else if delta.content.is_some() || delta.refusal.is_some() {
            Stage::Content
        } else if delta.reasoning.is_some() || !delta.reasoning_details.is_empty() {
            Stage::Reasoning
        } else {
            return;
        };
        let last = std::mem::replace(&mut self.stage, stage);
        if !self.waits || stage <= last {
            return;
        }
        let mut rest = Delta { choice: delta.choice, ..Delta::default() };
        if delta.reasoning.is_none() {
            rest.reasoning = self.reasoning.end_segment(examiner);
        }
        if delta.reasoning_details.is_empty() {
            let text = self.details.end_segment(examiner);
            rest.reasoning_details.extend(text.map(unsigned));
        }
        if stage == Stage::Calls && delta.content.is_none() {
            rest.content = self.content.end_segment(examiner);
        }
        if rest.says_something() {
            out.push(rest);
        }
    }

    /// Takes a step's texts through their channels.
    fn texts(&mut self, delta: &mut Delta, examiner: &mut Examiner) {
        step_text(&mut delta.reasoning, &mut self.reasoning, examiner);
        if !delta.reasoning_details.is_empty() {
            let blocks = std::mem::take(&mut delta.reasoning_details);
            for block in blocks {
                if examiner.is_stopped() {
                    break;
                }
                let block = self.step_block(block, examiner);
                delta.reasoning_details.extend(block);
            }
        }
        step_text(&mut delta.content, &mut self.content, examiner);
        step_text(&mut delta.refusal, &mut self.refusal, examiner);
        if !delta.tool_calls.is_empty() {
            let calls = std::mem::take(&mut delta.tool_calls);
            for call in calls {
                if !self.calls.iter().any(|known| known.index == call.index) {
                    self.end_calls(delta, examiner);
                }
                if examiner.is_stopped() {
                    return;
                }
                let call = self.step_call(call, examiner);
                delta.tool_calls.extend(call);
            }
        }
        if !delta.extra.is_empty() {
            self.members(&mut delta.extra, examiner);
        }
    }

    fn step_block(
        &mut self,
        block: ReasoningBlock,
        examiner: &mut Examiner,
    ) -> Option<ReasoningBlock> {
        let ReasoningBlock::Text { text, signature } = block else { return Some(block) };
        let text = self.details.step(text, examiner);
        if signature.is_none() {
            return text.map(unsigned);
        }
        // The signature ends the block: what was held back belongs before it.
        let rest = self.details.finish(examiner);
        let signature = if self.details.has_withheld() { None } else { signature };
        self.details = self.text(Surrounding::Text);
        let text = join(text, rest).unwrap_or_else(|| "".into());
        Some(ReasoningBlock::Text { text, signature })
    }

    /// Ends the segments of all calls that have begun: another one begins.
    fn end_calls(&mut self, delta: &mut Delta, examiner: &mut Examiner) {
        for call in &mut self.calls {
            let Some(rest) = call.arguments.end_segment(examiner) else { continue };
            if self.keeps_calls {
                append(&mut call.kept.arguments, Some(rest));
            } else {
                delta.tool_calls.push(call_goes_on(call.index, rest));
            }
        }
    }

    fn step_call(
        &mut self,
        mut step: ToolCallDelta,
        examiner: &mut Examiner,
    ) -> Option<ToolCallDelta> {
        if step.name.is_some() {
            whole_text(&mut step.name, &mut self.text(Surrounding::Text), examiner);
        }
        let at = self.calls.iter().position(|call| call.index == step.index);
        let at = at.unwrap_or_else(|| {
            let arguments = self.text(Surrounding::JsonString);
            let kept = ToolCallDelta { index: step.index, ..ToolCallDelta::default() };
            self.calls.push(Call { index: step.index, arguments, kept });
            self.calls.len() - 1
        });
        let call = &mut self.calls[at];
        step_text(&mut step.arguments, &mut call.arguments, examiner);
        if self.keeps_calls {
            call.keep(step);
            return None;
        }
        says_something(&step).then_some(step)
    }

    /// Adds everything that was held back to `delta`, the last one.
    fn close(&mut self, delta: &mut Delta, examiner: &mut Examiner) {
        append(&mut delta.reasoning, self.reasoning.finish(examiner));
        let rest = self.details.finish(examiner);
        delta.reasoning_details.extend(rest.map(unsigned));
        append(&mut delta.content, self.content.finish(examiner));
        append(&mut delta.refusal, self.refusal.finish(examiner));
        for call in &mut self.calls {
            if examiner.is_stopped() {
                return;
            }
            let rest = call.arguments.finish(examiner);
            if self.keeps_calls {
                append(&mut call.kept.arguments, rest);
                delta.tool_calls.extend(call.take_kept());
                continue;
            }
            let Some(rest) = rest else { continue };
            match delta.tool_calls.iter_mut().rfind(|step| step.index == call.index) {
                Some(step) => append(&mut step.arguments, Some(rest)),
                None => delta.tool_calls.push(call_goes_on(call.index, rest)),
            }
        }
    }

    /// Ends the answer with `delta`.
    fn stop(&mut self, delta: &mut Delta, examiner: &mut Examiner) {
        self.state = State::Stopped;
        append(&mut delta.reasoning, self.reasoning.flush(examiner));
        append(&mut delta.content, self.content.flush(examiner));
        append(&mut delta.refusal, self.refusal.flush(examiner));
        delta.finish_reason = Some(FinishReason::ContentFilter);
        delta.tool_calls.clear();
        delta.extra.clear();
        delta.logprobs = None;
        examiner.report.act(AnswerAction::Block);
    }

    /// Restores members that have no name here: annotations, citations, transcripts.
    pub(super) fn members(&self, members: &mut [Member], examiner: &mut Examiner) {
        if self.map.is_empty() && !self.waits {
            return;
        }
        for member in members {
            let mut value = Some(JsonText::plain(member.value.as_str()));
            whole_text(&mut value, &mut self.text(Surrounding::JsonString), examiner);
            let value = value.unwrap_or_else(|| "null".into());
            let value = value.decode();
            if value != member.value.as_str() {
                member.value = RawJson::trusted(value.as_ref().into());
            }
        }
    }

    fn text(&self, surrounding: Surrounding) -> Channel {
        Channel::new(&self.map, surrounding, self.waits)
    }

    fn holds(&self) -> bool {
        self.content.holds() || self.reasoning.holds()
    }
}

impl Call {
    fn keep(&mut self, step: ToolCallDelta) {
        let ToolCallDelta { index: _, id, name, arguments, signature } = step;
        let kept = &mut self.kept;
        kept.id = kept.id.take().or(id);
        kept.name = kept.name.take().or(name);
        kept.signature = kept.signature.take().or(signature);
        append(&mut kept.arguments, arguments);
    }

    fn take_kept(&mut self) -> Option<ToolCallDelta> {
        let next = ToolCallDelta { index: self.index, ..ToolCallDelta::default() };
        let kept = std::mem::replace(&mut self.kept, next);
        says_something(&kept).then_some(kept)
    }
}

fn says_something(call: &ToolCallDelta) -> bool {
    let ToolCallDelta { index: _, id, name, arguments, signature } = call;
    id.is_some() || name.is_some() || arguments.is_some() || signature.is_some()
}

fn call_goes_on(index: u32, arguments: JsonText) -> ToolCallDelta {
    ToolCallDelta { index, arguments: Some(arguments), ..ToolCallDelta::default() }
}

fn unsigned(text: JsonText) -> ReasoningBlock {
    ReasoningBlock::Text { text, signature: None }
}

/// Takes a text of a whole answer through its channel. Nothing is left of one that comes after the
/// answer's end.
fn whole_text(text: &mut Option<JsonText>, channel: &mut Channel, examiner: &mut Examiner) {
    if let Some(whole) = text.take()
        && !examiner.is_stopped()
    {
        *text = channel.whole(whole, examiner);
    }
}

/// Takes a text of a step through its channel.
fn step_text(text: &mut Option<JsonText>, channel: &mut Channel, examiner: &mut Examiner) {
    if let Some(piece) = text.take()
        && !examiner.is_stopped()
    {
        *text = channel.step(piece, examiner);
    }
}

fn append(text: &mut Option<JsonText>, rest: Option<JsonText>) {
    *text = join(text.take(), rest);
}

fn join(text: Option<JsonText>, rest: Option<JsonText>) -> Option<JsonText> {
    match (text, rest) {
        (Some(text), Some(rest)) => Some(format!("{}{}", text.decode(), rest.decode()).into()),
        (text, rest) => text.or(rest),
    }
}
