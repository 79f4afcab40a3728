-- Policies: what the deployment (subject `deployment`) or a subject (team:ID) says about requests. `rules` is
-- JSON. One that says nothing any more stays as a row, so that servers learn of it.

CREATE TABLE policies (
    id         TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES accounts (id),
    rules      TEXT NOT NULL,
    managed_by TEXT,
    changed_at BIGINT NOT NULL,
    changed    BIGINT NOT NULL
);
CREATE INDEX policies_by_change ON policies (changed);
