-- What limits are restored from: what was used in each quarter of an hour, which suits the windows
-- of every time zone. Nothing is missing in the columns that say whose it was: '' stands for none.

CREATE TABLE usage_quarters (
    quarter       BIGINT NOT NULL,
    account_id    TEXT NOT NULL,
    department_id TEXT NOT NULL,
    team_id       TEXT NOT NULL,
    holder        TEXT NOT NULL,
    key_id        TEXT NOT NULL,
    requests      BIGINT NOT NULL,
    tokens        BIGINT NOT NULL,
    cost          BIGINT NOT NULL,
    PRIMARY KEY (quarter, account_id, department_id, team_id, holder, key_id)
);

-- The windows so far were hours of requests and days of tokens. Each becomes the first quarter of
-- its time. What all keys of an account used is what its keys used. Some figures are numbers with a
-- point, from before sums were kept from overflowing.
INSERT INTO usage_quarters
    (quarter, account_id, department_id, team_id, holder, key_id, requests, tokens, cost)
SELECT window_start, account_id, '', '', '', key_id, MAX(requests), MAX(tokens), 0 FROM (
    SELECT
        limit_windows.window_start AS window_start,
        keys.account_id AS account_id,
        keys.id AS key_id,
        CASE WHEN kind = 'requests' THEN CAST(amount AS BIGINT) ELSE 0 END AS requests,
        CASE WHEN kind = 'tokens' THEN CAST(amount AS BIGINT) ELSE 0 END AS tokens
    FROM limit_windows JOIN keys ON limit_windows.subject = 'key:' || keys.id
) AS known GROUP BY window_start, account_id, key_id;

DROP TABLE limit_windows;

-- When the window of five hours began that each subject (key:ID) used last, in seconds.
CREATE TABLE five_hour_windows (
    subject TEXT PRIMARY KEY,
    start   BIGINT NOT NULL
);

-- Whose a request was when it was made. What was recorded keeps it for ever.
ALTER TABLE usage_records ADD COLUMN department_id TEXT;
ALTER TABLE usage_records ADD COLUMN team_id TEXT;
ALTER TABLE usage_records ADD COLUMN holder TEXT;

ALTER TABLE usage_sums RENAME TO usage_sums_before;

CREATE TABLE usage_sums (
    day               BIGINT NOT NULL,
    account_id        TEXT NOT NULL,
    department_id     TEXT NOT NULL,
    team_id           TEXT NOT NULL,
    holder            TEXT NOT NULL,
    key_id            TEXT NOT NULL,
    requests          BIGINT NOT NULL,
    uncached_input    BIGINT NOT NULL,
    cache_read        BIGINT NOT NULL,
    cache_write       BIGINT NOT NULL,
    output            BIGINT NOT NULL,
    reasoning         BIGINT NOT NULL,
    cost              BIGINT NOT NULL,
    unpriced_requests BIGINT NOT NULL,
    PRIMARY KEY (day, account_id, department_id, team_id, holder, key_id)
);

INSERT INTO usage_sums
SELECT day, account_id, '', '', '', key_id, requests, uncached_input, cache_read, cache_write,
    output, reasoning, cost, unpriced_requests
FROM usage_sums_before;

DROP TABLE usage_sums_before;
