-- Keys that the master key wraps: `root`, from which everything is derived that was derived from the first
-- master key, and one for each account (`dk_…`). `wrapped_by` is the id of a master key: while it is
-- rotated, a key is there twice.

CREATE TABLE wrapped_keys (
    id         TEXT NOT NULL,
    wrapped_by TEXT NOT NULL,
    account_id TEXT REFERENCES accounts (id),
    wrapped    TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (id, wrapped_by)
);
CREATE INDEX wrapped_keys_by_account ON wrapped_keys (account_id);

-- Provider keys of accounts, departments and teams. `secrets` is sealed with the key `secrets_key` of
-- the account. What is removed stays as a row without its secret, so that history keeps its name.

CREATE TABLE provider_keys (
    id          TEXT PRIMARY KEY,
    account_id  TEXT NOT NULL REFERENCES accounts (id),
    subject     TEXT NOT NULL,
    provider    TEXT NOT NULL,
    base_url    TEXT NOT NULL,
    secrets     TEXT,
    secrets_key TEXT,
    hint        TEXT NOT NULL,
    falls_back  BOOLEAN NOT NULL,
    counts      BOOLEAN NOT NULL,
    created_at  BIGINT NOT NULL,
    rotated_at  BIGINT NOT NULL,
    removed_at  BIGINT,
    changed     BIGINT NOT NULL
);
CREATE UNIQUE INDEX provider_keys_by_what ON provider_keys (subject, provider)
    WHERE removed_at IS NULL;
CREATE INDEX provider_keys_by_change ON provider_keys (changed);

-- The own provider key that was there for a request, who billed it (`provider`, or `deployment` after a
-- fall back), and what of its cost budgets do not count.
ALTER TABLE usage_records ADD COLUMN provider_key_id TEXT;
ALTER TABLE usage_records ADD COLUMN billed_by TEXT;
ALTER TABLE usage_records ADD COLUMN uncounted_cost BIGINT;
ALTER TABLE usage_sums ADD COLUMN uncounted_cost BIGINT NOT NULL DEFAULT 0;
