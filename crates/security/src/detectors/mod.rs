//! The detectors: what each kind of finding looks like and what tells it from its look-alikes.

pub(crate) mod personal;
pub(crate) mod secrets;
pub(crate) mod terms;
