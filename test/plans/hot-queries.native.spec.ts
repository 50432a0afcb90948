import { accessProjection, apiKeys, profiles, teams } from '../../projections/access/access.projection.js';
import { apiKeysAfter, profilesAfter, settingsOfTeam } from '../../projections/access/access.queries.js';
import { streamsOf } from '../../projections/event-refs/event-refs-queries.js';
import type { Table } from '../../projections/engine/projection.js';
import { getExecution } from '../../projections/judged-counters/execution-queries.js';
import { momentAt, timeOfPosition } from '../../projections/moments/moment-queries.js';
import { moments, momentsOf } from '../../projections/moments/moments.projection.js';
import {
  findCandidates,
  firstPendingVector,
  getProcedure,
  listProcedures,
  type ProcedureFilter,
} from '../../projections/procedures/procedure-queries.js';
import {
  findCandidatesAsOf,
  getProcedureAsOf,
  listProceduresAsOf,
} from '../../projections/procedures/procedure-queries-as-of.js';
import { usableKey } from '../../src/access/api-key-hashes.js';
import type { Database } from '../../src/database/database.js';
import { findRetries, findUntried, procedureDocuments, writeVectors } from '../../src/embedding/embedding-documents.js';
import { DataKeys } from '../../src/encryption/data-keys.js';
import { MasterKey } from '../../src/encryption/master-key.js';
import { PostgresEventLog } from '../../src/event-log/postgres/postgres-event-log.js';
import { logHead, logPage, streamPage } from '../../src/event-log/postgres/event-queries.js';
import { procedureStream } from '../../src/procedures/procedure.js';
import { streamName } from '../../src/event-log/stream-name.js';
import { CommandTable } from '../../src/http/idempotency/command-table.js';
import { allProjections } from '../../src/infrastructure.js';
import { freshDatabase } from '../support/database.js';
import { fillRows, type PlanNode, planOf, sentBy } from '../support/plans.js';
import { fillVectors, ProcedureLog, projectAll } from '../support/procedure-log.js';

const team = '00000000-0000-4000-8000-00000000000a';
const contract = 'test:64';
const id = '00000000-0000-4000-8000-000000000001';
/** In the middle of the log. */
const position = 6_000n;
const vector = Array.from({ length: 64 }, (_, index) => Math.sin(index));

/** What one query may do beside searching indexes. */
interface Allowed {
  /** What it sorts by, where no index has the order: a part of the sort key's text. */
  readonly sorts?: readonly string[];
  /** Indexes that it reads in their order until it has enough. */
  readonly inOrder?: readonly string[];
  /** Relations it must not touch. */
  readonly never?: RegExp;
}

const asTeam =
  (work: (queries: Parameters<Parameters<Database['asTeam']>[1]>[0]) => Promise<unknown>) =>
  (database: Database): Promise<unknown> =>
    database.asTeam(team, work);
const asProjector =
  (work: (queries: Parameters<Parameters<Database['as']>[1]>[0]) => Promise<unknown>) =>
  (database: Database): Promise<unknown> =>
    database.as('mneme_projector', work);

const search = { team, scope: 'default', intent: undefined, contract, vector, pool: 50 };
const everything: ProcedureFilter = {
  team,
  scope: undefined,
  status: undefined,
  intent: undefined,
  before: undefined,
  limit: 51,
};
const slice = { after: 2_000n, limit: 51 };
const history = /_history$|^moments$|^event_refs$/;

/** Every query that requests or the projector send often, with what it is allowed. */
const queries: readonly [name: string, (database: Database) => Promise<unknown>, Allowed?][] = [
  ['recall', asTeam((at) => findCandidates(at, search)), { sorts: ['<=>'], never: history }],
  [
    'recall of an intent',
    asTeam((at) => findCandidates(at, { ...search, intent: 'refund' })),
    { sorts: ['<=>'], never: history },
  ],
  // Each run's last word is found by sorting the few runs of a candidate.
  ['recall of the past', asTeam((at) => findCandidatesAsOf(at, search, position)), { sorts: ['<=>', 'execution_id'] }],
  ['one procedure with its counters', asTeam((at) => getProcedure(at, { team, procedure: id })), { never: history }],
  [
    'one procedure of the past',
    asTeam((at) => getProcedureAsOf(at, { team, procedure: id }, position)),
    { sorts: ['execution_id'] },
  ],
  ['a page of procedures', asTeam((at) => listProcedures(at, everything)), { never: history }],
  ['a later page of procedures', asTeam((at) => listProcedures(at, { ...everything, before: position })), { never: history }],
  ['a page of a scope', asTeam((at) => listProcedures(at, { ...everything, scope: 'default' })), { never: history }],
  ['the review queue', asTeam((at) => listProcedures(at, { ...everything, status: 'pending_review' })), { never: history }],
  [
    'a page of a scope and status',
    asTeam((at) => listProcedures(at, { ...everything, scope: 'default', status: 'active', before: position })),
    { never: history },
  ],
  ['a page of the past', asTeam((at) => listProceduresAsOf(at, everything, position)), { sorts: ['execution_id'] }],
  [
    'a page of a scope and status of the past',
    asTeam((at) => listProceduresAsOf(at, { ...everything, scope: 'default', status: 'active' }, position)),
    { sorts: ['execution_id'] },
  ],
  ['one run', asTeam((at) => getExecution(at, { team, execution: id }))],
  ['the streams of a memory', asTeam((at) => streamsOf(at, { team, memory: id })), { sorts: ['stream'] }],
  ['the position of a time', asTeam((at) => momentAt(at, { team, time: '2001-01-02T00:00:00.000Z' }))],
  ['the time of a position', asTeam((at) => timeOfPosition(at, { team, position }))],
  ['a page of profiles', asTeam((at) => profilesAfter(at, team, slice))],
  ['a page of keys', asTeam((at) => apiKeysAfter(at, team, slice))],
  ['the settings of a team', asTeam((at) => settingsOfTeam(at, team))],
  ['vectors still to be made for a recall', asTeam((at) => firstPendingVector(at, { team, position }))],
  [
    'the key of a request',
    (database) => database.as('mneme_system', (at) => at.query(usableKey, [Buffer.from('hash 7'), new Date()])),
  ],
  ['the receipt of a command', (database) => new CommandTable(database).find({ team, commandId: id, fingerprint: '' })],
  ['data keys', (database) => new DataKeys(database, new MasterKey(Buffer.alloc(32))).fetch([{ team, owner: id }])],
  [
    'vectors never tried',
    asProjector((at) => findUntried(at, procedureDocuments, 32)),
    { inOrder: ['procedure_vectors_position_idx'], sorts: ['position'] },
  ],
  [
    'vectors to try again',
    asProjector((at) => findRetries(at, procedureDocuments, 32)),
    { inOrder: ['procedure_vectors_position_idx'], sorts: ['retry_at'] },
  ],
  [
    'vectors that were made',
    asProjector((at) => writeVectors(at, procedureDocuments, contract, [{ team_id: team, id, content_hash: '', vector: '[1]' }])),
  ],
  [
    'a page of a stream',
    (database) => streamPage(database, streamName('mneme_', procedureStream(team, id)), 0n, { events: 500, bytes: 1e6 }),
  ],
  [
    'a page of the log',
    (database) => logPage(database, { after: position, until: undefined, prefix: 'mneme_' }, { events: 500, bytes: 1e6 }),
    // The rows of one page, beside the head they are joined to.
    { inOrder: ['events_position'], sorts: ['counted."position"'] },
  ],
  ['the head of the log', logHead, { inOrder: ['events_position'] }],
];

describe('the plan of', () => {
  let database: Database;

  beforeAll(async () => {
    database = await freshDatabase();
    await fill(database);
  }, 120_000);
  afterAll(() => database.close());

  it.each(queries)('%s searches indexes only', async (_, send, { sorts = [], inOrder = [], never } = {}) => {
    const sent = await sentBy(send);
    expect(sent.length).toBeGreaterThan(0);
    for (const statement of sent) {
      const plan = await planOf(database, statement);
      expect(plan.filter(({ type, relation }) => type === 'Seq Scan' && relation !== undefined)).toEqual([]);
      expect(plan.filter((node) => isWhole(node) && !inOrder.includes(node.index ?? ''))).toEqual([]);
      expect(plan.filter((node) => node.sortedBy && !sorts.some((by) => node.sortedBy?.join().includes(by)))).toEqual([]);
      if (never) expect(plan.filter(({ relation }) => relation !== undefined && never.test(relation))).toEqual([]);
      expect(plan.some(({ index }) => index !== undefined)).toBe(true);
    }
  });

  it('a recall finds its candidates by scope and status, and all else by key', async () => {
    const [plan = []] = await plansOf(asTeam((at) => findCandidates(at, search)));
    expect(indexesOf(plan)).toEqual(['judged_counters_pkey', 'procedure_vectors_team_id_scope_status_idx', 'procedures_pkey']);
  });

  it('a recall of the past finds statuses and runs in the histories', async () => {
    const [plan = []] = await plansOf(asTeam((at) => findCandidatesAsOf(at, search, position)));
    expect(indexesOf(plan)).toEqual([
      'executions_history_team_id_procedure_id_ran_at_position_idx',
      'procedure_vectors_team_id_scope_status_idx',
      'procedures_history_pkey',
      'procedures_pkey',
    ]);
  });

  it.each([
    ['of everything', everything, 'procedures_team_id_position_idx'],
    ['of a scope', { ...everything, scope: 'default' }, 'procedures_team_id_scope_position_idx'],
    ['of the review queue', { ...everything, status: 'pending_review' }, 'procedures_team_id_status_position_idx'],
  ])('a page %s is read backwards from its index', async (_, filter, index) => {
    const [plan = []] = await plansOf(asTeam((at) => listProcedures(at, filter)));
    expect(plan).toContainEqual(expect.objectContaining({ index, direction: 'Backward' }));
  });

  const plansOf = async (send: (database: Database) => Promise<unknown>): Promise<PlanNode[][]> => {
    const plans: PlanNode[][] = [];
    for (const statement of await sentBy(send)) plans.push(await planOf(database, statement));
    return plans;
  };
});

/** An index that is read from end to end, rather than searched. */
const isWhole = ({ index, condition }: PlanNode): boolean => index !== undefined && condition === undefined;

const indexesOf = (plan: readonly PlanNode[]): string[] => [...new Set(plan.flatMap(({ index }) => index ?? []))].sort();

/** Several thousand rows in every table that grows, most of them of the team that asks. */
async function fill(database: Database): Promise<void> {
  const log = new PostgresEventLog(database);
  try {
    const written = new ProcedureLog(log);
    await written.fill({ team, scope: 'default', procedures: 2_500, runs: 2 });
    await written.fill({ team, scope: 'elsewhere', procedures: 500, runs: 1 });
    await written.fill({ team: '00000000-0000-4000-8000-00000000000b', scope: 'default', procedures: 500, runs: 1 });
    await projectAll(database, { log, codec: written.codec, projections: allProjections });
  } finally {
    await log.close();
  }
  await fillVectors(database, { contract, dimensions: vector.length });
  await fillAccess(database);
  await fillMoments(database);
  await database.query(
    `INSERT INTO mneme.commands (team_id, command_id, fingerprint, status, receipt, position)
     SELECT $1, md5(g::text)::uuid, '', 200, '{}', g FROM generate_series(1, 5000) AS g`,
    [team],
  );
  await database.query(
    `INSERT INTO mneme.data_keys (team_id, owner, state, erased_at) SELECT $1, md5(g::text), 'erased', now() FROM generate_series(1, 5000) AS g`,
    [team],
  );
  await database.query('VACUUM ANALYZE');
}

async function fillAccess(database: Database): Promise<void> {
  // Three in four are of the team that asks.
  const team_id = `CASE WHEN g % 4 = 0 THEN md5('team ' || g % 40)::uuid ELSE '${team}'::uuid END`;
  const of = (table: unknown) => ({ projection: accessProjection, table: table as Table, rows: 4_000 });
  await fillRows(database, of(teams), {});
  await fillRows(database, of(profiles), { team_id, status: `'active'` });
  await fillRows(database, of(apiKeys), { team_id });
  await database.query(
    `INSERT INTO mneme.api_key_hashes (team_id, key_id, key_hash)
     SELECT ${team_id}, md5(g::text)::uuid, convert_to('hash ' || g, 'UTF8') FROM generate_series(1, 4000) AS g`,
  );
}

async function fillMoments(database: Database): Promise<void> {
  const known_at = `timestamptz '2001-01-01 00:00:00Z' + g * interval '1 minute'`;
  const target = { projection: momentsOf([]), table: moments as unknown as Table, rows: 4_000 };
  await fillRows(database, target, { team_id: `'${team}'::uuid`, known_at });
}
