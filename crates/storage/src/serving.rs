//! One server a database, where that is PostgreSQL's. With SQLite, the data folder's lock is enough.
//!
//! The right to serve is a lock of a session on a connection of its own: it ends with the process or
//! its machine, so nothing is left behind. A row beside it names the server to whoever comes second,
//! and is what each ingesting transaction looks at: a server that lost its connection, and with it
//! the lock to another one, stores nothing any more.

use std::time::Duration;

use sluice_core::clock::UnixMillis;
use sqlx::{Connection as _, PgConnection, Row as _};
use tokio::time::{Instant, sleep};

use crate::database::{ANSWER, PostgresUrl, Transaction, answer, sql};
use crate::error::StorageError;
use crate::master_key::{random_bytes, to_hex};
use crate::open::{Location, Store};

/// The lock's number: arbitrary, and the same in every version.
const LOCK: i64 = 0x5175_1ce0_0000_0002;
/// How long a start waits for the lock: PostgreSQL needs a moment to notice that the process before
/// was killed.
const PATIENCE: Duration = Duration::from_secs(3);
/// PostgreSQL looks for a client that is silent every so often, so that the lock of a machine that
/// is gone is free after half a minute.
const NOTICE_SILENCE: &str = "SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; \
                              SET tcp_keepalives_count = 3; SET idle_session_timeout = 0";

/// The right to serve from a database, until it is dropped or its connection is lost.
#[derive(Debug)]
pub struct Serving(Option<OnServer>);

#[derive(Debug)]
struct OnServer {
    url: PostgresUrl,
    holder: String,
    process: Process,
    /// `None` once it was lost.
    connection: Option<PgConnection>,
    /// Whether the database names this server since it took the lock.
    announced: bool,
}

/// A server, as the others see it.
#[derive(Debug, Clone)]
struct Process {
    host: String,
    id: u32,
    since: UnixMillis,
}

/// The server that has to be serving when something is stored.
#[derive(Debug, Clone)]
pub(crate) struct Holder {
    id: String,
    server: String,
}

impl Serving {
    /// Takes the right to serve, or says who has it. Needs no tables: a server takes it before it
    /// opens the database, which may bring the tables to another version.
    pub async fn take(location: &Location, now: UnixMillis) -> Result<Self, StorageError> {
        let Some(url) = location.server() else { return Ok(Self(None)) };
        let process = Process { host: host(), id: std::process::id(), since: now };
        let holder = to_hex(&random_bytes::<16>()?);
        let mut taken =
            OnServer { url: url.clone(), holder, process, connection: None, announced: false };
        let until = Instant::now() + PATIENCE;
        loop {
            match taken.lock().await {
                Err(StorageError::ServedElsewhere { .. }) if Instant::now() < until => {
                    sleep(Duration::from_millis(100)).await;
                }
                Err(error) => return Err(error),
                Ok(()) => return Ok(Self(Some(taken))),
            }
        }
    }

    /// Names this server in the database, which is open by now.
    pub async fn announce(&mut self, store: &Store) -> Result<(), StorageError> {
        const DOING: &str = "name this server in the database";
        let Some(on_server) = &mut self.0 else { return Ok(()) };
        let process = &on_server.process;
        let mut tx = store.begin_write(DOING).await?;
        sql("INSERT INTO serving (id, holder, host, process, since) VALUES (1, $1, $2, $3, $4) \
             ON CONFLICT (id) DO UPDATE SET holder = excluded.holder, host = excluded.host, \
             process = excluded.process, since = excluded.since")
        .bind(&on_server.holder)
        .bind(&process.host)
        .bind(process.id)
        .bind(process.since)
        .execute(&mut tx)
        .await
        .map_err(StorageError::database(DOING))?;
        tx.commit(DOING).await?;
        on_server.announced = true;
        Ok(())
    }

    /// Makes sure that the right is still this server's: takes it again after a lost connection,
    /// unless another server has it by now, which the error names. `true`: it had been lost.
    pub async fn keep(&mut self, store: &Store) -> Result<bool, StorageError> {
        let Some(on_server) = &mut self.0 else { return Ok(false) };
        if let Some(connection) = &mut on_server.connection
            && answer(Some(ANSWER), connection.ping()).await.is_err()
        {
            on_server.connection = None;
        }
        if on_server.connection.is_some() && on_server.announced {
            return Ok(false);
        }
        if on_server.connection.is_none() {
            on_server.announced = false;
            on_server.lock().await?;
        }
        // Another server may have served and gone meanwhile.
        self.announce(store).await?;
        Ok(true)
    }

    pub(crate) fn holder(&self) -> Option<Holder> {
        let OnServer { url, holder, .. } = self.0.as_ref()?;
        Some(Holder { id: holder.clone(), server: url.server().to_owned() })
    }
}

impl OnServer {
    async fn lock(&mut self) -> Result<(), StorageError> {
        const DOING: &str = "take the right to serve from the database";
        let mut connection = self.url.connect().await?;
        // Settings that an older server does not know are left out; the lock holds without them.
        for setting in NOTICE_SILENCE.split("; ") {
            let _ = answer(Some(ANSWER), sqlx::query(setting).execute(&mut connection)).await;
        }
        let lock = sqlx::query_scalar("SELECT pg_try_advisory_lock($1)").bind(LOCK);
        let free: bool = answer(Some(ANSWER), lock.fetch_one(&mut connection))
            .await
            .map_err(StorageError::database(DOING))?;
        if free {
            self.connection = Some(connection);
            return Ok(());
        }
        let named = sqlx::query("SELECT host, process, since FROM serving WHERE id = 1");
        let named = answer(Some(ANSWER), named.fetch_optional(&mut connection)).await;
        // There may be no such table yet, or no row.
        let by = named.ok().flatten().and_then(|row| {
            let (id, since): (i64, i64) = (row.try_get(1).ok()?, row.try_get(2).ok()?);
            let since = UnixMillis(u64::try_from(since).ok()?);
            Some(Process { host: row.try_get(0).ok()?, id: u32::try_from(id).ok()?, since }.shown())
        });
        let by = by.unwrap_or_default();
        Err(StorageError::ServedElsewhere { server: self.url.server().to_owned(), by })
    }
}

impl Process {
    fn shown(&self) -> String {
        let Self { host, id, since } = self;
        format!(" (process {id} on {host}, since {})", since.to_rfc3339())
    }
}

impl Holder {
    /// Refuses where another server serves now. Nobody else can begin to serve before the
    /// transaction ends: it holds the writers' lock.
    pub(crate) async fn check(&self, tx: &mut Transaction) -> Result<(), StorageError> {
        let row = sql("SELECT holder, host, process, since FROM serving WHERE id = 1")
            .fetch_optional(tx)
            .await
            .map_err(StorageError::database("see which server serves"))?;
        let by = match row {
            Some(row) if row.string("holder")? == self.id => return Ok(()),
            Some(row) => Process {
                host: row.string("host")?,
                id: u32::try_from(row.count("process")?).unwrap_or(0),
                since: row.moment("since")?,
            }
            .shown(),
            None => String::new(),
        };
        Err(StorageError::ServedElsewhere { server: self.server.clone(), by })
    }
}

/// The machine's name.
fn host() -> String {
    #[cfg(unix)]
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    #[cfg(not(unix))]
    let name = "this machine".to_owned();
    name
}
