//! Which model answers, and why.
//!
//! Pure: no I/O, no clock, no randomness of its own.
//!
//! | Word | Means | Where |
//! | --- | --- | --- |
//! | member | a model that a router stands for | [`router::Member`] |
//! | contender | a member at one of its providers, for one request | [`decide::Contender`] |
//! | judgement | what a request asks for: task type and complexity | [`classify::Judgement`] |
//! | pace | time to first token and tokens per second | [`speed::Pace`] |
//! | session | the requests of one conversation, which keeps its model | [`session::Session`] |
//! | decision | the contenders in order, with what each scored | [`decide::Decision`] |

pub mod card;
pub mod catalog;
pub mod classify;
pub mod decide;
pub mod quality;
pub mod router;
pub mod session;
pub mod speed;
pub mod task;

#[cfg(test)]
mod testing;
