-- What the filter did with each request: the strongest action, and kinds, counts and flags as JSON.

ALTER TABLE usage_records ADD COLUMN filter_action TEXT NOT NULL DEFAULT 'pass';
ALTER TABLE usage_records ADD COLUMN filter_record TEXT;
