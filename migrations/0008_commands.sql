-- Receipts of commands that came with an Idempotency-Key: what a repetition is answered with. Written after the append, so a
-- missing row means nothing; the events themselves know their command.
CREATE TABLE mneme.commands (
  team_id uuid NOT NULL, -- the nil UUID for operators
  command_id uuid NOT NULL, -- derives from the key, which may hold anything and is not kept
  fingerprint text NOT NULL, -- HMAC of the request: tells a repetition from another request under the same key
  status integer NOT NULL,
  receipt text NOT NULL, -- JSON without content: ids, states, verdicts
  position bigint NOT NULL,
  revision bigint, -- null where no stream has one
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (team_id, command_id)
);
ALTER TABLE mneme.commands ENABLE ROW LEVEL SECURITY;
ALTER TABLE mneme.commands FORCE ROW LEVEL SECURITY;
CREATE POLICY system ON mneme.commands TO mneme_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT ON mneme.commands TO mneme_system;
