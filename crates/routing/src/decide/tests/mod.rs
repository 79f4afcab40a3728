//! What decisions have to hold to: properties for any request, and scenarios of whole conversations.

mod cache_lifetime;
mod conversation;
mod escalation;
mod explanations;
mod filters;
mod herding;
mod properties;
mod splits;
mod stale;
mod stickiness;
mod task_change;
