import { randomUUID } from 'node:crypto';
import { Database } from '../database/database.js';
import { freshDatabase } from '../../test/support/database.js';
import { DataKeys } from './data-keys.js';
import { MasterKey } from './master-key.js';

describe('data keys', () => {
  let database: Database;
  let keys: DataKeys;
  const team = randomUUID();

  beforeAll(async () => {
    database = await freshDatabase();
    keys = new DataKeys(database, new MasterKey(Buffer.alloc(32, 1)));
  });
  afterAll(() => database.close());

  const stateOf = async (owner: string, ofTeam = team) =>
    (await keys.fetch([{ team: ofTeam, owner }])).get({ team: ofTeam, owner });
  const keyOf = async (owner: string, ofTeam = team) => {
    const state = await stateOf(owner, ofTeam);
    return state.state === 'active' ? state.key.toString('hex') : state.state;
  };

  it('are never provisioned until somebody asks for them', async () => {
    expect(await stateOf(randomUUID())).toEqual({ state: 'never_provisioned' });
  });

  it('are made once and kept', async () => {
    const owner = randomUUID();
    await keys.provision(team, [owner]);
    const first = await keyOf(owner);
    expect(first).toMatch(/^[0-9a-f]{64}$/);
    await keys.provision(team, [owner, randomUUID(), owner]);
    expect(await keyOf(owner)).toBe(first);
  });

  it('are returned by the call that makes or finds them', async () => {
    const [old, fresh] = [randomUUID(), randomUUID()];
    await keys.provision(team, [old]);
    const ring = await keys.provision(team, [old, fresh]);
    for (const owner of [old, fresh]) expect(ring.get({ team, owner })).toEqual(await stateOf(owner));
  });

  it('differ between owners, and between teams for the same owner', async () => {
    const [owner, other, otherTeam] = [randomUUID(), randomUUID(), randomUUID()];
    await keys.provision(team, [owner, other]);
    await keys.provision(otherTeam, [owner]);
    expect(new Set([await keyOf(owner), await keyOf(other), await keyOf(owner, otherTeam)]).size).toBe(3);
  });

  it('come for many owners of many teams at once, erased and missing ones among them', async () => {
    const otherTeam = randomUUID();
    const [active, erased, missing] = [randomUUID(), randomUUID(), randomUUID()];
    await keys.provision(team, [active, erased]);
    await keys.provision(otherTeam, [active]);
    await keys.destroy(team, erased);
    const refs = [active, erased, missing].flatMap((owner) => [team, otherTeam].map((of) => ({ team: of, owner })));
    const ring = await keys.fetch([...refs, ...refs]);
    expect(refs.map((ref) => ring.get(ref).state)).toEqual([
      'active',
      'active',
      'erased',
      'never_provisioned',
      'never_provisioned',
      'never_provisioned',
    ]);
  });

  it('are gone for ever once destroyed', async () => {
    const owner = randomUUID();
    await keys.provision(team, [owner]);
    expect(await keys.destroy(team, owner)).toBe(true);
    expect(await stateOf(owner)).toEqual({ state: 'erased' });
    await expect(keys.provision(team, [owner])).rejects.toMatchObject({ code: 'key_erased', owner });
    expect(await keys.destroy(team, owner)).toBe(false);
    expect(await database.query('SELECT state, wrapped_key FROM mneme.data_keys WHERE owner = $1', [owner])).toEqual([
      { state: 'erased', wrapped_key: null },
    ]);
  });

  it('can be ruled out for an owner that never had one', async () => {
    const owner = randomUUID();
    expect(await keys.destroy(team, owner)).toBe(true);
    await expect(keys.provision(team, [owner])).rejects.toMatchObject({ code: 'key_erased' });
  });

  it('are not made for the others when one owner of the call was erased', async () => {
    const [erased, fresh] = [randomUUID(), randomUUID()];
    await keys.destroy(team, erased);
    await expect(keys.provision(team, [fresh, erased])).rejects.toMatchObject({ code: 'key_erased' });
    expect(await stateOf(fresh)).toEqual({ state: 'never_provisioned' });
  });

  it.each([
    `UPDATE mneme.data_keys SET state = 'active', wrapped_key = '\\x00', erased_at = NULL WHERE owner = $1`,
    `UPDATE mneme.data_keys SET owner = 'another' WHERE owner = $1`,
    `DELETE FROM mneme.data_keys WHERE owner = $1`,
  ])('stay erased even against the owner of the table: %s', async (statement) => {
    const owner = randomUUID();
    await keys.destroy(team, owner);
    await expect(database.query(statement, [owner])).rejects.toMatchObject({ code: 'database_failure', sqlState: '23000' });
    expect(await stateOf(owner)).toEqual({ state: 'erased' });
  });

  it('cannot be half erased', async () => {
    const owner = randomUUID();
    await keys.provision(team, [owner]);
    const halfErased = database.query(`UPDATE mneme.data_keys SET state = 'erased', erased_at = now() WHERE owner = $1`, [owner]);
    await expect(halfErased).rejects.toMatchObject({ sqlState: '23514' });
  });

  it('cannot be reached by requests of a team or by the projector', async () => {
    const statement = 'SELECT 1 FROM mneme.data_keys';
    await expect(database.asTeam(team, (queries) => queries.query(statement))).rejects.toMatchObject({ sqlState: '42501' });
    await expect(database.as('mneme_projector', (queries) => queries.query(statement))).rejects.toMatchObject({
      sqlState: '42501',
    });
  });

  it('cannot be forgotten by the role that uses them', async () => {
    const forgotten = database.as('mneme_system', (queries) => queries.execute('DELETE FROM mneme.data_keys'));
    await expect(forgotten).rejects.toMatchObject({ sqlState: '42501' });
  });

  it('do not unwrap after two rows were swapped', async () => {
    const [one, other] = [randomUUID(), randomUUID()];
    await keys.provision(team, [one, other]);
    await database.query(
      `UPDATE mneme.data_keys a SET wrapped_key = b.wrapped_key FROM mneme.data_keys b WHERE a.owner = $1 AND b.owner = $2`,
      [one, other],
    );
    await expect(keys.fetch([{ team, owner: one }])).rejects.toMatchObject({ code: 'key_unavailable' });
  });

  it('are unavailable, not lost, under the wrong master key', async () => {
    const owner = randomUUID();
    await keys.provision(team, [owner]);
    const before = await keyOf(owner);
    const wrong = new DataKeys(database, new MasterKey(Buffer.alloc(32, 2)));
    const unavailable = { code: 'key_unavailable', message: 'a data key is missing or cannot be unwrapped' };
    await expect(wrong.fetch([{ team, owner }])).rejects.toMatchObject(unavailable);
    await expect(wrong.provision(team, [owner])).rejects.toMatchObject(unavailable);
    expect(await keyOf(owner)).toBe(before);
  });

  it('are not remembered from one call to the next', async () => {
    const owner = randomUUID();
    await keys.provision(team, [owner]);
    await keyOf(owner);
    await new DataKeys(database, new MasterKey(Buffer.alloc(32, 1))).destroy(team, owner);
    expect(await keyOf(owner)).toBe('erased');
  });

  it.each(['', 'a|b', 'ä', 'x'.repeat(101)])('refuse the owner %p, because it could be mistaken for another', async (owner) => {
    await expect(keys.provision(team, [owner])).rejects.toThrow(TypeError);
    await expect(keys.destroy(team, owner)).rejects.toThrow(TypeError);
  });

  it.each(['', 'TEAM', '00000000-0000-0000-0000-000000000000'])('refuse the team %p', async (wrong) => {
    await expect(keys.provision(wrong, ['owner'])).rejects.toThrow(TypeError);
    await expect(keys.fetch([{ team: wrong, owner: 'owner' }])).rejects.toThrow(TypeError);
  });

  it('ask the database nothing for nobody', async () => {
    const unreachable = new DataKeys(new Database('postgres://127.0.0.1:1/none', false, 1), new MasterKey(Buffer.alloc(32, 1)));
    expect((await unreachable.fetch([])).get({ team, owner: 'owner' })).toEqual({ state: 'never_provisioned' });
    await unreachable.provision(team, []);
  });

  describe('derived secrets', () => {
    it('are the same each time, and others for another purpose, owner or team', async () => {
      const ref = { team, owner: 'secrets' };
      const identity = await keys.derived(ref, 'identity');
      expect(identity).toHaveLength(32);
      expect(await keys.derived(ref, 'identity')).toEqual(identity);
      const others = await Promise.all([
        keys.derived(ref, 'command'),
        keys.derived({ team, owner: 'other' }, 'identity'),
        keys.derived({ team: 'system', owner: 'secrets' }, 'identity'),
      ]);
      expect(new Set([identity, ...others].map((secret) => secret.toString('hex'))).size).toBe(4);
      expect(identity.toString('hex')).not.toBe(await keyOf('secrets'));
    });

    it('are gone with the key they come from', async () => {
      const owner = randomUUID();
      await keys.derived({ team, owner }, 'vector_cache');
      await keys.destroy(team, owner);
      await expect(keys.derived({ team, owner }, 'vector_cache')).rejects.toMatchObject({ code: 'key_erased' });
    });
  });

  describe('the check at start-up', () => {
    it('passes for the master key of the first start, on every start', async () => {
      await keys.checkMasterKey();
      await keys.checkMasterKey();
    });

    it('stops a start with another master key and says what to do', async () => {
      await keys.checkMasterKey();
      const wrong = new DataKeys(database, new MasterKey(Buffer.alloc(32, 2)));
      await expect(wrong.checkMasterKey()).rejects.toMatchObject({
        code: 'master_key_mismatch',
        message: expect.stringContaining('MNEME_MASTER_KEY') as string,
      });
    });
  });
});
