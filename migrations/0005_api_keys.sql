-- Keyed hashes of API keys. Not a read model: the log holds neither keys nor hashes, so losing this table means issuing new keys.
-- What a key may do stands in the read model `access`; a key works only while it has a row in both.
CREATE TABLE mneme.api_key_hashes (
  team_id uuid NOT NULL, -- the zero UUID for operator keys
  key_id uuid NOT NULL,
  key_hash bytea NOT NULL, -- HMAC-SHA-256 of the key
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (team_id, key_id)
);
-- The one lookup that happens before a team is known.
CREATE INDEX api_key_hashes_hash ON mneme.api_key_hashes (key_hash);

ALTER TABLE mneme.api_key_hashes ENABLE ROW LEVEL SECURITY;
ALTER TABLE mneme.api_key_hashes FORCE ROW LEVEL SECURITY;
CREATE POLICY system ON mneme.api_key_hashes TO mneme_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, DELETE ON mneme.api_key_hashes TO mneme_system;
