-- What stands beside the audit trail: redacted content of requests that ask for it, signed heads, and
-- signed checkpoints behind which the oldest entries were removed.

CREATE TABLE audit_contents (
    audit_id   TEXT PRIMARY KEY,
    account_id TEXT NOT NULL,
    at         BIGINT NOT NULL,
    key_id     TEXT NOT NULL,
    sealed     TEXT NOT NULL
);
CREATE INDEX audit_contents_by_time ON audit_contents (at);

CREATE TABLE audit_heads (
    seq        BIGINT PRIMARY KEY,
    hash       TEXT NOT NULL,
    at         BIGINT NOT NULL,
    public_key TEXT NOT NULL,
    signature  TEXT NOT NULL
);

CREATE TABLE audit_checkpoints (
    seq       BIGINT PRIMARY KEY,
    hash      TEXT NOT NULL,
    at        BIGINT NOT NULL,
    signature TEXT NOT NULL
);

