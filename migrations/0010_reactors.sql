-- Reactors follow the log and append to it. One row each: how far it has come, and whose it is.
CREATE TABLE mneme.reactors (
  name text PRIMARY KEY,
  log_id uuid NOT NULL, -- a checkpoint means nothing on another log
  position bigint NOT NULL, -- last position reacted to; -1 before the first
  epoch bigint NOT NULL, -- grows with every owner: an owner of an earlier epoch cannot write any more
  last_error text -- why it stopped: code, event type and position, never a message, which may quote content
);
GRANT SELECT, INSERT, UPDATE ON mneme.reactors TO mneme_system;

-- What reactors are to look at again, and when. Ids and times only.
CREATE TABLE mneme.due_timers (
  team_id uuid NOT NULL,
  reactor text NOT NULL,
  key text NOT NULL CHECK (length(key) <= 200), -- the reactor's own; one timer a key
  memory_id uuid, -- the memory it concerns, with which it is erased
  due_at timestamptz(3) NOT NULL,
  -- The event it was set for: the ids of what is appended when it is due derive from it.
  cause_id uuid NOT NULL,
  correlation_id text NOT NULL,
  causation_depth integer NOT NULL,
  PRIMARY KEY (team_id, reactor, key)
);
CREATE INDEX due_timers_due ON mneme.due_timers (reactor, due_at);
CREATE INDEX due_timers_memory ON mneme.due_timers (team_id, memory_id);

ALTER TABLE mneme.due_timers ENABLE ROW LEVEL SECURITY;
ALTER TABLE mneme.due_timers FORCE ROW LEVEL SECURITY;
CREATE POLICY system ON mneme.due_timers TO mneme_system USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON mneme.due_timers TO mneme_system;
