-- When each key was last used, in milliseconds since the Unix epoch. What a key used in
-- zero-retention mode is known to the hour, and before this step to the day.

CREATE TABLE key_uses (
    key_id       TEXT PRIMARY KEY,
    last_used_at BIGINT NOT NULL
);

INSERT INTO key_uses (key_id, last_used_at)
SELECT key_id, MAX(moment) FROM (
    SELECT key_id, MAX(started_at) AS moment FROM usage_records GROUP BY key_id
    UNION ALL
    SELECT key_id, MAX(day) * 1000 AS moment FROM usage_sums GROUP BY key_id
) AS known GROUP BY key_id;
