//! The configuration: `sluice.toml`, or what is found without one.
//!
//! [`Settings`] is what the rest of the program sees: checked, typed, with nothing left to look
//! up. A file goes through three steps: [`sections`] reads each section, [`providers`], [`models`]
//! and [`routers`] put them together with the presets and the built-in catalogue, and whatever is
//! wrong on the way is in [`Problems`], all at once.

pub(crate) mod acceptance;
mod aliases;
mod budgets;
pub(crate) mod environment;
pub(crate) mod example;
mod figures;
mod model_sections;
mod models;
mod organisation;
mod policies;
pub(crate) mod problem;
mod providers;
mod read;
mod routers;
pub(crate) mod sections;
pub(crate) mod syslog;
pub(crate) mod values;
pub(crate) mod web;
pub(crate) mod words;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use acceptance::WrittenSection;
use environment::{FileRead, hash_of};
use sluice_core::region::Region;
use sluice_gateway::admin::Declared;
use sluice_gateway::vendors::{self, Given, LeftOut, ProviderSettings, Vendors};
use sluice_routing::catalog::Catalog;
use sluice_routing::catalog::facts::FactList;
use sluice_routing::quality::table::{self, QualityTable, Row};
use sluice_security::kind::Kind;
use sluice_security::scan::{Scanner, SettingsProblem};
use sluice_security::surrogate::Surrogates;

pub(crate) use environment::{Environment, LocalServer, ProcessEnvironment};
pub(crate) use problem::{Problem, Problems};
pub(crate) use providers::local_candidates;
use read::{FromToml, Node, Reader, find};
use sections::{
    AuditSettings, KeyPolicy, LogSettings, Root, SecuritySettings, ServerSettings, StorageSettings,
    TierLimits, TimeoutSettings,
};

/// The name of the configuration file that is looked for in the current folder.
pub(crate) const DEFAULT_FILE: &str = "sluice.toml";

/// The environment variable that names the configuration file where the command line does not.
pub(crate) const FILE_VARIABLE: &str = "SLUICE_CONFIG";

/// The file of imported models and prices in the data folder.
pub(crate) const CATALOG_FILE: &str = "catalog.json";
/// What `sluice catalog quality import` leaves in the data folder.
pub(crate) const QUALITY_FILE: &str = "quality.csv";

/// A checked configuration. One that exists has nothing wrong.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    /// The file that it is from; `None` where there is none.
    pub(crate) file: Option<PathBuf>,
    /// Where requests are processed when nobody says.
    pub(crate) default_region: Option<Region>,
    /// `[server]`.
    pub(crate) server: ServerSettings,
    /// `[timeouts]`.
    pub(crate) timeouts: TimeoutSettings,
    /// `[storage]`.
    pub(crate) storage: StorageSettings,
    /// `[log]`.
    pub(crate) log: LogSettings,
    /// `[limits]`.
    pub(crate) limits: TierLimits,
    /// `[keys]`.
    pub(crate) keys: KeyPolicy,
    /// `[audit]`.
    pub(crate) audit: AuditSettings,
    /// `[security]`.
    pub(crate) security: SecuritySettings,
    /// The departments, teams, people and budgets that the file holds.
    pub(crate) organisation: Declared,
    /// The providers, as configured or found.
    pub(crate) providers: Vec<ProviderSettings>,
    /// Whether the providers were found rather than configured.
    pub(crate) discovered: bool,
    /// The models that they have, and the routers over them.
    pub(crate) catalog: Catalog,
    /// The same before anything that people put into the database is added.
    pub(crate) given: Arc<Given>,
    /// Every file that this was read from, and what it held: when one changes, so may the
    /// configuration. An imported catalogue is among them also where there is none yet.
    pub(crate) files: Vec<FileRead>,
    /// The sections that the file has something in.
    pub(crate) written: Vec<WrittenSection>,
    /// What works but is probably not meant so; one sentence each.
    pub(crate) warnings: Vec<String>,
}

impl Settings {
    /// The configuration in `path`; or all its problems.
    pub(crate) fn load(path: &Path, environment: &dyn Environment) -> Result<Self, Problems> {
        let text = environment.read_file(path).map_err(|error| {
            let mut problems = Problems::default();
            problems.add(Problem {
                file: Some(path.display().to_string()),
                line: None,
                column: None,
                key: String::new(),
                what: format!("cannot read the configuration: {error}"),
                fix: "`sluice example-config` prints one to start from".to_owned(),
            });
            problems
        })?;
        Self::from_text(Some(path), &text, environment)
    }

    /// The configuration that a command means: `config` where one is named, else what
    /// [`FILE_VARIABLE`] names, else `sluice.toml` in the current folder, else none.
    pub(crate) fn open(
        config: Option<&Path>,
        environment: &dyn Environment,
    ) -> Result<Self, Problems> {
        if let Some(path) = config {
            return Self::load(path, environment);
        }
        if let Some(path) = environment.variable(FILE_VARIABLE).filter(|path| !path.is_empty()) {
            return Self::load(Path::new(&path), environment);
        }
        let usual = Path::new(DEFAULT_FILE);
        match environment.read_file(usual) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Self::discover(environment)
            }
            _ => Self::load(usual, environment),
        }
    }

    /// The configuration without a file: defaults, and the providers that the environment names.
    pub(crate) fn discover(environment: &dyn Environment) -> Result<Self, Problems> {
        Self::from_text(None, "", environment)
    }

    /// The configuration in `text`. `path` is where it is from: relative paths start there.
    pub(crate) fn from_text(
        path: Option<&Path>,
        text: &str,
        environment: &dyn Environment,
    ) -> Result<Self, Problems> {
        let folder = path.and_then(Path::parent).unwrap_or(Path::new(""));
        let mut reader = Reader::new(path, text, folder, environment);
        let document = reader.document();
        if !reader.problems.is_empty() {
            // What a broken file seems to say is not worth checking.
            reader.problems.sort();
            return Err(reader.problems);
        }
        let Some(root) = Root::read(&document, None, &mut reader) else {
            reader.problems.sort();
            return Err(reader.problems);
        };
        check_server(&root, &mut reader);
        check_security(&root.security, &document, &mut reader);

        let mut warnings = Vec::new();
        let (facts, imported) = known_models(&root.storage, &mut reader, &mut warnings);
        let discovered = root.providers.is_empty();
        let providers = if discovered {
            providers::discover(environment, root.server.listen)
        } else {
            providers::check(&root.providers, &mut reader)
        };
        let (models, second_names) =
            models::build(&root, &providers, &facts, &mut reader, &mut warnings);
        let ids = root.models.iter().filter_map(|entry| entry.id.clone());
        let ids = ids.chain(root.routers.iter().filter_map(|entry| entry.id.clone()));
        let mut given = Given {
            found: discovered,
            providers,
            models,
            second_names,
            routers: Vec::new(),
            named: ids.collect(),
            facts,
        };
        given.routers = routers::check(&given.without_routers(), &root, &mut reader);
        let mut organisation = organisation::check(&root, &mut reader);
        organisation.budgets = budgets::check(&root, &mut reader);
        organisation.policies = policies::check(&root, &mut reader);
        if !reader.problems.is_empty() {
            reader.problems.sort();
            return Err(reader.problems);
        }

        let served = vendors::serve(&given, &Vendors::default());
        let file = path.map(|path| (path.to_owned(), hash_of(text)));
        let files = file.into_iter().chain(std::mem::take(&mut reader.files)).collect();
        let mut written = acceptance::written(&document);
        written.extend(imported.then(WrittenSection::imported_catalog));
        warnings.append(&mut reader.warnings);
        Ok(Self {
            file: path.map(Path::to_owned),
            default_region: root.default_region,
            server: root.server,
            timeouts: root.timeouts,
            storage: root.storage,
            log: root.log,
            limits: root.limits,
            keys: root.keys,
            audit: root.audit,
            security: root.security,
            organisation,
            providers: served.providers,
            discovered,
            catalog: served.catalog,
            given: Arc::new(given),
            files,
            written,
            warnings,
        })
    }

    /// The same with the providers and models that people put into the database; and what of those
    /// is not served.
    pub(crate) fn with(&self, vendors: &Vendors) -> (Self, Vec<LeftOut>) {
        let served = vendors::serve(&self.given, vendors);
        let (providers, catalog) = (served.providers, served.catalog);
        (Self { providers, catalog, ..self.clone() }, served.left_out)
    }

    /// How good models are, as far as anybody but this configuration says so.
    pub(crate) fn qualities(&self) -> &QualityTable {
        self.given.facts.qualities()
    }

    /// What to write, and where, so that the quality of `model` is no guess any more.
    pub(crate) fn line_for(&self, model: &str, guessed: f64) -> String {
        if self.given.named.iter().any(|named| named.as_str() == model) {
            return format!("`quality = {guessed:.2}`, or what you measured, in its [[models]]");
        }
        // One that somebody put into the database.
        if self.given.models.iter().all(|given| given.id.as_str() != model) {
            return format!(
                "`sluice models set {model} --quality default={guessed:.2}`, or what you measured"
            );
        }
        format!(
            "a line `{model},{guessed:.2}`, or what you measured, below `model,average` in the file \
             that you give to `sluice catalog quality import`"
        )
    }

    /// The settings that differ between two configurations but are taken over only by a restart.
    pub(crate) fn restart_needed(old: &Self, new: &Self) -> Vec<&'static str> {
        let (server, newer) = (&old.server, &new.server);
        [
            ("server.listen", server.listen != newer.listen),
            ("server.public_url", server.public_url != newer.public_url),
            ("server.dashboard_listen", server.dashboard_listen != newer.dashboard_listen),
            ("server.metrics_listen", server.metrics_listen != newer.metrics_listen),
            (
                "server.tls_certificate_file",
                server.tls_certificate_file != newer.tls_certificate_file,
            ),
            ("server.tls_key_file", server.tls_key_file != newer.tls_key_file),
            ("server.max_connections", server.max_connections != newer.max_connections),
            (
                "server.max_connections_per_address",
                server.max_connections_per_address != newer.max_connections_per_address,
            ),
            ("server.trusted_proxies", server.trusted_proxies != newer.trusted_proxies),
            ("server.drain_seconds", server.drain_seconds != newer.drain_seconds),
            (
                "timeouts.connect_seconds",
                old.timeouts.connect_seconds != new.timeouts.connect_seconds,
            ),
            ("storage.data_dir", old.storage.data_dir != new.storage.data_dir),
            ("storage.url", old.storage.url != new.storage.url),
            ("audit.syslog", old.audit.syslog != new.audit.syslog),
            ("log.format", old.log.format != new.log.format),
            ("log.level", old.log.level != new.log.level),
        ]
        .into_iter()
        .filter_map(|(key, differs)| differs.then_some(key))
        .collect()
    }
}

/// What holds between the settings of `[server]` and `[timeouts]`.
fn check_server(root: &Root, reader: &mut Reader<'_>) {
    let server = &root.server;
    match (&server.tls_certificate_file, &server.tls_key_file) {
        (Some(certificate), Some(key)) => {
            for (name, file) in [("tls_certificate_file", certificate), ("tls_key_file", key)] {
                if let Err(error) = reader.environment.read_file(&file.0) {
                    let what = format!("cannot read {}: {error}", file.0.display());
                    let fix = "relative paths start from the folder of the configuration file";
                    reader.wrong_at(format!("server.{name}"), None, what, fix);
                }
            }
        }
        (Some(_), None) => {
            let what = "missing, but tls_certificate_file is set";
            reader.wrong_at("server.tls_key_file", None, what, "set both, or neither");
        }
        (None, Some(_)) => {
            let what = "missing, but tls_key_file is set";
            reader.wrong_at("server.tls_certificate_file", None, what, "set both, or neither");
        }
        (None, None) => {}
    }
    let taken = [Some(server.listen), server.dashboard_listen.0];
    let others = [
        ("server.dashboard_listen", server.dashboard_listen.0, taken.get(..1)),
        ("server.metrics_listen", server.metrics_listen.0, taken.get(..)),
    ];
    for (setting, address, taken) in others {
        let is_taken = address.is_some() && taken.is_some_and(|taken| taken.contains(&address));
        if is_taken && address.is_some_and(|address| address.port() != 0) {
            let what = "is the address of the API or of the dashboard";
            reader.wrong_at(setting, None, what, "choose another port, or \"\"");
        }
    }
    if server.body_memory_mib.0 < server.request_body_limit_mib.0 {
        let what = "is less than request_body_limit_mib";
        let fix = "make it several times as much";
        reader.wrong_at("server.body_memory_mib", None, what, fix);
    }
    let timeouts = &root.timeouts;
    if timeouts.total_seconds < timeouts.first_token_seconds {
        let what = "is shorter than first_token_seconds, which could never pass";
        reader.wrong_at("timeouts.total_seconds", None, what, "make it the longest of them");
    }
}

/// Whether the filter can be made of `[security]`: every entry of a list that it cannot use, each
/// with its line.
fn check_security(security: &SecuritySettings, document: &Node<'_>, reader: &mut Reader<'_>) {
    for SettingsProblem { setting, index, problem } in Scanner::problems(&security.filter().scanner)
    {
        let fix = match setting {
            "patterns" => {
                "write a regular expression as Rust's `regex` crate documents it, in single quotes"
            }
            _ => "write a text that is long enough to be told from other words",
        };
        let list = find(document, "security").and_then(|section| find(section, setting));
        let entry = list.and_then(|list| list.get_ref().as_array()?.get(index));
        let line = entry.and_then(|entry| reader.line(entry.span().start));
        reader.wrong_at(format!("security.{setting}[{index}]"), line, problem, fix);
    }
    for kind in &security.surrogates {
        if !Surrogates::OFFERED.contains(*kind) {
            let what = format!("{kind} has no made-up values of the same form");
            let possible: Vec<&str> = Surrogates::OFFERED.iter().map(Kind::as_str).collect();
            let fix = format!("use any of {}", possible.join(", "));
            reader.wrong_at("security.surrogates", None, what, fix);
        }
    }
}

/// The built-in list of models, with what was imported into the data folder over it; and whether
/// anything was.
fn known_models(
    storage: &StorageSettings,
    reader: &mut Reader<'_>,
    warnings: &mut Vec<String>,
) -> (FactList, bool) {
    let mut facts = FactList::built_in();
    if let Some(rows) = imported_qualities(storage, reader, warnings) {
        let qualities = facts.qualities().with_imported(rows);
        facts = facts.with_qualities(qualities);
    }
    let path = storage.data_dir.0.join(CATALOG_FILE);
    let text = reader.environment.read_file(&path).ok();
    let hash = text.as_deref().and_then(hash_of);
    reader.files.push((path.clone(), hash));
    // Where there is no such file, nothing was imported.
    let Some(text) = text else { return (facts, false) };
    match FactList::parse(&text) {
        Ok(imported) => {
            facts.overlay(imported);
            (facts, true)
        }
        Err(error) => {
            warnings.push(format!(
                "{} is not used: {error}; import it again with `sluice catalog import`",
                path.display()
            ));
            (facts, false)
        }
    }
}

/// What was imported of how good models are; `None` where nothing was.
fn imported_qualities(
    storage: &StorageSettings,
    reader: &mut Reader<'_>,
    warnings: &mut Vec<String>,
) -> Option<Vec<Row>> {
    let path = storage.data_dir.0.join(QUALITY_FILE);
    let read = reader.environment.read_file(&path);
    let hash = read.as_deref().ok().and_then(hash_of);
    reader.files.push((path.clone(), hash));
    let mut unused = |why: &dyn std::fmt::Display| {
        let fix = "mend it, or delete it and import again with `sluice catalog quality import`";
        warnings.push(format!("{} is not used: {why}; {fix}", path.display()));
        None
    };
    match read.map(|text| table::rows(&text)) {
        Ok(Ok(rows)) => Some(rows),
        Ok(Err(wrong)) => unused(&wrong),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => unused(&error),
    }
}

#[cfg(test)]
mod tests;
