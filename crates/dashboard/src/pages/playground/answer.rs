//! The API's answer, as any client reads it: whole or event by event.

use axum::body::{Body, to_bytes};
use axum::response::Response;
use http::header::RETRY_AFTER;
use serde_json::Value;
use sluice_gateway::reference::ERRORS;

use super::view::Problem;
use crate::web::sentence;

/// No answer is longer.
const LONGEST: usize = 64 << 20;

/// What the API said, as far as it has come.
#[derive(Default)]
pub(super) struct Said {
    pub(super) model: String,
    pub(super) text: String,
    pub(super) thoughts: String,
    pub(super) problem: Option<Problem>,
    /// What came of an event that has not ended.
    rest: Vec<u8>,
    is_done: bool,
}

impl Said {
    /// All of an answer.
    pub(super) async fn whole(response: Response) -> Self {
        let status = response.status().as_u16();
        let retry_after = retry_after(&response);
        let bytes = to_bytes(response.into_body(), LONGEST).await.unwrap_or_default();
        let body: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let mut said = Self { is_done: true, ..Self::default() };
        said.read(&body, "message", status, retry_after);
        said
    }

    /// What came next of a stream. Gives back what is new of the answer's text.
    pub(super) fn more(&mut self, bytes: &[u8]) -> String {
        let before = self.text.len();
        self.rest.extend_from_slice(bytes);
        while let Some(end) = self.rest.windows(2).position(|pair| pair == b"\n\n") {
            let event: Vec<u8> = self.rest.drain(..end + 2).collect();
            let Some(data) = event.strip_prefix(b"data: ") else { continue };
            if data.starts_with(b"[DONE]") {
                self.is_done = true;
                continue;
            }
            let data: Value = serde_json::from_slice(data).unwrap_or_default();
            self.read(&data, "delta", 200, None);
        }
        self.text.get(before..).unwrap_or_default().to_owned()
    }

    /// The stream is over.
    pub(super) fn end(&mut self) {
        if !self.is_done && self.problem.is_none() {
            let says = "The answer broke off.".into();
            let fix = "Ask again.".to_owned();
            let code = "upstream_error".into();
            self.problem = Some(Problem { status: 502, code, says, fix, retry_after: None });
        }
    }

    fn read(&mut self, body: &Value, place: &str, status: u16, retry_after: Option<u64>) {
        if let Some(error) = body.get("error") {
            self.problem = Some(problem(error, status, retry_after));
            return;
        }
        if let Some(model) = body.get("model").and_then(Value::as_str).filter(|it| !it.is_empty()) {
            model.clone_into(&mut self.model);
        }
        let Some(said) = body.get("choices").and_then(|it| it.get(0)?.get(place)) else { return };
        let text = |name: &str| said.get(name).and_then(Value::as_str).unwrap_or_default();
        self.text.push_str(text("content"));
        self.text.push_str(text("refusal"));
        self.thoughts.push_str(text("reasoning"));
    }
}

/// An error as the API tells it, with what helps.
fn problem(error: &Value, status: u16, retry_after: Option<u64>) -> Problem {
    let text = |name: &str| error.get(name).and_then(Value::as_str).unwrap_or_default();
    let code = text("code");
    let line = ERRORS.iter().find(|line| line.code == code);
    Problem {
        // Within a stream, the status has gone before.
        status: line.filter(|_| status == 200).map_or(status, |line| line.status),
        code: code.into(),
        says: sentence(&text("message")).into(),
        fix: line.map(|line| sentence(&line.fix.replace('`', ""))).unwrap_or_default(),
        retry_after,
    }
}

pub(super) fn retry_after(response: &Response<Body>) -> Option<u64> {
    response.headers().get(RETRY_AFTER)?.to_str().ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &str = "data: {\"model\":\"mock\",\"choices\":[{\"delta\":{\"content\":\"\"}}]}\n\n\
        : keep-alive\n\n\
        data: {\"choices\":[{\"delta\":{\"content\":\"Grüße\\n\"}}]}\n\n\
        data: {\"choices\":[{\"delta\":{\"reasoning\":\"so\"}}]}\n\n\
        data: {\"choices\":[{\"delta\":{\"content\":\"!\"}}]}\n\n\
        data: {\"choices\":[],\"usage\":null}\n\n";

    #[test]
    fn a_stream_is_read_wherever_it_was_cut() {
        for size in 1..STREAM.len() {
            let mut said = Said::default();
            let pieces = STREAM.as_bytes().chunks(size);
            let news: String = pieces.map(|piece| said.more(piece)).collect();
            assert_eq!((news.as_str(), said.text.as_str()), ("Grüße\n!", "Grüße\n!"));
            assert_eq!((said.model.as_str(), said.thoughts.as_str()), ("mock", "so"));
            said.end();
            assert_eq!(said.problem.as_ref().map(|it| it.status), Some(502));
        }
    }

    #[test]
    fn an_error_in_a_stream_has_its_status() {
        let mut said = Said::default();
        said.more(b"data: {\"error\":{\"message\":\"the provider was slow\",\"code\":\"upstream_timeout\"}}\n\n");
        said.end();
        let problem = said.problem.unwrap();
        assert_eq!((problem.status, problem.says.plain()), (504, "The provider was slow."));
        assert!(!problem.fix.is_empty());
    }
}
