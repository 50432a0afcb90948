import { randomBytes, randomUUID } from 'node:crypto';
import { freshDatabase } from '../../test/support/database.js';
import { ProcedureVectors } from '../../test/support/procedure-vectors.js';
import { Database } from '../database/database.js';
import { DataKeys } from '../encryption/data-keys.js';
import { MasterKey } from '../encryption/master-key.js';
import { procedureDocuments } from './embedding-documents.js';
import { VectorCache } from './vector-cache.js';

const contract = { id: 'test:3', dimensions: 3 };
const vector = Float32Array.of(0.1, -2, 3);
const team: string = randomUUID();

describe('the vector cache', () => {
  let database: Database;
  let vectors: ProcedureVectors;
  let keys: DataKeys;
  let cache: VectorCache;
  beforeAll(async () => {
    database = await freshDatabase();
    vectors = await ProcedureVectors.create(database);
    keys = new DataKeys(database, new MasterKey(randomBytes(32)));
    cache = new VectorCache(database, keys, contract, [procedureDocuments]);
  });
  afterAll(() => database.close());

  async function memory(): Promise<string> {
    const id = randomUUID();
    await keys.provision(team, [id]);
    return id;
  }
  const found = async (text: string, inTeam = team) => {
    const contentHmac = (await cache.hmacOf(inTeam))(text);
    return (await cache.find([{ team: inTeam, contentHmac }])).get(contentHmac);
  };

  it('keeps a vector before the read model knows the memory, for any memory of equal content', async () => {
    const memoryId = await memory();
    expect(await cache.remember({ team, memoryId, text: 'early', vector })).toBe(true);
    expect(await vectors.cached()).toMatchObject({ [memoryId]: 1 });
    expect(await found('early')).toBe('[0.1,-2,3]');
  });

  it('fills the read-model row that is there already', async () => {
    const stored = await vectors.add(team, 'late', { id: await memory() });
    await cache.remember({ team, memoryId: stored.id, text: 'late', vector });
    expect(await vectors.row(stored)).toMatchObject({ contract: 'test:3', embedding: '[0.1,-2,3]' });
  });

  it('knows contents of this team and this contract only', async () => {
    await cache.remember({ team, memoryId: await memory(), text: 'ours', vector });
    const otherContract = new VectorCache(database, keys, { id: 'test:other', dimensions: 3 }, []);
    const contentHmac = (await cache.hmacOf(team))('ours');
    expect(await found('ours', randomUUID())).toBeUndefined();
    expect(await otherContract.find([{ team, contentHmac }])).toEqual(new Map());
  });

  it('keeps a vector once, however often it is remembered', async () => {
    const memoryId = await memory();
    await cache.remember({ team, memoryId, text: 'again', vector });
    await cache.remember({ team, memoryId, text: 'again', vector });
    expect(await vectors.cached()).toMatchObject({ [memoryId]: 1 });
  });

  it('keeps nothing of a memory whose key is destroyed, or that never had one', async () => {
    const erased = await memory();
    await keys.destroy(team, erased);
    const unknown = randomUUID();
    for (const memoryId of [erased, unknown]) {
      expect(await cache.remember({ team, memoryId, text: 'gone', vector })).toBe(false);
    }
    expect(Object.keys(await vectors.cached())).not.toEqual(expect.arrayContaining([erased]));
    expect(await found('gone')).toBeUndefined();
  });

  it('does not fail a command when the database is gone', async () => {
    const gone = new Database('postgres://nobody@127.0.0.1:1/none', false, 1);
    const withoutDatabase = new VectorCache(gone, keys, contract, [procedureDocuments]);
    expect(await withoutDatabase.remember({ team, memoryId: await memory(), text: 'unlucky', vector })).toBe(false);
    await gone.close();
  });
});
