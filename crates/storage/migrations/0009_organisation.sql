-- Departments, teams, people and services; keys apart from their secrets.
--
-- What is removed stays as a row, so that history keeps its names. `changed` is the number of the
-- change (`changes.version`) that touched a row last.

ALTER TABLE accounts ADD COLUMN suspended_at BIGINT;
ALTER TABLE accounts ADD COLUMN suspended_reason TEXT;
ALTER TABLE accounts ADD COLUMN changed BIGINT NOT NULL DEFAULT 0;

CREATE TABLE departments (
    id               TEXT PRIMARY KEY,
    account_id       TEXT NOT NULL REFERENCES accounts (id),
    name             TEXT NOT NULL,
    managed_by       TEXT,
    created_at       BIGINT NOT NULL,
    suspended_at     BIGINT,
    suspended_reason TEXT,
    removed_at       BIGINT,
    changed          BIGINT NOT NULL
);
CREATE UNIQUE INDEX departments_by_name ON departments (account_id, name)
    WHERE removed_at IS NULL;

CREATE TABLE teams (
    id               TEXT PRIMARY KEY,
    account_id       TEXT NOT NULL REFERENCES accounts (id),
    department_id    TEXT NOT NULL REFERENCES departments (id),
    name             TEXT NOT NULL,
    managed_by       TEXT,
    created_at       BIGINT NOT NULL,
    suspended_at     BIGINT,
    suspended_reason TEXT,
    removed_at       BIGINT,
    changed          BIGINT NOT NULL
);
CREATE UNIQUE INDEX teams_by_name ON teams (account_id, name) WHERE removed_at IS NULL;

CREATE TABLE people (
    id               TEXT PRIMARY KEY,
    account_id       TEXT NOT NULL REFERENCES accounts (id),
    email            TEXT NOT NULL,
    name             TEXT,
    role             TEXT NOT NULL,
    operator         BOOLEAN NOT NULL,
    managed_by       TEXT,
    created_at       BIGINT NOT NULL,
    suspended_at     BIGINT,
    suspended_reason TEXT,
    removed_at       BIGINT,
    changed          BIGINT NOT NULL
);
CREATE UNIQUE INDEX people_by_email ON people (account_id, email) WHERE removed_at IS NULL;

CREATE TABLE team_members (
    person_id TEXT NOT NULL REFERENCES people (id),
    team_id   TEXT NOT NULL REFERENCES teams (id),
    PRIMARY KEY (person_id, team_id)
);

CREATE TABLE services (
    id               TEXT PRIMARY KEY,
    account_id       TEXT NOT NULL REFERENCES accounts (id),
    team_id          TEXT REFERENCES teams (id),
    name             TEXT NOT NULL,
    managed_by       TEXT,
    created_at       BIGINT NOT NULL,
    suspended_at     BIGINT,
    suspended_reason TEXT,
    removed_at       BIGINT,
    changed          BIGINT NOT NULL
);
CREATE UNIQUE INDEX services_by_name ON services (account_id, name) WHERE removed_at IS NULL;

-- `owner` is what earlier versions took as the name of somebody responsible: a note.
CREATE TABLE keys (
    id                TEXT PRIMARY KEY,
    account_id        TEXT NOT NULL REFERENCES accounts (id),
    name              TEXT NOT NULL,
    team_id           TEXT REFERENCES teams (id),
    holder            TEXT,
    scopes            TEXT NOT NULL,
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
    suspended_at      BIGINT,
    suspended_reason  TEXT,
    changed           BIGINT NOT NULL
);
CREATE INDEX keys_by_change ON keys (changed);
CREATE INDEX keys_by_holder ON keys (holder);
CREATE INDEX keys_by_team ON keys (team_id);

CREATE TABLE key_secrets (
    hash       TEXT PRIMARY KEY,
    key_id     TEXT NOT NULL REFERENCES keys (id),
    prefix     TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    revoked_at BIGINT
);
CREATE INDEX key_secrets_by_key ON key_secrets (key_id);

-- Keys that a rotation put in the place of others stay keys of their own.
INSERT INTO keys
SELECT id, account_id, name, NULL, NULL, '["chat","models"]', class, models, regions, region,
       minimum_level, zero_retention, audit, max_tokens, requests_per_hour, tokens_per_day, owner,
       created_at, expires_at, revoked_at, NULL, NULL, 0
FROM service_keys;

INSERT INTO key_secrets
SELECT hash, id, prefix, created_at, NULL, NULL FROM service_keys;

DROP TABLE service_keys;

-- Lists of what was administered go past the requests in between.
CREATE INDEX audit_entries_of_administration ON audit_entries (seq)
    WHERE substr(entry, 1, 24) = '{"kind":"administration"';
