-- The event log when it lives in PostgreSQL: ordered streams, and one order over all of them.
--
-- No row-level security and no grants: only the connecting user, who owns the table, reads and appends. The roles that
-- serve requests (mneme_app) or write read models never touch the log, so there is nothing to allow them.
CREATE TABLE mneme.events (
  position bigint NOT NULL, -- from 0 without gaps; its order is the order of commits
  -- Bytewise order: an index over the server's collation breaks silently when an operating system update changes it.
  stream text COLLATE "C" NOT NULL,
  revision bigint NOT NULL, -- place in the stream, from 0 without gaps
  event_id uuid NOT NULL,
  type text NOT NULL,
  -- Text, never jsonb: the hash chain covers the bytes as they were given, and jsonb would reorder and reformat them.
  data text NOT NULL,
  metadata text NOT NULL,
  recorded_at timestamptz(3) NOT NULL, -- never falls as the position grows
  CONSTRAINT events_position PRIMARY KEY (position),
  CONSTRAINT events_stream_revision UNIQUE (stream, revision),
  CONSTRAINT events_stream_event_id UNIQUE (stream, event_id)
);

-- Carries out many append requests in one round trip and one transaction, each request for itself.
--
-- Requests are the entries of streams and expected (the stream's last revision, -1 for a stream that does not exist).
-- Events are the entries of the other arrays, all of one length, in the order of their requests: the request's number and
-- the event's place in it, both from 1. Returns a row for every request: whether its events stand, and the stream's last
-- revision with its position (of the request's last event when they stand, else of the stream's; position null then).
--
-- Readers follow the log by position alone. With a sequence, a transaction that drew 7 may commit after one that drew 8,
-- and a reader past 8 never sees 7. Here positions are drawn under a lock that is held until the commit, so a position is
-- visible only when all positions before it are.
--
-- The lock and what is read under it are separate statements on purpose: under READ COMMITTED every statement of a
-- VOLATILE function takes its own snapshot, so the statements after the lock see all that its previous holder committed. One
-- statement that took the lock and read would read from before it waited, as would any transaction with one snapshot.
--
-- Plans are made once in a session: left to itself, the planner makes them anew for every call, because arrays of known
-- length look cheaper than arrays of unknown length (measured: 0.18 ms an append against 0.07 ms). A plan made while the log
-- is small must not scan the table for ever, and the embedded database never analyses it: hence enable_seqscan.
CREATE FUNCTION mneme.append_events(
  streams text[],
  expected bigint[],
  event_requests int[],
  event_places int[],
  event_ids uuid[],
  event_types text[],
  event_data text[],
  event_metadata text[]
) RETURNS TABLE (request int, stands boolean, last_revision bigint, last_position bigint)
LANGUAGE plpgsql VOLATILE
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET lock_timeout = '10s'
AS $$
DECLARE
  log_end bigint;
  log_time timestamptz;
  recorded timestamptz;
  stream_end bigint;
  standing bigint;
  wanted record;
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE EXCEPTION 'append_events needs READ COMMITTED' USING ERRCODE = 'invalid_transaction_state';
  END IF;
  PERFORM pg_advisory_xact_lock(7813570632107946340);

  SELECT e.position, e.recorded_at INTO log_end, log_time FROM mneme.events e ORDER BY e.position DESC LIMIT 1;
  log_end := coalesce(log_end, -1);
  recorded := greatest(date_trunc('milliseconds', clock_timestamp()), log_time); -- clocks are set back; recorded time is not

  -- The usual case, one statement for all: no stream twice, all of them where their writers believe them to be.
  IF (
    SELECT count(DISTINCT q.stream) = count(*)
      AND bool_and(q.expected = coalesce((SELECT max(e.revision) FROM mneme.events e WHERE e.stream = q.stream), -1))
    FROM unnest(streams, expected) AS q (stream, expected)
  ) THEN
    INSERT INTO mneme.events (position, stream, revision, event_id, type, data, metadata, recorded_at)
    SELECT log_end + v.number, streams[v.request], expected[v.request] + v.place, v.id, v.type, v.data, v.metadata, recorded
    FROM unnest(event_requests, event_places, event_ids, event_types, event_data, event_metadata)
      WITH ORDINALITY AS v (request, place, id, type, data, metadata, number);
    RETURN QUERY
      SELECT v.request, true, expected[v.request] + max(v.place), log_end + max(v.number)
      FROM unnest(event_requests, event_places) WITH ORDINALITY AS v (request, place, number)
      GROUP BY v.request;
    RETURN;
  END IF;

  FOR wanted IN
    SELECT v.request, streams[v.request] AS stream, expected[v.request] AS expected, array_agg(v.id ORDER BY v.place) AS ids,
      array_agg(v.type ORDER BY v.place) AS types, array_agg(v.data ORDER BY v.place) AS data,
      array_agg(v.metadata ORDER BY v.place) AS metadata
    FROM unnest(event_requests, event_places, event_ids, event_types, event_data, event_metadata)
      AS v (request, place, id, type, data, metadata)
    GROUP BY v.request
    ORDER BY v.request
  LOOP
    request := wanted.request;
    stands := true;
    last_revision := wanted.expected + cardinality(wanted.ids);
    SELECT coalesce(max(e.revision), -1) INTO stream_end FROM mneme.events e WHERE e.stream = wanted.stream;
    IF stream_end = wanted.expected THEN
      INSERT INTO mneme.events (position, stream, revision, event_id, type, data, metadata, recorded_at)
      SELECT log_end + v.place, wanted.stream, wanted.expected + v.place, v.id, v.type, v.data, v.metadata, recorded
      FROM unnest(wanted.ids, wanted.types, wanted.data, wanted.metadata) WITH ORDINALITY AS v (id, type, data, metadata, place);
      log_end := log_end + cardinality(wanted.ids);
      last_position := log_end;
    ELSE
      -- The same append again, perhaps because its first answer was lost: it stands if every id is where it would be.
      SELECT count(*), max(e.position) INTO standing, last_position
      FROM unnest(wanted.ids) WITH ORDINALITY AS v (id, place)
      JOIN mneme.events e ON e.revision = wanted.expected + v.place AND e.event_id = v.id
      WHERE e.stream = wanted.stream AND e.revision > wanted.expected AND e.revision <= last_revision;
      IF standing < cardinality(wanted.ids) THEN
        stands := false;
        last_revision := stream_end;
        last_position := NULL;
      END IF;
    END IF;
    RETURN NEXT;
  END LOOP;
END
$$;
