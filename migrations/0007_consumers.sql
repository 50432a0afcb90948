-- Checkpoints of consumers that read the log for something other than a read model, for example to destroy keys.
CREATE TABLE mneme.consumers (
  name text PRIMARY KEY,
  log_id uuid NOT NULL,
  position bigint NOT NULL
);
GRANT SELECT, INSERT, UPDATE ON mneme.consumers TO mneme_system;

-- Erasing a memory takes its cached vectors, and remembering one checks its key's state: both are the system's business.
CREATE POLICY system ON mneme.vector_cache TO mneme_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, DELETE ON mneme.vector_cache TO mneme_system;
