//! Sluice's vocabulary, and its glossary.
//!
//! Client dialects are parsed into these types and provider dialects are built from them, so that
//! there are N + M translators and never N × M. Nothing here does I/O, and a thing is here only if
//! two crates need it.
//!
//! | Word | Means | Where |
//! | --- | --- | --- |
//! | provider | a service that runs models, as configured (`[[providers]]`) | [`ids::ProviderId`] |
//! | model | an entry of the catalogue: what a caller puts in `model` | [`ids::ModelId`] |
//! | deployment | a model at one provider in one region; a model may have several | `sluice-routing` |
//! | router | a model identifier that stands for several models | `sluice-routing` |
//! | principal | who asks: a key and its account | `sluice-gateway` |
//! | usage | tokens of one request in disjoint classes | [`usage::Usage`] |
//! | attempt | one call of a provider for a request | `sluice-gateway` |
//! | holder | the person or service that a key belongs to | [`organisation::Holder`] |
//! | attribution | whose a request was when it was made | [`organisation::Attribution`] |
//! | subject | whose use an allowance counts | [`organisation::Subject`] |
//! | actor | who changes something | [`organisation::Actor`] |
//! | outcome | how a request ended | [`outcome::Outcome`] |
//! | filter record | what the filter did with a request, without content | [`filtering::FilterRecord`] |
//! | route record | which model a router chose, and why | [`routing::RouteRecord`] |
//! | level | how strictly a request is filtered | [`level::SecurityLevel`] |
//! | region | where a request may be processed | [`region::Region`] |
//! | measure, window | what is added up, and how long until it is whole again | [`measure::Measure`], [`window::Window`] |
//! | retention | what may be written down about a request | [`policy::Retention`] |

pub mod answer;
pub mod chat;
pub mod clock;
pub mod event;
pub mod filtering;
pub mod ids;
pub mod json;
pub mod key;
pub mod level;
pub mod measure;
pub mod money;
pub mod organisation;
pub mod outcome;
pub mod policy;
pub mod region;
pub mod routing;
pub mod sealed;
pub mod secret;
pub mod source;
pub mod usage;
pub mod window;
pub mod wire;

/// An immutable UTF-8 string that shares its bytes: a slice of a request or answer costs no copy.
pub use bytestring::ByteString;
