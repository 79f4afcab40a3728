
-- What stands in the entries that are there.
INSERT INTO trail_places
SELECT
    COALESCE(entry ->> '$.account_id', ''),
    COALESCE(CAST(entry ->> '$.at' AS BIGINT), 0),
    seq,
    COALESCE(entry ->> '$.verb', 'request'),
    CASE WHEN entry ->> '$.actor.kind' = 'person' THEN COALESCE(entry ->> '$.actor.id', '') ELSE '' END,
    CASE
        WHEN substr(entry ->> '$.subject', 1, 4) = 'key:' THEN substr(entry ->> '$.subject', 5)
        ELSE COALESCE(entry ->> '$.key_id', '')
    END
FROM audit_entries WHERE json_valid(entry);
