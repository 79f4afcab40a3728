//! The API as the dashboard's pages ask it: the same one that programs ask.

use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{Request, Response};
use http_body_util::Full;
use sluice_api::Api;
use sluice_dashboard::{Body, Question};

/// What records call the application.
const TITLE: &str = "Playground";

pub(super) struct OwnApi(pub(super) Arc<Api>);

impl sluice_dashboard::Api for OwnApi {
    fn chat(&self, question: Question) -> Pin<Box<dyn Future<Output = Response<Body>> + Send>> {
        let api = self.0.clone();
        Box::pin(async move {
            let Question { principal, body, address, watch } = question;
            let mut request = Request::new(Full::new(Bytes::from(body)));
            *request.method_mut() = http::Method::POST;
            *request.uri_mut() = http::Uri::from_static("/api/v1/chat/completions");
            let headers = request.headers_mut();
            headers.insert(CONTENT_TYPE, http::HeaderValue::from_static("application/json"));
            headers.insert("x-title", http::HeaderValue::from_static(TITLE));
            api.respond_to(principal, request, address, watch).await.map(Body::new)
        })
    }
}
