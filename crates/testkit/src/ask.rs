//! A request to Sluice, and a reply that has come whole.

use bytes::Bytes;
use http::{HeaderMap, Method, Request, StatusCode};
use serde_json::Value;

/// A request.
#[derive(Debug, Clone)]
pub struct Ask {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Bytes,
}

impl Ask {
    /// `GET path`.
    pub fn get(path: &str) -> Self {
        Self { method: Method::GET, path: path.to_owned(), headers: Vec::new(), body: Bytes::new() }
    }

    /// A chat request with this body.
    pub fn chat(body: &Value) -> Self {
        let ask = Self {
            method: Method::POST,
            path: "/api/v1/chat/completions".to_owned(),
            headers: Vec::new(),
            body: Bytes::from(body.to_string()),
        };
        ask.header("content-type", "application/json")
    }

    /// A form that is sent to `path`, with `fields` as a browser writes them.
    pub fn form(path: &str, fields: String) -> Self {
        let ask = Self { method: Method::POST, body: Bytes::from(fields), ..Self::get(path) };
        ask.header("content-type", "application/x-www-form-urlencoded")
    }

    /// `POST path` with these bytes, which need be no JSON.
    pub fn post(path: &str, content_type: &str, body: impl Into<Bytes>) -> Self {
        let ask = Self { method: Method::POST, body: body.into(), ..Self::get(path) };
        ask.header("content-type", content_type)
    }

    /// With this header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With this service key as a bearer credential.
    #[must_use]
    pub fn key(self, key: &str) -> Self {
        self.header("authorization", &format!("Bearer {key}"))
    }

    /// The HTTP request. `address` has scheme and authority.
    pub(crate) fn into_request(self, address: &str) -> Request<Bytes> {
        let mut request =
            Request::builder().method(self.method).uri(format!("{address}{}", self.path));
        for (name, value) in self.headers {
            request = request.header(name, value);
        }
        request.body(self.body).expect("a test asks for something that HTTP can say")
    }
}

/// A reply that has come whole.
#[derive(Debug, Clone)]
pub struct Reply {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

impl Reply {
    /// A header as text; empty where there is none.
    pub fn header(&self, name: &str) -> &str {
        header(&self.headers, name)
    }

    /// The request's identifier.
    pub fn request_id(&self) -> String {
        self.header("x-request-id").to_owned()
    }

    /// The body as text.
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("the body is text")
    }

    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error} in {}: {}", self.status, self.text()))
    }

    /// Status, `error.type` and `error.code`: what the error table documents.
    pub fn error(&self) -> (u16, String, String) {
        let error = &self.json()["error"];
        let word = |name: &str| error[name].as_str().unwrap_or("").to_owned();
        (self.status.as_u16(), word("type"), word("code"))
    }
}

pub(crate) fn header<'h>(headers: &'h HeaderMap, name: &str) -> &'h str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or("")
}
