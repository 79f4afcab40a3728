-- Budgets: what a subject (team:ID) may use. `lasts` is the window, '' for requests at once. `amount` is
-- requests, tokens or pico-dollars. A budget counts what was used from `counts_from` on: of the day on
-- which that is, what was used before stands in the three columns `before_…`. `top_ups` is JSON. What is
-- removed stays as a row, so that history keeps its names.

CREATE TABLE budgets (
    id              TEXT PRIMARY KEY,
    account_id      TEXT NOT NULL REFERENCES accounts (id),
    subject         TEXT NOT NULL,
    measure         TEXT NOT NULL,
    lasts           TEXT NOT NULL,
    zone            TEXT NOT NULL,
    amount          BIGINT NOT NULL,
    hard            BOOLEAN NOT NULL,
    counts_from     BIGINT NOT NULL,
    before_requests BIGINT NOT NULL,
    before_tokens   BIGINT NOT NULL,
    before_cost     BIGINT NOT NULL,
    top_ups         TEXT NOT NULL,
    managed_by      TEXT,
    created_at      BIGINT NOT NULL,
    removed_at      BIGINT,
    changed         BIGINT NOT NULL
);
CREATE UNIQUE INDEX budgets_by_what ON budgets (subject, measure, lasts, hard)
    WHERE removed_at IS NULL;
CREATE INDEX budgets_by_change ON budgets (changed);

-- The bound on generated tokens, where a budget lowered it.
ALTER TABLE usage_records ADD COLUMN max_tokens_lowered BIGINT;
