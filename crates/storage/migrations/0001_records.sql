-- Accounts, keys, usage, limits' windows, the audit trail and how far the journal is read.
--
-- The text suits SQLite and PostgreSQL. Moments are milliseconds since the Unix epoch, days and
-- windows are seconds since the Unix epoch, money is pico-dollars, hashes are hexadecimal.

CREATE TABLE meta (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
);

CREATE TABLE changes (
    id      BIGINT PRIMARY KEY,
    version BIGINT NOT NULL
);
INSERT INTO changes (id, version) VALUES (1, 0);

CREATE TABLE accounts (
    id                  TEXT PRIMARY KEY,
    name                TEXT NOT NULL UNIQUE,
    tier                TEXT NOT NULL,
    created_at          BIGINT NOT NULL,
    requests_per_hour   BIGINT,
    tokens_per_day      BIGINT,
    concurrent_requests BIGINT,
    region              TEXT,
    minimum_level       TEXT NOT NULL,
    zero_retention      BOOLEAN NOT NULL,
    audit               BOOLEAN NOT NULL
);

CREATE TABLE service_keys (
    id                TEXT PRIMARY KEY,
    account_id        TEXT NOT NULL REFERENCES accounts (id),
    name              TEXT NOT NULL,
    prefix            TEXT NOT NULL,
    hash              TEXT NOT NULL UNIQUE,
    class             TEXT NOT NULL,
    models            TEXT,
    regions           TEXT,
    region            TEXT,
    minimum_level     TEXT NOT NULL,
    zero_retention    BOOLEAN NOT NULL,
    audit             BOOLEAN NOT NULL,
    max_tokens        TEXT NOT NULL,
    requests_per_hour BIGINT,
    tokens_per_day    BIGINT,
    owner             TEXT,
    created_at        BIGINT NOT NULL,
    expires_at        BIGINT,
    revoked_at        BIGINT,
    replaced_by       TEXT REFERENCES service_keys (id)
);

-- No foreign keys here: a record outlives the key that it was made with.
CREATE TABLE usage_records (
    request_id            TEXT PRIMARY KEY,
    key_id                TEXT NOT NULL,
    account_id            TEXT NOT NULL,
    started_at            BIGINT NOT NULL,
    app_url               TEXT,
    app_title             TEXT,
    model_asked           TEXT NOT NULL,
    model                 TEXT,
    provider              TEXT,
    region                TEXT,
    level                 TEXT NOT NULL,
    stream                BOOLEAN NOT NULL,
    uncached_input        BIGINT NOT NULL,
    cache_read            BIGINT NOT NULL,
    cache_write           BIGINT NOT NULL,
    output                BIGINT NOT NULL,
    reasoning             BIGINT NOT NULL,
    usage_source          TEXT NOT NULL,
    cost                  BIGINT,
    price_version         TEXT,
    time_to_first_token_ms BIGINT,
    duration_ms           BIGINT NOT NULL,
    outcome               TEXT NOT NULL,
    attempts              BIGINT NOT NULL,
    audit_id              TEXT,
    simulated             BOOLEAN NOT NULL
);
CREATE INDEX usage_records_by_time ON usage_records (started_at);

CREATE TABLE usage_sums (
    day               BIGINT NOT NULL,
    key_id            TEXT NOT NULL,
    account_id        TEXT NOT NULL,
    requests          BIGINT NOT NULL,
    uncached_input    BIGINT NOT NULL,
    cache_read        BIGINT NOT NULL,
    cache_write       BIGINT NOT NULL,
    output            BIGINT NOT NULL,
    reasoning         BIGINT NOT NULL,
    cost              BIGINT NOT NULL,
    unpriced_requests BIGINT NOT NULL,
    PRIMARY KEY (day, key_id, account_id)
);

CREATE TABLE limit_windows (
    subject      TEXT NOT NULL,
    kind         TEXT NOT NULL,
    window_start BIGINT NOT NULL,
    amount       BIGINT NOT NULL,
    PRIMARY KEY (subject, kind, window_start)
);

CREATE TABLE audit_entries (
    seq      BIGINT PRIMARY KEY,
    audit_id TEXT NOT NULL UNIQUE,
    entry    TEXT NOT NULL,
    previous TEXT NOT NULL,
    hash     TEXT NOT NULL
);

CREATE TABLE audit_head (
    id   BIGINT PRIMARY KEY,
    seq  BIGINT NOT NULL,
    hash TEXT NOT NULL,
    seal TEXT NOT NULL
);

CREATE TABLE journal_segments (
    name    TEXT PRIMARY KEY,
    read_to BIGINT NOT NULL
);
