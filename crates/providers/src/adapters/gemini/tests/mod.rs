//! Both directions, from recorded examples to reviewed snapshots.

mod answers;
mod errors;
mod requests;

use super::GeminiGenerateContent;
use crate::endpoint::Target;

const BASE_URL: &str = "https://generativelanguage.googleapis.com";

macro_rules! example {
    ($name:literal) => {
        include_str!(concat!("../examples/", $name))
    };
}
use example;

fn target(model: &str) -> Target {
    crate::testing::target(GeminiGenerateContent, BASE_URL, "x-goog-api-key", model)
}
