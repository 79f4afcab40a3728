-- Providers and models that people put in, beside those of the configuration file. `settings` is JSON
-- with the file's names. What must not be read (the provider key, the values of headers) is sealed under
-- a key derived from the master key, whose id stands beside it. `changed` is the number of the change
-- (`changes.version`) that touched a row last.

CREATE TABLE providers (
    name              TEXT PRIMARY KEY,
    settings          TEXT NOT NULL,
    secrets           TEXT,
    secrets_key       TEXT,
    credential_set_at BIGINT,
    created_at        BIGINT NOT NULL,
    changed           BIGINT NOT NULL
);

CREATE TABLE models (
    id         TEXT PRIMARY KEY,
    settings   TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    changed    BIGINT NOT NULL
);
