//! Records as JSON text: what serde_json writes, for a third of the instructions.
//!
//! Two records are written for each request. Nearly all of one are the names of its fields, which
//! need no look at their characters, and short words that hold nothing to escape.

use serde::ser::{self, Error as _, Serialize};
use sluice_core::json::write_escaped;

type Result<T = ()> = std::result::Result<T, serde_json::Error>;

/// Appends `record`. After an error, `out` ends with a part of it.
pub(crate) fn append(record: &impl Serialize, out: &mut Vec<u8>) -> Result {
    record.serialize(Writer(out))
}

/// `record` as text.
pub(crate) fn to_string(record: &impl Serialize) -> Result<String> {
    let mut out = Vec::with_capacity(512);
    append(record, &mut out)?;
    String::from_utf8(out).map_err(serde_json::Error::custom)
}

/// Writes one value.
struct Writer<'o>(&'o mut Vec<u8>);

/// Writes the members of a list or of an object.
struct Members<'o> {
    out: &'o mut Vec<u8>,
    /// What stands before the next one: an opening bracket, then commas.
    separator: &'static [u8],
    /// What stands behind the last one.
    end: &'static [u8],
}

impl<'o> Writer<'o> {
    /// What is neither text nor made of other values, as serde_json writes it.
    fn plain(self, value: impl Serialize) -> Result {
        serde_json::to_writer(self.0, &value)
    }

    fn list(self) -> Result<Members<'o>> {
        Ok(Members { out: self.0, separator: b"[", end: b"]" })
    }

    fn object(self) -> Result<Members<'o>> {
        Ok(Members { out: self.0, separator: b"{", end: b"}" })
    }

    /// Begins an object whose one member is a variant with its value.
    fn variant(&mut self, name: &'static str) {
        self.0.push(b'{');
        write_name(name, self.0);
    }
}

/// The name of a field or a variant. It comes from the source: in quotes it is a literal.
fn write_name(name: &'static str, out: &mut Vec<u8>) {
    out.push(b'"');
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":");
}

impl Members<'_> {
    fn separate(&mut self) {
        self.out.extend_from_slice(self.separator);
        self.separator = b",";
    }

    fn element(&mut self, value: &(impl Serialize + ?Sized)) -> Result {
        self.separate();
        value.serialize(Writer(self.out))
    }

    fn field(&mut self, name: &'static str, value: &(impl Serialize + ?Sized)) -> Result {
        self.separate();
        write_name(name, self.out);
        value.serialize(Writer(self.out))
    }

    fn close(self) -> Result {
        // Without a member, the opening bracket is still to come.
        if self.separator != b"," {
            self.out.extend_from_slice(self.separator);
        }
        self.out.extend_from_slice(self.end);
        Ok(())
    }
}

/// Methods for values that are written as serde_json does.
macro_rules! plain {
    ($($method:ident($type:ty))*) => {$(
        fn $method(self, value: $type) -> Result {
            self.plain(value)
        }
    )*};
}

impl<'o> ser::Serializer for Writer<'o> {
    type Ok = ();
    type Error = serde_json::Error;
    type SerializeSeq = Members<'o>;
    type SerializeTuple = Members<'o>;
    type SerializeTupleStruct = Members<'o>;
    type SerializeTupleVariant = Members<'o>;
    type SerializeMap = Members<'o>;
    type SerializeStruct = Members<'o>;
    type SerializeStructVariant = Members<'o>;

    plain! {
        serialize_bool(bool) serialize_i8(i8) serialize_i16(i16) serialize_i32(i32)
        serialize_i64(i64) serialize_u8(u8) serialize_u16(u16) serialize_u32(u32)
        serialize_u64(u64) serialize_f32(f32) serialize_f64(f64) serialize_char(char)
        serialize_bytes(&[u8])
    }

    fn serialize_str(self, text: &str) -> Result {
        write_escaped(text, self.0);
        Ok(())
    }

    fn serialize_none(self) -> Result {
        self.plain(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result {
        self.plain(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result {
        self.plain(())
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        mut self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result {
        self.variant(variant);
        value.serialize(Writer(self.0))?;
        self.0.push(b'}');
        Ok(())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Members<'o>> {
        self.list()
    }

    fn serialize_tuple(self, _: usize) -> Result<Members<'o>> {
        self.list()
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Members<'o>> {
        self.list()
    }

    fn serialize_tuple_variant(
        mut self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Members<'o>> {
        self.variant(variant);
        Ok(Members { out: self.0, separator: b"[", end: b"]}" })
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Members<'o>> {
        self.object()
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Members<'o>> {
        self.object()
    }

    fn serialize_struct_variant(
        mut self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Members<'o>> {
        self.variant(variant);
        Ok(Members { out: self.0, separator: b"{", end: b"}}" })
    }
}

/// The four kinds of lists.
macro_rules! lists {
    ($($kind:ident $add:ident)*) => {$(
        impl ser::$kind for Members<'_> {
            type Ok = ();
            type Error = serde_json::Error;

            fn $add<T: Serialize + ?Sized>(&mut self, value: &T) -> Result {
                self.element(value)
            }

            fn end(self) -> Result {
                self.close()
            }
        }
    )*};
}

lists! {
    SerializeSeq serialize_element
    SerializeTuple serialize_element
    SerializeTupleStruct serialize_field
    SerializeTupleVariant serialize_field
}

/// The two kinds of objects with known fields.
macro_rules! objects {
    ($($kind:ident)*) => {$(
        impl ser::$kind for Members<'_> {
            type Ok = ();
            type Error = serde_json::Error;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                value: &T,
            ) -> Result {
                self.field(name, value)
            }

            fn end(self) -> Result {
                self.close()
            }
        }
    )*};
}

objects! { SerializeStruct SerializeStructVariant }

impl ser::SerializeMap for Members<'_> {
    type Ok = ();
    type Error = serde_json::Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result {
        self.separate();
        let start = self.out.len();
        key.serialize(Writer(self.out))?;
        match self.out.get(start) {
            Some(b'"') => Ok(()),
            _ => Err(serde_json::Error::custom("a key that is no text")),
        }
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result {
        self.out.push(b':');
        value.serialize(Writer(self.out))
    }

    fn end(self) -> Result {
        self.close()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use serde::Serialize;
    use sluice_core::filtering::{FilterAction, FilterRecord};

    use super::*;
    use crate::journal::JournalEntry;
    use crate::sums::UsageSum;

    /// Something of each shape that serde knows.
    #[derive(Debug, Clone, Serialize)]
    enum Shape {
        Unit,
        Text(String),
        Number(u64),
        Float(f64),
        Signed(i32),
        Flag(bool),
        Character(char),
        Maybe(Option<Box<Shape>>),
        Pair(String, i64),
        Named { first: String, second: Vec<Shape> },
        Map(BTreeMap<String, Shape>),
        Nothing(()),
    }

    fn shape() -> impl Strategy<Value = Shape> {
        let leaf = prop_oneof![
            Just(Shape::Unit),
            Just(Shape::Nothing(())),
            any::<String>().prop_map(Shape::Text),
            any::<u64>().prop_map(Shape::Number),
            any::<f64>().prop_map(Shape::Float),
            any::<i32>().prop_map(Shape::Signed),
            any::<bool>().prop_map(Shape::Flag),
            any::<char>().prop_map(Shape::Character),
            (any::<String>(), any::<i64>()).prop_map(|(a, b)| Shape::Pair(a, b)),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::option::of(inner.clone().prop_map(Box::new)).prop_map(Shape::Maybe),
                ("[a-z\n\"]{0,40}", prop::collection::vec(inner.clone(), 0..4))
                    .prop_map(|(first, second)| Shape::Named { first, second }),
                prop::collection::btree_map(any::<String>(), inner, 0..4).prop_map(Shape::Map),
            ]
        })
    }

    proptest! {
        #[test]
        fn any_shape_is_written_as_serde_json_writes_it(shape in shape()) {
            let expected = serde_json::to_string(&shape).unwrap();
            prop_assert_eq!(to_string(&shape).unwrap(), expected);
        }

        #[test]
        fn a_journal_entry_is_written_as_serde_json_writes_it(
            name in any::<String>(),
            requests in any::<u64>(),
        ) {
            let entry = JournalEntry::Sum(UsageSum {
                key_id: name.as_str().into(),
                account_id: "a".into(),
                department_id: None,
                team_id: None,
                holder: None,
                quarter: 0,
                model: None,
                requests,
                usage: Default::default(),
                cost: None,
                uncounted_cost: None,
            assumed: Default::default(),
            });
            prop_assert_eq!(to_string(&entry).unwrap(), serde_json::to_string(&entry).unwrap());
            let filter = FilterRecord {
                action: FilterAction::Redact,
                redactions: [(name.clone(), requests)].into(),
                flags: vec![name],
                injection_permille: 7,
            };
            prop_assert_eq!(to_string(&filter).unwrap(), serde_json::to_string(&filter).unwrap());
        }
    }

    #[test]
    fn a_key_that_is_no_text_is_an_error() {
        to_string(&BTreeMap::from([(1, 2)])).unwrap_err();
    }
}
