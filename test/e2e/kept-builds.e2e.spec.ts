import { setTimeout as sleep } from 'node:timers/promises';
import { allProjections } from '../../src/infrastructure.js';
import { request } from '../support/operator.js';
import type { Remembered } from '../support/remember.js';
import { newTeam, startTestService, type TestService, type TestTeam } from '../support/service.js';
import { tampered } from '../support/tampered.js';

/** Words that stand nowhere else, in every field a person can write. */
const word = (field: string) => `xyzzy${field}`;
const procedure = {
  question: word('question'),
  scope: word('scope'),
  intent: word('intent'),
  version: word('version'),
  graph: { [word('graph')]: word('graph') },
  run: { success: true, answer: word('answer') },
};
const evidence = {
  content: word('content'),
  author: word('author'),
  scope: word('scope'),
  subjects: [word('subject')],
  group: word('group'),
  labels: [word('label')],
  metadata: { channel: word('channel') },
  external_id: word('external'),
};

/** Tables that may name an erased memory: they hold ids and no content (see docs/erasure.md). */
const tombstones = ['event_refs', 'erased_procedures'];

/** Every read model with a build that serves, one that stands by and one that is ready; some of them stopped. */
describe('erasing, while several builds of every read model are kept', () => {
  let service: TestService;
  let team: TestTeam;
  const erased: string[] = [];

  beforeAll(async () => {
    service = await startTestService();
    team = await newTeam(service);
    const remembered = (await team.client.post<Remembered>('/v1/procedures', procedure)).body;
    const told = (await team.client.post<{ evidence_id: string }>('/v1/evidence', evidence)).body;
    erased.push(remembered.procedure_id, remembered.execution_id, told.evidence_id);
    await level();
    for (const { name } of allProjections) {
      await service.infrastructure.engine.rebuild(name);
      await service.infrastructure.engine.rebuild(name, { hold: true });
    }
  }, 120_000);
  afterAll(() => service.stop());

  const level = async () => {
    const { engine, log } = service.infrastructure;
    expect(await engine.waitFor(await log.head(), 20_000, [])).toMatchObject({ reached: true });
  };
  const builds = async () =>
    (await service.infrastructure.engine.status()).flatMap((each) =>
      each.builds.map(({ role, state, purged }) => ({ name: each.name, role, state, purged })),
    );

  /** Tables of builds that have a row with this text anywhere in it. */
  const naming = async (text: string): Promise<string[]> => {
    const { database } = service.infrastructure;
    const tables = await database.query<{ schema: string; name: string }>(
      `SELECT t.table_schema AS schema, t.table_name AS name FROM information_schema.tables t
       JOIN mneme.projection_builds b ON b.schema_name = t.table_schema AND b.state <> 'retired'
       WHERE t.table_type = 'BASE TABLE' ORDER BY 1, 2`,
    );
    expect(tables.length).toBeGreaterThanOrEqual(2 * allProjections.flatMap((each) => each.tables).length);
    const found: string[] = [];
    for (const { schema, name } of tables) {
      const rows = await database.query(`SELECT FROM "${schema}"."${name}" AS t WHERE position($1 IN t::text) > 0 LIMIT 1`, [
        text,
      ]);
      if (rows.length > 0) found.push(`${schema}.${name}`);
    }
    return found;
  };
  const words = Array.from(new Set(JSON.stringify([procedure, evidence]).match(/xyzzy\w+/g) ?? []));

  it('begins with what is to be erased in all three builds', async () => {
    expect((await builds()).map(({ role }) => role)).toEqual(allProjections.flatMap(() => ['serving', 'standby', 'ready']));
    const ids = await Promise.all(erased.map(naming));
    for (const found of ids) expect(found.length).toBeGreaterThanOrEqual(3);
    expect(await naming(word('question'))).toHaveLength(3);
  });

  it('takes it out of all of them, also of those that stopped at an event', async () => {
    const { engine } = service.infrastructure;
    // Builds of procedures and of counters stop, all three of each, whatever their role.
    await tampered(service.infrastructure, team.id, 'ProcedureArchived');
    for (let tries = 0; tries < 500 && !(await builds()).some(({ state }) => state === 'stopped'); tries++) await sleep(10);
    const stopped = (await builds()).filter(({ state }) => state === 'stopped');
    expect(stopped.filter(({ name }) => name === 'procedures').map(({ role }) => role)).toEqual(['serving', 'standby', 'ready']);
    await team.client.delete(`/v1/procedures/${erased[0]}`);
    await team.client.delete(`/v1/evidence/${erased[2]}`);
    await level();
    for (const text of words) expect({ text, found: await naming(text) }).toEqual({ text, found: [] });
    const left = (await Promise.all(erased.map(naming))).flat();
    expect(left.filter((table) => !tombstones.some((name) => table.endsWith(`.${name}`)))).toEqual([]);
    expect((await engine.status()).flatMap((each) => each.builds).filter(({ purged }) => !purged)).toEqual([]);
  });

  it('keeps it gone when builds are made anew', async () => {
    const { engine } = service.infrastructure;
    for (const { name } of allProjections) {
      // Those that stopped do so again at the same event, and keep nothing either.
      await engine.rebuild(name, { hold: true }).then(
        () => engine.switch(name, request()),
        (error: unknown) => expect(error).toMatchObject({ code: 'rebuild_failed' }),
      );
    }
    for (const text of words) expect(await naming(text)).toEqual([]);
  }, 60_000);
});
