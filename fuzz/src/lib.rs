//! What the fuzz targets share: cutting bytes, and holding a decoder to its contract.

pub mod filter;

use bytes::Bytes;
use sluice_providers::adapter::Adapter;
use sluice_providers::framing::sse::{Frame, FrameError, SseDecoder};

/// The longest frame that the decoders under test take.
const LONGEST_FRAME: usize = 1 << 16;

/// A stream, and where it is cut: the first byte is the number of cuts, and each of the following
/// ones says how long a piece is.
pub fn cut(input: &[u8]) -> Option<(&[u8], &[u8])> {
    let (&count, rest) = input.split_first()?;
    rest.split_at_checked(usize::from(count % 16))
}

/// The frames of `stream` when it arrives in pieces of these lengths, the last one taking the rest.
pub fn frames(stream: &[u8], lengths: &[u8]) -> Result<Vec<Frame>, FrameError> {
    let mut decoder = SseDecoder::new(LONGEST_FRAME);
    let mut frames = Vec::new();
    let mut rest = stream;
    for &length in lengths {
        let (piece, after) = rest.split_at(usize::from(length).min(rest.len()));
        decoder.push(Bytes::copy_from_slice(piece), &mut frames)?;
        rest = after;
    }
    decoder.push(Bytes::copy_from_slice(rest), &mut frames)?;
    decoder.finish(&mut frames)?;
    Ok(frames)
}

/// Decodes `stream` as an answer in `adapter`'s dialect, however wrong it is. The decoder may
/// refuse a frame; it must not panic, neither then nor when it is told the stream's end.
pub fn decode(adapter: &dyn Adapter, stream: &[u8]) {
    let Ok(frames) = frames(stream, &[]) else { return };
    let mut decoder = adapter.stream_decoder();
    let mut events = Vec::new();
    for frame in &frames {
        if decoder.frame(frame, &mut events).is_err() {
            break;
        }
    }
    decoder.end(&mut events);
}
