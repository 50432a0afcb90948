import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { exitCodes } from '../../src/cli/failure.js';
import { placeOfThisProcess } from '../../src/database/embedded/folder-lock.js';
import { type Ended, mneme, serve, type Served, temporaryFolder } from '../support/command-line.js';

/** Starting the embedded database takes seconds, and many when the machine is busy. */
const patience = 120_000;

const failure = ({ stderr }: Ended) => (JSON.parse(stderr) as { error: { code: string; field?: string; message: string } }).error;

/** One for all: making another database would take seconds. */
const folder = temporaryFolder();
const environment = { MNEME_DATA: folder.path, MNEME_EMBEDDING_PROVIDER: 'shared_words' };
afterAll(() => folder.remove());

describe('the command line without a running service', () => {
  const lock = join(folder.path, `mneme.${process.pid}.00000000000000aa.lock`);
  afterAll(() => rmSync(lock, { force: true }));

  it(
    'starts the service inside itself, makes a key there, and leaves the folder free',
    async () => {
      const created = await mneme(['keys', 'create', '--admin', '--quiet', '--name', 'ops'], environment).ended;
      expect(created).toEqual({
        code: exitCodes.done,
        stdout: expect.stringMatching(/^mneme_[\w-]{43}\n$/) as string,
        stderr: '',
      });
      expect(readdirSync(folder.path).sort()).toEqual(['admin.key', 'master.key', 'postgres']);
    },
    patience,
  );

  it('says who uses the folder, and touches nothing', async () => {
    writeFileSync(lock, placeOfThisProcess);
    const refused = await mneme(['teams', 'list', '--json'], environment).ended;
    expect([refused.code, refused.stdout]).toEqual([exitCodes.folderInUse, '']);
    expect(failure(refused)).toMatchObject({ code: 'data_folder_in_use' });
    expect(failure(refused).message).toContain(`process ${process.pid}`);
    expect(existsSync(lock)).toBe(true);
  });

  it('says that a database cannot be reached', async () => {
    const masterKey = Buffer.alloc(32, 1).toString('base64');
    const server = { DATABASE_URL: 'postgres://user:hidden@127.0.0.1:9/none', MNEME_MASTER_KEY: masterKey };
    const refused = await mneme(['migrate'], server).ended;
    expect(refused).toEqual({
      code: exitCodes.unreachable,
      stdout: '',
      stderr: 'mneme: database_unavailable: the database is unavailable\n',
    });
  });
});

describe('the command line with a running service', () => {
  let service: Served;
  const run = (...words: string[]) => mneme(words, { MNEME_DATA: folder.path }).ended;
  const result = async (...words: string[]): Promise<unknown> => {
    const { code, stdout, stderr } = await run(...words, '--json');
    expect({ code, stderr }).toEqual({ code: exitCodes.done, stderr: '' });
    return JSON.parse(stdout);
  };
  const withKey = (key: string, ...words: string[]) =>
    mneme([...words, '--json'], { MNEME_URL: service.url, MNEME_API_KEY: key }).ended;

  beforeAll(async () => {
    service = await serve(environment);
  }, patience);
  afterAll(() => service.stop());

  it(
    'creates teams and shows them at once',
    async () => {
      const created = await result('teams', 'create', 'Shop', '--review', 'on');
      expect(created).toEqual({ team_id: expect.any(String) as string });
      expect(await result('teams', 'list')).toEqual({
        items: [
          {
            ...(created as object),
            name: 'Shop',
            settings: { review: true, language: 'english', recording: false, execution_retention_days: null },
            created_at: expect.any(String) as string,
          },
        ],
      });
      await result('teams', 'settings', 'Shop', '--review', 'off', '--language', 'german');
      await result('teams', 'settings', 'Shop', '--execution-retention-days', '90');
      const table = async () => (await run('teams', 'list')).stdout;
      expect(await table()).toMatch(
        /^ID +NAME +REVIEW +LANGUAGE +RECORDING +RETENTION +CREATED\n[\w-]{36} +Shop +off +german +off +90 days +\S+\n$/,
      );
      await result('teams', 'settings', 'Shop', '--execution-retention-days', 'off');
      expect(await table()).toMatch(/ Shop +off +german +off +off +\S+\n$/);
    },
    patience,
  );

  it(
    'creates, deactivates and reactivates profiles, found by name',
    async () => {
      const created = (await result('profiles', 'create', 'agent', '--team', 'Shop')) as { profile_id: string };
      const statuses = async () =>
        ((await result('profiles', 'list', '--team', 'Shop')) as { items: { profile_id: string; status: string }[] }).items.map(
          ({ profile_id, status }) => [profile_id, status],
        );
      await result('profiles', 'deactivate', 'agent', '--team', 'Shop');
      expect(await statuses()).toEqual([[created.profile_id, 'deactivated']]);
      await result('profiles', 'reactivate', created.profile_id, '--team', 'Shop');
      expect(await statuses()).toEqual([[created.profile_id, 'active']]);
    },
    patience,
  );

  it(
    'creates keys that work at once and, once revoked, no longer do',
    async () => {
      const scopes = ['--scope', 'admin', 'memory:write'];
      const created = (await result(
        ...['keys', 'create', '--team', 'Shop', '--profile', 'agent', ...scopes, '--expires', '1d', '--name', 'ci'],
      )) as { key_id: string; key: string };
      const { code, stdout } = await withKey(created.key, 'teams', 'list');
      expect([code, (JSON.parse(stdout) as { items: object[] }).items.length]).toEqual([exitCodes.done, 1]);

      await result('keys', 'revoke', created.key_id, '--team', 'Shop');
      const { items } = (await result('keys', 'list', '--team', 'Shop')) as { items: object[] };
      expect(items).toEqual([
        expect.objectContaining({ key_id: created.key_id, name: 'ci', revoked: true, scopes: ['admin', 'memory:write'] }),
      ]);
      expect(JSON.stringify(items)).not.toContain(created.key);
      const refused = await withKey(created.key, 'teams', 'list');
      expect([refused.code, failure(refused).code]).toEqual([exitCodes.failed, 'unauthenticated']);
    },
    patience,
  );

  it(
    'prints a key alone to stdout, and what to do with it to stderr',
    async () => {
      expect(await run('keys', 'create', '--admin')).toEqual({
        code: exitCodes.done,
        stdout: expect.stringMatching(/^mneme_[\w-]{43}\n$/) as string,
        stderr: expect.stringMatching(/^Keep it: it is not shown again. Its id is [\w-]{36}\n$/) as string,
      });
    },
    patience,
  );

  it(
    'refuses what the service refuses, with its code and field',
    async () => {
      const noProfile = await run('keys', 'create', '--team', 'Shop', '--scope', 'memory:write', '--json');
      expect([noProfile.code, failure(noProfile)]).toEqual([
        exitCodes.failed,
        expect.objectContaining({ code: 'profile_required', field: 'profile_id' }),
      ]);
      const unknown = await run('profiles', 'list', '--team', 'Nobody');
      expect(unknown).toEqual({
        code: exitCodes.failed,
        stdout: '',
        stderr: 'mneme: team_unknown (team): there is no team of that name\n',
      });
    },
    patience,
  );

  it(
    'shows where projections stand, and rebuilds one',
    async () => {
      const { items } = (await result('projections', 'status')) as { items: { name: string; state: string }[] };
      expect(items.map(({ name }) => name)).toEqual(
        expect.arrayContaining(['access', 'procedures', 'judged_counters', 'event_refs']),
      );
      expect(await result('projections', 'rebuild', 'access')).toMatchObject({ name: 'access', build: 2, rebuild_error: null });
      expect(await result('projections', 'rebuild', 'access')).toMatchObject({ name: 'access', build: 3, rebuild_error: null });
      expect(((await result('teams', 'list')) as { items: object[] }).items).toHaveLength(1);
      const unknown = await run('projections', 'rebuild', 'nonsense', '--json');
      expect([unknown.code, failure(unknown).code]).toEqual([exitCodes.failed, 'not_found']);
    },
    patience,
  );

  it(
    'starts no second service on the folder, and ends the first cleanly when it is told to',
    async () => {
      const second = await mneme(['serve'], { MNEME_DATA: folder.path, MNEME_PORT: '0' }).ended;
      expect([second.code, second.stdout]).toEqual([exitCodes.folderInUse, '']);
      const { code, stdout } = await service.stop();
      expect(code).toBe(exitCodes.done);
      expect(
        stdout
          .trimEnd()
          .split('\n')
          .map((line) => typeof JSON.parse(line)),
      ).not.toContain('string');
      expect(readdirSync(folder.path).sort()).toEqual(['admin.key', 'master.key', 'postgres']);
    },
    patience,
  );
});

describe('the demo', () => {
  it(
    'agrees with the worked example, and leaves nothing behind',
    async () => {
      const temporary = temporaryFolder();
      const { code, stdout, stderr } = await mneme(['demo', '--json'], { TMPDIR: temporary.path }).ended;
      const shown = JSON.parse(stdout) as {
        ok: boolean;
        differences: string[];
        ranking: Record<string, unknown>[];
        trace: { events: object[] };
      };
      expect({ code, stderr, ok: shown.ok, differences: shown.differences }).toEqual({
        code: 0,
        stderr: '',
        ok: true,
        differences: [],
      });
      expect(shown.ranking.map(({ title, total }) => [title, (total as number).toFixed(3)])).toEqual([
        ['New version, 1.1', '0.863'],
        ['Proven original, 1.0', '0.858'],
        ['Close match, 1.0', '0.802'],
      ]);
      expect(shown.trace.events).toEqual([
        expect.objectContaining({ type: 'ExecutionRecorded' }),
        expect.objectContaining({ type: 'ProcedureRemembered' }),
      ]);
      expect(readdirSync(temporary.path)).toEqual([]);
      temporary.remove();
    },
    patience,
  );

  it(
    'stops on Ctrl-C and leaves nothing behind',
    async () => {
      const temporary = temporaryFolder();
      const demo = mneme(['demo'], { TMPDIR: temporary.path });
      while (readdirSync(temporary.path).length === 0) await pause(50);
      demo.process.kill('SIGINT');
      const { code, stdout } = await demo.ended;
      expect({ code, stdout, left: readdirSync(temporary.path) }).toEqual({ code: exitCodes.interrupted, stdout: '', left: [] });
      temporary.remove();
    },
    patience,
  );
});
