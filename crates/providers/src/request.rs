//! Builds the HTTP request that every adapter needs: address, headers, credential.

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderName, HeaderValue, Method, Request};

use crate::endpoint::{Auth, Endpoint, Target};
use crate::error::Unsupported;

/// A `POST` of the JSON text `body` to `path` below the target's base URL. `path` begins with a
/// slash and may hold a query of its own.
pub(crate) fn post(
    target: &Target,
    path: &str,
    body: Vec<u8>,
) -> Result<Request<Bytes>, Unsupported> {
    request(&target.endpoint, Method::POST, path, Bytes::from(body))
}

/// A `GET` of `path` below the endpoint's base URL.
pub(crate) fn get(endpoint: &Endpoint, path: &str) -> Result<Request<Bytes>, Unsupported> {
    request(endpoint, Method::GET, path, Bytes::new())
}

fn request(
    endpoint: &Endpoint,
    method: Method,
    path: &str,
    body: Bytes,
) -> Result<Request<Bytes>, Unsupported> {
    let mut address = String::with_capacity(endpoint.base_url.len() + path.len() + 16);
    address.push_str(&endpoint.base_url);
    address.push_str(path);
    if !endpoint.query.is_empty() {
        address.push(if path.contains('?') { '&' } else { '?' });
        address.push_str(&endpoint.query);
    }
    let unsendable = |reason: String| Unsupported { field: "model".to_owned(), reason };
    let is_json = !body.is_empty();
    let mut request = Request::builder()
        .method(method)
        .uri(address)
        .body(body)
        .map_err(|_| unsendable("has a provider whose address is not valid".to_owned()))?;
    let headers = request.headers_mut();
    if is_json {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    if let Some(credential) = &endpoint.credential {
        let (name, value) = match &endpoint.auth {
            Auth::Bearer => (AUTHORIZATION, format!("Bearer {}", credential.expose())),
            Auth::Header(name) => (
                HeaderName::try_from(name.as_str()).map_err(|_| {
                    unsendable("has a provider whose credential header is not valid".to_owned())
                })?,
                credential.expose().clone(),
            ),
        };
        let mut value = HeaderValue::try_from(value)
            .map_err(|_| unsendable("has a provider key that no header can hold".to_owned()))?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    for (name, value) in &endpoint.headers {
        headers.insert(name, value.clone());
    }
    Ok(request)
}

/// The credential of a target's provider as text, for taking it out of quoted messages.
pub(crate) fn credential(target: &Target) -> Option<&str> {
    target.endpoint.credential.as_ref().map(|secret| secret.expose().as_str())
}
