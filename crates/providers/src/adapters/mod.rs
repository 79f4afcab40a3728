//! One folder a dialect. Adding a provider is a folder and one line here.

pub mod anthropic;
pub mod gemini;
pub mod openai;
