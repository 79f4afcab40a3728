//! The prompts that the load generator sends: 1 KB of conversation, 100 KB of source code, the turns
//! of a coding agent.
//!
//! Every message carries a nonce that each request replaces, so that a target cannot win by
//! remembering a text that real traffic would never repeat. An agent's turns do repeat what was said
//! before: only its next conversation has another nonce.

use std::fmt::Write;

use serde_json::{Value, json};

/// What stands for a nonce in a prompt: [`NONCE_PREFIX`] and sixteen hexadecimal digits.
const NONCE: &str = "ref-0000000000000000";
const NONCE_PREFIX: &str = "ref-";

/// How much a request says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Size {
    /// About 1 KB in two messages.
    Small,
    /// About 100 KB of source code in five messages, with addresses in each function.
    Large,
    /// The same without an address.
    LargeClean,
    /// A coding agent's conversation of [`AGENT_TURNS`] turns, which ends at about 150 KB.
    Agent,
}

/// How many requests a conversation of [`Size::Agent`] is.
pub const AGENT_TURNS: u64 = 40;

/// The requests of a conversation, in turn; of one, unless an agent has it.
#[derive(Debug)]
pub struct Prompt {
    turns: Vec<Turn>,
}

/// A request's bytes, head and body, with the places of its nonces.
#[derive(Debug)]
struct Turn {
    bytes: Vec<u8>,
    nonces: Vec<usize>,
}

impl Prompt {
    /// Chat requests for `model`, as a `POST` to `path` with further header lines `headers`.
    pub fn new(size: Size, model: &str, stream: bool, path: &str, headers: &[String]) -> Self {
        let turns = size.conversation().into_iter().map(|mut body| {
            body["model"] = json!(model);
            body["max_tokens"] = json!(512);
            if stream {
                body["stream"] = json!(true);
            }
            Turn::new(&body, path, headers)
        });
        Self { turns: turns.collect() }
    }

    /// The request with this number. Its nonces are those of no other conversation.
    pub fn numbered(&mut self, number: u64) -> &[u8] {
        let turns = self.turns.len() as u64;
        self.turns[(number % turns) as usize].with_nonce(number / turns)
    }
}

impl Turn {
    fn new(body: &Value, path: &str, headers: &[String]) -> Self {
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
    fn with_nonce(&mut self, nonce: u64) -> &[u8] {
        let digits = format!("{nonce:016x}");
        for &at in &self.nonces {
            self.bytes[at..at + digits.len()].copy_from_slice(digits.as_bytes());
        }
        &self.bytes
    }
}

impl Size {
    /// The bodies of a conversation's requests, but for the model.
    fn conversation(self) -> Vec<Value> {
        match self {
            Self::Agent => agent(),
            _ => vec![json!({ "messages": self.messages() })],
        }
    }

    /// The messages of a request that says so much; of an agent's, what it begins with.
    pub fn messages(self) -> Value {
        let system = format!(
            "You are a careful programmer. Answer briefly, name the line, and show only the lines \
             that change. Session {NONCE}."
        );
        let mut messages = vec![json!({ "role": "system", "content": system })];
        let mut say = |role: &str, code: &str| {
            messages.push(json!({ "role": role, "content": format!("{NONCE}\n{code}") }));
        };
        match self {
            Self::Small => say("user", &code(0, 700, WITH_VALUES)),
            Self::Agent => say("user", "Find out why the last permit is never given back."),
            Self::Large | Self::LargeClean => {
                let values = if self == Self::Large { WITH_VALUES } else { WITHOUT_VALUES };
                for (turn, role) in
                    ["user", "assistant", "user", "assistant", "user"].iter().enumerate()
                {
                    say(role, &code(turn, 18_500, values));
                }
            }
        }
        messages.into()
    }
}

/// The turns of an agent that reads one file after the other: each request repeats the one before
/// it, and adds a call and its result.
fn agent() -> Vec<Value> {
    let tools: Vec<Value> = ["read_file", "write_file", "run_command", "search", "list_files"]
        .iter()
        .map(|name| {
            json!({ "type": "function", "function": {
                "name": name,
                "description": format!("Use {name} with a path below the repository's root."),
                "parameters": {
                    "type": "object",
                    "properties": {
                        "path": { "type": "string", "description": "a path in the repository" },
                        "text": { "type": "string", "description": "what to write or run" },
                    },
                    "required": ["path"],
                },
            }})
        })
        .collect();
    let Value::Array(mut messages) = Size::Agent.messages() else {
        return Vec::new();
    };
    let turns = (0..AGENT_TURNS as usize).map(|turn| {
        let id = format!("call_{turn:04}");
        messages.push(json!({
            "role": "assistant",
            "content": "I read the next file, since the one before only passes the permit on.",
            "tool_calls": [{ "id": id, "type": "function", "function": {
                "name": "read_file",
                "arguments": json!({ "path": format!("src/window_{turn}.rs") }).to_string(),
            }}],
        }));
        let values = if turn % 8 == 3 { WITH_VALUES } else { WITHOUT_VALUES };
        let file = code(turn, 3_000, values);
        messages.push(json!({ "role": "tool", "tool_call_id": id, "content": file }));
        json!({ "messages": messages, "tools": tools })
    });
    turns.collect()
}

/// A function's e-mail and network addresses: what the filter finds in it.
type Values = fn(usize) -> (String, String);

const WITH_VALUES: Values = |number| {
    let host = format!("10.1.{}.{}", number % 250, number % 199);
    (format!("owner{number}@example.org"), host)
};

const WITHOUT_VALUES: Values = |_| ("the owner".to_owned(), "localhost".to_owned());

/// Source code of at least `length` bytes, with `values`. `turn` makes each message's another.
///
/// It has what code has and prose does not: quotes, tabs and line ends (two bytes each in JSON),
/// numbers, addresses and long identifiers.
fn code(turn: usize, length: usize, values: Values) -> String {
    let mut code = String::with_capacity(length + 512);
    let mut number = turn * 7919 + 17;
    while code.len() < length {
        number = number * 31 % 99_991;
        let (owner, host) = values(number);
        // Writing to a `String` cannot fail.
        let _ = write!(
            code,
            "/// Reserves {number} units for the window that `key_{number}` is in.\n\
             fn reserve_{number}(window: &mut Window, wanted: u64) -> Result<Permit, LimitError> {{\n\
             \tlet left = window.limit.saturating_sub(window.used[{}]);\n\
             \tif wanted > left {{\n\
             \t\ttracing::warn!(\"limit \\\"{{}}\\\" reached\", window.name);\n\
             \t\treturn Err(LimitError::new(\"{owner}\", left, 0x{number:x}));\n\
             \t}}\n\
             \twindow.used[{}] += wanted; // settled in `settle_{number}`\n\
             \tOk(Permit {{ id: {number}, wanted, host: \"{host}\".into() }})\n\
             }}\n\n",
            number % 7,
            number % 7,
        );
    }
    code
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompt(size: Size) -> Prompt {
        Prompt::new(size, "bench-whole", false, "/", &[])
    }

    #[test]
    fn sizes_are_what_they_are_called() {
        for (size, wanted) in [
            (Size::Small, 1_000..1_800),
            (Size::Large, 100_000..115_000),
            (Size::LargeClean, 100_000..115_000),
            (Size::Agent, 140_000..165_000),
        ] {
            let prompt = prompt(size);
            let length = prompt.turns.last().map_or(0, |turn| turn.bytes.len());
            assert!(wanted.contains(&length), "{size:?}: {length}");
        }
    }

    #[test]
    fn every_message_has_the_nonce() {
        let mut prompt = prompt(Size::Large);
        let bytes = prompt.numbered(0xabcd).to_vec();
        assert_eq!(memchr::memmem::find_iter(&bytes, "ref-000000000000abcd").count(), 6);
        assert_eq!(memchr::memmem::find_iter(&bytes, NONCE_PREFIX).count(), 6);
    }

    #[test]
    fn an_agents_turns_repeat_what_was_said_and_its_conversations_do_not() {
        let mut prompt = prompt(Size::Agent);
        let messages = |bytes: &[u8]| {
            let body = memchr::memmem::find(bytes, b"\r\n\r\n").unwrap() + 4;
            let body: Value = serde_json::from_slice(&bytes[body..]).unwrap();
            body["messages"].as_array().unwrap().clone()
        };
        let mut before = messages(prompt.numbered(0));
        for turn in 1..AGENT_TURNS {
            let now = messages(prompt.numbered(turn));
            assert_eq!(now[..before.len()], before);
            assert_eq!(now.len(), before.len() + 2);
            before = now;
        }
        assert_ne!(messages(prompt.numbered(AGENT_TURNS)), messages(prompt.numbered(0)));
    }

    #[test]
    fn a_clean_text_has_no_address() {
        let bytes = prompt(Size::LargeClean).numbered(1).to_vec();
        assert!(memchr::memchr(b'@', &bytes).is_none());
        assert!(memchr::memmem::find(&bytes, b"10.1.").is_none());
    }
}
