//! Cuts the answer of a model that does not keep to its bound on tokens.
//!
//! Nobody but the provider knows its tokens exactly, and a legitimate answer must not be cut. So
//! the evidence is the fewest tokens that the text can come to with any vocabulary, and an answer is
//! cut where twice its bound does not suffice for that. English prose is cut at some three times its
//! bound, text without spaces at ten times; an endless answer ends.

use std::borrow::Cow;

use sluice_core::answer::{ChatAnswer, FinishReason};
use sluice_core::event::Delta;
use sluice_core::json::JsonText;

use crate::bounds::Bounds;

/// How many times its bound the fewest tokens of an answer may come to.
const PATIENCE: u64 = 2;
/// Choices that are kept in mind: more than these cannot be asked for (`n`).
const MOST_CHOICES: usize = 128;
/// Tokens that any answer may have beside that, since the smallest bounds say little.
const SLACK: u64 = 64;

/// What one answer has come to, against its bounds.
#[derive(Debug)]
pub(crate) struct Cut {
    output: FewestTokens,
    reasoning: FewestTokens,
    /// Choices that have begun and not ended.
    open: Vec<u32>,
}

impl Cut {
    pub(crate) fn new(bounds: &Bounds) -> Self {
        let most = |bound: u64| bound.saturating_mul(PATIENCE).saturating_add(SLACK);
        Self {
            output: FewestTokens::up_to(most(bounds.output)),
            reasoning: FewestTokens::up_to(most(bounds.reasoning)),
            open: Vec::new(),
        }
    }

    /// Reads the next step of a streamed answer. `true` where the answer is over its bound: what is
    /// too much of the step is taken out of it, and [`Cut::ends`] come after it.
    pub(crate) fn delta(&mut self, delta: &mut Delta) -> bool {
        let Self { output, reasoning, open } = self;
        if delta.finish_reason.is_some() {
            open.retain(|choice| *choice != delta.choice);
        } else if open.len() < MOST_CHOICES && !open.contains(&delta.choice) {
            open.push(delta.choice);
        }
        let mut is_over = reasoning.shorten_opt(&mut delta.reasoning);
        is_over |= output.shorten_opt(&mut delta.content);
        is_over |= output.shorten_opt(&mut delta.refusal);
        for call in &mut delta.tool_calls {
            is_over |= output.shorten_opt(&mut call.name);
            is_over |= output.shorten_opt(&mut call.arguments);
        }
        if is_over {
            let is_gone = |name: &JsonText| name.is_empty();
            delta.tool_calls.retain(|call| !call.name.as_ref().is_some_and(is_gone));
        }
        if is_over && delta.finish_reason.is_some() {
            delta.finish_reason = Some(FinishReason::Length);
        }
        is_over
    }

    /// The last steps of an answer that was cut: every open choice has reached its bound.
    pub(crate) fn ends(&mut self) -> impl Iterator<Item = Delta> {
        let finish_reason = Some(FinishReason::Length);
        std::mem::take(&mut self.open).into_iter().map(move |choice| Delta {
            choice,
            finish_reason,
            ..Delta::default()
        })
    }

    /// Cuts a whole answer. Whether there was anything to cut.
    pub(crate) fn whole(mut self, answer: &mut ChatAnswer) -> bool {
        let texts = answer.choices.iter().flat_map(|choice| {
            let message = &choice.message;
            let texts = [&message.content, &message.reasoning, &message.refusal];
            let calls = message.tool_calls.iter().flat_map(|call| [&call.name, &call.arguments]);
            texts.into_iter().flatten().chain(calls)
        });
        let size: usize = texts.map(JsonText::size).sum();
        if size as u64 <= self.output.free.min(self.reasoning.free) {
            return false;
        }
        let mut any = false;
        for choice in &mut answer.choices {
            let message = &mut choice.message;
            let mut is_over = self.reasoning.shorten_opt(&mut message.reasoning);
            is_over |= self.output.shorten_opt(&mut message.content);
            is_over |= self.output.shorten_opt(&mut message.refusal);
            for call in &mut message.tool_calls {
                is_over |= self.output.shorten(&mut call.name);
                is_over |= self.output.shorten(&mut call.arguments);
            }
            if is_over {
                message.tool_calls.retain(|call| !call.name.is_empty());
                choice.finish_reason = FinishReason::Length;
                // They belong to the text that is gone.
                choice.logprobs = None;
            }
            any |= is_over;
        }
        any
    }
}

/// The fewest tokens that a text can come to, read piece by piece.
///
/// Vocabularies are made of words and parts of words: hardly any token spans two words, and in a long
/// word sixteen bytes are more than any vocabulary needs a token for on average. The longest tokens,
/// of up to 128 bytes, are runs of white space or of one pattern (`────`), so bytes that repeat one
/// of the last four hardly count.
#[derive(Debug)]
struct FewestTokens {
    /// Counted in 128ths of a token.
    used: u64,
    most: u64,
    /// Bytes that are not looked at, since no answer can be over its bound before: hardly any answer
    /// is longer.
    free: u64,
    /// The last four bytes.
    tail: [u8; 4],
    /// Bytes of the current word that its first token covers.
    covered: u8,
    in_word: bool,
}

/// A token, in the parts that are counted.
const TOKEN: u64 = 128;
/// Bytes of a word that one token covers, and what each byte after them counts.
const BYTES_A_TOKEN: u8 = 16;
const BYTE: u64 = TOKEN / BYTES_A_TOKEN as u64;

impl FewestTokens {
    fn up_to(tokens: u64) -> Self {
        let most = tokens.saturating_mul(TOKEN);
        Self { used: 0, most, free: tokens, tail: [0; 4], covered: 0, in_word: false }
    }

    fn shorten_opt(&mut self, text: &mut Option<JsonText>) -> bool {
        text.as_mut().is_some_and(|text| self.shorten(text))
    }

    /// Reads on in `text`, and takes out of it what is too much. Whether anything is.
    fn shorten(&mut self, text: &mut JsonText) -> bool {
        let size = text.size() as u64;
        if size <= self.free {
            self.free -= size;
            return false;
        }
        let decoded = text.decode();
        let Some(end) = self.read(&decoded) else { return false };
        let mut decoded = match decoded {
            Cow::Owned(text) => text,
            Cow::Borrowed(text) => text[..end].to_owned(),
        };
        decoded.truncate(end);
        *text = JsonText::plain(decoded);
        true
    }

    /// Reads on in `text`; where it is too much, the place where that begins.
    fn read(&mut self, text: &str) -> Option<usize> {
        let free = usize::try_from(std::mem::take(&mut self.free)).unwrap_or(usize::MAX);
        for (at, byte) in text.bytes().enumerate().skip(free) {
            self.used = self.used.saturating_add(self.count(byte));
            if self.used > self.most {
                return Some(text.floor_char_boundary(at));
            }
        }
        None
    }

    fn count(&mut self, byte: u8) -> u64 {
        let repeats = self.tail.contains(&byte);
        self.tail = [byte, self.tail[0], self.tail[1], self.tail[2]];
        if byte.is_ascii_whitespace() {
            self.in_word = false;
            return 1;
        }
        let begins = !std::mem::replace(&mut self.in_word, true);
        if begins {
            self.covered = BYTES_A_TOKEN - 1;
            return TOKEN;
        }
        if repeats {
            return 1;
        }
        match self.covered.checked_sub(1) {
            Some(left) => {
                self.covered = left;
                0
            }
            None => BYTE,
        }
    }
}

#[cfg(test)]
mod tests;
