-- Which server serves from this database: one row. It names the server to a second one, and lets the
-- first find out that it is not the one any more.

CREATE TABLE serving (
    id      BIGINT PRIMARY KEY,
    holder  TEXT NOT NULL,
    host    TEXT NOT NULL,
    process BIGINT NOT NULL,
    since   BIGINT NOT NULL
);
