-- Version 3: a session that was deleted stays deleted. A machine that has its entries would send them again with its next start; the mark that is
-- left refuses that, and tells the others to delete theirs.

CREATE TABLE ullage.deleted (
    number bigint GENERATED ALWAYS AS IDENTITY,
    workspace text NOT NULL,
    session_id text NOT NULL,
    sums bytea[] NOT NULL, -- of its entries: so a machine knows what of its copy nobody else had
    deleted_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    deleted_by name NOT NULL DEFAULT session_user,
    PRIMARY KEY (workspace, session_id)
);
CREATE INDEX deleted_since ON ullage.deleted (workspace, number);
ALTER TABLE ullage.deleted ENABLE ROW LEVEL SECURITY;
CREATE POLICY members ON ullage.deleted FOR SELECT USING (workspace IN (SELECT ullage.my_workspaces()));
GRANT SELECT ON ullage.deleted TO ullage_member;

-- As before, and a session that was deleted is not made again.
CREATE OR REPLACE FUNCTION ullage.make_session(of_workspace text, made text, made_title bytea, made_at double precision)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
    reached bigint;
BEGIN
    PERFORM ullage.check_member(of_workspace);
    PERFORM pg_advisory_xact_lock_shared(hashtextextended(of_workspace || E'\n' || made, 18));
    IF EXISTS (SELECT FROM ullage.deleted WHERE workspace = of_workspace AND session_id = made) THEN
        RAISE EXCEPTION 'the session was deleted' USING ERRCODE = 'UL006';
    END IF;
    INSERT INTO ullage.session (workspace, id, title, created_at, updated_at)
    VALUES (of_workspace, made, made_title, made_at, made_at) ON CONFLICT DO NOTHING;
    SELECT last_seq INTO reached FROM ullage.session WHERE workspace = of_workspace AND id = made;
    RETURN reached;
END $$;

-- As before, and leaves the mark. The lock keeps it from crossing one who makes the session just now.
CREATE OR REPLACE FUNCTION ullage.delete_session(of_workspace text, of_session text, by_holder text)
RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended(of_workspace || E'\n' || of_session, 18));
    IF NOT EXISTS (SELECT FROM ullage.session WHERE workspace = of_workspace AND id = of_session) THEN
        RETURN false;
    END IF;
    PERFORM ullage.check_lease(of_workspace, of_session, by_holder, 1);
    CREATE TEMP TABLE spoken ON COMMIT DROP AS
        SELECT kind, name FROM ullage.speaks_of WHERE workspace = of_workspace AND session_id = of_session;
    INSERT INTO ullage.deleted (workspace, session_id, sums)
    SELECT of_workspace, of_session, coalesce(array_agg(sum), '{}') FROM ullage.entry WHERE workspace = of_workspace AND session_id = of_session;
    DELETE FROM ullage.session WHERE workspace = of_workspace AND id = of_session;
    DELETE FROM ullage.attached USING pg_temp.spoken
    WHERE attached.workspace = of_workspace AND attached.kind = spoken.kind AND attached.name = spoken.name
    AND NOT EXISTS (
        SELECT FROM ullage.speaks_of AS other
        WHERE other.workspace = of_workspace AND other.kind = spoken.kind AND other.name = spoken.name
    );
    RETURN true;
END $$;
