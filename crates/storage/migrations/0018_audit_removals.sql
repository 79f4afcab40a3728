-- Entries go only where a checkpoint speaks of them. Whether it is signed is for the check to say.
DROP TRIGGER audit_entries_are_never_deleted;

CREATE TRIGGER audit_entries_are_never_deleted BEFORE DELETE ON audit_entries
WHEN OLD.seq > (SELECT COALESCE(MAX(seq), 0) FROM audit_checkpoints)
BEGIN
    SELECT RAISE(ABORT, 'the audit trail is append-only');
END;
