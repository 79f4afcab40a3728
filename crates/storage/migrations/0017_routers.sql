-- Routers of accounts, departments and teams, beside those of the configuration file. `settings` is JSON
-- with the file's names. What is removed stays as a row, so that history keeps its name; each version of
-- the settings stays beside it.

CREATE TABLE routers (
    id         TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES accounts (id),
    subject    TEXT NOT NULL,
    name       TEXT NOT NULL,
    version    BIGINT NOT NULL,
    settings   TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    changed_at BIGINT NOT NULL,
    changed_by TEXT NOT NULL,
    removed_at BIGINT,
    changed    BIGINT NOT NULL
);
CREATE UNIQUE INDEX routers_by_name ON routers (account_id, name) WHERE removed_at IS NULL;

CREATE TABLE router_versions (
    router_id  TEXT NOT NULL REFERENCES routers (id),
    version    BIGINT NOT NULL,
    settings   TEXT NOT NULL,
    changed_at BIGINT NOT NULL,
    changed_by TEXT NOT NULL,
    PRIMARY KEY (router_id, version)
);
