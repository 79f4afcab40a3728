-- Entries go only where a checkpoint speaks of them. Whether it is signed is for the check to say.
CREATE OR REPLACE FUNCTION audit_entries_are_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND OLD.seq <= (SELECT COALESCE(MAX(seq), 0) FROM audit_checkpoints) THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'the audit trail is append-only';
END
$$;
