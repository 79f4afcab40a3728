//! The detectors: what each kind of finding looks like and what tells it from its look-alikes.

mod budget;
pub(crate) mod personal;
pub(crate) mod secrets;
pub(crate) mod table;
pub(crate) mod terms;
mod words;

pub(crate) use budget::{Budget, COST_OF_A_VALUE};
