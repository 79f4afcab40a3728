//! Structured personal data: what has a form of its own, or a word before it that says what it is.
//!
//! Each detector is a `confirm` that is called at a trigger (an `@`, the first digit of a place
//! with many digits, a dotted quad, a colon between hexadecimal digits, a word such as `passport`)
//! and decides from the bytes around it. Every look has a bound, so that the work is linear in the
//! text whatever it is. People's names and postal addresses have no such form: they are not found
//! here.

pub(crate) mod addresses;
mod classes;
mod context;
pub(crate) mod email;
pub(crate) mod labelled;
pub(crate) mod numbers;
#[cfg(test)]
mod scan;
#[cfg(test)]
mod tests;
