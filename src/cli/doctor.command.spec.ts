import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../test/support/command-line.js';
import { embeddings, failing, ModelServer } from '../../test/support/model-server.js';
import { readConfiguration } from '../config/configuration.js';
import { DataFolder } from '../database/embedded/data-folder.js';
import { startService } from '../service.js';
import { reportText } from './doctor.command.js';
import { exitCodes } from './failure.js';
import { run } from './program.js';

interface Report {
  readonly status: string;
  readonly findings: readonly { readonly check: string; readonly severity: string; readonly message: string }[];
}

describe('mneme doctor', () => {
  const folder = temporaryFolder();
  const data = join(folder.path, 'data');
  const settings = { MNEME_DATA: data, MNEME_EMBEDDING_PROVIDER: 'shared_words', MNEME_LOG_LEVEL: 'silent' };
  let server: ModelServer;
  beforeAll(async () => (server = await ModelServer.start()));
  afterAll(async () => {
    await server.stop();
    folder.remove();
  });

  async function doctor(environment: Record<string, string> = {}): Promise<Report & { code: number; all: string }> {
    const written = { stdout: '', stderr: '' };
    const code = await run(['doctor', '--json'], {
      environment: { ...settings, ...environment },
      stdout: { write: (text: string) => (written.stdout += text) },
      stderr: { write: (text: string) => (written.stderr += text) },
      signal: new AbortController().signal,
    });
    return { code, all: written.stdout + written.stderr, ...(JSON.parse(written.stdout) as Report) };
  }

  const failures = ({ findings }: Report) =>
    findings.filter(({ severity }) => severity === 'failed').map(({ check, message }) => `${check}: ${message}`);
  const checks = ({ findings }: Report) => [...new Set(findings.map(({ check }) => check))];

  it('is content before the first start, and makes nothing', async () => {
    const report = await doctor();
    expect([report.code, failures(report)]).toEqual([exitCodes.done, []]);
    expect(checks(report)).toEqual(['configuration', 'service', 'data folder', 'embedder']);
    expect(report.findings.map(({ message }) => message)).toContain(`${data} is not there; the first start makes it`);
  });

  it('lists every bad setting, and looks no further', async () => {
    const report = await doctor({ MNEME_PORT: 'many', MNEME_PROT: '1', MNEME_MASTER_KEY: 'hunter2' });
    expect([report.code, report.status, checks(report)]).toEqual([exitCodes.failed, 'failed', ['configuration']]);
    expect(failures(report)).toHaveLength(3);
    expect(report.all).not.toContain('hunter2');
  });

  it('asks the service that runs, and opens its database once it is stopped', async () => {
    const service = await startService(readConfiguration({ ...settings, MNEME_PORT: '0' }));
    const running = await doctor();
    await service.stop();
    expect([running.code, failures(running)]).toEqual([exitCodes.done, []]);
    expect(checks(running)).toEqual([
      'configuration',
      'service',
      'clock',
      'projections',
      'embeddings',
      'data folder',
      'embedder',
    ]);

    const stopped = await doctor();
    expect([stopped.code, failures(stopped)]).toEqual([exitCodes.done, []]);
    expect(checks(stopped)).toEqual([
      'configuration',
      'service',
      'data folder',
      'database',
      'clock',
      'encryption',
      'event log',
      'projections',
      'embeddings',
      'embedder',
    ]);
    const next = await startService(readConfiguration({ ...settings, MNEME_PORT: '0' }));
    await next.stop();
  }, 120_000);

  it('finds a folder that another process uses, and another master key', async () => {
    const other = DataFolder.open(data);
    expect(failures(await doctor())).toEqual([
      `data folder: process ${process.pid} uses it and names no address: it is starting or stopping, or it hangs`,
    ]);
    other.release();
    const report = await doctor({ MNEME_MASTER_KEY: Buffer.alloc(32, 1).toString('base64') });
    expect(failures(report)).toEqual(['encryption: the master key is not the one this database was created with']);
    expect(report.code).toBe(exitCodes.failed);
  }, 60_000);

  it('finds a service that is not there, and models that are down, and tells no key', async () => {
    const gone = await ModelServer.start();
    const { origin, host } = new URL(gone.url);
    await gone.stop();
    server.does((request, response) =>
      (request.path.endsWith('/embeddings') ? embeddings(() => [1, 2, 3]) : failing(401))(request, response),
    );
    const report = await doctor({
      MNEME_DATA: join(folder.path, 'none'),
      MNEME_URL: origin,
      MNEME_API_KEY: 'mneme_hunter2',
    });
    expect(failures(report)).toEqual([`service: no service answers at ${host} (ECONNREFUSED)`]);
    expect(checks(report)).toEqual(['configuration', 'service']);

    const models = await doctor({
      MNEME_DATA: join(folder.path, 'none'),
      MNEME_EMBEDDING_PROVIDER: 'openai',
      MNEME_EMBEDDING_URL: server.url,
      MNEME_EMBEDDING_MODEL: 'small',
      MNEME_EMBEDDING_DIMENSIONS: '3',
      MNEME_EMBEDDING_API_KEY: 'sk-hunter2',
      MNEME_EVALUATOR_URL: server.url,
      MNEME_EVALUATOR_MODEL: 'chat',
      MNEME_EVALUATOR_API_KEY: 'sk-hunter2',
    });
    expect(failures(models)).toEqual(['evaluator: it refuses the request (HTTP 401)']);
    expect(report.all + models.all).not.toContain('hunter2');
  }, 60_000);

  it('tells neither the password of the database nor that of the log', async () => {
    const report = await doctor({
      DATABASE_URL: 'postgres://mneme:hunter2@127.0.0.1:1/mneme',
      EVENTSTORE_URL: 'esdb://mneme:hunter2@127.0.0.1:1?tls=false',
      MNEME_MASTER_KEY: Buffer.from('hunter2 hunter2 hunter2 hunter2!').toString('base64'),
    });
    expect(failures(report)).toEqual([
      'database: the server cannot be reached',
      expect.stringMatching(/^event log: EventStoreDB cannot be reached$/),
    ]);
    expect(report.all).not.toMatch(/hunter2|aHVudGVy/);
    const wrong = await doctor({ EVENTSTORE_URL: 'esdb://mneme:hunter2@127.0.0.1:1?tlsVerifyCert=false' });
    expect(failures(wrong)).toEqual([expect.stringMatching(/^event log: /)]);
    expect(wrong.all).not.toContain('hunter2');
  }, 60_000);

  it('is damaged data that it is told of, not an exception', async () => {
    const damaged = join(folder.path, 'damaged');
    const opened = DataFolder.open(damaged);
    opened.masterKey();
    opened.release();
    writeFileSync(join(damaged, 'postgres'), 'no database');
    expect(failures(await doctor({ MNEME_DATA: damaged }))).toEqual([
      expect.stringMatching(/^database: the database of the data folder cannot be opened \(/),
    ]);
  }, 60_000);

  it('writes for people a line a finding, with advice below', () => {
    expect(
      reportText([
        { check: 'clock', severity: 'ok', message: 'it agrees', advice: null },
        { check: 'embedder', severity: 'failed', message: 'it is down', advice: 'start it' },
      ]),
    ).toBe('ok       clock: it agrees\nfailed   embedder: it is down\n           -> start it');
  });
});
