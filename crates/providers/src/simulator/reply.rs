//! One answer before it is written down: what is said in which order, and where it ends.

use super::tokens;

/// One of a request's answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reply {
    /// What is said, in the order in which it is streamed. At most one segment of each kind other
    /// than calls.
    pub(super) segments: Vec<Segment>,
    pub(super) finish: Finish,
}

/// A piece of an answer that is said in one go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) kind: SegmentKind,
    /// The text; of a call, its arguments.
    pub(super) text: String,
}

/// What a segment is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SegmentKind {
    Reasoning,
    Content,
    Refusal,
    Call { index: usize, id: String, name: String },
}

/// Why an answer ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Finish {
    Stop,
    Length,
    ToolCalls,
    ContentFilter,
}

impl Finish {
    /// The word on the wire.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::Length => "length",
            Self::ToolCalls => "tool_calls",
            Self::ContentFilter => "content_filter",
        }
    }
}

impl Segment {
    pub(super) fn new(kind: SegmentKind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into() }
    }
}

impl Reply {
    /// A plain text.
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self { segments: vec![Segment::new(SegmentKind::Content, text)], finish: Finish::Stop }
    }

    /// Generated tokens: of all texts and of the calls' arguments.
    pub(super) fn tokens(&self) -> u64 {
        self.segments.iter().map(|segment| tokens::count(&segment.text)).sum()
    }

    /// Tokens that were thought with; a part of [`Self::tokens`].
    pub(super) fn reasoning_tokens(&self) -> u64 {
        let thoughts = self.segments.iter().filter(|s| s.kind == SegmentKind::Reasoning);
        thoughts.map(|segment| tokens::count(&segment.text)).sum()
    }

    /// Ends the text before the first of `stops`. Thoughts and calls are not searched.
    pub(super) fn stop_before(&mut self, stops: &[String]) {
        let content = self.segments.iter_mut().find(|s| s.kind == SegmentKind::Content);
        let Some(content) = content else { return };
        let found =
            stops.iter().filter(|stop| !stop.is_empty()).filter_map(|stop| content.text.find(stop));
        let Some(end) = found.min() else { return };
        content.text.truncate(end);
        self.segments.retain(|segment| !matches!(segment.kind, SegmentKind::Call { .. }));
        self.finish = Finish::Stop;
    }

    /// Ends the answer after `most` tokens. A call that was not begun by then is not made.
    pub(super) fn limit(&mut self, most: u64) {
        let mut left = most;
        let mut cut = false;
        self.segments.retain_mut(|segment| {
            if cut && matches!(segment.kind, SegmentKind::Call { .. }) {
                return false;
            }
            let mut end = 0;
            for token in tokens::split(&segment.text) {
                if left == 0 {
                    cut = true;
                    break;
                }
                left -= 1;
                end += token.len();
            }
            segment.text.truncate(end);
            true
        });
        if cut {
            self.finish = Finish::Length;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(arguments: &str) -> Segment {
        let kind = SegmentKind::Call { index: 0, id: "c".to_owned(), name: "f".to_owned() };
        Segment::new(kind, arguments)
    }

    #[test]
    fn the_earliest_stop_ends_the_text() {
        let mut reply = Reply::text("one two three");
        reply.stop_before(&[String::new(), "three".to_owned(), " two".to_owned()]);
        assert_eq!(reply, Reply::text("one"));
    }

    #[test]
    fn thoughts_use_up_the_limit_too() {
        let mut reply = Reply::text("one two");
        reply.segments.insert(0, Segment::new(SegmentKind::Reasoning, "let me"));
        reply.limit(3);
        assert_eq!(reply.segments[1].text, "one");
        assert_eq!((reply.tokens(), reply.reasoning_tokens()), (3, 2));
        assert_eq!(reply.finish, Finish::Length);
    }

    #[test]
    fn an_answer_of_exactly_the_limit_is_whole() {
        let mut reply = Reply::text("one two");
        reply.limit(2);
        assert_eq!(reply, Reply::text("one two"));
    }

    #[test]
    fn calls_are_cut_or_not_made() {
        let mut reply = Reply { segments: vec![call("{}"), call("{}")], finish: Finish::ToolCalls };
        reply.limit(1);
        assert_eq!(reply.segments, [call("{")]);
        assert_eq!(reply.finish, Finish::Length);
    }
}
