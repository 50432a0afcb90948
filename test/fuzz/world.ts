import { readAdminKey } from '../../src/database/embedded/data-folder.js';
import { teamScopes } from '../../src/access/scopes.js';
import { temporaryFolder } from '../support/command-line.js';
import { type Answer, Client } from '../support/http.js';
import { addressOf, spawnService, type StartingProcess } from '../support/service-process.js';
import { type Api, readApi } from './operations.js';
import { Random } from './random.js';
import { type Ids, validValue } from './values.js';

/** Keys of every kind, by what they may do. `none` sends no header. */
export type KeyKind = 'none' | 'garbage' | 'unknown' | 'revoked' | 'deactivated' | 'operator' | 'a' | 'b' | `a ${string}`;

/** A service in a process of its own, with two teams that have some of everything. */
export interface World {
  readonly api: Api;
  readonly port: number;
  readonly process: StartingProcess;
  readonly operator: Client;
  readonly keys: ReadonlyMap<KeyKind, string | undefined>;
  readonly ids: { readonly a: Ids; readonly b: Ids };
  /** Texts that the service gave out: positions and cursors. */
  readonly tokens: { readonly a: readonly string[]; readonly b: readonly string[] };
  readonly projections: readonly string[];
  stop(): Promise<void>;
}

const off = Object.fromEntries(['READS', 'WRITES', 'EXPENSIVE', 'ANONYMOUS'].map((name) => [`MNEME_RATE_LIMIT_${name}`, '0']));

export async function startWorld(): Promise<World> {
  const folder = temporaryFolder();
  // A process that keeps what it is sent runs out of this long before the end of a run.
  const service = spawnService(
    { MNEME_DATA: folder.path, MNEME_EMBEDDING_PROVIDER: 'shared_words', MNEME_MIN_POSITION_WAIT_MS: '300', ...off },
    ['--max-old-space-size=256'],
  );
  const url = await addressOf(service);
  const api = await readApi(url);
  const operator = new Client(url, readAdminKey(folder.path));
  const a = await newTeam(operator, 'a');
  const b = await newTeam(operator, 'b');
  const { items } = (await operator.get<{ items: { name: string }[] }>('/v1/projections')).body;
  const [filledA, filledB] = [await fill(a, api, 1), await fill(b, api, 2)];
  return {
    api,
    port: Number(new URL(url).port),
    process: service,
    operator,
    keys: await keysOf(operator, a, b),
    ids: { a: filledA.ids, b: filledB.ids },
    tokens: { a: filledA.tokens, b: filledB.tokens },
    projections: items.map(({ name }) => name),
    stop: async () => {
      service.child.kill('SIGTERM');
      await service.exited;
      folder.remove();
    },
  };
}

interface Team {
  readonly id: string;
  /** Author of the keys that the run uses; nothing in the run knows its id. */
  readonly profile: string;
  readonly client: Client;
}

async function newTeam(operator: Client, name: string): Promise<Team> {
  const id = (await made(operator.post<{ team_id: string }>('/v1/teams', { name }))).team_id;
  const profile = (await made(operator.post<{ profile_id: string }>('/v1/profiles', { team_id: id, name: 'author' }))).profile_id;
  return { id, profile, client: new Client(operator.url, (await newKey(operator, id, profile, teamScopes)).key) };
}

const newKey = (operator: Client, team_id: string, profile_id: string, scopes: readonly string[]) =>
  made(operator.post<{ key: string; key_id: string }>('/v1/keys', { team_id, profile_id, scopes }));

async function made<Body>(answer: Promise<Answer<Body>>): Promise<Body> {
  const { status, body } = await answer;
  if (status !== 201) throw new Error(`expected 201, got ${status}: ${JSON.stringify(body)}`);
  return body;
}

async function keysOf(operator: Client, a: Team, b: Team): Promise<Map<KeyKind, string | undefined>> {
  const revoked = await newKey(operator, a.id, a.profile, teamScopes);
  await operator.post(`/v1/keys/${revoked.key_id}/revoke`, { team_id: a.id });
  const gone = await made(operator.post<{ profile_id: string }>('/v1/profiles', { team_id: a.id, name: 'gone' }));
  const deactivated = await newKey(operator, a.id, gone.profile_id, teamScopes);
  await operator.post(`/v1/profiles/${gone.profile_id}/deactivate`, { team_id: a.id });
  const keys = new Map<KeyKind, string | undefined>([
    ['none', undefined],
    ['garbage', 'garbage'],
    ['unknown', `mneme_${'A'.repeat(43)}`],
    ['revoked', revoked.key],
    ['deactivated', deactivated.key],
    ['operator', operator.key],
    ['a', a.client.key],
    ['b', b.client.key],
  ]);
  for (const scope of teamScopes) keys.set(`a ${scope}`, (await newKey(operator, a.id, a.profile, [scope])).key);
  return keys;
}

/** Sends what every creating operation takes, several times, and keeps the ids and tokens of the answers. */
async function fill({ id, profile, client }: Team, api: Api, seed: number): Promise<{ ids: Ids; tokens: string[] }> {
  const ids: Record<string, string[]> = { team_id: [id] };
  const tokens: string[] = [];
  const random = new Random(seed);
  const keep = ({ status, body, position }: Answer<unknown>) => {
    if (status >= 300) return;
    if (position !== '') tokens.push(position);
    harvest(body, ids, tokens);
  };
  for (let round = 0; round < 6; round += 1) {
    for (const { method, path, body } of api.operations) {
      if (method !== 'POST' || path.includes('{') || !body || /^\/v1\/erasures/.test(path)) continue;
      keep(await client.post(path, validValue(body, { api, random, ids, tokens: [], word: `seed ${round}` })));
    }
    for (const procedure of [...(ids.procedure_id ?? [])])
      keep(await client.post(`/v1/procedures/${procedure}/executions`, { success: true, answer: 'seed' }));
  }
  for (const { method, path, inQuery } of api.operations) {
    if (method === 'GET' && !path.includes('{') && inQuery.some(({ name }) => name === 'cursor'))
      harvest((await client.get(`${path}?limit=1`)).body, {}, tokens); // not its ids: our own keys are among them
  }
  // A run that deactivates the author of our own keys would go on with keys that do not work.
  ids.profile_id = (ids.profile_id ?? []).filter((known) => known !== profile);
  return { ids, tokens };
}

function harvest(value: unknown, ids: Record<string, string[]>, tokens: string[]): void {
  if (Array.isArray(value)) for (const item of value) harvest(item, ids, tokens);
  else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      if (typeof member !== 'string') harvest(member, ids, tokens);
      else if (name === 'next_cursor') tokens.push(member);
      else if (name.endsWith('_id') && !['correlation_id', 'owner_id'].includes(name) && /^[0-9a-f-]{36}$/.test(member))
        ids[name] = [...new Set([...(ids[name] ?? []), member])];
    }
  }
}
