//! What must hold of limits.

mod books;
mod ledger;
mod permit;
mod restart;
mod window;
