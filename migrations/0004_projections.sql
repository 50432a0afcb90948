-- Where the projections stand. The read models themselves are not here: the projection engine makes a schema per build.

-- One row: all healthy projections advance together, in one transaction with their rows.
CREATE TABLE mneme.projection_group (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  log_id text NOT NULL, -- a checkpoint means nothing on another log
  position bigint NOT NULL, -- last position applied; -1 before the first
  lease_until timestamptz NOT NULL DEFAULT '-infinity', -- until then its owner is taken to be alive
  epoch bigint NOT NULL, -- grows with every owner: an owner of an earlier epoch cannot write any more
  generation bigint NOT NULL DEFAULT 0 -- grows with every switch of a build, so that the owner notices those of other processes
);

-- Every build of every projection: version = what it means, build = how often that was made anew.
CREATE TABLE mneme.projection_builds (
  name text NOT NULL,
  version integer NOT NULL,
  build integer NOT NULL,
  schema_name text NOT NULL UNIQUE,
  -- building: replays with its own position. active: a member of the group. stopped: serves what it had at its position.
  -- retired: replaced, its schema is gone.
  state text NOT NULL CHECK (state IN ('building', 'active', 'stopped', 'retired')),
  position bigint,
  last_error text, -- code, SQLSTATE, event type and position; never a message, which may quote content
  failed_position bigint, -- the event that stopped it; null when it stands still because no code projects it any more
  created_at timestamptz NOT NULL DEFAULT now(),
  changed_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (name, version, build),
  CHECK (state NOT IN ('building', 'stopped') OR position IS NOT NULL)
);
CREATE UNIQUE INDEX projection_builds_serving ON mneme.projection_builds (name) WHERE state IN ('active', 'stopped');
CREATE UNIQUE INDEX projection_builds_building ON mneme.projection_builds (name) WHERE state = 'building';

GRANT SELECT, UPDATE ON mneme.projection_group TO mneme_projector;
GRANT SELECT, INSERT, UPDATE, DELETE ON mneme.projection_builds TO mneme_projector;
-- A reader tells from its own snapshot which position its rows are of.
GRANT SELECT ON mneme.projection_group, mneme.projection_builds TO mneme_app, mneme_system;
