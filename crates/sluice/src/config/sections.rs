//! The sections of `sluice.toml`, as written in the file.
//!
//! With [`super::model_sections`] this is the one list of settings: the example file is printed
//! from these comments and defaults, and a key that is not here is unknown.

use std::net::SocketAddr;

use sluice_core::key::{AccountTier, KeyClass, MaxTokensBound, Suite};
use sluice_core::level::SecurityLevel;
use sluice_core::money::Price;
use sluice_core::region::Region;
use sluice_core::secret::Secret;
use sluice_security::kind::{Kind, Kinds};
use sluice_security::level::{Action, FailureAction, InjectionAction, Rules, UnreadableAction};
use sluice_security::request::FilterSettings;
use sluice_security::scan::ScannerSettings;
use sluice_security::surrogate::Surrogates;
use sluice_storage::Location;

pub(crate) use super::budgets::BudgetSection;
pub(crate) use super::model_sections::{ModelSection, PriceSection, RouterSection};
pub(crate) use super::organisation::{DepartmentSection, PersonSection, TeamSection};
pub(crate) use super::policies::PolicySection;
use super::read::{Entries, Repeated, Schema, section};
use super::values::{
    Allowance, BaseUrl, Count, DatabaseUrl, FilePath, Headers, Listener, Name, Origin, Seconds,
    SecretFile, SyslogTarget, Text,
};
use super::web::{ProxyNetwork, PublicUrl};
use super::words::{LogFormat, LogLevel};

section! {
    /// Sluice's configuration. Every setting is optional, and so is the file.
    ///
    /// In a string, `${NAME}` is replaced by the environment variable. `${NAME:-default}` gives the
    /// default if the variable is not set. `$${` stands for `${` itself. Relative paths start from
    /// this file's folder. `sluice check` says what is wrong. Changes take effect while Sluice
    /// runs, except where a comment says that a restart is needed.
    Root {
        /// Where requests are processed if neither the request nor its key nor its account says so:
        /// us-east, us-west, eu-west or asia-pacific.
        default_region: Option<Region> => "us-east",
        server: ServerSettings = {},
        timeouts: TimeoutSettings = {},
        storage: StorageSettings = {},
        log: LogSettings = {},
        limits: TierLimits = {},
        keys: KeyPolicy = {},
        audit: AuditSettings = {},
        security: SecuritySettings = {},
        providers: Entries<ProviderSection> = [],
        models: Entries<ModelSection> = [],
        routers: Entries<RouterSection> = [],
        departments: Entries<DepartmentSection> = [],
        teams: Entries<TeamSection> = [],
        people: Entries<PersonSection> = [],
        budgets: Entries<BudgetSection> = [],
        policies: Entries<PolicySection> = [],
    }
}

section! {
    /// Where Sluice listens, and how much it accepts.
    ServerSettings {
        /// Address and port of the API; the base URL is http://ADDRESS/api/v1. Needs a restart.
        listen: SocketAddr = "127.0.0.1:8080",
        /// Address and port of the dashboard alone; the API's address then has no pages. "" for the
        /// API's address. Needs a restart.
        dashboard_listen: Listener = "",
        /// Address and port of GET /metrics, for Prometheus; "" for none. Needs a restart.
        metrics_listen: Listener = "127.0.0.1:9464",
        /// Largest request body, in MiB. A larger one is answered with 413.
        request_body_limit_mib: Count<1, 1024> = 32,
        /// Memory for the bodies of all requests under way, in MiB. One key gets at most half of
        /// it. A request beyond it is answered with 503 and Retry-After. Bodies up to 128 KiB do
        /// not count.
        body_memory_mib: Count<1, 1_048_576> = 256,
        /// The most connections of clients. Beyond it, Sluice closes one that has had no successful
        /// answer yet, or else the new one. The number is lower if the system allows fewer than
        /// twice as many file descriptors. Needs a restart.
        max_connections: Count<1, 1_000_000> = 8_192,
        /// The same for one address (an IPv6 network of 64 bits counts as one). Behind a proxy, all
        /// connections have the proxy's address. Needs a restart.
        max_connections_per_address: Count<1, 1_000_000> = 4_096,
        /// Where browsers reach Sluice: scheme, host and port. Links that are sent to people begin with
        /// it. Without it, they begin with the address of `listen`.
        public_url: Option<PublicUrl> => "https://sluice.example.org",
        /// Addresses and networks of the proxies in front of Sluice. From them alone,
        /// X-Forwarded-For and X-Forwarded-Proto say who asks, for the audit trail and for slowing
        /// down whoever guesses. Needs a restart.
        trusted_proxies: Vec<ProxyNetwork> = [],
        /// How long somebody stays signed in without doing anything, in hours.
        session_idle_hours: Count<1, 720> = 12,
        /// How long somebody stays signed in at most, in days.
        session_days: Count<1, 90> = 7,
        /// Origins whose pages may call the API from a browser ("*" for all). None by default: a
        /// key does not belong in a browser.
        cors_allowed_origins: Vec<Origin> = [],
        /// Certificate chain in PEM format. With it and the key below, Sluice serves the API by
        /// HTTPS. New content of the file takes effect while Sluice runs; another file name needs a
        /// restart.
        tls_certificate_file: Option<FilePath> => "tls/certificate.pem",
        /// The certificate's private key in PEM format. Another file name needs a restart.
        tls_key_file: Option<FilePath> => "tls/key.pem",
        /// How often Sluice sends a comment into a stream while the model is silent, so that
        /// proxies in between keep the connection.
        keep_alive_seconds: Seconds = 15,
        /// How long answers under way may take to finish after a signal to stop. Needs a restart.
        drain_seconds: Seconds<0> = 30,
    }
}

section! {
    /// How long a provider may take.
    TimeoutSettings {
        /// Until it is connected. Needs a restart.
        connect_seconds: Seconds = 10,
        /// Until the first piece of its answer. A model that thinks needs minutes.
        first_token_seconds: Seconds = 300,
        /// For a whole (not streamed) answer, if another provider of the model could still be asked
        /// instead. It is never more than half of the time that is left.
        whole_answer_seconds: Seconds = 300,
        /// Between two pieces of a streamed answer.
        idle_seconds: Seconds = 120,
        /// For the whole answer, all attempts together.
        total_seconds: Seconds = 1800,
    }
}

section! {
    /// What Sluice keeps.
    StorageSettings {
        /// Folder of the database, the usage journal, the master key and imported prices. Sluice
        /// creates it if it is missing. Needs a restart.
        data_dir: FilePath = "sluice-data",
        /// Address of a PostgreSQL server's database. Without it, the database is a SQLite file in
        /// the data folder. The password can come from the environment: "${NAME}". Needs a restart.
        url: Option<DatabaseUrl> => "postgres://sluice@db.example/sluice?sslmode=verify-full",
    }
}

section! {
    /// What Sluice logs, on standard error.
    LogSettings {
        /// "human" or "json" (one object a line). Needs a restart.
        format: LogFormat = "human",
        /// The least important events to log: error, warn, info, debug or trace. Needs a restart.
        level: LogLevel = "info",
    }
}

section! {
    /// What an account may use, all its keys together, by its tier. A figure can also be
    /// "unlimited".
    TierLimits {
        /// The lowest tier: for trying things out.
        lowest: TierSettings = {
            requests_per_hour = 100,
            tokens_per_day = 10_000,
            concurrent_requests = 10,
            suite = "basic"
        },
        /// The middle tier.
        middle: TierSettings = {
            requests_per_hour = 1_000,
            tokens_per_day = 100_000,
            concurrent_requests = 50,
            suite = "standard"
        },
        /// The highest tier; the account that Sluice makes at its first start has it. A coding
        /// agent can use a million tokens in an afternoon: raise tokens_per_day as you see fit.
        highest: TierSettings = {
            requests_per_hour = 10_000,
            tokens_per_day = 1_000_000,
            concurrent_requests = 200,
            suite = "full"
        },
        /// What budgets of US dollars count for models without a known price, in US dollars per
        /// million tokens; set it as high as your dearest model. Without it, such models are not
        /// asked under budgets that must not be exceeded, and cost nothing under others.
        fallback_price: Option<PriceSection> => { input = "15.00", output = "75.00" },
    }
}

impl TierLimits {
    /// What budgets of money count where a model's price is not known.
    pub(crate) fn fallback(&self) -> Option<Price> {
        let price = self.fallback_price.as_ref().map(super::models::price);
        price.map(|price| price.for_each_class("fallback".to_owned()))
    }

    /// The limits of a tier.
    pub(crate) fn of(&self, tier: AccountTier) -> &TierSettings {
        match tier {
            AccountTier::Lowest => &self.lowest,
            AccountTier::Middle => &self.middle,
            AccountTier::Highest => &self.highest,
        }
    }
}

section! {
    /// The limits of one tier.
    TierSettings {
        /// Requests in an hour.
        requests_per_hour: Allowance => 10_000,
        /// Tokens in a day, prompts and answers together.
        tokens_per_day: Allowance => 1_000_000,
        /// Requests at the same time.
        concurrent_requests: Allowance => 200,
        /// The models that it may use: basic, standard (holds basic) or full (holds both).
        suite: Suite => "full",
    }
}

section! {
    /// What a service key may use, by its class, unless the key has limits of its own.
    KeyPolicy {
        /// Keys for development.
        development: ClassSettings = { requests_per_hour = 1_000, tokens_per_day = 10_000 },
        /// Keys for production.
        production: ClassSettings = { requests_per_hour = 10_000, tokens_per_day = 1_000_000 },
        /// Keys for enterprises; the account's own limits still apply.
        enterprise: ClassSettings = {
            requests_per_hour = "unlimited",
            tokens_per_day = "unlimited"
        },
        /// What bounds max_tokens: "documented" (1 to 4096, else refused), or "model" (a larger
        /// value is lowered to the model's own limit, as coding agents need it).
        max_tokens: MaxTokensBound = "documented",
        /// After how many days a key should be replaced.
        rotation_advice_days: u32 = 90,
    }
}

impl KeyPolicy {
    /// The limits of a class.
    pub(crate) fn of(&self, class: KeyClass) -> &ClassSettings {
        match class {
            KeyClass::Development => &self.development,
            KeyClass::Production => &self.production,
            KeyClass::Enterprise => &self.enterprise,
        }
    }
}

section! {
    /// The limits of one class.
    ClassSettings {
        /// Requests in an hour.
        requests_per_hour: Allowance => "unlimited",
        /// Tokens in a day, prompts and answers together.
        tokens_per_day: Allowance => "unlimited",
    }
}

section! {
    /// What the filter does with requests and answers. docs/security-model.md says what each
    /// level promises, and what it cannot.
    SecuritySettings {
        /// The least strict level of all requests: standard, high or maximum. Accounts, keys,
        /// models and requests can ask for a stricter one; the strictest counts.
        minimum_level: SecurityLevel = "standard",
        /// Your own terms that must not leave, such as names of customers and projects. They are
        /// found as whole words, in upper and lower case.
        terms: Vec<Text> = [],
        /// Your own patterns that must not leave, as regular expressions. What a pattern's first
        /// group matches is redacted; without a group, the whole match is.
        patterns: Vec<Text> = [],
        /// Values that are never redacted.
        allow: Vec<Text> = [],
        /// Kinds that are replaced by made-up values of the same form instead of placeholders, for
        /// code that checks a value's syntax. Any of email, ip_address, private_ip, card.
        surrogates: Vec<Kind> = [],
        /// Memory for findings in messages that come again with each turn (places and kinds, no
        /// content), in MiB; 0 for none.
        cache_mib: Count<0, 65_536> = 64,
        /// What happens at level standard.
        standard: LevelSettings = {
            redact = ["secret", "password", "private_key", "email", "phone", "card", "national_id", "iban", "ip_address", "mac_address", "term"],
            encoded_variants = false,
            injection = "flag",
            answer = "flag",
            unreadable = "flag",
            filter_failure = "close_for_secrets"
        },
        /// What happens at level high.
        high: LevelSettings = {
            redact = ["secret", "password", "private_key", "email", "phone", "card", "national_id", "iban", "ip_address", "mac_address", "term", "person", "address", "birth_date", "licence", "medical_id"],
            encoded_variants = true,
            injection = "block_strict",
            answer = "withhold",
            unreadable = "flag",
            filter_failure = "close"
        },
        /// What happens at level maximum.
        maximum: LevelSettings = {
            redact = ["secret", "password", "private_key", "email", "phone", "card", "national_id", "iban", "ip_address", "mac_address", "term", "person", "address", "birth_date", "licence", "medical_id", "location", "organization", "postal_code", "private_ip"],
            encoded_variants = true,
            injection = "withhold",
            answer = "block",
            unreadable = "refuse",
            filter_failure = "close"
        },
    }
}

impl SecuritySettings {
    /// The settings of a level.
    pub(crate) fn of(&self, level: SecurityLevel) -> &LevelSettings {
        match level {
            SecurityLevel::Standard => &self.standard,
            SecurityLevel::High => &self.high,
            SecurityLevel::Maximum => &self.maximum,
        }
    }

    /// The filter's settings.
    pub(crate) fn filter(&self) -> FilterSettings {
        let texts = |list: &[Text]| list.iter().map(|text| text.0.clone()).collect();
        FilterSettings {
            scanner: ScannerSettings {
                terms: texts(&self.terms),
                patterns: texts(&self.patterns),
                allow: texts(&self.allow),
                exceptions: Vec::new(),
            },
            rules: SecurityLevel::ALL.map(|level| self.of(level).rules()),
            surrogates: Surrogates::new(Kinds::of(&self.surrogates)),
            cache_bytes: usize::try_from(self.cache_mib.0 << 20).unwrap_or(usize::MAX),
        }
    }
}

impl LevelSettings {
    fn rules(&self) -> Rules {
        Rules {
            redact: Kinds::of(&self.redact),
            encoded: self.encoded_variants,
            injection: self.injection,
            answer: self.answer,
            unreadable: self.unreadable,
            failure: self.filter_failure,
        }
    }
}

section! {
    /// What is kept of the audit trail.
    AuditSettings {
        /// How much of the redacted content of a request and its answer is kept beside an audit entry
        /// that somebody asked for (audit_enabled), in KiB. It is encrypted with the account's key.
        /// 0 keeps none.
        content_kib: Count<0, 16_384> = 256,
        /// How long that content is kept, in days.
        content_days: Count<1, 3_650> = 30,
        /// How long audit entries are kept, in days; 0 for ever. Older ones are removed behind a signed
        /// checkpoint, so that the rest can still be verified.
        retention_days: Count<0, 36_500> = 0,
        /// Where every entry and signed head is sent as well, as syslog messages (RFC 5424):
        /// udp://HOST:PORT, tcp://HOST:PORT, or unix:/dev/log; "" for nowhere. Needs a restart.
        syslog: SyslogTarget = "",
    }
}

section! {
    /// What happens at one level.
    LevelSettings {
        /// The kinds of values that are replaced on their way to a model.
        redact: Vec<Kind> => ["secret", "password", "private_key"],
        /// Whether the filter also looks for values in base64 or URL encoding, or disguised by
        /// zero-width characters or look-alike letters.
        encoded_variants: bool => true,
        /// Text that looks like an attack on the model: off, flag, block_strict (refuse if a tool
        /// result or document is above the strict threshold, else flag), withhold (replace a
        /// flagged tool result or document by a note, refuse if the caller's own text is above the
        /// strict threshold, else flag) or block.
        injection: InjectionAction => "flag",
        /// A new secret, or an attempt to send something out, in the answer: off, flag, withhold
        /// (that part) or block (stop the answer).
        answer: Action => "flag",
        /// Images, audio and files, which cannot be read: flag or refuse.
        unreadable: UnreadableAction => "flag",
        /// When the filter itself fails: close (refuse the request) or close_for_secrets (refuse
        /// only when the search for secrets failed).
        filter_failure: FailureAction => "close",
    }
}

section! {
    /// A service that runs models. If there is none here, Sluice finds providers by their
    /// environment variables (OPENAI_API_KEY and so on) and by asking the usual ports of this
    /// machine.
    ProviderSection {
        /// Your name for it.
        id: Name => "lab",
        /// What it is: openai (also for every service that is compatible with it), azure,
        /// anthropic, gemini, openrouter, groq, mistral, deepseek, xai, together, fireworks,
        /// cerebras, ollama, vllm, llamacpp, lmstudio or simulator.
        kind: Text => "openai",
        /// Address before the dialect's own path (before /chat/completions). Default: the
        /// service's own; azure has none.
        base_url: Option<BaseUrl> => "http://127.0.0.1:9300/v1",
        /// The provider key. Default: the service's usual environment variable.
        api_key: Option<Secret<String>> => "${LAB_KEY:-none}",
        /// A file that holds the provider key, instead of api_key.
        api_key_file: Option<SecretFile> as "secrets/lab.key",
        /// Where it processes requests: us-east, us-west, eu-west or asia-pacific.
        region: Option<Region> => "us-east",
        /// Further headers for every call.
        headers: Option<Headers> => { "x-team" = "research" },
        /// The api-version for calls of an azure provider.
        api_version: Option<Text> as "2024-10-21",
        /// How it differs from OpenAI, instead of what its kind says. Any of max_completion_tokens
        /// and max_tokens (knows only this bound), no_stream_options, no_developer_role,
        /// no_unknown_members, no_cache_control, model_in_path.
        quirks: Option<Vec<Text>> => ["no_stream_options"],
    }
}

impl Repeated for ProviderSection {
    const ENTRY: &'static Schema = Self::SCHEMA;
}

impl StorageSettings {
    /// Where the database is.
    pub(crate) fn location(&self) -> Location {
        let url = self.url.as_ref().map(|url| url.0.expose().as_str());
        // What was read has been checked.
        Location::new(&self.data_dir.0, url).unwrap_or_else(|_| (&*self.data_dir.0).into())
    }
}
