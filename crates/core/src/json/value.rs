//! Where a JSON value ends: the grammar, checked without keeping anything.
//!
//! Accepts what serde_json accepts where it skips a value, which is all of RFC 8259 at any depth
//! (nothing here recurses) and nothing else.

use super::string::end_of_string;

/// The index after the value that begins at `at`, after white space. `None` if there is none.
pub(super) fn end_of_value(bytes: &[u8], mut at: usize) -> Option<usize> {
    let mut open = Open::default();
    loop {
        // Here a value begins.
        at = after_space(bytes, at);
        at = match bytes.get(at)? {
            b'"' => end_of_string(bytes, at + 1)?,
            b'{' => {
                at = after_space(bytes, at + 1);
                if bytes.get(at)? != &b'}' {
                    open.push(Container::Object);
                    at = end_of_name(bytes, at)?;
                    continue;
                }
                at + 1
            }
            b'[' => {
                at = after_space(bytes, at + 1);
                if bytes.get(at)? != &b']' {
                    open.push(Container::Array);
                    continue;
                }
                at + 1
            }
            b't' => end_of_word(bytes, at, b"true")?,
            b'f' => end_of_word(bytes, at, b"false")?,
            b'n' => end_of_word(bytes, at, b"null")?,
            _ => end_of_number(bytes, at)?,
        };
        // Here a value has ended, and with it perhaps the containers that it was the last of.
        loop {
            let Some(container) = open.last() else { return Some(at) };
            at = after_space(bytes, at);
            match (container, bytes.get(at)?) {
                (Container::Object, b',') => {
                    at = end_of_name(bytes, after_space(bytes, at + 1))?;
                    break;
                }
                (Container::Array, b',') => {
                    at += 1;
                    break;
                }
                (Container::Object, b'}') | (Container::Array, b']') => {
                    open.pop();
                    at += 1;
                }
                _ => return None,
            }
        }
    }
}

/// The index of the first byte from `at` that is not white space.
#[inline]
pub(super) fn after_space(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = bytes.get(at) {
        at += 1;
    }
    at
}

/// The index after the colon of the member whose name begins at `at`.
fn end_of_name(bytes: &[u8], at: usize) -> Option<usize> {
    if bytes.get(at)? != &b'"' {
        return None;
    }
    let colon = after_space(bytes, end_of_string(bytes, at + 1)?);
    (bytes.get(colon)? == &b':').then_some(colon + 1)
}

fn end_of_word(bytes: &[u8], at: usize, word: &[u8]) -> Option<usize> {
    bytes.get(at..)?.starts_with(word).then_some(at + word.len())
}

/// `-`, then `0` or digits without a leading zero, then a fraction, then an exponent.
fn end_of_number(bytes: &[u8], mut at: usize) -> Option<usize> {
    if bytes.get(at)? == &b'-' {
        at += 1;
    }
    at = match bytes.get(at)? {
        b'0' if bytes.get(at + 1).is_some_and(u8::is_ascii_digit) => return None,
        b'0' => at + 1,
        _ => end_of_digits(bytes, at)?,
    };
    if let Some(b'.') = bytes.get(at) {
        at = end_of_digits(bytes, at + 1)?;
    }
    if let Some(b'e' | b'E') = bytes.get(at) {
        at += 1;
        if let Some(b'+' | b'-') = bytes.get(at) {
            at += 1;
        }
        at = end_of_digits(bytes, at)?;
    }
    Some(at)
}

/// The index after at least one digit.
fn end_of_digits(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    while bytes.get(at).is_some_and(u8::is_ascii_digit) {
        at += 1;
    }
    (at > from).then_some(at)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Container {
    Object,
    Array,
}

/// The containers that are open, a bit each: nothing is allocated for the first 64.
#[derive(Default)]
struct Open {
    depth: usize,
    /// The innermost ones, the last in the lowest bit; a set bit is an array.
    bits: u64,
    /// Full words of those further out.
    outer: Vec<u64>,
}

impl Open {
    fn push(&mut self, container: Container) {
        if self.depth != 0 && self.depth.is_multiple_of(64) {
            self.outer.push(self.bits);
        }
        self.bits = self.bits << 1 | u64::from(container == Container::Array);
        self.depth += 1;
    }

    fn pop(&mut self) {
        self.bits >>= 1;
        self.depth -= 1;
        if self.depth.is_multiple_of(64) {
            self.bits = self.outer.pop().unwrap_or_default();
        }
    }

    fn last(&self) -> Option<Container> {
        match (self.depth, self.bits & 1) {
            (0, _) => None,
            (_, 0) => Some(Container::Object),
            _ => Some(Container::Array),
        }
    }
}
