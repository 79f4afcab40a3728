-- What limits count of a request beside what is known of it: calls that were sent and of which nobody said
-- what they came to, and models whose price is not known.
ALTER TABLE usage_records ADD COLUMN assumed_tokens BIGINT;
ALTER TABLE usage_records ADD COLUMN assumed_cost BIGINT;
ALTER TABLE usage_sums ADD COLUMN assumed_tokens BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_sums ADD COLUMN assumed_cost BIGINT NOT NULL DEFAULT 0;
