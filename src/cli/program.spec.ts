import { exitCodes } from './failure.js';
import { run } from './program.js';

async function mneme(words: string, environment: Record<string, string> = {}) {
  const written = { stdout: '', stderr: '' };
  const code = await run(words === '' ? [] : words.split(' '), {
    environment,
    stdout: { write: (text: string) => (written.stdout += text) },
    stderr: { write: (text: string) => (written.stderr += text) },
    signal: new AbortController().signal,
  });
  return { code, ...written };
}

describe('the command line', () => {
  it('explains itself and its exit codes', async () => {
    const { code, stdout } = await mneme('--help');
    expect(code).toBe(exitCodes.done);
    for (const command of [
      'serve',
      'demo',
      'teams',
      'profiles',
      'keys',
      'projections',
      'recall',
      'import',
      'eval',
      'migrate',
      'doctor',
      'configuration',
    ]) {
      expect(stdout).toContain(command);
    }
    expect(stdout).toContain('Exit codes: 0 done');
  });

  it('says its version', async () => expect((await mneme('--version')).stdout).toMatch(/^\d+\.\d+\.\d+\n$/));

  it.each([
    '',
    'nonsense',
    'teams',
    'teams create',
    'teams settings Shop',
    'teams create Shop --review perhaps',
    'teams list --nonsense',
    'keys create --team Shop',
    'keys create --admin --team Shop',
    'keys create --scope everything',
    'keys create --scope admin --expires tomorrow',
    'projections rebuild',
    'recall',
    'recall kettles --limit many',
    'import jsonl',
    'import csv notes.csv',
    'eval locomo',
    'eval locomo file.json --questions few',
  ])('refuses "%s" as misuse, before it looks for a service', async (words) => {
    const { code, stdout, stderr } = await mneme(words);
    expect({ code, stdout }).toEqual({ code: exitCodes.usage, stdout: '' });
    expect(stderr).not.toBe('');
  });

  it('reports misuse as JSON where JSON is asked for', async () => {
    const { code, stdout, stderr } = await mneme('teams create --json');
    expect({ code, stdout }).toEqual({ code: exitCodes.usage, stdout: '' });
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'usage', exit_code: exitCodes.usage } });
  });

  it.each([
    ['teams list', { MNEME_PORT: 'many' }, 'MNEME_PORT'],
    ['teams list', { MNEME_PROT: '1' }, 'MNEME_PROT'],
    ['serve', { DATABASE_URL: 'postgres://127.0.0.1/none' }, 'MNEME_MASTER_KEY'],
    ['teams list', { MNEME_URL: 'http://127.0.0.1:9' }, 'MNEME_API_KEY'],
    ['teams list', { MNEME_URL: 'http://127.0.0.1:9', MNEME_API_KEY: 'schl\u{fc}ssel\n' }, 'MNEME_API_KEY'],
    ['migrate', {}, 'DATABASE_URL'],
  ])('ends "%s" with the configuration code and the setting at fault', async (words, environment, setting) => {
    const { code, stderr } = await mneme(`${words} --json`, environment);
    expect(code).toBe(exitCodes.configuration);
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'configuration_invalid', field: setting } });
  });

  it('says that it cannot reach a service', async () => {
    const { code, stderr } = await mneme('teams list', { MNEME_URL: 'http://127.0.0.1:9', MNEME_API_KEY: 'key' });
    expect(code).toBe(exitCodes.unreachable);
    expect(stderr).toMatch(/^mneme: service_unreachable: no service can be reached at http:\/\/127\.0\.0\.1:9 \(/);
  });

  it('lists every setting', async () => {
    const { settings } = JSON.parse((await mneme('configuration --json')).stdout) as { settings: { name: string }[] };
    expect(settings).toContainEqual({
      name: 'MNEME_CANDIDATE_POOL',
      default: '20',
      allowed: 'whole number, 1 to 200',
      meaning: 'Nearest procedures scored for one recall.',
    });
    expect(settings).toContainEqual(expect.objectContaining({ name: 'MNEME_RANKING_PRIOR_WEIGHT', allowed: 'number above 0' }));
  });
});
