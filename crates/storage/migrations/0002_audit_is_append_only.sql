-- The audit trail takes new entries and nothing else. Triggers are SQLite's dialect.

CREATE TRIGGER audit_entries_are_never_changed BEFORE UPDATE ON audit_entries
BEGIN
    SELECT RAISE(ABORT, 'the audit trail is append-only');
END;

CREATE TRIGGER audit_entries_are_never_deleted BEFORE DELETE ON audit_entries
BEGIN
    SELECT RAISE(ABORT, 'the audit trail is append-only');
END;
