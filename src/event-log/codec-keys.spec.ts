import { freshDatabase } from '../../test/support/database.js';
import {
  contextOf,
  noteCatalogue,
  noteFiled,
  noteStreamName,
  noteTaken,
  prefix,
  storedAs,
  team,
} from '../../test/support/notes.js';
import type { Database } from '../database/database.js';
import { DataKeys } from '../encryption/data-keys.js';
import { MasterKey } from '../encryption/master-key.js';
import { Codec } from './codec.js';
import { redacted } from './domain-event.js';
import { verifyChain } from './hash-chain.js';
import { newCommandId } from './ids.js';

describe('the codec and the data keys', () => {
  let database: Database;
  let keys: DataKeys;
  let codec: Codec;

  beforeAll(async () => {
    database = await freshDatabase();
    keys = new DataKeys(database, new MasterKey(Buffer.alloc(32, 1)));
    codec = new Codec(noteCatalogue, keys, prefix);
  });
  afterAll(() => database.close());

  /** A stream with two notes of different owners. */
  async function twoNotes() {
    const [one, other] = [newCommandId(), newCommandId()];
    const stream = noteStreamName(one);
    const events = [noteTaken(one, 'one'), noteTaken(other, 'other'), noteFiled(one)];
    return { one, other, stream, stored: storedAs(stream, await codec.encode(stream, undefined, events, contextOf())) };
  }

  it('open what they sealed', async () => {
    const { stored } = await twoNotes();
    const decoded = await codec.decode(stored);
    expect(decoded.map(({ data }) => data.sealed)).toEqual([{ text: 'one' }, { text: 'other' }, undefined]);
  });

  it('redact the content of an erased owner only, and the hash chain still holds', async () => {
    const { one, stored } = await twoNotes();
    await keys.destroy(team, one);
    const decoded = await codec.decode(stored);
    expect(decoded.map(({ data }) => data.sealed)).toEqual([redacted, { text: 'other' }, undefined]);
    expect(verifyChain(stored)).toBeUndefined();
  });

  it('write no more content for an erased owner, but facts about it', async () => {
    const { one, stream } = await twoNotes();
    await keys.destroy(team, one);
    await expect(codec.encode(stream, undefined, [noteTaken(one, 'again')], contextOf())).rejects.toMatchObject({
      code: 'key_erased',
    });
    expect(await codec.encode(stream, undefined, [noteFiled(one)], contextOf())).toHaveLength(1);
  });

  it('say that a key is unavailable when its row is lost', async () => {
    const { one, stored } = await twoNotes();
    await database.query('DELETE FROM mneme.data_keys WHERE owner = $1', [one]);
    await expect(codec.decode(stored)).rejects.toMatchObject({ code: 'key_unavailable' });
  });

  it('say that a key is unavailable under the wrong master key', async () => {
    const { stored } = await twoNotes();
    const wrong = new Codec(noteCatalogue, new DataKeys(database, new MasterKey(Buffer.alloc(32, 2))), prefix);
    await expect(wrong.decode(stored)).rejects.toMatchObject({ code: 'key_unavailable' });
    expect(await wrong.decode(stored, { content: false })).toHaveLength(3);
  });

  it('belong to the team of the stream, not to whoever acts on it', async () => {
    const { one, stream } = await twoNotes();
    const stored = storedAs(
      stream,
      await codec.encode(stream, undefined, [noteTaken(one, 'by the system')], { ...contextOf(), team: 'system' }),
    );
    const [event] = await codec.decode(stored);
    expect(event).toMatchObject({ team, metadata: { team: 'system' }, data: { sealed: { text: 'by the system' } } });
    await keys.destroy(team, one);
    expect((await codec.decode(stored))[0]?.data.sealed).toEqual(redacted);
  });
});
