-- What people look at: records page by page, sums by hour and by day, the audit trail page by page.

-- What requests are told apart by, each combination once. '' stands for none; a request under zero
-- retention has neither application, asked model, provider nor outcome. Besides the whole
-- combinations there are lines: those of a key, with its outcomes alone, and those of an account.
CREATE TABLE usage_series (
    id            BIGINT PRIMARY KEY,
    account_id    TEXT NOT NULL,
    department_id TEXT NOT NULL,
    team_id       TEXT NOT NULL,
    holder        TEXT NOT NULL,
    key_id        TEXT NOT NULL,
    app           TEXT NOT NULL,
    model_asked   TEXT NOT NULL,
    model         TEXT NOT NULL,
    provider      TEXT NOT NULL,
    action        TEXT NOT NULL,
    outcome       TEXT NOT NULL
) WITHOUT ROWID;
CREATE UNIQUE INDEX usage_series_by_name ON usage_series
    (account_id, key_id, model, outcome, action, app, model_asked, provider, department_id, team_id,
     holder);

-- Text of callers is cut, for an index takes only so much.
INSERT INTO usage_series
SELECT ROW_NUMBER() OVER (), named.* FROM (
    SELECT DISTINCT
        account_id,
        COALESCE(department_id, ''),
        COALESCE(team_id, ''),
        COALESCE(holder, ''),
        key_id,
        substr(COALESCE(app_title, ''), 1, 120),
        substr(model_asked, 1, 120),
        substr(COALESCE(model, ''), 1, 120),
        COALESCE(provider, ''),
        filter_action,
        outcome
    FROM usage_records
) AS named;

ALTER TABLE usage_records ADD COLUMN series_id BIGINT NOT NULL DEFAULT 0;
UPDATE usage_records SET series_id = COALESCE((
    SELECT s.id FROM usage_series AS s
    WHERE s.account_id = usage_records.account_id
        AND s.key_id = usage_records.key_id
        AND s.model = substr(COALESCE(usage_records.model, ''), 1, 120)
        AND s.outcome = usage_records.outcome
        AND s.app = substr(COALESCE(usage_records.app_title, ''), 1, 120)
        AND s.model_asked = substr(usage_records.model_asked, 1, 120)
        AND s.provider = COALESCE(usage_records.provider, '')
        AND s.action = usage_records.filter_action
        AND s.department_id = COALESCE(usage_records.department_id, '')
        AND s.team_id = COALESCE(usage_records.team_id, '')
        AND s.holder = COALESCE(usage_records.holder, '')
), 0);

-- The last column tells what is meant without reading the records that are not.
CREATE INDEX usage_records_by_account ON usage_records
    (account_id, started_at, request_id, series_id);
CREATE INDEX usage_records_by_series ON usage_records (series_id, started_at, request_id);

INSERT INTO usage_series
SELECT (SELECT COALESCE(MAX(id), 0) FROM usage_series) + ROW_NUMBER() OVER (), lines.* FROM (
    SELECT DISTINCT account_id, department_id, team_id, holder, key_id,
        '' AS app, '' AS model_asked, '' AS model, '' AS provider, '' AS action, outcome
    FROM usage_series
) AS lines WHERE 1 = 1 ON CONFLICT DO NOTHING;
INSERT INTO usage_series
SELECT (SELECT COALESCE(MAX(id), 0) FROM usage_series) + ROW_NUMBER() OVER (), lines.* FROM (
    SELECT DISTINCT account_id, '' AS department_id, '' AS team_id, '' AS holder, '' AS key_id,
        '' AS app, '' AS model_asked, '' AS model, '' AS provider, '' AS action, outcome
    FROM usage_series
) AS lines WHERE 1 = 1 ON CONFLICT DO NOTHING;

-- What requests came to. `grain` is 0 for hours of an account's lines, 1 for hours of a key's lines,
-- 2 for hours and 3 for days of whole combinations. `start` is in seconds since the Unix epoch. The
-- last columns count requests by their time to first token, from up to 50 ms on, each twice as long.
CREATE TABLE usage_rollup (
    account_id        TEXT NOT NULL,
    grain             BIGINT NOT NULL,
    start             BIGINT NOT NULL,
    series_id         BIGINT NOT NULL,
    requests          BIGINT NOT NULL,
    unpriced_requests BIGINT NOT NULL,
    filtered_requests BIGINT NOT NULL,
    uncached_input    BIGINT NOT NULL,
    cache_read        BIGINT NOT NULL,
    cache_write       BIGINT NOT NULL,
    output            BIGINT NOT NULL,
    reasoning         BIGINT NOT NULL,
    cost              BIGINT NOT NULL,
    duration_ms       BIGINT NOT NULL,
    first_0           BIGINT NOT NULL,
    first_1           BIGINT NOT NULL,
    first_2           BIGINT NOT NULL,
    first_3           BIGINT NOT NULL,
    first_4           BIGINT NOT NULL,
    first_5           BIGINT NOT NULL,
    first_6           BIGINT NOT NULL,
    first_7           BIGINT NOT NULL,
    first_8           BIGINT NOT NULL,
    first_9           BIGINT NOT NULL,
    first_10          BIGINT NOT NULL,
    first_11          BIGINT NOT NULL,
    PRIMARY KEY (account_id, grain, start, series_id)
) WITHOUT ROWID;

-- What was recorded so far. Requests under zero retention have no records and stay out of these
-- figures: `usage_sums` counts them by day and key, which is too coarse for hours and models.
INSERT INTO usage_rollup
SELECT r.account_id, 2, r.start, r.series_id,
    SUM(r.requests),
    SUM(r.unpriced_requests),
    SUM(r.filtered_requests),
    SUM(r.uncached_input),
    SUM(r.cache_read),
    SUM(r.cache_write),
    SUM(r.output),
    SUM(r.reasoning),
    CASE
        WHEN SUM(r.cost / 4294967296) + SUM(r.cost % 4294967296) / 4294967296 >= 2147483648 THEN 9223372036854775807
        ELSE SUM(r.cost / 4294967296) * 4294967296 + SUM(r.cost % 4294967296)
    END,
    SUM(r.duration_ms),
    SUM(r.first_0),
    SUM(r.first_1),
    SUM(r.first_2),
    SUM(r.first_3),
    SUM(r.first_4),
    SUM(r.first_5),
    SUM(r.first_6),
    SUM(r.first_7),
    SUM(r.first_8),
    SUM(r.first_9),
    SUM(r.first_10),
    SUM(r.first_11)
FROM (
    SELECT account_id, started_at / 3600000 * 3600 AS start, series_id,
        1 AS requests,
        CASE WHEN cost IS NULL THEN 1 ELSE 0 END AS unpriced_requests,
        CASE WHEN filter_action <> 'pass' THEN 1 ELSE 0 END AS filtered_requests,
        CASE WHEN uncached_input > 1099511627776 THEN 1099511627776 ELSE uncached_input END AS uncached_input,
        CASE WHEN cache_read > 1099511627776 THEN 1099511627776 ELSE cache_read END AS cache_read,
        CASE WHEN cache_write > 1099511627776 THEN 1099511627776 ELSE cache_write END AS cache_write,
        CASE WHEN output > 1099511627776 THEN 1099511627776 ELSE output END AS output,
        CASE WHEN reasoning > 1099511627776 THEN 1099511627776 ELSE reasoning END AS reasoning,
        CAST(COALESCE(cost, 0) AS BIGINT) AS cost,
        CASE WHEN duration_ms > 1099511627776 THEN 1099511627776 ELSE duration_ms END AS duration_ms,
        CASE WHEN time_to_first_token_ms <= 50 THEN 1 ELSE 0 END AS first_0,
        CASE WHEN time_to_first_token_ms > 50 AND time_to_first_token_ms <= 100 THEN 1 ELSE 0 END AS first_1,
        CASE WHEN time_to_first_token_ms > 100 AND time_to_first_token_ms <= 200 THEN 1 ELSE 0 END AS first_2,
        CASE WHEN time_to_first_token_ms > 200 AND time_to_first_token_ms <= 400 THEN 1 ELSE 0 END AS first_3,
        CASE WHEN time_to_first_token_ms > 400 AND time_to_first_token_ms <= 800 THEN 1 ELSE 0 END AS first_4,
        CASE WHEN time_to_first_token_ms > 800 AND time_to_first_token_ms <= 1600 THEN 1 ELSE 0 END AS first_5,
        CASE WHEN time_to_first_token_ms > 1600 AND time_to_first_token_ms <= 3200 THEN 1 ELSE 0 END AS first_6,
        CASE WHEN time_to_first_token_ms > 3200 AND time_to_first_token_ms <= 6400 THEN 1 ELSE 0 END AS first_7,
        CASE WHEN time_to_first_token_ms > 6400 AND time_to_first_token_ms <= 12800 THEN 1 ELSE 0 END AS first_8,
        CASE WHEN time_to_first_token_ms > 12800 AND time_to_first_token_ms <= 25600 THEN 1 ELSE 0 END AS first_9,
        CASE WHEN time_to_first_token_ms > 25600 AND time_to_first_token_ms <= 51200 THEN 1 ELSE 0 END AS first_10,
        CASE WHEN time_to_first_token_ms > 51200 THEN 1 ELSE 0 END AS first_11
    FROM usage_records
) AS r GROUP BY r.account_id, r.start, r.series_id;

INSERT INTO usage_rollup
SELECT r.account_id, 3, r.start / 86400 * 86400, r.series_id,
    SUM(r.requests),
    SUM(r.unpriced_requests),
    SUM(r.filtered_requests),
    SUM(r.uncached_input),
    SUM(r.cache_read),
    SUM(r.cache_write),
    SUM(r.output),
    SUM(r.reasoning),
    CASE
        WHEN SUM(r.cost / 4294967296) + SUM(r.cost % 4294967296) / 4294967296 >= 2147483648 THEN 9223372036854775807
        ELSE SUM(r.cost / 4294967296) * 4294967296 + SUM(r.cost % 4294967296)
    END,
    SUM(r.duration_ms),
    SUM(r.first_0),
    SUM(r.first_1),
    SUM(r.first_2),
    SUM(r.first_3),
    SUM(r.first_4),
    SUM(r.first_5),
    SUM(r.first_6),
    SUM(r.first_7),
    SUM(r.first_8),
    SUM(r.first_9),
    SUM(r.first_10),
    SUM(r.first_11)
FROM usage_rollup AS r WHERE r.grain = 2
GROUP BY r.account_id, r.start / 86400 * 86400, r.series_id;

INSERT INTO usage_rollup
SELECT r.account_id, 1, r.start, line.id,
    SUM(r.requests),
    SUM(r.unpriced_requests),
    SUM(r.filtered_requests),
    SUM(r.uncached_input),
    SUM(r.cache_read),
    SUM(r.cache_write),
    SUM(r.output),
    SUM(r.reasoning),
    CASE
        WHEN SUM(r.cost / 4294967296) + SUM(r.cost % 4294967296) / 4294967296 >= 2147483648 THEN 9223372036854775807
        ELSE SUM(r.cost / 4294967296) * 4294967296 + SUM(r.cost % 4294967296)
    END,
    SUM(r.duration_ms),
    SUM(r.first_0),
    SUM(r.first_1),
    SUM(r.first_2),
    SUM(r.first_3),
    SUM(r.first_4),
    SUM(r.first_5),
    SUM(r.first_6),
    SUM(r.first_7),
    SUM(r.first_8),
    SUM(r.first_9),
    SUM(r.first_10),
    SUM(r.first_11)
FROM usage_rollup AS r
JOIN usage_series AS s ON s.id = r.series_id
JOIN usage_series AS line ON line.account_id = s.account_id AND line.outcome = s.outcome
    AND line.model = '' AND line.app = '' AND line.model_asked = '' AND line.provider = ''
    AND line.action = ''
    AND line.key_id = s.key_id AND line.department_id = s.department_id
    AND line.team_id = s.team_id AND line.holder = s.holder
WHERE r.grain = 2
GROUP BY r.account_id, r.start, line.id;

INSERT INTO usage_rollup
SELECT r.account_id, 0, r.start, line.id,
    SUM(r.requests),
    SUM(r.unpriced_requests),
    SUM(r.filtered_requests),
    SUM(r.uncached_input),
    SUM(r.cache_read),
    SUM(r.cache_write),
    SUM(r.output),
    SUM(r.reasoning),
    CASE
        WHEN SUM(r.cost / 4294967296) + SUM(r.cost % 4294967296) / 4294967296 >= 2147483648 THEN 9223372036854775807
        ELSE SUM(r.cost / 4294967296) * 4294967296 + SUM(r.cost % 4294967296)
    END,
    SUM(r.duration_ms),
    SUM(r.first_0),
    SUM(r.first_1),
    SUM(r.first_2),
    SUM(r.first_3),
    SUM(r.first_4),
    SUM(r.first_5),
    SUM(r.first_6),
    SUM(r.first_7),
    SUM(r.first_8),
    SUM(r.first_9),
    SUM(r.first_10),
    SUM(r.first_11)
FROM usage_rollup AS r
JOIN usage_series AS s ON s.id = r.series_id
JOIN usage_series AS line ON line.account_id = s.account_id AND line.outcome = s.outcome
    AND line.model = '' AND line.app = '' AND line.model_asked = '' AND line.provider = ''
    AND line.action = ''
    AND line.key_id = '' AND line.department_id = '' AND line.team_id = '' AND line.holder = ''
WHERE r.grain = 1
GROUP BY r.account_id, r.start, line.id;

-- A figure that nothing can come to within the time is cut, so that sums of many rows fit.
UPDATE usage_rollup SET uncached_input = 1099511627776 WHERE uncached_input > 1099511627776;
UPDATE usage_rollup SET cache_read = 1099511627776 WHERE cache_read > 1099511627776;
UPDATE usage_rollup SET cache_write = 1099511627776 WHERE cache_write > 1099511627776;
UPDATE usage_rollup SET output = 1099511627776 WHERE output > 1099511627776;
UPDATE usage_rollup SET reasoning = 1099511627776 WHERE reasoning > 1099511627776;
UPDATE usage_rollup SET duration_ms = 1099511627776 WHERE duration_ms > 1099511627776;

-- Where each entry of the audit trail belongs, so that it is found without reading all of them. The
-- entries themselves are what is verified. '' stands for none.
CREATE TABLE trail_places (
    account_id TEXT NOT NULL,
    at         BIGINT NOT NULL,
    seq        BIGINT NOT NULL,
    verb       TEXT NOT NULL,
    person_id  TEXT NOT NULL,
    key_id     TEXT NOT NULL,
    PRIMARY KEY (account_id, at, seq)
) WITHOUT ROWID;
-- Requests are most of the entries, and found by time.
CREATE INDEX trail_places_by_verb ON trail_places (account_id, verb, at, seq)
    WHERE verb <> 'request';
CREATE INDEX trail_places_administered ON trail_places (account_id, at, seq)
    WHERE verb <> 'request';
CREATE INDEX trail_places_by_person ON trail_places (account_id, person_id, at, seq)
    WHERE person_id <> '';
CREATE INDEX trail_places_by_key ON trail_places (account_id, key_id, at, seq)
    WHERE key_id <> '';
