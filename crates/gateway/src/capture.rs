//! The content that is kept beside an audit entry: what the model was sent, and what it said, before
//! anything is put back. Held in memory until the request ends, up to a bound.

use sluice_core::answer::ChatAnswer;
use sluice_core::chat::ChatRequest;
use sluice_core::event::Delta;
use sluice_core::json::{JsonText, write_escaped};
use sluice_core::source::OWN_MEMBERS;
use sluice_storage::{AnswerPart, AuditContent};

/// Keeps the content of one request.
#[derive(Debug)]
pub(crate) struct Capture {
    /// How many bytes may still be kept.
    left: usize,
    content: AuditContent,
    /// Which of the answers, and which of its tool calls, the last part belongs to.
    last: Option<(u32, &'static str, u32)>,
}

impl Capture {
    /// Keeps at most `most` bytes of request and answer together.
    pub(crate) fn new(most: usize) -> Self {
        Self { left: most, content: AuditContent::default(), last: None }
    }

    /// The request as it goes to a model, without what speaks to Sluice alone.
    pub(crate) fn request(&mut self, chat: &ChatRequest) {
        let members = chat.source.members.iter();
        let members = members.filter(|member| !OWN_MEMBERS.contains(&&*member.name));
        let AuditContent { request, request_bytes, .. } = &mut self.content;
        let mut put = |text: &str| keep(text, &mut self.left, request_bytes, request);
        let mut name = Vec::new();
        for (number, member) in members.enumerate() {
            name.clear();
            name.push(if number == 0 { b'{' } else { b',' });
            write_escaped(&member.name, &mut name);
            name.push(b':');
            put(&String::from_utf8_lossy(&name));
            put(member.value.as_str());
        }
        put("}");
    }

    /// One step of an answer, as the model said it.
    pub(crate) fn delta(&mut self, delta: &Delta) {
        let texts = [
            ("reasoning", &delta.reasoning),
            ("content", &delta.content),
            ("refusal", &delta.refusal),
        ];
        for (kind, text) in texts {
            if let Some(text) = text {
                self.add((delta.choice, kind, 0), text);
            }
        }
        for call in &delta.tool_calls {
            let place = (delta.choice, "tool_call", call.index);
            if let Some(name) = &call.name {
                self.add_call(place, name);
            }
            if let Some(arguments) = &call.arguments {
                self.add(place, arguments);
            }
        }
    }

    /// A whole answer, as the model said it.
    pub(crate) fn whole(&mut self, answer: &ChatAnswer) {
        for choice in &answer.choices {
            let message = &choice.message;
            let texts = [
                ("reasoning", &message.reasoning),
                ("content", &message.content),
                ("refusal", &message.refusal),
            ];
            for (kind, text) in texts {
                if let Some(text) = text {
                    self.add((choice.index, kind, 0), text);
                }
            }
            for (number, call) in (0..).zip(&message.tool_calls) {
                let place = (choice.index, "tool_call", number);
                self.add_call(place, &call.name);
                self.add(place, &call.arguments);
            }
        }
    }

    /// All that was kept; `None` where there is nothing.
    pub(crate) fn finish(self) -> Option<AuditContent> {
        (self.content.kept_bytes() > 0).then_some(self.content)
    }

    fn add_call(&mut self, place: (u32, &'static str, u32), name: &JsonText) {
        self.last = None;
        self.add(place, name);
        self.push(" ");
    }

    fn add(&mut self, place: (u32, &'static str, u32), text: &JsonText) {
        if text.is_empty() {
            return;
        }
        if self.last != Some(place) {
            self.last = Some(place);
            let (choice, kind, _) = place;
            let text = String::new();
            self.content.answer.push(AnswerPart { choice, kind: kind.to_owned(), text });
        }
        self.push(&text.decode());
    }

    fn push(&mut self, text: &str) {
        let AuditContent { answer, answer_bytes, .. } = &mut self.content;
        if let Some(part) = answer.last_mut() {
            keep(text, &mut self.left, answer_bytes, &mut part.text);
        }
    }
}

/// Counts `text` and keeps as much of it as there is room for. Once something is left out, so is all that
/// follows: nobody takes the rest for what came next.
fn keep(text: &str, left: &mut usize, counted: &mut u64, kept: &mut String) {
    *counted += text.len() as u64;
    let beginning = beginning(text, *left);
    kept.push_str(beginning);
    *left = if beginning.len() < text.len() { 0 } else { *left - beginning.len() };
}

/// The beginning of a text, of at most so many bytes.
fn beginning(text: &str, most: usize) -> &str {
    let mut end = text.len().min(most);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use sluice_core::event::ToolCallDelta;

    use super::*;
    use crate::testing::chat;

    fn said(text: &str) -> Delta {
        Delta { content: Some(text.into()), ..Delta::default() }
    }

    fn called(index: u32, name: Option<&str>, arguments: &str) -> Delta {
        let call = ToolCallDelta {
            index,
            name: name.map(Into::into),
            arguments: Some(arguments.into()),
            ..ToolCallDelta::default()
        };
        Delta { tool_calls: vec![call], ..Delta::default() }
    }

    #[test]
    fn what_was_said_is_kept_in_its_order() {
        let mut capture = Capture::new(10_000);
        let request = chat("Grüße an [EMAIL_1]");
        capture.request(&request);
        for delta in [
            Delta { reasoning: Some("Hm".into()), ..Delta::default() },
            said("Hel"),
            said("lo"),
            called(0, Some("read"), "{\"a\""),
            called(0, None, ":1}"),
            called(1, Some("read"), "{}"),
        ] {
            capture.delta(&delta);
        }
        let content = capture.finish().unwrap();
        let parts: Vec<_> =
            content.answer.iter().map(|it| (it.kind.as_str(), it.text.as_str())).collect();
        let expected = [
            ("reasoning", "Hm"),
            ("content", "Hello"),
            ("tool_call", "read {\"a\":1}"),
            ("tool_call", "read {}"),
        ];
        assert_eq!(parts, expected);
        assert!(!content.is_cut());
        let read: serde_json::Value = serde_json::from_str(&content.request).unwrap();
        assert!(read.is_object());
    }

    #[test]
    fn what_is_beyond_the_bound_is_counted_and_not_kept() {
        for most in 0..200 {
            let mut capture = Capture::new(most);
            capture.request(&chat("Grüße"));
            for text in ["ä".repeat(40), "ö".repeat(40)] {
                capture.delta(&said(&text));
            }
            let Some(content) = capture.finish() else { continue };
            assert!(content.kept_bytes() <= most as u64);
            assert_eq!(content.answer_bytes, 160);
            let answer: String = content.answer.iter().map(|it| it.text.as_str()).collect();
            let whole = "ä".repeat(40) + &"ö".repeat(40);
            assert!(whole.starts_with(&answer));
            let is_whole = answer == whole && content.request.ends_with('}');
            assert_eq!(content.is_cut(), !is_whole, "{most}: {content:?}");
        }
    }
}
