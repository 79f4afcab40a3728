//! The database of a server: waited for at the start, and nobody else's while it serves.

use std::time::Duration;

use sluice_core::clock::Clock;
use sluice_storage::{Location, Serving, StorageError, Store};
use tokio::time::{Instant, sleep};

use super::notice::Notice;

/// How often a database that is away is tried again.
const PAUSE: Duration = Duration::from_secs(1);
/// How often the right to serve is looked after.
const LOOK: Duration = Duration::from_secs(2);

/// Opens the database and takes the right to serve from it. Waits for a database that is away, and
/// says so.
pub(super) async fn open(
    location: &Location,
    new_database: bool,
    clock: &dyn Clock,
) -> Result<(Store, Serving), StorageError> {
    let mut notice = Notice::default();
    loop {
        match try_open(location, new_database, clock).await {
            Ok(opened) => {
                if notice.fine().is_some() {
                    tracing::info!(database = location.database(), "the database is there");
                }
                return Ok(opened);
            }
            Err(error) if error.is_away() => {
                if let Some(times) = notice.failed(Instant::now()) {
                    let database = location.database();
                    tracing::error!(database, %error, times, "waiting for the database");
                }
                sleep(PAUSE).await;
            }
            Err(error) => return Err(error),
        }
    }
}

async fn try_open(
    location: &Location,
    new_database: bool,
    clock: &dyn Clock,
) -> Result<(Store, Serving), StorageError> {
    // First: a second server must not touch the database of the first.
    let mut serving = Serving::take(location, clock.now()).await?;
    let store = match new_database {
        false => Store::open(location.clone()).await?,
        true => Store::open_new(location.clone()).await?,
    };
    serving.announce(&store).await?;
    Ok((store, serving))
}

/// Looks after the right to serve, to the end.
pub(super) async fn keep(mut serving: Serving, store: Store) {
    let mut notice = Notice::default();
    loop {
        sleep(LOOK).await;
        match serving.keep(&store).await {
            Ok(lost) => {
                if notice.fine().is_some() || lost {
                    tracing::info!("this server is the one that serves from the database again");
                }
            }
            Err(error) => {
                if notice.failed(Instant::now()).is_some() {
                    tracing::error!(
                        %error,
                        "the connection that makes this server the one of its database is lost"
                    );
                }
            }
        }
    }
}
