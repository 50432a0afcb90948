import { exitCodes } from '../../src/cli/failure.js';
import { run } from '../../src/cli/program.js';
import { rememberVersion } from '../support/remember.js';
import { newTeam, startTestService, type TestService } from '../support/service.js';
import { tampered } from '../support/tampered.js';

describe('operating read models from the command line', () => {
  let service: TestService;
  let team: string;
  beforeAll(async () => {
    service = await startTestService();
    const made = await newTeam(service);
    team = made.id;
    await rememberVersion(made.client, { question: 'How do I refund an order?' });
  });
  afterAll(() => service.stop());

  async function projections(...words: string[]) {
    const written = { stdout: '', stderr: '' };
    const code = await run(['projections', ...words], {
      environment: { MNEME_URL: service.url, MNEME_API_KEY: service.operator.key },
      stdout: { write: (text: string) => (written.stdout += text) },
      stderr: { write: (text: string) => (written.stderr += text) },
      signal: new AbortController().signal,
    });
    return { code, ...written };
  }
  const json = async <Body>(...words: string[]) => JSON.parse((await projections(...words, '--json')).stdout) as Body;

  it('goes from a rebuild on hold over verify and switch to a rollback and a drop', async () => {
    const said = async (...words: string[]) => {
      const { code, stdout, stderr } = await projections(...words);
      expect({ code, stderr }).toEqual({ code: exitCodes.done, stderr: '' });
      // Whatever version it is at.
      return stdout.replaceAll(/version \d+/g, 'version N');
    };
    expect(await said('rebuild', 'access', '--hold')).toContain('access, version N build 2, is ready');
    expect(await said('verify', 'access')).toContain('access: version N build 2 (ready) equals version N build 1 (serving)');
    expect(await said('switch', 'access')).toBe('access, version N build 2, serves; version N build 1 stands by\n');
    expect(await said('status')).toMatch(/^access +\d+ +2 +(caught_up|catching_up) .*\n +\d+ +1 +standby /m);
    expect(await said('rollback', 'access')).toBe('access, version N build 1, serves; version N build 2 stands by\n');
    expect(await said('drop', 'access', '--standby')).toBe('access: dropped version N build 2\n');
  });

  it('says the same as JSON', async () => {
    await projections('rebuild', 'moments', '--hold');
    expect(await json('verify', 'moments')).toMatchObject({ projection: 'moments', equal: true, candidate: { role: 'ready' } });
    expect(await json('switch', 'moments')).toMatchObject({ kind: 'switch', to: { build: 2 } });
    expect(await json('drop', 'moments')).toEqual({ dropped: [{ version: expect.any(Number) as number, build: 1 }] });
  });

  it('ends with 1 when builds differ, and shows the rows', async () => {
    await projections('rebuild', 'event_refs');
    const { database } = service.infrastructure;
    const [standby] = await database.query<{ schema: string }>(
      `SELECT schema_name AS schema FROM mneme.projection_builds WHERE name = 'event_refs' AND role = 'standby'`,
    );
    await database.query(`DELETE FROM "${standby?.schema}".event_refs WHERE team_id = $1 AND revision = 0`, [team]);
    const { code, stdout, stderr } = await projections('verify', 'event_refs');
    expect(code).toBe(exitCodes.failed);
    expect(stderr).toContain('mneme: builds_differ (event_refs)');
    expect(stdout).toContain(`event_refs: only in what serves: team_id ${team}`);
  });

  it.each([
    [['switch', 'procedures'], exitCodes.failed, 'no_ready_build'],
    [['rollback', 'procedures'], exitCodes.failed, 'no_standby_build'],
    [['verify', 'procedures'], exitCodes.failed, 'nothing_to_verify'],
    [['drop', 'procedures', '--ready'], exitCodes.failed, 'nothing_to_drop'],
    [['skip', 'procedures', '3'], exitCodes.failed, 'nothing_stopped_there'],
    [['skip', 'procedures', 'three'], exitCodes.usage, 'usage (position): must be a whole number'],
    [['switch', 'shelf'], exitCodes.failed, 'not_found (shelf): there is no projection of that name'],
  ])('ends %j with %i and %s', async (words, code, text) => {
    const { code: ended, stderr } = await projections(...words);
    expect(ended).toBe(code);
    expect(stderr).toContain(text);
  });

  it('skips an event that stopped one', async () => {
    const at = await tampered(service.infrastructure, team);
    const deadline = performance.now() + 10_000;
    while (!(await projections('status')).stdout.includes('stopped') && performance.now() < deadline);
    const { code, stdout } = await projections('skip', 'judged_counters', String(at), '--reason', 'damaged');
    expect([code, stdout]).toEqual([
      exitCodes.done,
      `judged_counters leaves out the event at position ${at}; what stopped at it goes on\n`,
    ]);
    const state = async () => /^judged_counters +\d+ +\d+ +(\w+)/m.exec((await projections('status')).stdout)?.[1];
    while ((await state()) !== 'caught_up' && performance.now() < deadline);
    expect(await state()).toBe('caught_up');
  });
});
