//! `sluice serve`: puts everything together, serves, and stops in order.

mod assembly;
mod background;
mod banner;
mod certificates;
mod database;
mod hangup;
mod listen;
mod logging;
mod notice;
mod organisation;
mod own_api;
mod pages;
mod reload;
mod seats;
mod stall;
mod trail;
mod vendors;
mod watch;

use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use sluice_api::Api;
use sluice_core::clock::{Clock, SystemClock};
use sluice_core::key::{KeyClass, MaxTokensBound};
use sluice_core::organisation::Actor;
use sluice_dashboard::{Dashboard, Deployment};
use sluice_gateway::accounting::Accounting;
use sluice_gateway::admin::{Admin, AdminError, CreatedKey, NewKey};
use sluice_gateway::gateway::Gateway;
use sluice_gateway::live::Live;
use sluice_gateway::metrics::Metrics;
use sluice_gateway::people::{People, PeopleError};
use sluice_gateway::vendors::Vendors;
use sluice_security::scan::SettingsProblem;
use sluice_storage::{
    ContentSealer, DataLock, Ingester, Journal, MasterKey, StorageError, Store, Unwritten,
};
use tokio::time::{Instant, timeout, timeout_at};

use crate::cli::Source;
use crate::commands::Exit;
use crate::config::Settings;
use crate::links;
use assembly::Assembly;
pub(crate) use assembly::{FILTER_LABEL, rules};
use certificates::Certificates;
use listen::Surface;
use pages::PageThreads;
use seats::{Bounds, Seats};

/// How long answers that are cut off may take to tell their callers so, and to be recorded. They
/// need milliseconds; a client that does not read is waited for no longer.
const CUT_PATIENCE: Duration = Duration::from_secs(2);
/// How long a start looks for damage in the database: enough for about a gigabyte.
const INTEGRITY_CHECK: Duration = Duration::from_secs(3);

/// Why the server could not start, or did not end well.
#[derive(Debug, thiserror::Error)]
enum ServeError {
    #[error(transparent)]
    Storage(#[from] StorageError),
    #[error(transparent)]
    Admin(#[from] AdminError),
    #[error(transparent)]
    People(#[from] PeopleError),
    #[error(
        "cannot listen on {address}: {error}; is another server running there? Set `{setting}`"
    )]
    Listen { address: std::net::SocketAddr, error: io::Error, setting: &'static str },
    #[error("cannot start the threads of the dashboard: {0}; are there too many processes?")]
    Threads(io::Error),
    #[error("{0}")]
    Tls(String),
    #[error(transparent)]
    Filter(#[from] SettingsProblem),
    #[error(
        "the records of {} requests are lost: the journal could not be written ({})",
        .0.waiting + .0.lost, .0.error
    )]
    Lost(Unwritten),
}

/// Serves until it is told to stop.
pub(crate) async fn run(
    source: Source,
    new_database: bool,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<Exit> {
    let settings = match source.settings().await {
        Ok(settings) => settings,
        Err(problems) => {
            writeln!(err, "{problems}")?;
            return Ok(Exit::Usage);
        }
    };
    logging::start(&settings.log);
    logging::quiet_panics();
    // It holds all that a server has: too much for a stack.
    match Box::pin(serve(source.of(&settings), settings, new_database, out)).await {
        Ok(exit) => Ok(exit),
        Err(error) => {
            writeln!(err, "{error}")?;
            Ok(Exit::Failed)
        }
    }
}

async fn serve(
    source: Source,
    settings: Settings,
    new_database: bool,
    out: &mut dyn Write,
) -> Result<Exit, ServeError> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let location = settings.storage.location();
    let data_dir = location.data_dir().to_owned();
    // The lock comes first: a second server must not touch the database of the first.
    let _lock = DataLock::acquire(&data_dir)?;
    let mut signals = background::StopSignals::listen();
    let opened = tokio::select! {
        opened = database::open(&location, new_database, &*clock) => opened?,
        // There is nothing yet that would have to be stopped in order.
        _ = signals.next() => return Ok(Exit::Done),
    };
    let (store, serving) = opened;
    if !store.check_integrity(INTEGRITY_CHECK).await? {
        tracing::info!("the database is too large to check all of it at the start");
    }
    let master_key = store.unlock(MasterKey::load_or_create(&data_dir)?).await?;
    store.end_broken_rotation(&master_key, clock.now()).await?;

    // What a crash left in the journal comes first: the limits' windows are read afterwards.
    let mut ingester = Ingester::new(store.clone(), &master_key);
    ingester.hold(&serving);
    ingester.run_to_end().await?;
    let journal = Arc::new(Journal::open(&data_dir, &master_key)?);
    ingester.follow(journal.clone());
    let metrics = Arc::new(Metrics::default());
    let accounting = Accounting {
        journal: journal.clone(),
        clock: clock.clone(),
        metrics,
        live: Live::default(),
        contents: ContentSealer::new(&master_key),
    };

    let assembly = Assembly::new(&settings, clock.clone(), &master_key);
    let vendors = Vendors::read(&store, &master_key).await?;
    let effective = vendors::with(&settings, &vendors);
    let snapshot = assembly.snapshot(&effective, None)?;
    let gateway = Gateway::new(snapshot, master_key.key_hasher(), accounting);
    let gateway = Arc::new(gateway.with_store(store.clone()));
    let served = effective.catalog.models().iter().map(|model| &model.id);
    gateway.note_first_served(store.models_first_served(served, clock.now()).await?);

    let certificates = Certificates::load(&settings.server)?;
    let tls = certificates.as_ref().map(Certificates::acceptor);
    let server = &settings.server;
    let bound = listen::bind(server.listen, "server.listen").await?;
    let pages_bound = match server.dashboard_listen.0 {
        Some(address) => Some(listen::bind(address, "server.dashboard_listen").await?),
        None => None,
    };
    let metrics_bound = match server.metrics_listen.0 {
        Some(address) => Some(listen::bind(address, "server.metrics_listen").await?),
        None => None,
    };
    // The first key is shown only once, so nothing that can fail comes between it and its banner.
    let first_key = first_key(&store, &master_key, clock.now()).await?;
    let declared = settings.organisation.clone();
    let applied = organisation::apply(&store, &master_key, &declared, clock.now()).await?;
    gateway.replace_data_keys(store.account_keys(&master_key).await?);
    gateway.replace_directory(store.known(None).await?);
    gateway.restore_windows(&store).await?;
    let people = People::new(store.clone(), master_key.clone(), settings.server.people());
    let people = Arc::new(people);
    let api = Arc::new(Api::new(gateway.clone(), assembly::api_settings(&settings)));
    let address = bound.local_addr().unwrap_or(server.listen);
    let first_owner = people.welcome(clock.now()).await?;
    let pages = pages_bound.as_ref().and_then(|bound| bound.local_addr().ok());
    let deployment = Deployment {
        api_url: match pages {
            // The public URL is the dashboard's then.
            Some(_) => format!("{}://{}", links::scheme(&settings), links::reachable(address)),
            None => links::base(&settings, address),
        },
        pages_url: links::base(&settings, pages.unwrap_or(address)),
        time_zone: "UTC".to_owned(),
    };
    gateway.serves_pages_at(&deployment.pages_url);
    let own_api = Arc::new(own_api::OwnApi(api.clone()));
    let dashboard =
        Dashboard::new(gateway.clone(), people.clone(), own_api, clock.clone(), deployment);
    banner::print(
        &effective,
        address,
        first_key.as_ref(),
        pages.unwrap_or(address),
        first_owner.as_ref(),
        out,
    );
    for warning in &settings.warnings {
        tracing::warn!("{warning}");
    }

    let (stop, stopped) = tokio::sync::watch::channel(false);
    let drain = server.drain_seconds.duration();
    let page_threads = PageThreads::start().map_err(ServeError::Threads)?;
    let shared = listen::Shared {
        tls,
        api: api.clone(),
        pages: page_threads.of(dashboard),
        surface: if pages_bound.is_some() { Surface::Api } else { Surface::Both },
        stall: settings.timeouts.idle_seconds.duration(),
        seats: seats(&settings, gateway.shared_metrics()),
        proxies: Arc::new(settings.server.proxies()),
    };
    if let Some(listener) = metrics_bound {
        tokio::spawn(listen::metrics(listener, gateway.clone()));
    }
    let ingesting = tokio::spawn(background::ingest(ingester, gateway.clone(), stopped.clone()));
    tokio::spawn(background::sync(journal.clone()));
    tokio::spawn(background::housekeeping(store.clone(), people.clone(), clock.clone()));
    let keeper = trail::Keeper {
        store: store.clone(),
        master_key: master_key.clone(),
        gateway: gateway.clone(),
        clock: clock.clone(),
    };
    tokio::spawn(keeper.clone().keep());
    if let Some(address) = settings.audit.syslog.0.clone() {
        tokio::spawn(keeper.clone().forward(address));
    }
    tokio::spawn(database::keep(serving, store.clone()));
    let reload = reload::Reload {
        source,
        assembly,
        gateway: gateway.clone(),
        api,
        people,
        store: store.clone(),
        master_key,
        organisation: (!applied).then_some(declared),
        organisation_tried: None,
        certificates,
        vendors,
        data_keys_wait: false,
    };
    tokio::spawn(reload::reload(reload, settings, reload::Hangup::new()));
    let mut serving = tokio::spawn(async move {
        let pages = async {
            if let Some(bound) = pages_bound {
                let shared = listen::Shared { surface: Surface::Dashboard, ..shared.clone() };
                listen::clients(bound, shared, stopped.clone()).await;
            }
        };
        tokio::join!(pages, listen::clients(bound, shared.clone(), stopped.clone()));
    });

    signals.next().await;
    tracing::info!(drain_seconds = drain.as_secs(), "stopping; answers under way may finish");
    let deadline = Instant::now() + drain;
    gateway.drain();
    let _ = stop.send(true);
    let in_order = async {
        if timeout_at(deadline, &mut serving).await.is_err() {
            tracing::warn!("some answers did not finish in time; they are cut off");
            gateway.cut();
            let _ = timeout(CUT_PATIENCE, &mut serving).await;
            serving.abort();
        }
        let _ = background::write_the_rest(journal.clone(), deadline).await;
        // The last records are on their way into the database.
        let _ = timeout(Duration::from_secs(10), ingesting).await;
    };
    let exit = tokio::select! {
        () = in_order => Exit::Done,
        at_once = signals.next() => at_once,
    };
    if exit != Exit::Done {
        tracing::warn!("second signal to stop: answers under way are cut off, the journal stays");
        gateway.cut();
        if !serving.is_finished() {
            let _ = timeout(CUT_PATIENCE, &mut serving).await;
        }
    }
    // Once more, for what was cut off; whoever wants an end at once does not wait for a disk.
    let deadline = if exit == Exit::Done { deadline } else { Instant::now() };
    let unwritten = background::write_the_rest(journal, deadline).await;
    if exit != Exit::Done {
        if let Some(unwritten) = unwritten {
            tracing::error!("{}", ServeError::Lost(unwritten));
        }
        return Ok(exit);
    }
    keeper.sign().await;
    store.close().await;
    drop(page_threads);
    if let Some(unwritten) = unwritten {
        return Err(ServeError::Lost(unwritten));
    }
    tracing::info!("stopped");
    Ok(Exit::Done)
}

/// The places for connections: as many as are configured, where the system gives enough file
/// descriptors.
fn seats(settings: &Settings, metrics: Arc<Metrics>) -> Seats {
    let wanted = Bounds {
        of_one_address: settings.server.max_connections_per_address.0,
        all: settings.server.max_connections.0,
    };
    let bounds = wanted.within(seats::raise_descriptors());
    if bounds != wanted {
        tracing::warn!(
            connections = bounds.all,
            "the limit of file descriptors allows fewer connections than \
             `server.max_connections`; raise it (`ulimit -n`, `LimitNOFILE`)"
        );
    }
    Seats::new(bounds, metrics)
}

/// On a data folder without keys, and on no other: an account of the highest tier and a first key, which coding
/// agents can use as it is.
async fn first_key(
    store: &Store,
    master_key: &MasterKey,
    now: sluice_core::clock::UnixMillis,
) -> Result<Option<CreatedKey>, AdminError> {
    if store.has_keys().await? {
        return Ok(None);
    }
    let admin = Admin { store, master_key, now, actor: Actor::Sluice, surface: "first start" };
    admin.default_account().await?;
    let wish = NewKey {
        max_tokens: MaxTokensBound::Model,
        ..NewKey::named("first key", KeyClass::Enterprise)
    };
    admin.create_key(wish, None).await.map(Some)
}
