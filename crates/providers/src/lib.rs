//! The only code that talks to models.
//!
//! An [`adapter::Adapter`] translates between Sluice's chat types and one provider's wire format;
//! it does no I/O and is tested by bytes alone. One [`transport`] sends, for all of them.

pub mod adapter;
pub mod adapters;
pub mod call;
mod counted;
pub mod endpoint;
pub mod error;
pub mod framing;
pub mod presets;
pub mod probe;
mod request;
pub mod simulator;
#[cfg(test)]
mod testing;
pub mod transport;
pub mod upstream;
