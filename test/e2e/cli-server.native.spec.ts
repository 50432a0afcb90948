import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { packageRoot } from '../../src/config/package-root.js';
import { mneme, serve } from '../support/command-line.js';
import { testDatabaseUrl } from '../support/database.js';

const patience = 60_000;

/** A database of its own: the other specs of the run drop what they find in theirs. */
describe('the command line on a PostgreSQL server', () => {
  const name = `mneme_cli_${randomBytes(4).toString('hex')}`;
  const url = new URL(testDatabaseUrl().url);
  const server = new pg.Client({ connectionString: url.href });
  const environment = {
    DATABASE_URL: Object.assign(new URL(url), { pathname: `/${name}` }).href,
    MNEME_MASTER_KEY: randomBytes(32).toString('base64'),
    MNEME_EMBEDDING_PROVIDER: 'shared_words',
  };
  const ran = async () => JSON.parse((await mneme(['migrate', '--json'], environment).ended).stdout) as { ran: string[] };

  beforeAll(async () => {
    await server.connect();
    await server.query(`CREATE DATABASE ${name}`);
  });
  afterAll(async () => {
    await server.query(`DROP DATABASE ${name} WITH (FORCE)`);
    await server.end();
  });

  it(
    'migrates an empty database, and has nothing to do the second time',
    async () => {
      const files = readdirSync(join(packageRoot, 'migrations')).map((file) => file.replace('.sql', ''));
      expect(await ran()).toEqual({ ran: files.sort() });
      expect(await ran()).toEqual({ ran: [] });
    },
    patience,
  );

  it(
    'makes the first admin key without a service, and the service takes it',
    async () => {
      const { code, stdout } = await mneme(['keys', 'create', '--admin', '--quiet'], environment).ended;
      expect(code).toBe(0);
      const service = await serve(environment);
      const client = { MNEME_URL: service.url, MNEME_API_KEY: stdout.trim() };
      const created = await mneme(['teams', 'create', 'Shop'], client).ended;
      await service.stop();
      expect(created).toEqual({ code: 0, stdout: expect.stringMatching(/^Team Shop has the id /) as string, stderr: '' });
    },
    patience,
  );
});
