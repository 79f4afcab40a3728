-- Which model a router chose for a request and why, as JSON; nothing where a model was asked.

ALTER TABLE usage_records ADD COLUMN route_record TEXT;
