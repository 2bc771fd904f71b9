-- The tables of the team's store, version 1. `ullage store setup` runs this, and the files of later versions after it (`tables.py`). What was
-- released is not changed any more: a later file does it.
--
-- Members have no right but to read, row by row, and to call the functions at the end: these alone write, and each looks who calls.
-- Entries are only ever added. What Ullage wrote is kept as bytes, with its own sum beside it, so that a copy can be held against it.

CREATE SCHEMA ullage;

CREATE TABLE ullage.schema_version (number integer NOT NULL);

CREATE TABLE ullage.member (
    workspace text NOT NULL,
    role name NOT NULL,
    PRIMARY KEY (workspace, role)
);

CREATE TABLE ullage.session (
    workspace text NOT NULL,
    id text NOT NULL,
    title bytea NOT NULL,
    created_at double precision NOT NULL,
    updated_at double precision NOT NULL,
    last_seq bigint NOT NULL DEFAULT 0,
    made_by name NOT NULL DEFAULT session_user,
    PRIMARY KEY (workspace, id)
);
CREATE INDEX session_newest ON ullage.session (workspace, updated_at DESC);

CREATE TABLE ullage.entry (
    workspace text NOT NULL,
    session_id text NOT NULL,
    seq bigint NOT NULL,
    at double precision NOT NULL,
    body bytea NOT NULL,
    sum bytea NOT NULL,
    written_by name NOT NULL DEFAULT session_user,
    PRIMARY KEY (workspace, session_id, seq),
    FOREIGN KEY (workspace, session_id) REFERENCES ullage.session (workspace, id) ON DELETE CASCADE
);

-- Small things that go along with a session (its model, its figures ...), and the prompts that wait in it: as they are now.
CREATE TABLE ullage.value (
    workspace text NOT NULL,
    session_id text NOT NULL,
    key bytea NOT NULL,
    value bytea NOT NULL,
    sum bytea NOT NULL,
    PRIMARY KEY (workspace, session_id, key),
    FOREIGN KEY (workspace, session_id) REFERENCES ullage.session (workspace, id) ON DELETE CASCADE
);

CREATE TABLE ullage.prompt (
    workspace text NOT NULL,
    session_id text NOT NULL,
    position integer NOT NULL,
    id bytea NOT NULL,
    body bytea NOT NULL,
    sum bytea NOT NULL,
    PRIMARY KEY (workspace, session_id, position),
    FOREIGN KEY (workspace, session_id) REFERENCES ullage.session (workspace, id) ON DELETE CASCADE
);

-- Who writes a session. The row stays when its connection is lost, until its time is over.
CREATE TABLE ullage.lease (
    workspace text NOT NULL,
    session_id text NOT NULL,
    holder text NOT NULL,
    held_by name NOT NULL,
    valid_until timestamptz NOT NULL,
    PRIMARY KEY (workspace, session_id),
    FOREIGN KEY (workspace, session_id) REFERENCES ullage.session (workspace, id) ON DELETE CASCADE
);

-- Images, documents, whole outputs and versions of files, by what they are and their name; and which session speaks of them.
CREATE TABLE ullage.attached (
    workspace text NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    data bytea NOT NULL,
    PRIMARY KEY (workspace, kind, name)
);

CREATE TABLE ullage.speaks_of (
    workspace text NOT NULL,
    session_id text NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    PRIMARY KEY (workspace, session_id, kind, name),
    FOREIGN KEY (workspace, session_id) REFERENCES ullage.session (workspace, id) ON DELETE CASCADE
);
CREATE INDEX speaks_of_name ON ullage.speaks_of (workspace, kind, name);

-- What was said, to be found by its words. It comes after its entry, and up to which one it has come stands in ullage.said.
CREATE TABLE ullage.said (
    workspace text NOT NULL,
    session_id text NOT NULL,
    through bigint NOT NULL,
    PRIMARY KEY (workspace, session_id),
    FOREIGN KEY (workspace, session_id) REFERENCES ullage.session (workspace, id) ON DELETE CASCADE
);

CREATE TABLE ullage.passage (
    workspace text NOT NULL,
    session_id text NOT NULL,
    seq bigint NOT NULL,
    what text NOT NULL,
    tool_use_id text,
    at double precision NOT NULL,
    said text NOT NULL,
    words tsvector GENERATED ALWAYS AS (to_tsvector('simple', said)) STORED,
    FOREIGN KEY (workspace, session_id, seq) REFERENCES ullage.entry (workspace, session_id, seq) ON DELETE CASCADE
);
CREATE INDEX passage_words ON ullage.passage USING gin (words);
CREATE INDEX passage_entry ON ullage.passage (workspace, session_id, seq);

-- An entry is never changed, whoever asks: not by the owner of the tables either.

CREATE FUNCTION ullage.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'entries of a session are only ever added' USING ERRCODE = 'UL001';
END $$;

CREATE TRIGGER only_added BEFORE UPDATE ON ullage.entry FOR EACH ROW EXECUTE FUNCTION ullage.refuse();
CREATE TRIGGER only_added_all BEFORE TRUNCATE ON ullage.entry FOR EACH STATEMENT EXECUTE FUNCTION ullage.refuse();

-- Rows of a workspace are seen by its members. `session_user` is who logged in: no SET ROLE changes it, nor a function of the owner.

CREATE FUNCTION ullage.is_member(of_workspace text) RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog AS $$
    SELECT EXISTS (
        SELECT FROM ullage.member JOIN pg_roles ON rolname = role
        WHERE workspace = of_workspace AND pg_has_role(session_user, pg_roles.oid, 'MEMBER')
    )
$$;

-- The same of all, once a statement and not once a row.
CREATE FUNCTION ullage.my_workspaces() RETURNS SETOF text LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog AS $$
    SELECT DISTINCT workspace FROM ullage.member JOIN pg_roles ON rolname = role
    WHERE pg_has_role(session_user, pg_roles.oid, 'MEMBER')
$$;

DO $$
DECLARE
    each text;
BEGIN
    FOREACH each IN ARRAY ARRAY['session', 'entry', 'value', 'prompt', 'lease', 'attached', 'speaks_of', 'said', 'passage', 'member'] LOOP
        EXECUTE format('ALTER TABLE ullage.%I ENABLE ROW LEVEL SECURITY', each);
        EXECUTE format(
            'CREATE POLICY members ON ullage.%I FOR SELECT USING (workspace IN (SELECT ullage.my_workspaces()))', each
        );
    END LOOP;
END $$;

CREATE FUNCTION ullage.check_member(of_workspace text) RETURNS void LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog AS $$
BEGIN
    IF NOT ullage.is_member(of_workspace) THEN
        RAISE EXCEPTION 'no member of the workspace' USING ERRCODE = 'UL002';
    END IF;
END $$;

-- What members may do

-- A workspace belongs to whoever names it first; later ones have to be let in.
CREATE FUNCTION ullage.enter(of_workspace text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('ullage.enter ' || of_workspace, 0));
    IF NOT EXISTS (SELECT FROM ullage.member WHERE workspace = of_workspace) THEN
        INSERT INTO ullage.member (workspace, role) VALUES (of_workspace, session_user);
    END IF;
    PERFORM ullage.check_member(of_workspace);
END $$;

CREATE FUNCTION ullage.let_in(of_workspace text, another name) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog AS $$
BEGIN
    PERFORM ullage.check_member(of_workspace);
    INSERT INTO ullage.member (workspace, role) VALUES (of_workspace, another) ON CONFLICT DO NOTHING;
END $$;

-- Makes the session where there is none, and gives how far it has come.
CREATE FUNCTION ullage.make_session(of_workspace text, made text, made_title bytea, made_at double precision)
RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
    reached bigint;
BEGIN
    PERFORM ullage.check_member(of_workspace);
    INSERT INTO ullage.session (workspace, id, title, created_at, updated_at)
    VALUES (of_workspace, made, made_title, made_at, made_at) ON CONFLICT DO NOTHING;
    SELECT last_seq INTO reached FROM ullage.session WHERE workspace = of_workspace AND id = made;
    RETURN reached;
END $$;

-- Takes or renews the lease of a session for so many seconds: true where it is the caller's now. A connection that lives holds the advisory lock
-- beside it, so that two processes with the same holder (a copied container) are not both let in.
CREATE FUNCTION ullage.take_lease(of_workspace text, of_session text, by_holder text, seconds double precision)
RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
    held ullage.lease%ROWTYPE;
    lock_key bigint := hashtextextended(of_workspace || E'\n' || of_session, 17);
    has_lock boolean;
BEGIN
    PERFORM ullage.check_member(of_workspace);
    IF seconds > 600 THEN
        RAISE EXCEPTION 'a lease takes at most 600 seconds' USING ERRCODE = 'UL004';
    END IF;
    PERFORM FROM ullage.session WHERE workspace = of_workspace AND id = of_session FOR UPDATE;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    has_lock := EXISTS (
        SELECT FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid() AND granted AND objsubid = 1
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND classid::bigint = (lock_key >> 32) & 4294967295 AND objid::bigint = lock_key & 4294967295
    );
    IF NOT has_lock AND NOT pg_try_advisory_lock(lock_key) THEN
        RETURN false;
    END IF;
    SELECT * INTO held FROM ullage.lease WHERE workspace = of_workspace AND session_id = of_session;
    IF FOUND AND held.holder <> by_holder AND held.valid_until > clock_timestamp() THEN
        IF NOT has_lock THEN
            PERFORM pg_advisory_unlock(lock_key);
        END IF;
        RETURN false;
    END IF;
    INSERT INTO ullage.lease (workspace, session_id, holder, held_by, valid_until)
    VALUES (of_workspace, of_session, by_holder, session_user, clock_timestamp() + make_interval(secs => seconds))
    ON CONFLICT (workspace, session_id)
    DO UPDATE SET holder = excluded.holder, held_by = excluded.held_by, valid_until = excluded.valid_until;
    RETURN true;
END $$;

CREATE FUNCTION ullage.give_back(of_workspace text, of_session text, by_holder text)
RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
    PERFORM ullage.check_member(of_workspace);
    DELETE FROM ullage.lease WHERE workspace = of_workspace AND session_id = of_session AND holder = by_holder AND held_by = session_user;
    PERFORM pg_advisory_unlock(hashtextextended(of_workspace || E'\n' || of_session, 17));
END $$;

CREATE FUNCTION ullage.check_lease(of_workspace text, of_session text, by_holder text, seconds double precision)
RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
    PERFORM ullage.check_member(of_workspace);
    UPDATE ullage.lease SET valid_until = greatest(valid_until, clock_timestamp() + make_interval(secs => least(seconds, 600)))
    WHERE workspace = of_workspace AND session_id = of_session AND holder = by_holder AND held_by = session_user;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'another process writes the session' USING ERRCODE = 'UL003';
    END IF;
END $$;

-- Adds entries behind `after_seq`, which has to be the last: so none is lost, doubled or out of order. All or none.
CREATE FUNCTION ullage.append(
    of_workspace text, of_session text, by_holder text, seconds double precision, after_seq bigint,
    seqs bigint[], ats double precision[], bodies bytea[], sums bytea[],
    spoken_kinds text[], spoken_names text[]
) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
    reached bigint;
BEGIN
    PERFORM ullage.check_lease(of_workspace, of_session, by_holder, seconds);
    SELECT last_seq INTO reached FROM ullage.session WHERE workspace = of_workspace AND id = of_session FOR NO KEY UPDATE;
    IF reached <> after_seq OR seqs[1] <= after_seq OR seqs <> ARRAY(SELECT DISTINCT seq FROM unnest(seqs) AS seq ORDER BY seq) THEN
        RAISE EXCEPTION 'the session has come to %, not to %', reached, after_seq USING ERRCODE = 'UL005';
    END IF;
    INSERT INTO ullage.entry (workspace, session_id, seq, at, body, sum)
    SELECT of_workspace, of_session, * FROM unnest(seqs, ats, bodies, sums);
    INSERT INTO ullage.speaks_of (workspace, session_id, kind, name)
    SELECT of_workspace, of_session, * FROM unnest(spoken_kinds, spoken_names) ON CONFLICT DO NOTHING;
    reached := seqs[array_length(seqs, 1)];
    UPDATE ullage.session SET last_seq = reached, updated_at = ats[array_length(ats, 1)] WHERE workspace = of_workspace AND id = of_session;
    RETURN reached;
END $$;

-- Words of the entries behind `after_seq`, up to `through_seq`. False where others said them meanwhile.
CREATE FUNCTION ullage.say(
    of_workspace text, of_session text, after_seq bigint, through_seq bigint, seqs bigint[], whats text[], ids text[], texts text[]
) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
    PERFORM ullage.check_member(of_workspace);
    INSERT INTO ullage.said (workspace, session_id, through)
    SELECT of_workspace, of_session, 0 FROM ullage.session WHERE workspace = of_workspace AND id = of_session ON CONFLICT DO NOTHING;
    UPDATE ullage.said SET through = through_seq WHERE workspace = of_workspace AND session_id = of_session AND through = after_seq;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    INSERT INTO ullage.passage (workspace, session_id, seq, what, tool_use_id, at, said)
    SELECT of_workspace, of_session, entry.seq, what, tool_use_id, entry.at, said
    FROM unnest(seqs, whats, ids, texts) AS all_said (of_seq, what, tool_use_id, said)
    JOIN ullage.entry ON entry.workspace = of_workspace AND entry.session_id = of_session AND entry.seq = of_seq
    WHERE of_seq > after_seq AND of_seq <= through_seq;
    RETURN true;
END $$;

-- What goes along with a session, as it is now.
CREATE FUNCTION ullage.put_heads(
    of_workspace text, of_session text, by_holder text, seconds double precision, new_title bytea,
    keys bytea[], vals bytea[], val_sums bytea[], prompt_ids bytea[], prompt_bodies bytea[], prompt_sums bytea[]
) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
    PERFORM ullage.check_lease(of_workspace, of_session, by_holder, seconds);
    UPDATE ullage.session SET title = new_title WHERE workspace = of_workspace AND id = of_session AND title <> new_title;
    DELETE FROM ullage.value WHERE workspace = of_workspace AND session_id = of_session;
    INSERT INTO ullage.value (workspace, session_id, key, value, sum)
    SELECT of_workspace, of_session, * FROM unnest(keys, vals, val_sums);
    DELETE FROM ullage.prompt WHERE workspace = of_workspace AND session_id = of_session;
    INSERT INTO ullage.prompt (workspace, session_id, position, id, body, sum)
    SELECT of_workspace, of_session, position, id, body, sum
    FROM unnest(prompt_ids, prompt_bodies, prompt_sums) WITH ORDINALITY AS waits (id, body, sum, position);
END $$;

CREATE FUNCTION ullage.attach(of_workspace text, of_kind text, of_name text, content bytea)
RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
    PERFORM ullage.check_member(of_workspace);
    INSERT INTO ullage.attached (workspace, kind, name, data) VALUES (of_workspace, of_kind, of_name, content) ON CONFLICT DO NOTHING;
END $$;

-- Deletes a session for good, with what no other one speaks of. Whoever writes it now keeps it.
CREATE FUNCTION ullage.delete_session(of_workspace text, of_session text, by_holder text)
RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM ullage.session WHERE workspace = of_workspace AND id = of_session) THEN
        RETURN false;
    END IF;
    PERFORM ullage.check_lease(of_workspace, of_session, by_holder, 1);
    CREATE TEMP TABLE spoken ON COMMIT DROP AS
        SELECT kind, name FROM ullage.speaks_of WHERE workspace = of_workspace AND session_id = of_session;
    DELETE FROM ullage.session WHERE workspace = of_workspace AND id = of_session;
    DELETE FROM ullage.attached USING pg_temp.spoken
    WHERE attached.workspace = of_workspace AND attached.kind = spoken.kind AND attached.name = spoken.name
    AND NOT EXISTS (
        SELECT FROM ullage.speaks_of AS other
        WHERE other.workspace = of_workspace AND other.kind = spoken.kind AND other.name = spoken.name
    );
    RETURN true;
END $$;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA ullage FROM PUBLIC;
GRANT USAGE ON SCHEMA ullage TO ullage_member;
GRANT SELECT ON ALL TABLES IN SCHEMA ullage TO ullage_member;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA ullage TO ullage_member;
