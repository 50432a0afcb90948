import fc from 'fast-check';
import { eligible, eligibleAt, statusAt } from '../../projections/evidence/eligibility.js';
import { evidenceProjection } from '../../projections/evidence/evidence.projection.js';
import { positionToken } from '../../src/event-log/position-token.js';
import { EvidenceClient } from '../support/evidence.js';
import { EvidenceActors, evidenceAction, type EvidenceStory } from '../support/evidence-story.js';
import { readModelRows } from '../support/read-model-rows.js';
import { newTeam, startTestService, type TestService, type TestTeam } from '../support/service.js';

interface Seen {
  readonly evidence_id: string;
  readonly status: string;
  readonly eligible: boolean;
}

/** What was true after an action. */
interface Moment {
  readonly position: bigint;
  readonly seen: readonly Seen[];
}

const validAt = new Date('2026-06-01T12:00:00Z');

const isOwn = (table: string): boolean =>
  evidenceProjection.tables.some(({ name }) => table === name || table === `${name}_history`);

describe('whatever happens to evidence', () => {
  let service: TestService;
  beforeAll(async () => (service = await startTestService()));
  afterAll(() => service.stop());

  const query = (team: string, condition: string, status: string, values: readonly unknown[]) =>
    service.infrastructure.database.asTeam(team, (queries) =>
      queries.query<Seen>(
        `SELECT e.evidence_id, ${status} AS status, ${condition} AS eligible FROM mneme_read.evidence e
         WHERE e.team_id = $1 ORDER BY e.evidence_id`,
        [team, ...values],
      ),
    );
  const now = (team: string) => query(team, eligible({ evidence: 'e', validAt: '$2::timestamptz' }), 'e.status', [validAt]);
  const asOf = async (team: string, position: bigint) => {
    const terms = { evidence: 'e', validAt: '$2::timestamptz', position: '$3::int8' };
    const rows = await query(team, `coalesce(${eligibleAt(terms)}, false)`, statusAt('e', terms.position), [validAt, position]);
    return rows.filter(({ status }) => (status as string | null) !== null);
  };

  /** Plays the actions, and notes after each what can be seen. */
  async function play(team: TestTeam, actions: readonly Parameters<EvidenceActors['act']>[0][]) {
    const actors = await EvidenceActors.of(team);
    const moments: Moment[] = [];
    for (const action of actions) {
      if (!(await actors.act(action))) continue;
      const position = await service.infrastructure.log.head();
      expect(await service.infrastructure.engine.waitFor(position, 10_000, [])).toMatchObject({ reached: true });
      moments.push({ position, seen: await now(team.id) });
    }
    return { moments, story: actors.story };
  }

  /** What was erased since is absent at every moment, and what came from a source that was erased since is not eligible. */
  async function erasedSince(team: string, { erased }: EvidenceStory, seen: readonly Seen[]): Promise<Seen[]> {
    const gone = await service.infrastructure.database.asTeam(team, (queries) =>
      queries.query<{ evidence_id: string }>(
        `SELECT e.evidence_id FROM mneme_read.evidence e JOIN mneme_read.erased_sources s USING (team_id, source_id)
         WHERE e.team_id = $1`,
        [team],
      ),
    );
    const ofErasedSource = new Set(gone.map(({ evidence_id }) => evidence_id));
    return seen
      .filter(({ evidence_id }) => !erased.has(evidence_id))
      .map((one) => ({ ...one, eligible: one.eligible && !ofErasedSource.has(one.evidence_id) }));
  }

  it('every moment can be seen again as it was, from the read model and from the log', async () => {
    const eligibilities = new Set<boolean>();
    await fc.assert(
      fc.asyncProperty(fc.array(evidenceAction, { minLength: 8, maxLength: 24 }), async (actions) => {
        const team = await newTeam(service);
        const { moments, story } = await play(team, actions);
        for (const { position, seen } of moments) {
          for (const one of seen) eligibilities.add(one.eligible);
          const expected = await erasedSince(team.id, story, seen);
          expect(await asOf(team.id, position)).toEqual(expected);
        }
        await tracesAgree(team, story, moments);
      }),
      { numRuns: 6 },
    );
    expect(eligibilities).toEqual(new Set([true, false]));
  }, 300_000);

  /** The trace, folded from the log up to a moment, against the row as it was then. */
  async function tracesAgree(team: TestTeam, { erased }: EvidenceStory, moments: readonly Moment[]): Promise<void> {
    const { logId } = service.infrastructure.logIdentity;
    for (const { position, seen } of moments.filter((_, index) => index % 3 === 0)) {
      for (const { evidence_id, status } of seen) {
        const answer = await team.client.get<{ state: { status: string } }>(
          `/v1/evidence/${evidence_id}/trace?at_position=${positionToken(logId, position)}`,
        );
        expect(answer.body.state.status).toBe(erased.has(evidence_id) ? 'erased' : status);
      }
    }
    const client = new EvidenceClient(team.client);
    for (const { evidence_id } of moments.at(-1)?.seen ?? []) {
      const row = (await client.get(evidence_id)).body;
      const traced = await team.client.get<{ state: Record<string, unknown> & { content: object; facts: object } }>(
        `/v1/evidence/${evidence_id}/trace`,
      );
      const { state } = traced.body;
      const shown = { ...state.facts, ...state.content, ...state };
      const compared = [
        'status',
        'replacement_id',
        'external_ids',
        'revision_current',
        'profile_id',
        'labels',
        'subjects',
        'group',
      ];
      for (const name of compared)
        expect([name, shown[name as keyof typeof shown]]).toEqual([name, row[name as keyof typeof row]]);
    }
  }

  it('a rebuild comes to the same rows', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(evidenceAction, { minLength: 5, maxLength: 25 }), async (actions) => {
        await play(await newTeam(service), actions);
        const before = await readModelRows(service.infrastructure);
        await service.infrastructure.engine.rebuild('evidence');
        const after = await readModelRows(service.infrastructure);
        // Its own tables: beside them, vectors are made all the time.
        for (const table of Object.keys(before).filter(isOwn))
          expect({ table, rows: after[table] }).toEqual({ table, rows: before[table] });
      }),
      { numRuns: 4 },
    );
  }, 300_000);
});
