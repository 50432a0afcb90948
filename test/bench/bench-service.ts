import { teamScopes } from '../../src/access/scopes.js';
import { KeepAliveClient, type Reply } from './keep-alive-client.js';

/** Settings of a service on the bench's database. Nobody is held back: what is measured is how much it can do. */
export const benchSettings = (databaseUrl: string): Record<string, string> => ({
  DATABASE_URL: databaseUrl,
  MNEME_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
  MNEME_PORT: '0',
  MNEME_EMBEDDING_PROVIDER: 'shared_words',
  MNEME_RATE_LIMIT_READS: '0',
  MNEME_RATE_LIMIT_WRITES: '0',
  MNEME_RATE_LIMIT_EXPENSIVE: '0',
  MNEME_RATE_LIMIT_ANONYMOUS: '0',
});

export interface BenchTeam {
  readonly team: string;
  readonly profile: string;
  readonly key: string;
}

/** A team with one profile and its key. @param operatorKey of an operator */
export async function newBenchTeam(url: string, operatorKey: string): Promise<BenchTeam> {
  const operator = new KeepAliveClient(url, operatorKey, 1);
  try {
    const { team_id: team } = await made<{ team_id: string }>(operator.post('/v1/teams', { name: 'Bench' }));
    const { profile_id: profile } = await made<{ profile_id: string }>(
      operator.post('/v1/profiles', { team_id: team, name: 'Author' }),
    );
    const { key } = await made<{ key: string }>(
      operator.post('/v1/keys', { team_id: team, profile_id: profile, scopes: teamScopes }),
    );
    return { team, profile, key };
  } finally {
    operator.close();
  }
}

/** Near some procedures and far from most; no two are so alike that a model takes one for the other. */
export function questionOf(number: number): string {
  const [verb, thing] = [verbs[number % verbs.length], things[Math.floor(number / verbs.length) % things.length]];
  return `How do I ${verb} the ${thing} in file f${number} of shelf s${(number * 7919) % 10_007} for customer c${(number * 104_729) % 99_991}?`;
}

const verbs = ['refund', 'move', 'close', 'reopen', 'split', 'audit', 'renew', 'export'];
const things = ['order', 'account', 'invoice', 'shipment', 'contract', 'ticket', 'licence', 'address'];

/** Remembers procedures, each with one run. @returns their ids, and the position of the last write */
export async function rememberProcedures(client: KeepAliveClient, count: number): Promise<{ ids: string[]; position: string }> {
  const ids: string[] = [];
  let position = '';
  for (let number = 0; number < count; number++) {
    const reply = client.post('/v1/procedures', {
      question: questionOf(number),
      version: '1.0',
      graph: { steps: ['look it up', `do what is written for group ${number}`] },
      run: { success: true },
    });
    ids.push((await made<{ procedure_id: string }>(reply)).procedure_id);
    ({ position } = await reply);
  }
  return { ids, position };
}

async function made<Body>(reply: Promise<Reply>): Promise<Body> {
  const { status, body } = await reply;
  // 200: it was there already, and got another run.
  if (status !== 201 && status !== 200) throw new Error(`not made, but ${status}: ${JSON.stringify(body)}`);
  return body as Body;
}
