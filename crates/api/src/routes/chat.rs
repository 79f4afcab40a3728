//! `POST /api/v1/chat/completions`

use std::sync::Arc;

use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderName, HeaderValue, Request, Response};
use http_body::Body;
use sluice_gateway::chat::Answer;
use sluice_gateway::principal::Principal;
use sluice_gateway::request::RequestContext;

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
    request: Request<B>,
) -> Result<Response<ResponseBody>, ApiError> {
    let body = input::json(request, api.settings().request_body_limit_mib).await?;
    let chat = wire::chat::parse(body)?;
    let (include_usage, choices) = (chat.include_usage, chat.n);
    let request_id = context.id.to_string();
    let created = context.arrived_at.seconds();
    match api.gateway().chat(principal, chat, context).await? {
        Answer::Whole(whole) => {
            let (answer, receipt) = *whole;
            let id = completion_id(&answer.id, &request_id);
            let mut out = Vec::with_capacity(1024);
            write_whole(&answer, &receipt, (&id, created), &mut out);
            let mut response = routes::json(out);
            filtered::write_headers(&receipt.filter, response.headers_mut());
            routed::write_headers(receipt.route.as_deref(), response.headers_mut());
            Ok(response)
        }
        Answer::Stream(stream) => {
            let filter = stream.filter_so_far().clone();
            let route = stream.route().cloned();
            let labels = Labels { request_id, created, include_usage, choices };
            let body = SseBody::new(*stream, labels);
            let mut response = Response::new(ResponseBody::Events(Box::new(body)));
            let headers = response.headers_mut();
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
            headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
            headers.insert(ACCEL_BUFFERING, HeaderValue::from_static("no"));
            filtered::write_headers(&filter, headers);
            routed::write_headers(route.as_deref(), headers);
            Ok(response)
        }
    }
}
