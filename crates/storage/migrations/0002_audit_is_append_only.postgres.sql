-- The audit trail takes new entries and nothing else.

CREATE FUNCTION audit_entries_are_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit trail is append-only';
END
$$;

CREATE TRIGGER audit_entries_are_never_changed BEFORE UPDATE OR DELETE ON audit_entries
FOR EACH ROW EXECUTE FUNCTION audit_entries_are_append_only();

CREATE TRIGGER audit_entries_are_never_emptied BEFORE TRUNCATE ON audit_entries
FOR EACH STATEMENT EXECUTE FUNCTION audit_entries_are_append_only();
