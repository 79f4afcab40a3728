//! Reading a JSON text from its beginning to its end, without copies: what is known goes into
//! types, what is not stays as the text that it is.
//!
//! A request's body is read with this. serde_json would do, but for speed: it looks at a string
//! eight bytes at a time and stops at each escape, and prompts are long strings with many of them.
//! What is accepted is the same. Errors say where, not why: callers that answer to people let
//! serde_json read a refused text again and tell.

use std::borrow::Cow;
use std::fmt;

use super::string::end_of_string;
use super::value::{after_space, end_of_value};
use crate::wire::Str;

/// Why a text could not be read. It names members and places, never values.
#[derive(Debug, thiserror::Error)]
#[error("{problem} at line {line} column {column}")]
pub struct ScanError {
    /// What is wrong.
    pub problem: ScanProblem,
    /// The line, from 1.
    pub line: usize,
    /// Bytes of the line before the problem, as serde_json counts columns.
    pub column: usize,
}

/// What is wrong with a text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScanProblem {
    /// It is not JSON.
    #[error("invalid JSON")]
    Syntax,
    /// A value is of another type than its reader takes.
    #[error("expected {0}")]
    Type(&'static str),
    /// An object has more members than anybody sends who means well.
    #[error("an object has more than {0} members without a meaning here")]
    Members(usize),
    /// A member comes twice: two readers of the same bytes could see different things.
    #[error("duplicate field `{0}`")]
    Duplicate(String),
}

/// Members without a name of ours that an object of [`scan_object!`](crate::scan_object) may have.
/// Each is kept, at many times the size of its shortest text.
pub const MOST_MEMBERS: usize = 64;

/// A JSON value as it stands in the text, without space around it.
///
/// `Debug` prints its size, never its content.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Raw<'a>(&'a str);

impl<'a> Raw<'a> {
    /// The value's text.
    pub fn get(self) -> &'a str {
        self.0
    }

    /// Reads the value as a `T`. Places in an error count from the value's beginning.
    pub fn read<T: Scan<'a>>(self) -> Result<T, ScanError> {
        read(self.0)
    }
}

impl fmt::Debug for Raw<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Raw({} bytes)", self.0.len())
    }
}

/// Reads all of `text` as a `T`.
pub fn read<'a, T: Scan<'a>>(text: &'a str) -> Result<T, ScanError> {
    let mut cursor = Cursor { text, at: 0 };
    let value = T::scan(&mut cursor)?;
    match cursor.peek() {
        None => Ok(value),
        Some(_) => Err(cursor.error(ScanProblem::Syntax, cursor.at)),
    }
}

/// What can be read at a place in a text.
pub trait Scan<'a>: Sized {
    /// Reads one value and moves `cursor` behind it.
    fn scan(cursor: &mut Cursor<'a>) -> Result<Self, ScanError>;
}

impl<'a> Scan<'a> for Raw<'a> {
    fn scan(cursor: &mut Cursor<'a>) -> Result<Self, ScanError> {
        let from = after_space(cursor.text.as_bytes(), cursor.at);
        let Some(to) = end_of_value(cursor.text.as_bytes(), from) else {
            return Err(cursor.error(ScanProblem::Syntax, from));
        };
        cursor.at = to;
        Ok(Raw(&cursor.text[from..to]))
    }
}

impl<'a> Scan<'a> for Str<'a> {
    fn scan(cursor: &mut Cursor<'a>) -> Result<Self, ScanError> {
        if cursor.peek() != Some(b'"') {
            return Err(cursor.unexpected("a string"));
        }
        let from = cursor.at;
        let syntax = |cursor: &Cursor<'_>| cursor.error(ScanProblem::Syntax, from);
        let Some(to) = end_of_string(cursor.text.as_bytes(), from + 1) else {
            return Err(syntax(cursor));
        };
        cursor.at = to;
        let inside = &cursor.text[from + 1..to - 1];
        if !inside.as_bytes().contains(&b'\\') {
            return Ok(Str(Cow::Borrowed(inside)));
        }
        // Fails for surrogates that are not in pairs, which no Rust string can hold.
        serde_json::from_str(&cursor.text[from..to]).map_err(|_| syntax(cursor))
    }
}

/// `null` is `None`.
impl<'a, T: Scan<'a>> Scan<'a> for Option<T> {
    fn scan(cursor: &mut Cursor<'a>) -> Result<Self, ScanError> {
        if cursor.peek() == Some(b'n') {
            Raw::scan(cursor)?;
            return Ok(None);
        }
        T::scan(cursor).map(Some)
    }
}

impl<'a, T: Scan<'a>> Scan<'a> for Vec<T> {
    fn scan(cursor: &mut Cursor<'a>) -> Result<Self, ScanError> {
        let mut elements = Vec::new();
        cursor.array(|cursor| {
            elements.push(T::scan(cursor)?);
            Ok(())
        })?;
        Ok(elements)
    }
}

/// An array of which no more than `MOST` elements are kept; the rest is only counted. A short text
/// can have so many elements that their values would fill the memory.
#[derive(Debug)]
pub struct Bounded<T, const MOST: usize> {
    /// The first elements, at most `MOST`.
    pub elements: Vec<T>,
    /// How many there are.
    pub count: usize,
}

impl<'a, T: Scan<'a>, const MOST: usize> Scan<'a> for Bounded<T, MOST> {
    fn scan(cursor: &mut Cursor<'a>) -> Result<Self, ScanError> {
        let mut bounded = Self { elements: Vec::new(), count: 0 };
        cursor.array(|cursor| {
            if bounded.count < MOST {
                bounded.elements.push(T::scan(cursor)?);
            } else {
                Raw::scan(cursor)?;
            }
            bounded.count += 1;
            Ok(())
        })?;
        Ok(bounded)
    }
}

/// A value beside the text that it was read from.
impl<'a, T: Scan<'a>> Scan<'a> for (T, Raw<'a>) {
    fn scan(cursor: &mut Cursor<'a>) -> Result<Self, ScanError> {
        let from = after_space(cursor.text.as_bytes(), cursor.at);
        let value = T::scan(cursor)?;
        Ok((value, Raw(&cursor.text[from..cursor.at])))
    }
}

/// An object's members as they stand: each name as its literal, and each value.
#[derive(Debug, Default)]
pub struct Entries<'a>(pub Vec<(Raw<'a>, Raw<'a>)>);

impl<'a> Scan<'a> for Entries<'a> {
    fn scan(cursor: &mut Cursor<'a>) -> Result<Self, ScanError> {
        let mut entries = Vec::new();
        cursor.members(|cursor, name| {
            entries.push((name, Raw::scan(cursor)?));
            Ok(())
        })?;
        Ok(Self(entries))
    }
}

/// Reads the elements of an array one by one, but for those that the caller knows.
pub struct Elements<'a> {
    cursor: Cursor<'a>,
    is_first: bool,
}

impl<'a> Elements<'a> {
    /// Begins to read `text`, which is an array and nothing else.
    pub fn begin(text: &'a str) -> Result<Self, ScanError> {
        let mut cursor = Cursor { text, at: 0 };
        if !cursor.takes(b'[') {
            return Err(cursor.unexpected("an array"));
        }
        Ok(Self { cursor, is_first: true })
    }

    /// Where the next element begins; `None` when all were read.
    pub fn next_at(&mut self) -> Result<Option<usize>, ScanError> {
        let cursor = &mut self.cursor;
        let is_first = std::mem::take(&mut self.is_first);
        if !is_first && cursor.takes(b',') || is_first && cursor.peek() != Some(b']') {
            cursor.peek();
            return Ok(Some(cursor.at));
        }
        if cursor.takes(b']') && cursor.is_at_end() {
            return Ok(None);
        }
        Err(cursor.error(ScanProblem::Syntax, cursor.at))
    }

    /// Reads the next element.
    pub fn read<T: Scan<'a>>(&mut self) -> Result<T, ScanError> {
        T::scan(&mut self.cursor)
    }

    /// Goes on at `end`, where the caller knows that an element ends.
    pub fn skip_to(&mut self, end: usize) {
        self.cursor.at = end;
    }
}

/// A place in a JSON text, between two of its tokens.
pub struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    /// Reads an object. `member` is called with each name and reads the value.
    pub fn object(
        &mut self,
        member: impl FnMut(&mut Self, Str<'a>) -> Result<(), ScanError>,
    ) -> Result<(), ScanError> {
        self.members(member)
    }

    /// Reads an object, its names as `N`.
    fn members<N: Scan<'a>>(
        &mut self,
        mut member: impl FnMut(&mut Self, N) -> Result<(), ScanError>,
    ) -> Result<(), ScanError> {
        if self.peek() != Some(b'{') {
            return Err(self.unexpected("an object"));
        }
        self.at += 1;
        if self.takes(b'}') {
            return Ok(());
        }
        loop {
            if self.peek() != Some(b'"') {
                return Err(self.unexpected("a string"));
            }
            let name = N::scan(self)?;
            if !self.takes(b':') {
                return Err(self.error(ScanProblem::Syntax, self.at));
            }
            member(self, name)?;
            if !self.takes(b',') {
                break;
            }
        }
        if self.takes(b'}') { Ok(()) } else { Err(self.error(ScanProblem::Syntax, self.at)) }
    }

    /// Reads an array. `element` is called for each element and reads it.
    pub fn array(
        &mut self,
        mut element: impl FnMut(&mut Self) -> Result<(), ScanError>,
    ) -> Result<(), ScanError> {
        if self.peek() != Some(b'[') {
            return Err(self.unexpected("an array"));
        }
        self.at += 1;
        if self.takes(b']') {
            return Ok(());
        }
        loop {
            element(self)?;
            if !self.takes(b',') {
                break;
            }
        }
        if self.takes(b']') { Ok(()) } else { Err(self.error(ScanProblem::Syntax, self.at)) }
    }

    /// The error for a member that came before, to be made as soon as its name is known.
    #[cold]
    pub fn duplicate(&self, name: &str) -> ScanError {
        // A name may be as long as the body.
        let name = name.chars().take(64).collect();
        self.error(ScanProblem::Duplicate(name), self.at - 1)
    }

    /// The error for one member too many.
    #[cold]
    pub fn too_many_members(&self, most: usize) -> ScanError {
        self.error(ScanProblem::Members(most), self.at)
    }

    /// Moves behind white space; whether nothing comes after it.
    pub fn is_at_end(&mut self) -> bool {
        self.peek().is_none()
    }

    /// Moves behind white space; the byte that is there.
    fn peek(&mut self) -> Option<u8> {
        self.at = after_space(self.text.as_bytes(), self.at);
        self.text.as_bytes().get(self.at).copied()
    }

    /// Moves behind `byte`, if it is next.
    fn takes(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    #[cold]
    fn unexpected(&self, expected: &'static str) -> ScanError {
        self.error(ScanProblem::Type(expected), self.at)
    }

    #[cold]
    fn error(&self, problem: ScanProblem, at: usize) -> ScanError {
        let before = &self.text.as_bytes()[..at.min(self.text.len())];
        let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        ScanError { problem, line, column: before.len() - line_start }
    }
}

/// Declares a struct that is read from a JSON object in one pass by [`json::scan`](crate::json::scan).
///
/// The same as [`wire_object!`](crate::wire_object), which is for serde: each field is an `Option`,
/// absent and `null` are both `None`, a member that is not named lands in `rest`, in order, and a
/// known member that comes twice is an error.
#[macro_export]
macro_rules! scan_object {
    ($(#[$meta:meta])* $vis:vis struct $name:ident<'a> {
        $($field:ident $(= $wire:literal)? : $ty:ty),* $(,)?
    }) => {
        $(#[$meta])*
        #[derive(Default)]
        $vis struct $name<'a> {
            $($vis $field: Option<$ty>,)*
            $vis rest: Vec<($crate::wire::Str<'a>, $crate::json::scan::Raw<'a>)>,
        }

        impl<'a> $crate::json::scan::Scan<'a> for $name<'a> {
            fn scan(
                cursor: &mut $crate::json::scan::Cursor<'a>,
            ) -> Result<Self, $crate::json::scan::ScanError> {
                let mut object = Self::default();
                cursor.object(|cursor, name| {
                    match &*name {
                        $($crate::scan_object!(@name $field $($wire)?) => {
                            if object.$field.is_some() {
                                return Err(cursor.duplicate(&name));
                            }
                            object.$field = $crate::json::scan::Scan::scan(cursor)?;
                        })*
                        _ => {
                            if object.rest.len() >= $crate::json::scan::MOST_MEMBERS {
                                return Err(cursor.too_many_members($crate::json::scan::MOST_MEMBERS));
                            }
                            let value = $crate::json::scan::Scan::scan(cursor)?;
                            object.rest.push((name, value));
                        }
                    }
                    Ok(())
                })?;
                Ok(object)
            }
        }
    };
    (@name $field:ident) => { stringify!($field) };
    (@name $field:ident $wire:literal) => { $wire };
}

#[cfg(test)]
mod tests;
