import { createHash } from 'node:crypto';
import { isRedacted, type RecordedEvent } from '../../src/event-log/domain-event.js';
import { evolveProcedure, type Procedure, type ProcedureEvent, type ProcedureStatus } from '../../src/procedures/procedure.js';
import { type Change, erase, lookup, projection, put, type Rows, table } from '../engine/projection.js';

export type ProcedureRow = {
  team_id: string;
  procedure_id: string;
  scope: string;
  question: string;
  intent: string | null;
  /** JSON text. */
  graph: string;
  version: string;
  parent_id: string | null;
  status: string;
  profile_id: string | null;
  remembered_at: Date;
  /** Of the event that remembered it: the order of lists. */
  position: bigint;
  /** Of the stream's last event seen: the version that If-Match compares. */
  revision: bigint;
};

export const procedures = table<ProcedureRow>({
  name: 'procedures',
  columns: {
    team_id: 'uuid',
    procedure_id: 'uuid',
    scope: 'text',
    question: 'text',
    intent: 'text',
    graph: 'text',
    version: 'text',
    parent_id: 'uuid',
    status: 'text',
    profile_id: 'uuid',
    remembered_at: 'timestamptz',
    position: 'int8',
    revision: 'int8',
  },
  nullable: ['intent', 'parent_id', 'profile_id'],
  key: ['team_id', 'procedure_id'],
  history: ['status', 'revision'],
  indexes: [
    ['team_id', 'position'],
    ['team_id', 'scope', 'position'],
    ['team_id', 'status', 'position'],
  ],
});

export type ProcedureVectorRow = {
  team_id: string;
  procedure_id: string;
  scope: string;
  intent: string | null;
  status: string;
  content_hash: string;
  position: bigint;
  contract: string | null;
  embedding: string | null;
  attempts: number | null;
  retry_at: Date | null;
  failure: string | null;
};

/**
 * One row per procedure, there from its first event on; the embedding worker fills in the vector of its question.
 *
 * It has what recall chooses by beside the vector: with a join, each of a scope's vectors cost an index look-up of its own
 * (10,000 of them: 42 ms instead of 25).
 */
export const procedureVectors = table<ProcedureVectorRow>({
  name: 'procedure_vectors',
  columns: {
    team_id: 'uuid',
    procedure_id: 'uuid',
    scope: 'text',
    intent: 'text',
    status: 'text',
    content_hash: 'text',
    position: 'int8',
    contract: 'text',
    embedding: 'vector',
    attempts: 'int4',
    retry_at: 'timestamptz',
    failure: 'text',
  },
  nullable: ['intent', 'contract', 'embedding', 'attempts', 'retry_at', 'failure'],
  operational: ['contract', 'embedding', 'attempts', 'retry_at', 'failure'],
  key: ['team_id', 'procedure_id'],
  indexes: [['team_id', 'scope', 'status']],
  embeds: 'procedure_id',
});

/** Procedure versions with their content and status; what recall searches and lists show. */
export const proceduresProjection = projection<ProcedureEvent>({
  name: 'procedures',
  version: 2,
  eventTypes: [
    'ProcedureRemembered',
    'ProcedureApproved',
    'ProcedureRejected',
    'ProcedureArchived',
    'ProcedureRestored',
    'ExecutionsPruned',
    'ProcedureErased',
  ],
  needsContent: true,
  tables: [procedures, procedureVectors],

  load: (events) =>
    events.flatMap(({ team, data }) => {
      const key = { team_id: team, procedure_id: data.procedure_id };
      if (data.type === 'ProcedureErased') return [];
      if (data.type === 'ProcedureRemembered') return [lookup(procedures, key)];
      return [lookup(procedures, key), lookup(procedureVectors, key)];
    }),

  changes(event: RecordedEvent<ProcedureEvent>, rows: Rows): Change[] {
    const { data, team } = event;
    const key = { team_id: team, procedure_id: data.procedure_id };
    if (data.type === 'ProcedureErased') return [erase(procedures, key), erase(procedureVectors, key)];

    const row = rows.get(procedures, key);
    if (row && row.revision >= event.revision) return [];
    if (data.type === 'ProcedureRemembered') return remembered(event, data);
    return row ? changed(row, rows.get(procedureVectors, key), event) : [];
  },
});

function changed(row: ProcedureRow, vector: ProcedureVectorRow | undefined, event: RecordedEvent<ProcedureEvent>): Change[] {
  const status = statusAfter(row, event.data);
  return [
    put(procedures, { ...row, status, revision: event.revision }),
    // Only where it changes: the row is as large as its vector, and would be written anew.
    ...(vector && vector.status !== status ? [put(procedureVectors, { ...vector, status })] : []),
  ];
}

const notEmbedded = { contract: null, embedding: null, attempts: null, retry_at: null, failure: null };

function remembered(
  event: RecordedEvent<ProcedureEvent>,
  data: Extract<ProcedureEvent, { type: 'ProcedureRemembered' }>,
): Change[] {
  // The key is gone, so the erasing event is further on in the log: the procedure is absent at every moment.
  if (isRedacted(data.sealed)) return [];
  const { scope, question, intent, graph, version } = data.sealed;
  const key = { team_id: event.team, procedure_id: data.procedure_id };
  const { position, revision } = event;
  const row: ProcedureRow = {
    ...key,
    scope,
    question,
    intent,
    graph: JSON.stringify(graph),
    version,
    parent_id: data.parent_id,
    status: data.status,
    profile_id: event.metadata.profile ?? null,
    remembered_at: event.recordedAt,
    position,
    revision,
  };
  const vector: ProcedureVectorRow = {
    ...key,
    scope,
    intent,
    status: data.status,
    content_hash: createHash('sha256').update(question).digest('hex'),
    position,
    ...notEmbedded,
  };
  return [put(procedures, row), put(procedureVectors, vector)];
}

function statusAfter(row: ProcedureRow, event: ProcedureEvent): string {
  const before: Procedure = { status: row.status as ProcedureStatus, parent_id: row.parent_id, content: { redacted: true } };
  return evolveProcedure(before, event).status;
}
