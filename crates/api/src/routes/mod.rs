//! The endpoints, a file each.

pub(crate) mod chat;
pub(crate) mod health;
pub(crate) mod models;
pub(crate) mod token;

use http::header::CONTENT_TYPE;
use http::{HeaderValue, Response};

use crate::body::ResponseBody;

/// A successful response of this JSON text.
pub(crate) fn json(body: Vec<u8>) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::whole(body));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
