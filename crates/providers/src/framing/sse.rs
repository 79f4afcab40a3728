//! Server-sent events, as providers stream them: bytes in, frames out, wherever the bytes are cut.
//!
//! Format: the WHATWG HTML standard, "Interpreting an event stream". A frame that lies within one
//! piece of input is a slice of it; only a frame across pieces is copied.

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
        if rest.len() > self.longest {
            return Err(FrameError::TooLong(self.longest));
        }
        // The end mark is at most four bytes long and may be cut, so its first bytes are
        // searched again.
        self.searched = rest.len().saturating_sub(3);
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
        if frame.len() > self.longest {
            return Err(FrameError::TooLong(self.longest));
        }
        let mut text =
            ByteString::try_from(frame.clone()).map_err(|_| FrameError::NotUtf8)?;
        if std::mem::take(&mut self.at_start) && text.starts_with('\u{FEFF}') {
            text = text.slice_ref(&text['\u{FEFF}'.len_utf8()..]);
        }
        let mut event = ByteString::new();
        let mut data: Option<ByteString> = None;
        for line in text.split(['\n', '\r']) {
            let (name, value) = line.split_once(':').unwrap_or((line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match name {
                "data" => {
                    data = Some(match data {
                        None => text.slice_ref(value),
                        Some(before) => format!("{before}\n{value}").into(),
                    });
                }
                "event" => event = text.slice_ref(value),
                _ => {}
            }
        }
        if let Some(data) = data {
            frames.push(Frame { event, data });
        }
        Ok(())
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
