//! Takes over what changes while the server runs: keys and accounts, the configuration, the
//! certificate.

use std::cmp::Ordering;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use sluice_api::Api;
use sluice_gateway::admin::Declared;
use sluice_gateway::gateway::Gateway;
use sluice_gateway::people::People;
use sluice_gateway::vendors::Vendors;
use sluice_security::scan::SettingsProblem;
use sluice_storage::{MasterKey, StorageError, Store};
use tokio::time::{Instant, sleep};

use super::assembly::{self, Assembly};
use super::certificates::Certificates;
use super::notice::Notice;
use super::organisation;
use super::vendors;
use super::watch::Watch;
use crate::cli::Source;
use crate::config::environment::Environment;
use crate::config::{Problems, ProcessEnvironment, Settings, acceptance};

/// How often keys, accounts and the configuration are looked at: a change of a key holds within a
/// second, one of the configuration within two.
const RELOAD_PAUSE: Duration = Duration::from_millis(400);

/// What is needed to take over changes.
pub(crate) struct Reload {
    pub(crate) source: Source,
    pub(crate) assembly: Assembly,
    pub(crate) gateway: Arc<Gateway>,
    pub(crate) api: Arc<Api>,
    pub(crate) people: Arc<People>,
    pub(crate) store: Store,
    pub(crate) master_key: MasterKey,
    /// What the configuration says of the organisation, until the database has all of it.
    pub(crate) organisation: Option<Declared>,
    /// The number of changes when that was tried last: it is tried again after the next one.
    pub(crate) organisation_tried: Option<u64>,
    pub(crate) certificates: Option<Arc<Certificates>>,
    /// The providers and models of the database that are in force.
    pub(crate) vendors: Vendors,
    /// Whether the keys of the accounts have to be read once more, since they could not be read.
    pub(crate) data_keys_wait: bool,
}

/// Takes over changes for as long as the server runs. A signal to hang up asks for all files to be
/// read, changed or not. `settings` are what it runs with.
pub(crate) async fn reload(mut reload: Reload, settings: Settings, mut hangup: Hangup) {
    let environment = ProcessEnvironment::default();
    let mut follower = Follower::new(settings, &environment);
    let mut notice = Notice::default();
    let mut certificates = reload.certificates.as_ref().map(|held| Watch::new(&held.files()));
    loop {
        let changes = reload.gateway.changes();
        let asked = tokio::select! {
            asked = hangup.within(RELOAD_PAUSE) => asked,
            () = changes.wanted() => false,
        };
        if follower.watch.look(&environment, asked) {
            match follower.judge(reload.source.settings().await, &environment) {
                Verdict::TakenOver { old } => {
                    reload.configuration(&old, &follower.settings).await;
                }
                Verdict::Wait => {}
                Verdict::Refuse(why) => {
                    tracing::error!("the changed configuration is not taken over: {why}");
                }
            }
        }
        if let (Some(held), Some(watch)) = (&reload.certificates, &mut certificates)
            && watch.look(&environment, asked)
        {
            held.renew();
            watch.settle();
        }
        match reload.changes(&follower.settings).await {
            Ok(()) => {
                if let Some(times) = notice.fine() {
                    tracing::info!(times, "changes of keys are read again");
                }
            }
            // The keys that are known stay valid: a database that is away must not turn into 401.
            Err(error) => {
                if let Some(times) = notice.failed(Instant::now()) {
                    tracing::error!(%error, times, "changes of keys cannot be read");
                }
            }
        }
    }
}

impl Reload {
    async fn configuration(&mut self, old: &Settings, settings: &Settings) {
        for key in Settings::restart_needed(old, settings) {
            tracing::warn!(key, "a change of this setting needs a restart");
        }
        for warning in &settings.warnings {
            tracing::warn!("{warning}");
        }
        if let Err(problem) = self.serve(settings).await {
            tracing::error!("the changed configuration is not taken over: {problem}");
            return;
        }
        self.api.replace_settings(assembly::api_settings(settings));
        self.people.set_times(settings.server.people().times);
        self.organisation = Some(settings.organisation.clone());
        self.organisation_tried = None;
        tracing::info!("the changed configuration is taken over");
    }

    /// Serves what `settings` and the database amount to.
    async fn serve(&self, settings: &Settings) -> Result<(), SettingsProblem> {
        let settings = vendors::with(settings, &self.vendors);
        let snapshot = self.assembly.snapshot(&settings, Some(&self.gateway.snapshot()))?;
        self.gateway.replace_snapshot(snapshot);
        let served = settings.catalog.models().iter().map(|model| &model.id);
        match self.store.models_first_served(served, self.gateway.now()).await {
            Ok(times) => self.gateway.note_first_served(times),
            Err(error) => tracing::error!(%error, "new models have no date yet"),
        }
        Ok(())
    }

    async fn changes(&mut self, settings: &Settings) -> Result<(), StorageError> {
        let known = self.gateway.directory_version();
        let found = self.store.change_version().await?.cmp(&known);
        if found != Ordering::Equal {
            // Before the directory: what cannot be read now is tried again.
            let vendors = Vendors::read(&self.store, &self.master_key).await?;
            self.data_keys().await;
            let changed = match found {
                Ordering::Greater => self.store.known(Some(known)).await?,
                // Another database is in its place.
                _ => self.store.known(None).await?,
            };
            if vendors != self.vendors {
                self.vendors = vendors;
                match self.serve(settings).await {
                    Ok(()) => tracing::info!("changed providers and models are taken over"),
                    Err(problem) => {
                        tracing::error!("changed providers are not taken over: {problem}");
                    }
                }
            }
            match found {
                Ordering::Greater => self.gateway.change_directory(changed),
                _ => self.gateway.replace_directory(changed),
            }
        }
        if self.data_keys_wait {
            self.data_keys().await;
        }
        self.gateway.changes().note_in_force(self.gateway.directory_version());
        self.organisation().await
    }

    /// Takes over the keys of the accounts. Where they cannot be read, those that are known stay: what a
    /// file on this machine says must not keep a key from being revoked.
    async fn data_keys(&mut self) {
        match self.store.account_keys(&self.master_key).await {
            Ok(keys) => {
                self.gateway.replace_data_keys(keys);
                self.data_keys_wait = false;
            }
            Err(error) => {
                if !self.data_keys_wait {
                    tracing::error!(%error, "the keys of the accounts cannot be read");
                }
                self.data_keys_wait = true;
            }
        }
    }

    async fn organisation(&mut self) -> Result<(), StorageError> {
        let version = Some(self.gateway.directory_version());
        let Some(declared) =
            self.organisation.as_ref().filter(|_| version != self.organisation_tried)
        else {
            return Ok(());
        };
        let now = self.gateway.now();
        if organisation::apply(&self.store, &self.master_key, declared, now).await? {
            self.organisation = None;
        }
        self.organisation_tried = version;
        Ok(())
    }
}

/// Decides what becomes of a changed configuration. It sees files only through an [`Environment`].
struct Follower {
    watch: Watch,
    /// What is in force.
    settings: Settings,
}

enum Verdict {
    /// [`Follower::settings`] are new.
    TakenOver {
        old: Box<Settings>,
    },
    /// It changed again while it was read.
    Wait,
    Refuse(String),
}

impl Follower {
    fn new(settings: Settings, environment: &dyn Environment) -> Self {
        let mut watch = Watch::new(&settings.files);
        // What was accepted before the start is in force already.
        watch.add_judged(acceptance::mark_in(&settings.storage.data_dir.0), environment);
        Self { watch, settings }
    }

    /// What becomes of what was read after two looks had seen the same.
    fn judge(
        &mut self,
        read: Result<Settings, Problems>,
        environment: &dyn Environment,
    ) -> Verdict {
        let new = match read {
            Ok(new) => new,
            Err(problems) => {
                self.watch.settle();
                return Verdict::Refuse(format!("\n{problems}"));
            }
        };
        if !self.watch.confirms(&new.files) {
            return Verdict::Wait;
        }
        let data_dirs = [&self.settings, &new].map(|it| it.storage.data_dir.0.as_path());
        let lost = acceptance::lost(&self.settings, &new);
        if !lost.is_empty()
            && !self.watch.was_asked()
            && !acceptance::is_accepted(&new, data_dirs, environment)
        {
            let lost: Vec<String> = lost.iter().map(ToString::to_string).collect();
            let why = refusal(&lost.join(", "), new.file.as_deref());
            self.watch.settle();
            self.watch.add(acceptance::mark_in(data_dirs[1]));
            return Verdict::Refuse(why);
        }
        let mark = acceptance::mark_in(data_dirs[1]);
        self.watch.settle();
        self.watch.keep(new.files.iter().map(|(path, _)| path.clone()).chain([mark]));
        Verdict::TakenOver { old: Box::new(std::mem::replace(&mut self.settings, new)) }
    }
}

fn refusal(lost: &str, file: Option<&Path>) -> String {
    let named = file.map_or_else(String::new, |file| format!(" --config {}", file.display()));
    format!(
        "it has lost {lost}, which the running one has. Put back what is missing. If you meant to \
         remove it, accept this content with `sluice check --accept{named}`, or send SIGHUP"
    )
}

/// The signal to read the configuration again. Made before the server listens: a signal that comes
/// before would be lost, or end the process.
pub(crate) struct Hangup {
    #[cfg(unix)]
    signal: Option<tokio::signal::unix::Signal>,
}

impl Hangup {
    pub(crate) fn new() -> Self {
        Self {
            #[cfg(unix)]
            signal: tokio::signal::unix::signal(tokio::signal::unix::SignalKind::hangup()).ok(),
        }
    }

    /// Whether the signal came within `time`.
    async fn within(&mut self, time: Duration) -> bool {
        #[cfg(unix)]
        if let Some(signal) = &mut self.signal {
            return tokio::time::timeout(time, signal.recv()).await.is_ok();
        }
        sleep(time).await;
        false
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use sluice_core::level::SecurityLevel;

    use super::*;
    use crate::config::environment::tests::FixedEnvironment;

    const FILE: &str = "etc/sluice.toml";
    const BEFORE: &str = "[[providers]]\nid = \"lab\"\nkind = \"simulator\"\n\
                          [security]\nminimum_level = \"maximum\"\n";
    const AFTER: &str = "[security]\nminimum_level = \"high\"\nterms = [\"Bluebird\"]\n\
                         [[providers]]\nid = \"lab\"\nkind = \"simulator\"\n\
                         [limits.lowest]\nrequests_per_hour = 7\n";

    /// A server that follows its file, which it sees only when it looks.
    struct House {
        environment: FixedEnvironment,
        follower: Follower,
        refusals: Vec<String>,
    }

    impl House {
        fn new(text: &str) -> Self {
            let environment = FixedEnvironment::default().file(FILE, text);
            let settings = Settings::open(Some(Path::new(FILE)), &environment).unwrap();
            Self::with(environment, settings)
        }

        fn with(environment: FixedEnvironment, settings: Settings) -> Self {
            let follower = Follower::new(settings, &environment);
            Self { follower, environment, refusals: Vec::new() }
        }

        fn write(&mut self, path: &str, text: &str) {
            self.environment.files.insert(path.to_owned(), text.to_owned());
        }

        fn look(&mut self, asked: bool) {
            if !self.follower.watch.look(&self.environment, asked) {
                return;
            }
            let read = Settings::open(Some(Path::new(FILE)), &self.environment);
            match self.follower.judge(read, &self.environment) {
                Verdict::TakenOver { .. } | Verdict::Wait => {}
                Verdict::Refuse(why) => self.refusals.push(why),
            }
        }

        /// Writes `text`, and looks so often.
        fn holds(&mut self, text: &str, looks: usize) {
            self.write(FILE, text);
            (0..looks).for_each(|_| self.look(false));
        }

        fn level(&self) -> SecurityLevel {
            self.follower.settings.security.minimum_level
        }
    }

    #[test]
    fn a_whole_file_is_taken_over_at_the_second_look() {
        let mut house = House::new(BEFORE);
        house.holds(AFTER, 1);
        assert_eq!(house.level(), SecurityLevel::Maximum);
        house.look(false);
        assert_eq!(house.level(), SecurityLevel::High);
        assert_eq!(house.refusals, Vec::<String>::new());
        assert_eq!(house.follower.settings.limits.lowest.requests_per_hour.0, Some(7));
    }

    #[test]
    fn an_empty_file_is_refused_however_long_it_stays() {
        let mut house = House::new(BEFORE);
        house.holds("", 10);
        assert_eq!(house.level(), SecurityLevel::Maximum);
        let [refusal] = house.refusals.as_slice() else { panic!("{:?}", house.refusals) };
        for word in ["[security]", "all [[providers]]", "sluice check --accept", FILE, "SIGHUP"] {
            assert!(refusal.contains(word), "{word}: {refusal}");
        }
        // It is refused once, and forgotten when the file is whole again.
        house.holds(AFTER, 2);
        assert_eq!(house.level(), SecurityLevel::High);
    }

    #[test]
    fn a_file_that_is_gone_is_no_empty_one() {
        let mut house = House::new(BEFORE);
        house.look(false);
        house.environment.files.remove(FILE);
        (0..5).for_each(|_| house.look(false));
        assert_eq!(house.level(), SecurityLevel::Maximum);
        assert!(house.refusals[0].contains("cannot read the configuration"));
        house.holds(BEFORE, 3);
        assert_eq!((house.level(), house.refusals.len()), (SecurityLevel::Maximum, 1));
    }

    #[test]
    fn what_was_lost_on_purpose_is_accepted_by_a_mark_for_this_content_or_a_signal() {
        let without = "[[providers]]\nid = \"lab\"\nkind = \"simulator\"\n";
        let mut house = House::new(BEFORE);
        house.holds(without, 3);
        assert_eq!(house.level(), SecurityLevel::Maximum);
        // A mark for some other content accepts nothing.
        house.write("etc/sluice-data/accepted-configuration", "abc\n");
        (0..3).for_each(|_| house.look(false));
        assert_eq!((house.level(), house.refusals.len()), (SecurityLevel::Maximum, 2));
        let folder = tempfile::tempdir().unwrap();
        let mut settings = Settings::open(Some(Path::new(FILE)), &house.environment).unwrap();
        settings.storage.data_dir.0 = folder.path().to_owned();
        let mark = acceptance::accept(&settings).unwrap();
        let mark = std::fs::read_to_string(mark).unwrap();
        house.write("etc/sluice-data/accepted-configuration", &mark);
        (0..2).for_each(|_| house.look(false));
        assert_eq!(house.level(), SecurityLevel::Standard);

        let mut house = House::new(BEFORE);
        house.holds(without, 3);
        house.look(true);
        assert_eq!(house.level(), SecurityLevel::Standard);
        assert_eq!(house.refusals.len(), 1);
    }

    #[test]
    fn a_mark_that_was_there_at_the_start_is_no_change() {
        let mark = "etc/sluice-data/accepted-configuration";
        let environment = FixedEnvironment::default().file(FILE, BEFORE).file(mark, "abc\n");
        let settings = Settings::open(Some(Path::new(FILE)), &environment).unwrap();
        let mut house = House::with(environment, settings);
        for _ in 0..4 {
            assert!(!house.follower.watch.look(&house.environment, false));
        }
        house.write(mark, "abd\n");
        house.follower.watch.look(&house.environment, false);
        assert!(house.follower.watch.look(&house.environment, false), "a new mark is one");
    }

    proptest! {
        /// Rewritten in place, with a pause wherever the writer had got to: nothing that neither
        /// version asks for ever holds.
        #[test]
        fn half_a_file_never_lowers_the_level(cut in 0..=AFTER.len(), pause in 0..6_usize) {
            let mut house = House::new(BEFORE);
            house.look(false);
            for (text, looks) in [("", pause), (&AFTER[..cut], pause), (AFTER, 1)] {
                house.holds(text, looks);
                prop_assert!(house.level() >= SecurityLevel::High, "{text}");
            }
            house.look(false);
            house.look(false);
            prop_assert_eq!(house.level(), SecurityLevel::High);
        }
    }
}
