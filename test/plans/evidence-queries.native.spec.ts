import { accessProjection, profiles } from '../../projections/access/access.projection.js';
import type { Table } from '../../projections/engine/projection.js';
import { eligible, eligibleAt } from '../../projections/evidence/eligibility.js';
import { evidenceProjection } from '../../projections/evidence/evidence.projection.js';
import {
  type EvidenceFilter,
  getEvidence,
  getSource,
  latestRevisions,
  listEvidence,
  listSources,
} from '../../projections/evidence/evidence-queries.js';
import { aliases, evidence, labels, sourceRevisions, sources, subjects } from '../../projections/evidence/evidence.tables.js';
import type { Database, Queries } from '../../src/database/database.js';
import { PostgresEventLog } from '../../src/event-log/postgres/postgres-event-log.js';
import { allProjections } from '../../src/infrastructure.js';
import { freshDatabase } from '../support/database.js';
import { fillRows, type PlanNode, planOf, sentBy } from '../support/plans.js';
import { ProcedureLog, projectAll } from '../support/procedure-log.js';

const team = '00000000-0000-4000-8000-00000000000a';
const rows = 40_000;
const validAt = new Date('2026-06-01T12:00:00Z');
const id = '00000000-0000-4000-8000-000000000001';

const everything: EvidenceFilter = {
  ...{ team, validAt, limit: 51, before: undefined, scope: undefined, status: undefined, profile: undefined, author: undefined },
  ...{ source: undefined, sourceRevision: undefined, group: undefined, sourceType: undefined, authority: undefined },
  ...{ label: undefined, subject: undefined, externalId: undefined, eligible: undefined },
};

const asTeam = (work: (queries: Queries) => Promise<unknown>) => (database: Database) => database.asTeam(team, work);

/** What a branch of recall does: it has ids, and asks which of them are eligible. */
const candidates = (condition: string, values: readonly unknown[]) => (queries: Queries) =>
  queries.query(
    `SELECT e.evidence_id FROM mneme_read.evidence e WHERE e.team_id = $1 AND e.evidence_id = ANY($2::uuid[]) AND ${condition}`,
    [team, Array.from({ length: 200 }, (_, index) => id.slice(0, -4) + String(index).padStart(4, '0')), ...values],
  );

const queries: readonly [name: string, send: (queries: Queries) => Promise<unknown>, sorts: readonly string[]][] = [
  ['one piece of evidence', (at) => getEvidence(at, { team, evidence: id, validAt }), []],
  ['a page of evidence', (at) => listEvidence(at, everything), []],
  ['a later page of evidence', (at) => listEvidence(at, { ...everything, before: 20_000n }), []],
  ['a page of a scope', (at) => listEvidence(at, { ...everything, scope: 'scope 7' }), []],
  ['a page of what is eligible', (at) => listEvidence(at, { ...everything, eligible: true }), []],
  ['a page of what is not', (at) => listEvidence(at, { ...everything, scope: 'scope 7', eligible: false }), []],
  ['a page of a source', (at) => listEvidence(at, { ...everything, source: id }), []],
  ['a page of a group', (at) => listEvidence(at, { ...everything, group: 'group 7' }), ['position']],
  ['a page of an author', (at) => listEvidence(at, { ...everything, author: 'author 7' }), ['position']],
  ['a page of a label', (at) => listEvidence(at, { ...everything, label: 'label 7' }), ['position']],
  ['a page of a subject', (at) => listEvidence(at, { ...everything, subject: 'subject 7' }), ['position']],
  ['a page of a handle', (at) => listEvidence(at, { ...everything, externalId: 'handle 7' }), ['position']],
  ['which candidates are eligible', candidates(eligible({ evidence: 'e', validAt: '$3' }), [validAt]), []],
  [
    'which candidates were eligible',
    candidates(eligibleAt({ evidence: 'e', validAt: '$3', position: '$4' }), [validAt, 20_000n]),
    [],
  ],
  ['one source', (at) => getSource(at, { team, source: id }), []],
  ['its publications', (at) => latestRevisions(at, { team, source: id, limit: 100 }), []],
  ['a page of sources', (at) => listSources(at, { team, key: undefined, before: 200n, limit: 51 }), []],
];

describe('as the role of a team’s requests, the plan of', () => {
  let database: Database;
  beforeAll(async () => {
    database = await freshDatabase();
    await fill(database);
  }, 120_000);
  afterAll(() => database.close());

  it.each(queries)('%s searches indexes only', async (_, send, sorts) => {
    const [statement, ...more] = await sentBy(asTeam(send));
    if (!statement || more.length > 0) throw new Error('one statement was expected');
    const plan = await planOf(database, statement);
    expect(plan.filter(({ type, relation }) => type === 'Seq Scan' && isLarge(relation))).toEqual([]);
    expect(plan.filter((node) => node.index !== undefined && node.condition === undefined)).toEqual([]);
    expect(plan.filter(({ sortedBy }) => sortedBy && !sorts.some((by) => sortedBy.join().includes(by)))).toEqual([]);
  });

  it.each([
    ['of everything', everything, 'evidence_team_id_position_idx'],
    ['of a scope', { ...everything, scope: 'scope 7' }, 'evidence_team_id_scope_position_idx'],
    ['of a source', { ...everything, source: id }, 'evidence_team_id_source_id_position_idx'],
  ])('a page %s is read backwards from its index', async (_, filter, index) => {
    const [statement] = await sentBy(asTeam((at) => listEvidence(at, filter)));
    const plan: PlanNode[] = statement ? await planOf(database, statement) : [];
    expect(plan).toContainEqual(expect.objectContaining({ index, direction: 'Backward' }));
  });

  it('eligibility compares by leakproof functions alone, which row-level security does not hold back', async () => {
    const compared = await database.query<{ operator: string; leakproof: boolean }>(
      `SELECT o.oid::regoperator::text AS operator, p.proleakproof AS leakproof
       FROM pg_operator o JOIN pg_proc p ON p.oid = o.oprcode
       WHERE o.oid = ANY (ARRAY['=(uuid,uuid)', '=(text,text)', '<>(text,text)', '<=(int8,int8)', '<(int8,int8)',
         '<=(timestamptz,timestamptz)', '>(timestamptz,timestamptz)']::regoperator[])`,
    );
    expect(compared).toHaveLength(7);
    expect(compared.filter(({ leakproof }) => !leakproof)).toEqual([]);
    const sql = eligible({ evidence: 'e', validAt: '$1' }) + eligibleAt({ evidence: 'e', validAt: '$1', position: '$2' });
    expect(sql).not.toMatch(/\b(?:LIKE|ILIKE|SIMILAR|IN)\b|~|@@|&&|\|\||::|->/);
  });
});

/** Tables that grow without end; the others may be read whole while they are small. */
const isLarge = (relation: string | undefined): boolean => relation !== undefined && /^(?:evidence|source)/.test(relation);

async function fill(database: Database): Promise<void> {
  const log = new PostgresEventLog(database);
  try {
    const { codec } = new ProcedureLog(log);
    await projectAll(database, { log, codec, projections: allProjections });
  } finally {
    await log.close();
  }
  // Three in four are of the team that asks.
  const team_id = `CASE WHEN g % 4 = 0 THEN md5('team ' || g % 40)::uuid ELSE '${team}'::uuid END`;
  const of = (table: unknown, count: number) => ({ projection: evidenceProjection, table: table as Table, rows: count });
  const profile_id = `md5('profile ' || g % 5)::uuid`;
  await fillRows(database, of(evidence, rows), {
    ...{ team_id, profile_id, status: `'current'`, scope: `'scope ' || g % 200`, author: `'author ' || g % 500` },
    ...{ group_name: `'group ' || g % 1000`, sequence: 'g / 1000', source_id: `md5('source ' || g % 400)::uuid` },
    ...{ source_key: `'source ' || g % 400`, source_revision: `'r1'`, subjects: `'[]'`, labels: `'[]'`, metadata: `'{}'` },
    external_ids: `'[]'`,
  });
  await fillHistory(database, 'evidence', 'evidence', 'evidence_id');
  const evidence_id = `md5(g::text)::uuid`;
  await fillRows(database, of(labels, rows), { team_id, evidence_id, label: `'label ' || g % 500` });
  await fillRows(database, of(subjects, rows), { team_id, evidence_id, subject: `'subject ' || g % 500` });
  await fillRows(database, of(aliases, rows), { team_id, evidence_id, external_id: `'handle ' || g` });
  await fillRows(database, of(sources, 4_000), { team_id, source_id: `md5('source ' || g)::uuid`, current_revision: `'r1'` });
  await fillRows(database, of(sourceRevisions, 8_000), { team_id, source_id: `md5('source ' || g % 4000)::uuid` });
  await fillRows(database, { projection: accessProjection, table: profiles, rows: 4_000 }, { team_id });
  await fillHistory(database, 'access', 'profiles', 'profile_id', 'created_position');
  await database.query('VACUUM ANALYZE');
}

/** One row for each of the table's. */
async function fillHistory(
  database: Database,
  projection: string,
  table: string,
  key: string,
  position = 'position',
): Promise<void> {
  await database.as('mneme_projector', async (at) => {
    const [build] = await at.query<{ schema: string }>(
      `SELECT schema_name AS schema FROM mneme.projection_builds WHERE name = $1 AND role = 'serving'`,
      [projection],
    );
    await at.execute(
      `INSERT INTO "${build?.schema}".${table}_history (team_id, ${key}, position, removed, status)
       SELECT team_id, ${key}, ${position}, false, status FROM "${build?.schema}".${table}`,
    );
  });
}
