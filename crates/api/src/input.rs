//! Reading a request's body.

use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, EXPECT};
use http::{HeaderMap, Request};
use http_body::Body;
use http_body_util::BodyExt;

use crate::error::ApiError;

/// How long a body may take to arrive.
const ARRIVAL: Duration = Duration::from_secs(120);

/// How much of a body that is too large is read all the same, and for how long: most clients look
/// for an answer only when they have sent everything, and until then would see nothing but a
/// connection that breaks.
const DISCARDED: usize = 64 << 20;
const DISCARDING: Duration = Duration::from_secs(5);

/// The body of a JSON request, at most `limit_mib` long.
pub(crate) async fn json<B: Body + Unpin>(
    request: Request<B>,
    limit_mib: usize,
) -> Result<Bytes, ApiError> {
    let (head, mut body) = request.into_parts();
    check_type(&head.headers)?;
    let limit = limit_mib << 20;
    let announced: usize = head
        .headers
        .get(CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok()?.parse().ok())
        .unwrap_or(0);
    if announced > limit {
        // Who asks first (`Expect: 100-continue`) has sent nothing yet, and need not.
        if !head.headers.contains_key(EXPECT) {
            discard(&mut body, limit).await;
        }
        return Err(ApiError::RequestTooLarge { limit_mib });
    }
    match tokio::time::timeout(ARRIVAL, collect(&mut body, announced, limit)).await {
        Ok(Some(bytes)) => Ok(bytes),
        Ok(None) => {
            discard(&mut body, 0).await;
            Err(ApiError::RequestTooLarge { limit_mib })
        }
        Err(_) => Err(ApiError::RequestTimeout(ARRIVAL)),
    }
}

/// Reads a body to its end and keeps nothing; gives up after `limit` and [`DISCARDED`] bytes, or
/// [`DISCARDING`].
async fn discard<B: Body + Unpin>(body: &mut B, limit: usize) {
    let mut left = limit.saturating_add(DISCARDED);
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

/// The body's bytes; `None` where there are more than `limit`. A connection that breaks leaves a
/// text that does not parse, and nobody to tell.
async fn collect<B: Body + Unpin>(body: &mut B, announced: usize, limit: usize) -> Option<Bytes> {
    let mut first: Option<Bytes> = None;
    let mut rest = BytesMut::new();
    while let Some(Ok(frame)) = body.frame().await {
        let Ok(mut data) = frame.into_data() else { continue };
        let so_far = first.as_ref().map_or(0, Bytes::len) + rest.len();
        if so_far + data.remaining() > limit {
            return None;
        }
        // Most bodies come in one piece, which then needs no copy.
        if first.is_none() && rest.is_empty() {
            first = Some(data.copy_to_bytes(data.remaining()));
            continue;
        }
        if let Some(first) = first.take() {
            rest.reserve(announced.max(first.len() + data.remaining()));
            rest.extend_from_slice(&first);
        }
        while data.has_remaining() {
            let chunk = data.chunk();
            let length = chunk.len();
            rest.extend_from_slice(chunk);
            data.advance(length);
        }
    }
    Some(first.unwrap_or_else(|| rest.freeze()))
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
    use std::task::{Context, Poll};

    use http_body::Frame;

    use super::*;

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

    /// How many of `mib` frames are left unread when a body that is too large is refused.
    async fn unread(mib: usize, header: Option<(http::HeaderName, &str)>) -> usize {
        let mut left = mib;
        let mut request = Request::post("/").header(CONTENT_TYPE, "application/json");
        if let Some((name, value)) = header {
            request = request.header(name, value).header(CONTENT_LENGTH, mib * MIB);
        }
        let outcome = json(request.body(Upload(&mut left)).unwrap(), 2).await;
        assert!(matches!(outcome, Err(ApiError::RequestTooLarge { limit_mib: 2 })));
        left
    }

    #[tokio::test]
    async fn a_body_that_is_too_large_is_read_so_that_the_answer_arrives() {
        let announced = (http::header::ACCEPT, "*/*");
        assert_eq!(unread(40, Some(announced.clone())).await, 0);
        assert_eq!(unread(40, None).await, 0);
        // Not without end, and not where nothing was sent yet.
        assert_eq!(unread(1_000, Some(announced)).await, 1_000 - (2 + 64 + 1));
        assert_eq!(unread(1_000, None).await, 1_000 - (2 + 1 + 64 + 1));
        assert_eq!(unread(40, Some((EXPECT, "100-continue"))).await, 40);
    }
}
