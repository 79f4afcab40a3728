//! What the sessions used that count against a budget of their own, so that a restart forgets nothing.

use sluice_core::clock::UnixMillis;
use sluice_core::organisation::Attribution;

use crate::database::sql;
use crate::error::StorageError;
use crate::open::Store;
use crate::usage;
use crate::windows::Used;

/// A request of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRequest {
    /// The session: see [`crate::UsageRecord::session`].
    pub session: String,
    /// Whose it was.
    pub whose: Attribution,
    /// When it counted.
    pub started_at: UnixMillis,
    /// What limits count of it.
    pub used: Used,
}

impl Store {
    /// Shows `look` all requests of the sessions that had one since `since`, session by session and in
    /// the order in which they counted.
    pub async fn requests_of_sessions(
        &self,
        since: UnixMillis,
        mut look: impl FnMut(SessionRequest),
    ) -> Result<(), StorageError> {
        const DOING: &str = "read what sessions have used";
        const AT_ONCE: u64 = 2_000;
        let mut after = (String::new(), 0, String::new());
        loop {
            let rows = sql(
                "SELECT * FROM usage_records WHERE session_id IN (SELECT session_id FROM usage_records \
                 WHERE started_at >= $1 AND session_id IS NOT NULL) AND (session_id > $2 \
                 OR (session_id = $2 AND started_at > $3) \
                 OR (session_id = $2 AND started_at = $3 AND request_id > $4)) \
                 ORDER BY session_id, started_at, request_id LIMIT $5",
            )
            .bind(since)
            .bind(after.0.as_str())
            .bind(UnixMillis(after.1))
            .bind(after.2.as_str())
            .bind(AT_ONCE)
            .fetch_all(self.database())
            .await
            .map_err(StorageError::database(DOING))?;
            for row in &rows {
                let record = usage::read(row)?;
                let Some(session) = record.session.clone() else { continue };
                after = (session.clone(), record.started_at.0, record.request_id.to_string());
                look(SessionRequest {
                    session,
                    whose: record.attribution(),
                    started_at: record.started_at,
                    used: record.counted(),
                });
            }
            if (rows.len() as u64) < AT_ONCE {
                return Ok(());
            }
        }
    }
}
