//! One pass over a request's body: its members in order, as they stand, with the two long ones
//! (`messages`, `tools`) taken apart on the way.

use std::borrow::Cow;
use std::collections::HashSet;

use bytestring::ByteString;
use sluice_core::json::RawJson;
use sluice_core::json::scan::{Bounded, Cursor, Raw, Scan, ScanError};
use sluice_core::scan_object;
use sluice_core::source::SourceMember;
use sluice_core::wire::Str;

scan_object! {
    pub(super) struct WireMessage<'a> {
        role: Raw<'a>,
        content: Raw<'a>,
        name: Raw<'a>,
        tool_calls: Raw<'a>,
        tool_call_id: Raw<'a>,
        reasoning_details: Raw<'a>,
        cache_control: Raw<'a>,
    }
}

scan_object! {
    pub(super) struct WireTool<'a> {
        kind = "type": Str<'a>,
        function: WireFunction<'a>,
        cache_control: Raw<'a>,
    }
}

scan_object! {
    pub(super) struct WireFunction<'a> {
        name: Raw<'a>,
        description: Raw<'a>,
        parameters: Raw<'a>,
        strict: Raw<'a>,
    }
}

/// Messages that a request may have: some ten times what the longest sessions of agents have. Each
/// takes many times the memory of its shortest text.
pub(super) const MESSAGES: usize = 10_000;
/// Tools that a request may have. Agents with many tool servers send some hundreds.
pub(super) const TOOLS: usize = 4_096;
/// Members that a request may have. Clients send a dozen.
const MEMBERS: usize = 1_000;

/// A request's members.
#[derive(Default)]
pub(super) struct Top<'a> {
    members: Vec<(Str<'a>, Raw<'a>)>,
    pub(super) messages: Option<Bounded<WireMessage<'a>, MESSAGES>>,
    /// Each tool beside its own text, for those that are passed on whole.
    pub(super) tools: Option<Bounded<(WireTool<'a>, Raw<'a>), TOOLS>>,
}

impl<'a> Top<'a> {
    /// The value of a member, where it is there and not `null`.
    pub(super) fn value(&self, name: &str) -> Option<Raw<'a>> {
        let (_, value) = self.members.iter().find(|(known, _)| &**known == name)?;
        Some(*value).filter(|value| value.get() != "null")
    }

    /// All members in order. Values are slices of `body`, and so are names without escapes.
    pub(super) fn members(&self, body: &ByteString) -> Vec<SourceMember> {
        let member = |(name, value): &(Str<'_>, Raw<'_>)| SourceMember {
            name: match &name.0 {
                Cow::Borrowed(name) => body.slice_ref(name),
                Cow::Owned(name) => ByteString::from(name.as_str()),
            },
            value: RawJson::trusted(body.slice_ref(value.get())),
        };
        self.members.iter().map(member).collect()
    }
}

impl<'a> Scan<'a> for Top<'a> {
    fn scan(cursor: &mut Cursor<'a>) -> Result<Self, ScanError> {
        let mut top = Top::default();
        let mut names = Names::default();
        cursor.object(|cursor, name| {
            if top.members.len() >= MEMBERS {
                return Err(cursor.too_many_members(MEMBERS));
            }
            if !names.add(&name, &top.members) {
                return Err(cursor.duplicate(&name));
            }
            let value = match &*name {
                "messages" => {
                    let (messages, value) = Scan::scan(cursor)?;
                    top.messages = messages;
                    value
                }
                "tools" => {
                    let (tools, value) = Scan::scan(cursor)?;
                    top.tools = tools;
                    value
                }
                _ => Scan::scan(cursor)?,
            };
            top.members.push((name, value));
            Ok(())
        })?;
        Ok(top)
    }
}

/// The names that were there: two readers of a name that comes twice could see different requests.
#[derive(Default)]
struct Names<'a>(HashSet<Str<'a>>);

impl<'a> Names<'a> {
    /// Whether `name` is none of `members`. Requests have a dozen, among which looking is cheapest;
    /// a body made of names alone must not cost the square of their number.
    fn add(&mut self, name: &Str<'a>, members: &[(Str<'a>, Raw<'a>)]) -> bool {
        const FEW: usize = 32;
        if members.len() < FEW {
            return members.iter().all(|(known, _)| known != name);
        }
        if self.0.is_empty() {
            self.0.extend(members.iter().map(|(known, _)| known.clone()));
        }
        self.0.insert(name.clone())
    }
}

#[cfg(test)]
mod tests {
    use sluice_core::json::scan::read;

    use super::*;

    #[test]
    fn members_keep_their_order_their_bytes_and_their_names() {
        let body = ByteString::from_static(
            r#" { "mod\u0065l" : "m" ,"messages": [ {"role":"user"} ],"a\"b":null, "tools":[{"type":"x"} ] } "#,
        );
        let top: Top<'_> = read(&body).unwrap();
        let members = top.members(&body);
        let pairs: Vec<_> = members.iter().map(|m| (&*m.name, m.value.as_str())).collect();
        let expected = [
            ("model", r#""m""#),
            ("messages", r#"[ {"role":"user"} ]"#),
            ("a\"b", "null"),
            ("tools", r#"[{"type":"x"} ]"#),
        ];
        assert_eq!(pairs, expected);
        assert_eq!(top.value("model").unwrap().get(), r#""m""#);
        assert!(top.value("a\"b").is_none());
        assert_eq!(top.tools.unwrap().elements[0].1.get(), r#"{"type":"x"}"#);
    }

    #[test]
    fn a_name_that_comes_twice_is_refused_wherever_it_stands() {
        for count in [2, 31, 32, 33, 34, 100] {
            let names: Vec<String> = (0..count).map(|i| format!("\"member{i}\":{i}")).collect();
            let body = |names: &[String]| format!("{{{}}}", names.join(","));
            assert!(read::<Top<'_>>(&body(&names)).is_ok(), "{count}");
            for twice in [0, count / 2, count - 1] {
                let mut names = names.clone();
                names.push(format!("\"m\\u0065mber{twice}\":null"));
                let refused = read::<Top<'_>>(&body(&names)).err().unwrap().to_string();
                let expected = format!("duplicate field `member{twice}` at line 1 column ");
                assert!(refused.starts_with(&expected), "{refused}");
            }
        }
    }
}
