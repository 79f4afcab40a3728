//! Reading a request's body.

use std::time::Duration;

use bytes::{Buf, Bytes};
use http::HeaderMap;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, EXPECT};
use http_body::Body;
use http_body_util::BodyExt;

use crate::bodies::Share;
use crate::error::ApiError;

/// How long a body may take to arrive.
pub(crate) const ARRIVAL: Duration = Duration::from_secs(120);

/// How much of a body that nobody wants is read all the same, and for how long: most clients look
/// for an answer only when they have sent everything, and until then would see nothing but a
/// connection that breaks, or a stream of HTTP/2 that is reset.
const DISCARDED: usize = 64 << 20;
const DISCARDING: Duration = Duration::from_secs(5);

/// Above this size a body's memory is taken as its bytes arrive, not as they are announced.
const AT_ONCE: usize = 256 << 10;

/// The length that a JSON request announces; 0 where it does not. Refuses what need not be read:
/// another type, or more than `limit_mib`.
pub(crate) fn announced(headers: &HeaderMap, limit_mib: usize) -> Result<usize, ApiError> {
    check_type(headers)?;
    let announced: usize = headers
        .get(CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok()?.parse().ok())
        .unwrap_or(0);
    if announced > limit_mib << 20 {
        return Err(ApiError::RequestTooLarge { limit_mib });
    }
    Ok(announced)
}

/// The body of a JSON request, at most `limit_mib` long. Its memory is a part of `share`.
pub(crate) async fn json<B: Body + Unpin>(
    body: &mut B,
    announced: usize,
    limit_mib: usize,
    share: Share,
) -> Result<Bytes, ApiError> {
    let limit = limit_mib << 20;
    match tokio::time::timeout(ARRIVAL, collect(body, announced, limit, share)).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(Unfit::TooLong)) => Err(ApiError::RequestTooLarge { limit_mib }),
        Ok(Err(Unfit::NoRoom(error))) => Err(error),
        Err(_) => Err(ApiError::RequestTimeout(ARRIVAL)),
    }
}

/// Reads what is left of a body and keeps nothing, so that the client gets to see the answer.
/// Gives up after `limit_mib` and [`DISCARDED`] bytes, or [`DISCARDING`].
pub(crate) async fn discard<B: Body + Unpin>(headers: &HeaderMap, body: &mut B, limit_mib: usize) {
    // Who asks first (`Expect: 100-continue`) has sent nothing yet, and need not.
    if body.is_end_stream() || headers.contains_key(EXPECT) {
        return;
    }
    let mut left = (limit_mib << 20).saturating_add(DISCARDED);
    let reading = async {
        while let Some(Ok(frame)) = body.frame().await {
            let length = frame.data_ref().map_or(0, Buf::remaining);
            match left.checked_sub(length) {
                Some(rest) => left = rest,
                None => return,
            }
        }
    };
    // Whoever is too slow or sends too much gets the answer now, and may miss it.
    let _ = tokio::time::timeout(DISCARDING, reading).await;
}

/// Why a body is not read on.
enum Unfit {
    TooLong,
    NoRoom(ApiError),
}

impl From<ApiError> for Unfit {
    fn from(error: ApiError) -> Self {
        Self::NoRoom(error)
    }
}

/// The body's bytes. A connection that breaks leaves a text that does not parse, and nobody to
/// tell.
async fn collect<B: Body + Unpin>(
    body: &mut B,
    announced: usize,
    limit: usize,
    mut share: Share,
) -> Result<Bytes, Unfit> {
    let mut first: Option<Bytes> = None;
    let mut all: Vec<u8> = Vec::new();
    while let Some(Ok(frame)) = body.frame().await {
        let Ok(mut data) = frame.into_data() else { continue };
        let so_far = first.as_ref().map_or(0, Bytes::len) + all.len();
        let length = so_far + data.remaining();
        if length > limit {
            return Err(Unfit::TooLong);
        }
        // Most bodies come in one piece, which then needs no copy.
        if so_far == 0 {
            share.cover(length)?;
            first = Some(data.copy_to_bytes(data.remaining()));
            continue;
        }
        if length > all.capacity() {
            let room = room(length, announced, limit);
            share.cover(room)?;
            all.reserve_exact(room - all.len());
        }
        if let Some(first) = first.take() {
            all.extend_from_slice(&first);
        }
        while data.has_remaining() {
            let chunk = data.chunk();
            let length = chunk.len();
            all.extend_from_slice(chunk);
            data.advance(length);
        }
    }
    Ok(match first {
        Some(first) => share.with(first),
        None => share.with(all),
    })
}

/// The memory that a body takes which has become `length` bytes long: what is announced where that
/// is little, else twice as much as has arrived. Whoever announces much and sends nothing holds
/// nothing.
fn room(length: usize, announced: usize, limit: usize) -> usize {
    let most = if announced >= length { announced } else { limit };
    let wanted = if announced <= AT_ONCE { announced } else { length.saturating_mul(2) };
    wanted.clamp(length, most)
}

fn check_type(headers: &HeaderMap) -> Result<(), ApiError> {
    if let Some(encoding) = headers.get(CONTENT_ENCODING)
        && encoding != "identity"
    {
        let problem = format!(
            "the body's content encoding is {}",
            encoding.to_str().unwrap_or("not readable")
        );
        return Err(ApiError::UnsupportedMediaType { problem });
    }
    let Some(kind) = headers.get(CONTENT_TYPE) else {
        return Err(ApiError::UnsupportedMediaType {
            problem: "the request has no content type".to_owned(),
        });
    };
    let kind = kind.to_str().unwrap_or("not readable");
    let essence = kind.split(';').next().unwrap_or("").trim();
    if essence.eq_ignore_ascii_case("application/json") {
        Ok(())
    } else {
        let problem = format!("the body's content type is {essence}");
        Err(ApiError::UnsupportedMediaType { problem })
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::pin::Pin;
    use std::sync::Arc;
    use std::task::{Context, Poll};

    use http::Request;
    use http_body::Frame;
    use http_body_util::StreamBody;
    use proptest::prelude::*;
    use sluice_core::ids::KeyId;
    use sluice_gateway::metrics::Metrics;

    use super::*;
    use crate::bodies::{Bodies, Budget};

    const MIB: usize = 1 << 20;

    /// So many frames of a MiB each; says how many are left.
    struct Upload<'a>(&'a mut usize);

    impl Body for Upload<'_> {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            static PIECE: [u8; MIB] = [b' '; MIB];
            let Some(left) = self.0.checked_sub(1) else { return Poll::Ready(None) };
            *self.0 = left;
            Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(&PIECE)))))
        }
    }

    fn share() -> Share {
        let budget = Budget { body: 2 * MIB, all: 8 * MIB };
        Bodies::new(Arc::new(Metrics::default())).share(&KeyId::from("key"), budget)
    }

    /// How many of `mib` frames are left unread when a body that is too large is refused.
    async fn unread(mib: usize, header: Option<(http::HeaderName, &str)>) -> usize {
        let mut left = mib;
        let mut request = Request::post("/").header(CONTENT_TYPE, "application/json");
        if let Some((name, value)) = header {
            request = request.header(name, value).header(CONTENT_LENGTH, mib * MIB);
        }
        let (head, mut body) = request.body(Upload(&mut left)).unwrap().into_parts();
        let outcome = match announced(&head.headers, 2) {
            Ok(announced) => json(&mut body, announced, 2, share()).await,
            Err(error) => Err(error),
        };
        assert!(matches!(outcome, Err(ApiError::RequestTooLarge { limit_mib: 2 })));
        discard(&head.headers, &mut body, 2).await;
        left
    }

    #[tokio::test]
    async fn a_body_that_is_too_large_is_read_so_that_the_answer_arrives() {
        let announced = (http::header::ACCEPT, "*/*");
        assert_eq!(unread(40, Some(announced.clone())).await, 0);
        assert_eq!(unread(40, None).await, 0);
        // Not without end, and not where nothing was sent yet.
        assert_eq!(unread(1_000, Some(announced)).await, 1_000 - (2 + 64 + 1));
        assert_eq!(unread(1_000, None).await, 1_000 - (2 + 1 + 2 + 64 + 1));
        assert_eq!(unread(40, Some((EXPECT, "100-continue"))).await, 40);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn a_body_is_the_same_however_it_comes(
            pieces in prop::collection::vec((any::<u8>(), 0..300_000_usize), 0..8),
            announces in any::<bool>(),
        ) {
            let pieces: Vec<Vec<u8>> =
                pieces.into_iter().map(|(byte, length)| vec![byte; length]).collect();
            let whole = pieces.concat();
            let frames: Vec<Result<_, Infallible>> =
                pieces.into_iter().map(|piece| Ok(Frame::data(Bytes::from(piece)))).collect();
            let mut body = StreamBody::new(futures_util::stream::iter(frames));
            let budget = Budget { body: 4 * MIB, all: 16 * MIB };
            let share = Bodies::new(Arc::new(Metrics::default())).share(&"key".into(), budget);
            let announced = if announces { whole.len() } else { 0 };
            let read = json(&mut body, announced, 4, share);
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
            let read = runtime.unwrap().block_on(read).ok().unwrap();
            prop_assert!(read == whole);
        }
    }

    #[test]
    fn a_body_takes_no_more_memory_than_twice_what_has_arrived() {
        for (length, announced, expected) in [
            (10, 0, 10),
            (1_000, 200_000, 200_000),
            (MIB, 31 * MIB, 2 * MIB),
            (20 * MIB, 31 * MIB, 31 * MIB),
            (MIB, MIB / 2, 2 * MIB),
            (31 * MIB, MIB / 2, 32 * MIB),
        ] {
            assert_eq!(room(length, announced, 32 * MIB), expected, "{length} of {announced}");
        }
    }
}
