//! Reading a JSON object in one pass: the members that are known, each as its own type, and the
//! rest as they stand, without a copy.
//!
//! serde's own `flatten` would buffer every member and give up borrowing; a map of raw values would
//! scan nested objects once for each level.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Visitor};

/// A JSON string, borrowed from the input unless it holds escapes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Str<'a>(pub Cow<'a, str>);

impl std::ops::Deref for Str<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Str<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct StrVisitor;
        impl<'de> Visitor<'de> for StrVisitor {
            type Value = Str<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Str<'de>, E> {
                Ok(Str(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Str<'de>, E> {
                Ok(Str(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(StrVisitor)
    }
}

/// Declares a struct that is read from a JSON object in one pass.
///
/// Each field is an `Option`: absent and `null` are both `None`. A member that is not named lands
/// in `rest`, in order. A known member that comes twice is an error, since two readers of the same
/// bytes could then see different things. A field whose member has another name says so:
/// `kind = "type": Str<'a>`.
#[macro_export]
macro_rules! wire_object {
    ($(#[$meta:meta])* $vis:vis struct $name:ident<'a> {
        $($field:ident $(= $wire:literal)? : $ty:ty),* $(,)?
    }) => {
        $(#[$meta])*
        #[derive(Default)]
        $vis struct $name<'a> {
            $($vis $field: Option<$ty>,)*
            $vis rest: Vec<($crate::wire::Str<'a>, &'a ::serde_json::value::RawValue)>,
        }

        impl<'de: 'a, 'a> ::serde::de::Deserialize<'de> for $name<'a> {
            fn deserialize<D: ::serde::de::Deserializer<'de>>(
                deserializer: D,
            ) -> Result<Self, D::Error> {
                struct ObjectVisitor;
                impl<'de> ::serde::de::Visitor<'de> for ObjectVisitor {
                    type Value = $name<'de>;

                    fn expecting(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                        f.write_str("an object")
                    }

                    fn visit_map<A: ::serde::de::MapAccess<'de>>(
                        self,
                        mut map: A,
                    ) -> Result<$name<'de>, A::Error> {
                        #[allow(unused_imports, reason = "a struct may have no required traits")]
                        use ::serde::de::Error as _;
                        let mut object = $name::<'de>::default();
                        while let Some(name) = map.next_key::<$crate::wire::Str<'de>>()? {
                            match &*name {
                                $($crate::wire_object!(@name $field $($wire)?) => {
                                    if object.$field.is_some() {
                                        return Err(A::Error::duplicate_field(
                                            $crate::wire_object!(@name $field $($wire)?),
                                        ));
                                    }
                                    object.$field = map.next_value()?;
                                })*
                                _ => {
                                    let value = map.next_value()?;
                                    object.rest.push((name, value));
                                }
                            }
                        }
                        Ok(object)
                    }
                }
                deserializer.deserialize_map(ObjectVisitor)
            }
        }
    };
    (@name $field:ident) => { stringify!($field) };
    (@name $field:ident $wire:literal) => { $wire };
}

#[cfg(test)]
mod tests {
    use super::Str;

    wire_object! {
        struct Outer<'a> {
            kind = "type": Str<'a>,
            inner: Vec<Inner<'a>>,
        }
    }

    wire_object! {
        struct Inner<'a> {
            text: &'a serde_json::value::RawValue,
        }
    }

    #[test]
    fn known_members_are_typed_and_the_rest_is_kept() {
        let json = r#"{"x": [1, 2],"type":"a\n","inner":[{"text":"h\u0069","y":null}],"z":{}}"#;
        let outer: Outer<'_> = serde_json::from_str(json).unwrap();
        assert_eq!(outer.kind.as_deref(), Some("a\n"));
        let inner = outer.inner.unwrap();
        assert_eq!(inner[0].text.unwrap().get(), r#""h\u0069""#);
        assert_eq!(inner[0].rest.len(), 1);
        let rest: Vec<_> = outer.rest.iter().map(|(name, raw)| (&**name, raw.get())).collect();
        assert_eq!(rest, [("x", "[1, 2]"), ("z", "{}")]);
    }

    #[test]
    fn a_member_that_comes_twice_is_refused() {
        assert!(serde_json::from_str::<Outer<'_>>(r#"{"type":"a","type":"b"}"#).is_err());
        assert!(serde_json::from_str::<Outer<'_>>("[]").is_err());
    }
}
