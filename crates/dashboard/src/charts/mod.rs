//! Charts, drawn on the server as SVG with classes.
//!
//! Across, everything is a share of the width; upwards, it is pixels. So a chart is as wide as its
//! place and its text keeps its size, without a script and without a `viewBox` that scales it. The
//! table below a chart has the same figures, and the script reads the values at the pointer there.

mod bars;
mod scale;
mod spark;
mod waterfall;

pub use bars::{Bars, Series, Slot, csv_cell};
pub use scale::Unit;
pub use spark::{Meter, spark};
pub use waterfall::{Step, Waterfall};

use crate::components::prints_markup;

prints_markup!(Bars, Meter, Waterfall);

#[cfg(test)]
mod tests;
