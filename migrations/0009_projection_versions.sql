-- Several builds of one projection side by side: one serves, one may be ready to take its place, one that served before
-- stands by. `state` still says how a build moves, `role` what it is for.
--
-- state: building = replays with its own position; active = a member of the group; stopped = stands still at its position, and
-- serves what it has if that is its role; retired = dropped, its schema is gone.
ALTER TABLE mneme.projection_builds
  ADD COLUMN role text NOT NULL DEFAULT 'serving' CHECK (role IN ('ready', 'serving', 'standby')),
  -- When it became a member of the group: a reader whose snapshot is older does not see all its rows. Null before.
  ADD COLUMN joined_at timestamptz,
  -- The process that replays it now, taken to be alive until then.
  ADD COLUMN filler uuid,
  ADD COLUMN filled_until timestamptz,
  -- Of a stopped build: the group carries out erasures on it. Until then those after its position are still to come.
  ADD COLUMN purging boolean NOT NULL DEFAULT false,
  -- Erasures were carried out without the code that made it: what is erased is gone, but it cannot go on from here.
  ADD COLUMN torn boolean NOT NULL DEFAULT false;

UPDATE mneme.projection_builds SET role = 'ready' WHERE state = 'building';
UPDATE mneme.projection_builds SET joined_at = changed_at WHERE state = 'active';

DROP INDEX mneme.projection_builds_serving;
DROP INDEX mneme.projection_builds_building;
CREATE UNIQUE INDEX projection_builds_serving ON mneme.projection_builds (name)
  WHERE role = 'serving' AND state IN ('active', 'stopped');
CREATE UNIQUE INDEX projection_builds_coming ON mneme.projection_builds (name)
  WHERE state = 'building' OR (role = 'ready' AND state IN ('active', 'stopped'));

-- What serves was another build from then on. Written by the transaction that switches; the event follows, and is told from
-- here again if the process ended in between.
CREATE TABLE mneme.projection_switches (
  switch_id uuid PRIMARY KEY, -- the command that the event names as its cause
  number bigint GENERATED ALWAYS AS IDENTITY,
  name text NOT NULL,
  from_version integer, -- null where nothing served
  from_build integer,
  to_version integer NOT NULL,
  to_build integer NOT NULL,
  kind text NOT NULL CHECK (kind IN ('switch', 'rollback', 'rebuild', 'automatic')),
  correlation_id text NOT NULL,
  api_key text,
  switched_at timestamptz NOT NULL DEFAULT now(),
  recorded boolean NOT NULL DEFAULT false, -- the event is in the log
  CHECK ((from_version IS NULL) = (from_build IS NULL))
);
CREATE INDEX projection_switches_unrecorded ON mneme.projection_switches (number) WHERE NOT recorded;
