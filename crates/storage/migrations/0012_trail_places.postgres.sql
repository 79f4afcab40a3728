
-- What stands in the entries that are there. Where somebody changed one so that it is no JSON any
-- more, a conversion would fail: a pattern does not.
INSERT INTO trail_places
SELECT
    COALESCE(substring(entry FROM '"account_id":"([^"]*)"'), ''),
    COALESCE(substring(entry FROM '"at":([0-9]{1,18})'), '0')::BIGINT,
    seq,
    COALESCE(substring(entry FROM '"verb":"([^"]*)"'), 'request'),
    COALESCE(substring(entry FROM '"actor":\{"kind":"person","id":"([^"]*)"'), ''),
    CASE
        WHEN entry LIKE '{"kind":"administration"%'
            THEN COALESCE(substring(entry FROM '"subject":"key:([^"]*)"'), '')
        ELSE COALESCE(substring(entry FROM '"key_id":"([^"]*)"'), '')
    END
FROM audit_entries;
