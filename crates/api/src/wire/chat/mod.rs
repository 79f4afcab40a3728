//! OpenAI chat completions, as clients speak them.

pub(crate) mod answer;
mod fields;
mod messages;
mod problem;
mod request;
mod top;

pub use request::parse;
