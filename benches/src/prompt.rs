//! The prompts that the load generator sends: 1 KB of conversation, 100 KB of source code.
//!
//! Every message carries a nonce that each request replaces, so that a target cannot win by
//! remembering a text that real traffic would never repeat.

use std::fmt::Write;

use serde_json::json;

/// What stands for a nonce in a prompt: [`NONCE_PREFIX`] and sixteen hexadecimal digits.
const NONCE: &str = "ref-0000000000000000";
const NONCE_PREFIX: &str = "ref-";

/// How much a request says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Size {
    /// About 1 KB in two messages.
    Small,
    /// About 100 KB of source code in five messages.
    Large,
}

/// A request's bytes, head and body, with the places of its nonces.
#[derive(Debug)]
pub struct Prompt {
    bytes: Vec<u8>,
    nonces: Vec<usize>,
}

impl Prompt {
    /// A chat request for `model`, as a `POST` to `path` with further header lines `headers`.
    pub fn new(size: Size, model: &str, stream: bool, path: &str, headers: &[String]) -> Self {
        let mut body = json!({ "model": model, "messages": size.messages(), "max_tokens": 512 });
        if stream {
            body["stream"] = json!(true);
        }
        let body = body.to_string();
        let mut head = format!(
            "POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n",
            body.len()
        );
        for header in headers {
            head.push_str(header);
            head.push_str("\r\n");
        }
        let bytes = format!("{head}\r\n{body}").into_bytes();
        let nonces =
            memchr::memmem::find_iter(&bytes, NONCE).map(|at| at + NONCE_PREFIX.len()).collect();
        Self { bytes, nonces }
    }

    /// The request with its nonces set to `nonce`.
    pub fn with_nonce(&mut self, nonce: u64) -> &[u8] {
        let digits = format!("{nonce:016x}");
        for &at in &self.nonces {
            self.bytes[at..at + digits.len()].copy_from_slice(digits.as_bytes());
        }
        &self.bytes
    }
}

impl Size {
    /// The messages of a request that says so much.
    pub fn messages(self) -> serde_json::Value {
        let system = format!(
            "You are a careful programmer. Answer briefly, name the line, and show only the lines \
             that change. Session {NONCE}."
        );
        match self {
            Self::Small => json!([
                { "role": "system", "content": system },
                { "role": "user", "content": format!("{NONCE}\n{}", code(0, 700)) },
            ]),
            Self::Large => {
                let mut messages = vec![json!({ "role": "system", "content": system })];
                for (turn, role) in
                    ["user", "assistant", "user", "assistant", "user"].iter().enumerate()
                {
                    let content = format!("{NONCE}\n{}", code(turn, 18_500));
                    messages.push(json!({ "role": role, "content": content }));
                }
                messages.into()
            }
        }
    }
}

/// Source code of at least `length` bytes. `turn` makes each message's another.
///
/// It has what code has and prose does not: quotes, tabs and line ends (two bytes each in JSON),
/// numbers, addresses and long identifiers.
fn code(turn: usize, length: usize) -> String {
    let mut code = String::with_capacity(length + 512);
    let mut number = turn * 7919 + 17;
    while code.len() < length {
        number = number * 31 % 99_991;
        // Writing to a `String` cannot fail.
        let _ = write!(
            code,
            "/// Reserves {number} units for the window that `key_{number}` is in.\n\
             fn reserve_{number}(window: &mut Window, wanted: u64) -> Result<Permit, LimitError> {{\n\
             \tlet left = window.limit.saturating_sub(window.used[{}]);\n\
             \tif wanted > left {{\n\
             \t\ttracing::warn!(\"limit \\\"{{}}\\\" reached\", window.name);\n\
             \t\treturn Err(LimitError::new(\"owner{number}@example.org\", left, 0x{number:x}));\n\
             \t}}\n\
             \twindow.used[{}] += wanted; // settled in `settle_{number}`\n\
             \tOk(Permit {{ id: {number}, wanted, host: \"10.1.{}.{}\".into() }})\n\
             }}\n\n",
            number % 7,
            number % 7,
            number % 250,
            number % 199,
        );
    }
    code
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_what_they_are_called() {
        for (size, wanted) in [(Size::Small, 1_000..1_800), (Size::Large, 100_000..115_000)] {
            let prompt = Prompt::new(size, "bench-whole", false, "/", &[]);
            assert!(wanted.contains(&prompt.bytes.len()), "{size:?}: {}", prompt.bytes.len());
        }
    }

    #[test]
    fn every_message_has_the_nonce() {
        let mut prompt = Prompt::new(Size::Large, "bench-whole", true, "/", &[]);
        assert_eq!(prompt.nonces.len(), 6);
        let bytes = prompt.with_nonce(0xabcd).to_vec();
        assert_eq!(memchr::memmem::find_iter(&bytes, "ref-000000000000abcd").count(), 6);
    }
}
