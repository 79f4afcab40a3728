//! `POST /api/v1/chat/completions`

use std::sync::Arc;

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Response};
use http_body::Body;
use sluice_core::chat::ChatRequest;
use sluice_gateway::chat::Answer;
use sluice_gateway::error::ChatError;
use sluice_gateway::principal::Principal;
use sluice_gateway::request::{LARGE_BODY, RequestContext};

use crate::body::ResponseBody;
use crate::error::ApiError;
use crate::router::Api;
use crate::sse::{Labels, SseBody};
use crate::wire::chat::answer::{completion_id, write_whole};
use crate::{filtered, input, routed, routes, wire};

/// Tells proxies such as nginx to pass events on as they come.
const ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

pub(crate) async fn create<B: Body + Unpin>(
    api: &Api,
    principal: Arc<Principal>,
    context: RequestContext,
    headers: &HeaderMap,
    body: &mut B,
) -> Result<Response<ResponseBody>, ApiError> {
    let (limit_mib, budget) = {
        let settings = api.settings();
        (settings.request_body_limit_mib, settings.budget())
    };
    let announced = input::announced(headers, limit_mib)?;
    // Whoever may not have another request now need not be read.
    let mut slot = api.gateway().slot(&principal, context.arrived_at, input::ARRIVAL)?;
    let share = api.bodies().share(&principal.key.id, budget);
    share.fits(announced)?;
    let body = input::json(body, announced, limit_mib, share).await?;
    // To take it apart is work, whoever refuses it afterwards.
    if body.len() > LARGE_BODY {
        slot.is_work(api.gateway().now());
    }
    let chat = parse(body).await?;
    let (include_usage, choices) = (chat.include_usage, chat.n);
    let request_id = context.id.to_string();
    let created = context.arrived_at.seconds();
    match api.gateway().chat(principal, slot, chat, context).await? {
        Answer::Whole(whole) => {
            let (answer, receipt) = *whole;
            let id = completion_id(&answer.id, &request_id);
            let mut out = Vec::with_capacity(1024);
            write_whole(&answer, &receipt, (&id, created), &mut out);
            let mut response = routes::json(out);
            filtered::write_headers(&receipt.filter, response.headers_mut());
            routed::write_headers(&receipt.decided, response.headers_mut());
            Ok(response)
        }
        Answer::Stream(stream) => {
            let filter = stream.filter_so_far().clone();
            let decided = stream.decided().clone();
            let labels = Labels { request_id, created, include_usage, choices };
            let body = SseBody::new(*stream, labels);
            let mut response = Response::new(ResponseBody::Events(Box::new(body)));
            let headers = response.headers_mut();
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
            headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
            headers.insert(ACCEL_BUFFERING, HeaderValue::from_static("no"));
            filtered::write_headers(&filter, headers);
            routed::write_headers(&decided, headers);
            Ok(response)
        }
    }
}

/// The request in a body; a large one is taken apart while the event loop serves others.
async fn parse(body: Bytes) -> Result<ChatRequest, ApiError> {
    if body.len() <= LARGE_BODY {
        return wire::chat::parse(body);
    }
    let parsing = tokio::task::spawn_blocking(move || wire::chat::parse(body));
    // A panic has logged its place.
    parsing.await.unwrap_or(Err(ApiError::Chat(ChatError::Internal, None)))
}
