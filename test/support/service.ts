import { readConfiguration } from '../../src/config/configuration.js';
import { teamScopes } from '../../src/access/scopes.js';
import type { Infrastructure, Overrides } from '../../src/infrastructure.js';
import { startService } from '../../src/service.js';
import { TestClock } from './clock.js';
import { freshDatabase } from './database.js';
import { eventLogSettings, stopEventLogOfThisRun } from './event-log-of-this-run.js';
import { type Answer, Client } from './http.js';

export { TestClock };

export interface TestService {
  readonly url: string;
  readonly clock: TestClock;
  readonly infrastructure: Infrastructure;
  /** Administers everything, and sees no memory. */
  readonly operator: Client;
  /** Without a key. */
  readonly anonymous: Client;
  stop(): Promise<void>;
}

export interface TestTeam {
  readonly id: string;
  readonly profile: string;
  /** A client with every scope of a team, or with those named, as a profile of the team's. */
  readonly client: Client;
  clientWith(scopes: readonly string[], profile?: string): Promise<Client>;
  newProfile(name: string): Promise<string>;
}

const masterKey = Buffer.alloc(32, 7).toString('base64');

/** The service on an empty database of this run, with the shared-word embedder and a clock of the test's own. */
export async function startTestService(
  overrides: Omit<Overrides, 'database' | 'clock'> & { settings?: Record<string, string> } = {},
): Promise<TestService> {
  const { settings, ...adapters } = overrides;
  const database = await freshDatabase();
  const configuration = readConfiguration({
    ...(await eventLogSettings()),
    DATABASE_URL: 'postgres://given/test',
    MNEME_MASTER_KEY: masterKey,
    MNEME_PORT: '0',
    MNEME_LOG_LEVEL: 'silent',
    MNEME_EMBEDDING_PROVIDER: 'shared_words',
    ...settings,
  });
  const clock = new TestClock();
  const service = await startService(configuration, { ...adapters, database, clock });
  return {
    url: service.url,
    clock,
    infrastructure: service.infrastructure,
    operator: new Client(service.url, service.localOperatorKey),
    anonymous: new Client(service.url, undefined),
    stop: async () => {
      await service.stop();
      await stopEventLogOfThisRun();
      await database.close();
    },
  };
}

/** A new team with one profile and a key that may do everything inside it. */
export async function newTeam(service: TestService, name = 'Team'): Promise<TestTeam> {
  const { operator, url } = service;
  const id = (await created(operator.post<{ team_id: string }>('/v1/teams', { name }))).team_id;
  const newProfile = async (profileName: string) =>
    (await created(operator.post<{ profile_id: string }>('/v1/profiles', { team_id: id, name: profileName }))).profile_id;
  const profile = await newProfile('Author');
  const clientWith = async (scopes: readonly string[], as = profile) => {
    const { key } = await created(operator.post<{ key: string }>('/v1/keys', { team_id: id, profile_id: as, scopes }));
    return new Client(url, key);
  };
  return { id, profile, client: await clientWith(teamScopes), clientWith, newProfile };
}

async function created<Body>(answer: Promise<Answer<Body>>): Promise<Body> {
  const { status, body } = await answer;
  if (status !== 201) throw new Error(`expected 201, got ${status}: ${JSON.stringify(body)}`);
  return body;
}
