//! The commands, one file each.

pub(crate) mod accounts;
pub(crate) mod allowances;
pub(crate) mod audit;
pub(crate) mod budgets;
pub(crate) mod catalog;
pub(crate) mod check;
pub(crate) mod connect;
pub(crate) mod example_config;
pub(crate) mod filter;
pub(crate) mod keys;
pub(crate) mod models;
pub(crate) mod organisation;
pub(crate) mod policy;
pub(crate) mod provider_keys;
pub(crate) mod providers;
pub(crate) mod records;
pub(crate) mod route;
pub(crate) mod routers;
pub(crate) mod secrets;
pub(crate) mod storage;
pub(crate) mod usage;

#[cfg(test)]
pub(crate) mod tests;

/// How a command ended: the process' exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// 0: done.
    Done,
    /// 1: it failed, or found what it was to find.
    Failed,
    /// 2: the command line or the configuration is wrong.
    Usage,
    /// 130: a second signal came while it was stopping, an interrupt (Ctrl-C).
    Interrupted,
    /// 143: a second signal came while it was stopping, SIGTERM.
    Terminated,
}

impl Exit {
    /// The exit code.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Interrupted => 130,
            Self::Terminated => 143,
        }
    }
}
