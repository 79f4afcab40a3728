//! Names of things, one type each, so that a key's id is never taken for an account's.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

macro_rules! id {
    ($(#[$doc:meta] $name:ident)*) => {$(
        #[$doc]
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.into())
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text.into())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:?}", &*self.0)
            }
        }

        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }
    )*};
}

id! {
    /// A provider, as `[[providers]]` names it.
    ProviderId
    /// A model of the catalogue: what a caller puts in `model`.
    ModelId
    /// An account.
    AccountId
    /// A service key's record; not the key itself.
    KeyId
    /// A department of an account.
    DepartmentId
    /// A team of a department.
    TeamId
    /// A person of an account.
    PersonId
    /// A service: what holds keys and is no person.
    ServiceId
    /// A budget.
    BudgetId
    /// A provider key of an account, a department or a team.
    ProviderKeyId
    /// A router that somebody made beside those of the configuration file.
    RouterId
    /// A request; also its usage record and the response header `x-request-id`.
    RequestId
}
