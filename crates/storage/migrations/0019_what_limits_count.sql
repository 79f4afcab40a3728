-- What limits count of a request beside what is known of it: calls that were sent and of which nobody said
-- what they came to, and models whose price is not known.
ALTER TABLE usage_records ADD COLUMN assumed_tokens BIGINT;
ALTER TABLE usage_records ADD COLUMN assumed_cost BIGINT;
ALTER TABLE usage_sums ADD COLUMN assumed_tokens BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_sums ADD COLUMN assumed_cost BIGINT NOT NULL DEFAULT 0;

-- Budgets of each session, and the session of a request where it counts against one: a keyed hash.
ALTER TABLE budgets ADD COLUMN each_session BOOLEAN NOT NULL DEFAULT FALSE;
DROP INDEX budgets_by_what;
CREATE UNIQUE INDEX budgets_by_what ON budgets (subject, measure, lasts, hard, each_session)
    WHERE removed_at IS NULL;
ALTER TABLE usage_records ADD COLUMN session_id TEXT;
CREATE INDEX usage_records_by_session ON usage_records (session_id, started_at, request_id)
    WHERE session_id IS NOT NULL;

-- The windows of five hours that began in the last forty days.
CREATE TABLE past_five_hours (
    subject TEXT NOT NULL,
    start   BIGINT NOT NULL,
    PRIMARY KEY (subject, start)
);
INSERT INTO past_five_hours (subject, start) SELECT subject, start FROM five_hour_windows;
