-- Version 4: each statement that writes looks who calls. As a function in the language SQL that was planned anew each time, and took more than half of
-- what `ullage.append` takes. The plan of one in PL/pgSQL stays with the connection.

CREATE OR REPLACE FUNCTION ullage.is_member(of_workspace text) RETURNS boolean LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog AS $$
BEGIN
    RETURN EXISTS (
        SELECT FROM ullage.member JOIN pg_roles ON rolname = role
        WHERE workspace = of_workspace AND pg_has_role(session_user, pg_roles.oid, 'MEMBER')
    );
END $$;
