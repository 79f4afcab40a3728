//! What the request said: whether a value or a host of the answer was in it.
//!
//! The request stays as the bytes that it came in, and is searched on demand: few answers hold
//! anything that has to be asked for.

use serde_json::value::RawValue;
use sluice_core::source::SourceMember;

/// How many hosts are looked for. An answer that names more is no ordinary one, and its other hosts
/// are not known.
const MOST_HOSTS: usize = 256;
/// How many values are looked for. All others are new.
const MOST_VALUES: usize = 1024;

/// The request, as its caller sent it.
pub(super) struct Request {
    members: Vec<SourceMember>,
    /// Whether what tools returned names no host: it may be an attacker who does.
    suspect: bool,
    /// Hosts that were asked for.
    hosts: Vec<(String, bool)>,
    /// Values that were asked for.
    values: usize,
}

impl Request {
    pub(super) fn new(members: Vec<SourceMember>, suspect: bool) -> Self {
        Self { members, suspect, hosts: Vec::new(), values: 0 }
    }

    /// Whether the request looked like an attack on the model.
    pub(super) fn is_suspect(&self) -> bool {
        self.suspect
    }

    /// The request's members as they were written.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        self.members.iter().map(|member| member.value.as_str())
    }

    /// Whether the request holds `value`, as it is or as it stands in a JSON string.
    pub(super) fn holds(&mut self, value: &str) -> bool {
        self.values += 1;
        if self.values > MOST_VALUES {
            return false;
        }
        let holds = |value: &str| {
            let finder = memchr::memmem::Finder::new(value);
            self.texts().any(|text| finder.find(text.as_bytes()).is_some())
        };
        if holds(value) {
            return true;
        }
        // Once for a string, twice for JSON in a string: arguments of calls.
        let once = escaped(value);
        once != value && (holds(&once) || holds(&escaped(&once)))
    }

    /// Whether the request named `host`, which is in lower case.
    pub(super) fn names_host(&mut self, host: &str) -> bool {
        if let Some((_, named)) = self.hosts.iter().find(|(known, _)| known == host) {
            return *named;
        }
        if self.hosts.len() == MOST_HOSTS {
            return false;
        }
        let named = self.searches(host.strip_prefix("www.").unwrap_or(host));
        self.hosts.push((host.to_owned(), named));
        named
    }

    fn searches(&self, host: &str) -> bool {
        if !self.suspect {
            return self.texts().any(|text| names(text, host));
        }
        self.members.iter().any(|member| {
            if &*member.name != "messages" {
                return names(member.value.as_str(), host);
            }
            #[derive(serde::Deserialize)]
            struct Speaker {
                #[serde(default)]
                role: String,
            }
            let messages: Vec<&RawValue> = member.value.decode().unwrap_or_default();
            messages.into_iter().any(|message| {
                let speaker: Option<Speaker> = serde_json::from_str(message.get()).ok();
                let trusted =
                    speaker.is_some_and(|s| matches!(&*s.role, "system" | "developer" | "user"));
                trusted && names(message.get(), host)
            })
        })
    }
}

/// Whether `text` names `host`, in any case: the host itself or one below it.
fn names(text: &str, host: &str) -> bool {
    let Some(first) = host.bytes().next() else { return false };
    let bytes = text.as_bytes();
    let exact = memchr::memmem::find_iter(bytes, host.as_bytes());
    if exact.into_iter().any(|at| is_whole(bytes, at, host.len())) {
        return true;
    }
    let upper = first.to_ascii_uppercase();
    memchr::memchr2_iter(first, upper, bytes).any(|at| {
        bytes[at..].get(..host.len()).is_some_and(|word| word.eq_ignore_ascii_case(host.as_bytes()))
            && is_whole(bytes, at, host.len())
    })
}

/// Whether the host at `at` is not a part of a longer one, but for its labels further down.
fn is_whole(bytes: &[u8], at: usize, length: usize) -> bool {
    let is_label = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-' || *byte == b'_';
    // The `n` of an escaped line break is no letter of the host.
    let after_escape =
        at >= 2 && bytes[at - 2] == b'\\' && matches!(bytes[at - 1], b'n' | b't' | b'r');
    let begins = at == 0 || after_escape || !is_label(&bytes[at - 1]);
    let ends = match &bytes[at + length..] {
        [b'.', next, ..] => !is_label(next),
        [next, ..] => !is_label(next),
        [] => true,
    };
    begins && ends
}

fn escaped(value: &str) -> String {
    let literal = serde_json::to_string(value).unwrap_or_default();
    literal.get(1..literal.len().saturating_sub(1)).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use sluice_core::json::RawJson;

    use super::*;

    fn request(json: &str, suspect: bool) -> Request {
        let value = RawJson::parse(json).unwrap();
        Request::new(vec![SourceMember { name: "messages".into(), value }], suspect)
    }

    #[test]
    fn values_are_found_as_they_are_and_escaped() {
        let inner = serde_json::to_string("a\\\"b\nc").unwrap();
        let json = serde_json::to_string(&[&inner, "plain"]).unwrap();
        let mut request = request(&json, false);
        assert!(request.holds("plain") && request.holds("a\\\"b\nc"));
        assert!(!request.holds("plane"));
    }

    #[test]
    fn hosts_are_whole_names() {
        for (text, host, expected) in [
            ("see https://api.acme.io/v1", "api.acme.io", true),
            ("see https://API.Acme.IO/v1", "api.acme.io", true),
            ("see https://api.acme.io/v1", "acme.io", true),
            ("see https://api.acme.io.", "api.acme.io", true),
            ("see acme.io", "www.acme.io", true),
            ("line\nacme.io", "acme.io", true),
            ("see https://acme.io.attacker.net", "acme.io", false),
            ("see https://notacme.io", "acme.io", false),
            ("see https://acme.io", "api.acme.io", false),
        ] {
            let json = serde_json::to_string(text).unwrap();
            assert_eq!(request(&json, false).names_host(host), expected, "{text} {host}");
        }
    }

    #[test]
    fn what_tools_return_names_no_host_in_a_suspect_request() {
        let json =
            r#"[{"role":"user","content":"use good.io"},{"role":"tool","content":"bad.io"}]"#;
        let (mut trusting, mut wary) = (request(json, false), request(json, true));
        assert!(trusting.names_host("good.io") && trusting.names_host("bad.io"));
        assert!(wary.names_host("good.io") && !wary.names_host("bad.io"));
    }
}
