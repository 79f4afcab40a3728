//! What pages are made of: small types that print themselves, each with its markup beside it.
//!
//! Values ([`Text`], [`Money`], [`Moment`], …) know how they are escaped and what stands in their
//! title. Larger parts ([`Field`], [`Filter`], [`Confirm`], …) are templates of their own.

mod code;
mod dialog;
mod empty;
mod figure;
mod filters;
mod form;
mod query;
mod table;
mod tabs;
mod text;
mod value;

pub use code::Code;
pub use dialog::Confirm;
pub(crate) use dialog::{NOT_ITS_NAME, is_confirmed};
pub use empty::Empty;
pub use figure::{Change, Figure, Trend};
pub use filters::{Choice, Filter, Filters};
pub use form::{Csrf, Drawn, Field, Kind, Problem};
pub(crate) use query::{BOUNDS, PERIOD};
pub use query::{Offer, Query};
pub use table::{Column, Pager};
pub use tabs::{Tab, Tabs};
pub use text::{Escaped, Markup, Text};
pub use value::{Badge, Cost, Count, Moment, Money, Share, Span, State, Tokens};

/// Implements what tells askama that a type escapes what it prints.
macro_rules! prints_markup {
    ($($name:ty),* $(,)?) => {
        $(impl askama::filters::HtmlSafe for $name {})*
    };
}
pub(crate) use prints_markup;

prints_markup!(
    Badge, Code, Column, Confirm, Cost, Count, Csrf, Empty, Field, Figure, Filters, Markup, Moment,
    Money, Pager, Share, Span, Tabs, Text, Tokens,
);
