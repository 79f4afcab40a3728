-- How people sign in. A password is an argon2id hash in the PHC format; the secret of one-time codes
-- is sealed under a key derived from the master key; recovery codes, sessions and links are known by
-- keyed hashes alone.

CREATE TABLE person_logins (
    person_id          TEXT PRIMARY KEY REFERENCES people (id),
    password           TEXT NOT NULL,
    password_set_at    BIGINT NOT NULL,
    codes_secret       TEXT,
    codes_confirmed_at BIGINT,
    -- The last step of 30 seconds whose code was used: none is used twice.
    codes_last_step    BIGINT
);

CREATE TABLE recovery_codes (
    hash      TEXT PRIMARY KEY,
    person_id TEXT NOT NULL REFERENCES people (id),
    used_at   BIGINT
);
CREATE INDEX recovery_codes_by_person ON recovery_codes (person_id);

-- A session that is over has no row: what it was is in the audit trail.
CREATE TABLE person_sessions (
    id         TEXT PRIMARY KEY,
    hash       TEXT NOT NULL UNIQUE,
    person_id  TEXT NOT NULL REFERENCES people (id),
    created_at BIGINT NOT NULL,
    seen_at    BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    address    TEXT,
    browser    TEXT NOT NULL
);
CREATE INDEX person_sessions_by_person ON person_sessions (person_id);

-- Links that work once. The welcome of the first owner has no person yet.
CREATE TABLE invitations (
    hash       TEXT PRIMARY KEY,
    person_id  TEXT REFERENCES people (id),
    purpose    TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    used_at    BIGINT
);
CREATE INDEX invitations_by_person ON invitations (person_id);

-- Whoever signs in names an e-mail address and no account.
CREATE INDEX people_by_email_alone ON people (email);
