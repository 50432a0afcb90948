-- Roles a transaction switches to (SET LOCAL ROLE); nobody logs in as one of them, and none bypasses row-level security.
-- Roles belong to the whole server, so another installation's may be there already.
DO $$
DECLARE
  role_name text;
BEGIN
  FOREACH role_name IN ARRAY ARRAY['mneme_app', 'mneme_projector', 'mneme_system'] LOOP
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role_name) THEN
      BEGIN
        EXECUTE format('CREATE ROLE %I NOLOGIN NOBYPASSRLS', role_name);
      EXCEPTION WHEN duplicate_object OR unique_violation THEN
        NULL; -- another installation made it in the same moment
      END;
    END IF;
    EXECUTE format('GRANT %I TO CURRENT_USER', role_name);
    EXECUTE format('GRANT USAGE ON SCHEMA mneme TO %I', role_name);
  END LOOP;
END
$$;

CREATE EXTENSION IF NOT EXISTS vector;

-- The stable names of the active read models (views), which the projection engine points at a version.
CREATE SCHEMA mneme_read;
GRANT USAGE ON SCHEMA mneme_read TO mneme_app, mneme_projector, mneme_system;
