-- Vectors already made, by content and embedding contract, so that neither a rebuild nor an equal text pays the model again.
-- One row per memory, so that erasing a memory takes its rows and no other's. Not a read model: losing it costs model calls only.
CREATE TABLE mneme.vector_cache (
  team_id uuid NOT NULL,
  content_hmac text NOT NULL, -- keyed: a bare hash would confirm a guess at erased text
  contract text NOT NULL,
  memory_id uuid NOT NULL,
  embedding vector NOT NULL,
  PRIMARY KEY (team_id, content_hmac, contract, memory_id)
);
-- The planner's statistics are a copy of common values, which deleting rows does not touch.
ALTER TABLE mneme.vector_cache ALTER COLUMN embedding SET STATISTICS 0, ALTER COLUMN content_hmac SET STATISTICS 0;
CREATE INDEX vector_cache_memory ON mneme.vector_cache (team_id, memory_id);

ALTER TABLE mneme.vector_cache ENABLE ROW LEVEL SECURITY;
ALTER TABLE mneme.vector_cache FORCE ROW LEVEL SECURITY;
CREATE POLICY projector ON mneme.vector_cache TO mneme_projector USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON mneme.vector_cache TO mneme_projector;
