//! The pages that people see.
//!
//! A page is a folder under `pages` with a view (what is shown, as plain values) and a template.
//! [`layout`] puts the frame around it, [`components`] and [`charts`] are what pages are made of,
//! [`mod@format`] is the one place where numbers and times become text. Nothing here knows where the
//! figures come from: a view is filled by whoever answers the request, or by [`samples`].
//!
//! Pages need no JavaScript, hold no inline script or style, and refer to nothing but this server,
//! so that `default-src 'self'` is all that their policy has to say.

pub mod assets;
pub mod charts;
pub mod components;
pub mod format;
pub mod layout;
mod pages;
mod sample;
mod web;

pub use axum::body::Body;
pub use pages::samples;
pub use sample::Sample;
pub use web::{Access, Api, Dashboard, Deployment, Method, Question, Route, routes};
