//! Server-sent events, as providers stream them: bytes in, frames out, wherever the bytes are cut.
//!
//! Format: the WHATWG HTML standard, "Interpreting an event stream". A frame that lies within one
//! piece of input is a slice of it; only a frame across pieces is copied.

use std::borrow::Cow;

use bytes::{Bytes, BytesMut};
use bytestring::ByteString;

/// One event of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// Its `event` field; empty where it had none.
    pub event: ByteString,
    /// Its `data` lines, joined by a line feed.
    pub data: ByteString,
}

/// Why a stream's bytes are no event stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// A frame is longer than the decoder takes.
    #[error("an event is longer than {0} bytes")]
    TooLong(usize),
    /// A frame is not UTF-8.
    #[error("an event is not valid UTF-8")]
    NotUtf8,
}

/// Most bytes of an end mark (`\r\n\r\n`) that can be there without its being whole.
const PART_OF_END: usize = 3;

/// Cuts a stream's bytes into frames.
#[derive(Debug)]
pub struct SseDecoder {
    pending: BytesMut,
    /// How much of `pending` has been searched for the end of a frame.
    searched: usize,
    longest: usize,
    at_start: bool,
}

impl SseDecoder {
    /// A decoder that takes frames of at most `longest` bytes.
    pub fn new(longest: usize) -> Self {
        Self { pending: BytesMut::new(), searched: 0, longest, at_start: true }
    }

    /// Appends the frames that `bytes` completes to `frames`.
    pub fn push(&mut self, bytes: Bytes, frames: &mut Vec<Frame>) -> Result<(), FrameError> {
        let mut rest = bytes;
        if !self.pending.is_empty() {
            self.pending.extend_from_slice(&rest);
            let whole = std::mem::take(&mut self.pending);
            rest = whole.freeze();
        }
        let mut from = std::mem::take(&mut self.searched);
        while let Some((end, next)) = frame_end(&rest, from) {
            from = 0;
            self.read_frame(&rest.slice(..end), frames)?;
            rest = rest.slice(next..);
        }
        // The end mark is at most four bytes long and may be cut: its first bytes do not count as
        // a part of the frame yet, and are searched again.
        if rest.len() > self.longest.saturating_add(PART_OF_END) {
            return Err(FrameError::TooLong(self.longest));
        }
        self.searched = rest.len().saturating_sub(PART_OF_END);
        self.pending = rest.try_into_mut().unwrap_or_else(|shared| BytesMut::from(&shared[..]));
        Ok(())
    }

    /// The stream ended: a last frame without an empty line after it is given out as well.
    ///
    /// The standard would drop it; some servers end that way, and the end mark inside the frame
    /// decides in any case whether the answer was complete.
    pub fn finish(&mut self, frames: &mut Vec<Frame>) -> Result<(), FrameError> {
        let rest = std::mem::take(&mut self.pending).freeze();
        self.searched = 0;
        self.read_frame(&rest, frames)
    }

    fn read_frame(&mut self, frame: &Bytes, frames: &mut Vec<Frame>) -> Result<(), FrameError> {
        // Where the search went on inside an end mark, the first bytes of the mark are still here.
        let line_ends = frame.iter().rev().take_while(|byte| matches!(byte, b'\n' | b'\r')).count();
        if frame.len() - line_ends > self.longest {
            return Err(FrameError::TooLong(self.longest));
        }
        let mut text = ByteString::try_from(frame.clone()).map_err(|_| FrameError::NotUtf8)?;
        if std::mem::take(&mut self.at_start) && text.starts_with('\u{FEFF}') {
            text = text.slice_ref(&text['\u{FEFF}'.len_utf8()..]);
        }
        let mut event = ByteString::new();
        // Nearly every frame has one line of data, which stays a slice of its piece.
        let mut data: Option<Cow<'_, str>> = None;
        let mut rest = Some(&*text);
        while let Some(lines) = rest {
            let (line, behind) = first_line(lines);
            if let Some(value) = value_of("data", line) {
                match &mut data {
                    None => data = Some(Cow::Borrowed(value)),
                    Some(before) => {
                        let before = before.to_mut();
                        before.push('\n');
                        before.push_str(value);
                    }
                }
            } else if let Some(value) = value_of("event", line) {
                event = text.slice_ref(value);
            }
            rest = behind;
        }
        let data = match data {
            None => return Ok(()),
            Some(Cow::Borrowed(value)) => text.slice_ref(value),
            Some(Cow::Owned(lines)) => lines.into(),
        };
        frames.push(Frame { event, data });
        Ok(())
    }
}

/// The first of `lines`, and those behind it. Between the two halves of `\r\n` lies an empty line,
/// which says nothing within a frame.
fn first_line(lines: &str) -> (&str, Option<&str>) {
    match memchr::memchr2(b'\n', b'\r', lines.as_bytes()) {
        None => (lines, None),
        Some(end) => (&lines[..end], Some(&lines[end + 1..])),
    }
}

/// What `line` says, where it is the field `name`.
fn value_of<'l>(name: &str, line: &'l str) -> Option<&'l str> {
    let rest = line.strip_prefix(name)?;
    match rest.strip_prefix(':') {
        Some(value) => Some(value.strip_prefix(' ').unwrap_or(value)),
        // A field without a colon is an empty one.
        None => rest.is_empty().then_some(rest),
    }
}

/// The end of the first frame at or after `from`, and where the next one begins.
fn frame_end(bytes: &[u8], from: usize) -> Option<(usize, usize)> {
    let mut at = from;
    while let Some(found) = memchr::memchr2(b'\n', b'\r', bytes.get(at..)?) {
        let line_end = at + found;
        let after = skip_line_end(bytes, line_end)?;
        if matches!(bytes.get(after), Some(b'\n' | b'\r')) {
            // `\r` at the very end may be half of `\r\n`; then the frame ends with the next piece.
            return skip_line_end(bytes, after).map(|next| (line_end, next));
        }
        at = after;
    }
    None
}

/// Where the line after the line end at `at` begins; `None` if that cannot be said yet.
fn skip_line_end(bytes: &[u8], at: usize) -> Option<usize> {
    match (bytes.get(at)?, bytes.get(at + 1)) {
        (b'\r', Some(b'\n')) => Some(at + 2),
        (b'\r', None) => None,
        _ => Some(at + 1),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What `bytes` come to when they arrive in pieces that end at `cuts`.
    fn decode(bytes: &[u8], cuts: &[usize], longest: usize) -> Result<Vec<Frame>, FrameError> {
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
        cuts.push(bytes.len());
        cuts.sort_unstable();
        let mut decoder = SseDecoder::new(longest);
        let (mut frames, mut at) = (Vec::new(), 0);
        for cut in cuts {
            decoder.push(Bytes::copy_from_slice(&bytes[at..cut]), &mut frames)?;
            at = cut;
        }
        decoder.finish(&mut frames)?;
        Ok(frames)
    }

    fn frames(text: &str) -> Vec<(String, String)> {
        let whole = decode(text.as_bytes(), &[], 1 << 16).unwrap();
        for cut in 0..=text.len() {
            let cut_there = decode(text.as_bytes(), &[cut], 1 << 16).unwrap();
            assert_eq!(cut_there, whole, "cut at byte {cut}");
        }
        let all: Vec<usize> = (0..text.len()).collect();
        assert_eq!(decode(text.as_bytes(), &all, 1 << 16).unwrap(), whole, "byte by byte");
        whole.into_iter().map(|it| (it.event.to_string(), it.data.to_string())).collect()
    }

    fn data(text: &str) -> Vec<String> {
        frames(text).into_iter().map(|(_, data)| data).collect()
    }

    #[test]
    fn every_kind_of_line_end_ends_a_line() {
        for end in ["\n", "\r\n", "\r"] {
            let text = format!("data: a{end}{end}event: e{end}data: b{end}{end}data: c{end}{end}");
            let expected = [("", "a"), ("e", "b"), ("", "c")];
            assert_eq!(frames(&text), expected.map(|(a, b)| (a.to_owned(), b.to_owned())));
        }
        assert_eq!(data("data: a\r\n\ndata: b\n\r\ndata: c\r\r\n"), ["a", "b", "c"]);
    }

    #[test]
    fn fields_are_read_as_the_standard_says() {
        // One space after the colon belongs to the form, a second one to the value.
        assert_eq!(data("data:a\n\ndata:  b\n\n"), ["a", " b"]);
        assert_eq!(data("data: a\ndata:\ndata: b\n\n"), ["a\n\nb"]);
        // A field without a colon is an empty one.
        assert_eq!(data("data\n\n"), [""]);
        assert_eq!(data("data: a: b\n\n"), ["a: b"]);
        // Comments and other fields say nothing; without data there is no frame.
        assert_eq!(data(": comment\n\nid: 7\nretry: 3\n\nevent: e\n\n"), [""; 0]);
        assert_eq!(data(": comment\nid: 7\ndata: a\nDATA: b\n data: c\n\n"), ["a"]);
        assert_eq!(frames("event: a\nevent: b\ndata: x\n\n"), [("b".into(), "x".into())]);
    }

    #[test]
    fn a_byte_order_mark_is_skipped_at_the_start_and_nowhere_else() {
        assert_eq!(data("\u{FEFF}data: a\n\n"), ["a"]);
        assert_eq!(data("data: a\n\n\u{FEFF}data: b\n\ndata: \u{FEFF}\n\n"), ["a", "\u{FEFF}"]);
    }

    #[test]
    fn blank_lines_between_frames_say_nothing() {
        assert_eq!(data("\n\n\ndata: a\n\n\n\r\n\ndata: b\n\n\n"), ["a", "b"]);
        assert_eq!(data(""), [""; 0]);
    }

    #[test]
    fn a_last_frame_needs_no_empty_line() {
        assert_eq!(data("data: a\n\ndata: b"), ["a", "b"]);
        assert_eq!(data("data: a\n\ndata: b\n"), ["a", "b"]);
    }

    #[test]
    fn an_event_that_is_too_long_is_refused_wherever_it_is_cut() {
        for end in ["\n\n", "\r\n\r\n", "\r\r", ""] {
            let fits = format!("data: 4567{end}");
            let long = format!("data: 45678{end}");
            for cut in 0..=long.len() {
                assert_eq!(decode(fits.as_bytes(), &[cut], 10).unwrap().len(), 1, "cut at {cut}");
                let refused = decode(long.as_bytes(), &[cut], 10);
                assert_eq!(refused, Err(FrameError::TooLong(10)), "cut at {cut}");
            }
        }
        // A stream without a frame's end cannot fill the memory.
        let mut decoder = SseDecoder::new(10);
        let outcome = decoder.push(Bytes::from(vec![b'x'; 100]), &mut Vec::new());
        assert_eq!(outcome, Err(FrameError::TooLong(10)));
    }

    #[test]
    fn what_is_no_text_is_refused() {
        assert_eq!(decode(b"data: \xff\n\n", &[], 100), Err(FrameError::NotUtf8));
        // A character may be cut.
        assert_eq!(data("data: \u{1F680}\n\n"), ["\u{1F680}"]);
    }

    #[test]
    fn a_frame_within_one_piece_is_not_copied() {
        let piece = Bytes::from_static(b"data: a\n\n");
        let mut found = Vec::new();
        SseDecoder::new(100).push(piece.clone(), &mut found).unwrap();
        assert_eq!(found[0].data.as_bytes().as_ptr(), piece[6..].as_ptr());
    }

    /// The standard's algorithm as plainly as it can be said. A last event counts without an empty
    /// line behind it.
    fn as_the_standard_says(text: &str) -> Vec<Frame> {
        let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let mut frames = Vec::new();
        let (mut event, mut data) = (String::new(), Vec::new());
        for line in text.split('\n').chain([""]) {
            if line.is_empty() {
                if !data.is_empty() {
                    frames.push(Frame { event: event.into(), data: data.join("\n").into() });
                }
                (event, data) = (String::new(), Vec::new());
                continue;
            }
            let (name, value) = line.split_once(':').unwrap_or((line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match name {
                "data" => data.push(value.to_owned()),
                "event" => event = value.to_owned(),
                _ => {}
            }
        }
        frames
    }

    proptest! {
        #[test]
        fn any_bytes_mean_the_same_however_they_are_cut(
            bytes in prop::collection::vec(
                prop_oneof![
                    6 => prop::sample::select(&b"\r\n:da "[..]),
                    2 => prop::sample::select(&b"data: event:\xef\xbb\xbf"[..]),
                    1 => any::<u8>(),
                ],
                0..60,
            ),
            cuts in prop::collection::vec(any::<usize>(), 0..20),
            longest in prop_oneof![Just(8_usize), Just(1 << 16)],
        ) {
            prop_assert_eq!(decode(&bytes, &cuts, longest), decode(&bytes, &[], longest));
        }

        #[test]
        fn any_lines_mean_what_the_standard_says_however_they_are_cut(
            lines in prop::collection::vec(
                ("\u{FEFF}?(data: ?|event: ?|: ?|id:|data|datas:|event|)[a-z:\u{e9}]{0,4}", "\n|\r\n|\r|\n\n|\r\n\r\n|\r\r"),
                0..20,
            ),
            cuts in prop::collection::vec(any::<usize>(), 0..20),
        ) {
            let text: String = lines.into_iter().map(|(line, end)| line + &end).collect();
            let frames = decode(text.as_bytes(), &cuts, 1 << 16);
            prop_assert_eq!(frames, Ok(as_the_standard_says(&text)));
        }
    }
}
