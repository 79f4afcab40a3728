//! Filters that look for more than the deployment's: one for each set of additions that is in use.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use sluice_security::request::{Additions, Filter};
use sluice_security::scan::SettingsProblem;

/// The filters that were made of a deployment's filter.
#[derive(Default)]
pub struct Filters(Mutex<Made>);

#[derive(Default)]
struct Made {
    /// The filter that they are made of.
    base: Option<Arc<Filter>>,
    filters: HashMap<Additions, Weak<Filter>>,
}

impl Filters {
    /// The filter with these additions to `base`; `None` where there are none. Keys with the same
    /// additions share one.
    pub(crate) fn of(
        &self,
        base: &Arc<Filter>,
        additions: &Additions,
    ) -> Result<Option<Arc<Filter>>, SettingsProblem> {
        if additions.is_empty() {
            return Ok(None);
        }
        let mut made = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if made.base.as_ref().is_none_or(|it| !Arc::ptr_eq(it, base)) {
            *made = Made { base: Some(base.clone()), filters: HashMap::new() };
        }
        if let Some(filter) = made.filters.get(additions).and_then(Weak::upgrade) {
            return Ok(Some(filter));
        }
        made.filters.retain(|_, filter| filter.strong_count() > 0);
        let filter = Arc::new(base.with(additions)?);
        made.filters.insert(additions.clone(), Arc::downgrade(&filter));
        Ok(Some(filter))
    }
}
