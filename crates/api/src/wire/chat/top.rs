//! One pass over a request's body: its members in order, as they stand, with the two long ones
//! (`messages`, `tools`) taken apart on the way.

use std::borrow::Cow;
use std::fmt;

use bytestring::ByteString;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;
use sluice_core::json::RawJson;
use sluice_core::source::SourceMember;
use sluice_core::wire::Str;
use sluice_core::wire_object;

wire_object! {
    pub(super) struct WireMessage<'a> {
        role: &'a RawValue,
        content: &'a RawValue,
        name: &'a RawValue,
        tool_calls: &'a RawValue,
        tool_call_id: &'a RawValue,
        reasoning_details: &'a RawValue,
        cache_control: &'a RawValue,
    }
}

wire_object! {
    pub(super) struct WireTool<'a> {
        kind = "type": Str<'a>,
        function: WireFunction<'a>,
        cache_control: &'a RawValue,
    }
}

wire_object! {
    pub(super) struct WireFunction<'a> {
        name: &'a RawValue,
        description: &'a RawValue,
        parameters: &'a RawValue,
        strict: &'a RawValue,
    }
}

/// A request's members.
#[derive(Default)]
pub(super) struct Top<'a> {
    names: Vec<Str<'a>>,
    /// Values by the position of their name; `None` for the two that were taken apart.
    values: Vec<Option<&'a RawValue>>,
    pub(super) messages: Option<Vec<WireMessage<'a>>>,
    pub(super) tools: Option<Vec<WireTool<'a>>>,
}

impl<'a> Top<'a> {
    /// The value of a member, where it is there and not `null`.
    pub(super) fn value(&self, name: &str) -> Option<&'a RawValue> {
        let at = self.names.iter().position(|known| &**known == name)?;
        self.values[at].filter(|value| value.get() != "null")
    }

    /// Whether a member is there at all.
    pub(super) fn has(&self, name: &str) -> bool {
        self.names.iter().any(|known| &**known == name)
    }

    /// All members as slices of `body`, in order. `None` where a name was written with escapes, so
    /// that its place in the body is not known.
    pub(super) fn members(&self, body: &ByteString) -> Option<Vec<SourceMember>> {
        let mut members = Vec::with_capacity(self.names.len());
        for (at, name) in self.names.iter().enumerate() {
            let name = borrowed(name)?;
            let value = match self.values[at] {
                Some(value) => value.get(),
                None => {
                    // The value stands between its own name and the next, or the end.
                    let from = offset(body, name)? + name.len() + 1;
                    let to = match self.names.get(at + 1) {
                        Some(next) => offset(body, borrowed(next)?)?.checked_sub(1)?,
                        None => body.trim_end().len().checked_sub(1)?,
                    };
                    let between = body.get(from..to)?.trim_start().strip_prefix(':')?;
                    let between = between.trim_matches(JSON_SPACE);
                    between.strip_suffix(',').unwrap_or(between).trim_matches(JSON_SPACE)
                }
            };
            members.push(SourceMember {
                name: body.slice_ref(name),
                value: RawJson::trusted(body.slice_ref(value)),
            });
        }
        Some(members)
    }
}

const JSON_SPACE: [char; 4] = [' ', '\t', '\n', '\r'];

fn borrowed<'a>(name: &Str<'a>) -> Option<&'a str> {
    match name.0 {
        Cow::Borrowed(name) => Some(name),
        Cow::Owned(_) => None,
    }
}

/// Where `part`, a slice of `body`, begins.
fn offset(body: &ByteString, part: &str) -> Option<usize> {
    (part.as_ptr() as usize).checked_sub(body.as_ptr() as usize).filter(|at| *at <= body.len())
}

impl<'de: 'a, 'a> Deserialize<'de> for Top<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TopVisitor;
        impl<'de> Visitor<'de> for TopVisitor {
            type Value = Top<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Top<'de>, A::Error> {
                let mut top = Top::default();
                while let Some(name) = map.next_key::<Str<'de>>()? {
                    if top.has(&name) {
                        // Two readers of the same bytes could see different requests.
                        return Err(A::Error::custom(format_args!(
                            "duplicate field `{}`",
                            name.chars().take(64).collect::<String>()
                        )));
                    }
                    let value = match &*name {
                        "messages" => {
                            top.messages = map.next_value()?;
                            None
                        }
                        "tools" => {
                            top.tools = map.next_value()?;
                            None
                        }
                        _ => Some(map.next_value()?),
                    };
                    top.names.push(name);
                    top.values.push(value);
                }
                Ok(top)
            }
        }
        deserializer.deserialize_map(TopVisitor)
    }
}

/// `body` with its top-level names written without escapes. Nobody writes them so; whoever does
/// pays for a copy.
pub(super) fn normalise(body: &str) -> Result<ByteString, serde_json::Error> {
    struct Pairs<'a>(Vec<(Str<'a>, &'a RawValue)>);
    impl<'de: 'a, 'a> Deserialize<'de> for Pairs<'a> {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct PairsVisitor;
            impl<'de> Visitor<'de> for PairsVisitor {
                type Value = Pairs<'de>;

                fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    f.write_str("an object")
                }

                fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs<'de>, A::Error> {
                    let mut pairs = Vec::new();
                    while let Some(pair) = map.next_entry()? {
                        pairs.push(pair);
                    }
                    Ok(Pairs(pairs))
                }
            }
            deserializer.deserialize_map(PairsVisitor)
        }
    }
    let pairs: Pairs<'_> = serde_json::from_str(body)?;
    let mut out = Vec::with_capacity(body.len());
    for (name, value) in &pairs.0 {
        out.push(if out.is_empty() { b'{' } else { b',' });
        // A name that still needs escapes (a quote, a line end) stays as odd as it is, and the
        // member is then one of nobody's fields; it is written so that its place can be found.
        let plain: String =
            name.chars().map(|c| if c < ' ' || c == '"' || c == '\\' { '_' } else { c }).collect();
        sluice_core::json::write_escaped(&plain, &mut out);
        out.push(b':');
        out.extend_from_slice(value.get().as_bytes());
    }
    if out.is_empty() {
        out.push(b'{');
    }
    out.push(b'}');
    Ok(String::from_utf8_lossy(&out).into_owned().into())
}
