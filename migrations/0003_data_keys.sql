-- One data key per memory, wrapped by the master key. The row outlives the key, so that an erased owner can never get another.
CREATE TABLE mneme.data_keys (
  team_id uuid NOT NULL, -- the nil UUID for secrets of the installation itself
  owner text NOT NULL CHECK (owner ~ '^[A-Za-z0-9_.:-]{1,100}$'), -- id of a memory, or the name of a secret
  state text NOT NULL CHECK (state IN ('active', 'erased')),
  wrapped_key bytea,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  erased_at timestamptz,
  PRIMARY KEY (team_id, owner),
  CHECK ((state = 'active') = (wrapped_key IS NOT NULL)),
  CHECK ((state = 'erased') = (erased_at IS NOT NULL))
);

CREATE FUNCTION mneme.refuse_change_of_erased_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'an erased data key stays erased' USING ERRCODE = 'integrity_constraint_violation';
END
$$;
CREATE TRIGGER erased_for_ever BEFORE UPDATE OR DELETE ON mneme.data_keys
  FOR EACH ROW WHEN (OLD.state = 'erased') EXECUTE FUNCTION mneme.refuse_change_of_erased_key();

ALTER TABLE mneme.data_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE mneme.data_keys FORCE ROW LEVEL SECURITY;
CREATE POLICY system ON mneme.data_keys TO mneme_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE ON mneme.data_keys TO mneme_system;
