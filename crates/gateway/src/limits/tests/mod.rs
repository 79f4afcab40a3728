//! What must hold of limits.

mod books;
mod changes;
mod clock;
mod ledger;
mod permit;
mod restart;
mod sessions;
mod window;

use sluice_core::clock::{Moment, SteadyMillis, UnixMillis};

/// A moment at which both clocks say the same.
const fn both(wall: UnixMillis) -> Moment {
    Moment { wall, steady: SteadyMillis(wall.0) }
}
