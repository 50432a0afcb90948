import { randomUUID } from 'node:crypto';
import {
  AccessDeniedError,
  binaryEvent,
  DeadlineExceededError,
  jsonEvent,
  MaxAppendSizeExceededError,
  StreamDeletedError,
  StreamNotFoundError,
  UnknownError,
  WrongExpectedVersionError,
} from '@eventstore/db-client';
import { all, newEvent, newEvents, serverUnderTest } from './server-under-test.js';

describe.each([
  ['in batches', true],
  ['one by one', false],
])('appending %s', (_, batchAppend) => {
  const on = serverUnderTest({ batchAppend });
  const append = (events = newEvents(1), expectedRevision?: bigint | 'no_stream' | 'any' | 'stream_exists', stream = 'loan-1') =>
    on.client.appendToStream(stream, events, expectedRevision === undefined ? {} : { expectedRevision });
  const revisions = async (stream = 'loan-1') => (await all(on.client.readStream(stream))).map(({ event }) => event?.revision);

  it('uses the call it is named after', async () => {
    await append();
    expect(on.server.requests.of(batchAppend ? 'batch_append' : 'append')).toHaveLength(1);
    expect(on.server.requests.of(batchAppend ? 'append' : 'batch_append')).toHaveLength(0);
  });

  it('stores what it was given', async () => {
    const json = jsonEvent({ type: 'BookLent', data: { title: 'Größe 👩‍👩‍👧' }, metadata: { $correlationId: 'c-1' } });
    const binary = binaryEvent({ type: 'CoverScanned', data: Buffer.from([0, 255, 1]) });
    await on.client.appendToStream('loan-é', [json, binary]);
    const [one, two] = await all(on.client.readStream('loan-é'));
    const { id, type, data, metadata } = json;
    expect(one?.event).toMatchObject({ id, type, data, metadata, streamId: 'loan-é', isJson: true, revision: 0n });
    expect(Math.abs((one?.event?.created.getTime() ?? 0) - Date.now())).toBeLessThan(60_000);
    expect(two?.event).toMatchObject({ id: binary.id, isJson: false, revision: 1n, metadata: undefined });
    expect(Buffer.from(two?.event?.data as Uint8Array)).toEqual(binary.data);
    expect(
      on.server
        .events()
        .slice(-2)
        .map(({ id }) => id),
    ).toEqual([json.id, binary.id]);
  });

  it('gives the revision and the position of the last event', async () => {
    const result = await append(newEvents(3), 'no_stream');
    const stored = on.server.events().at(-1);
    expect(result).toMatchObject({ success: true, nextExpectedRevision: 2n });
    expect(result.position).toEqual({ commit: stored?.position, prepare: stored?.position });
    expect((await append(newEvents(1), 2n)).nextExpectedRevision).toBe(3n);
  });

  it('positions events by the bytes before them', async () => {
    await append([newEvent({ book: 'x'.repeat(1000) }), newEvent(), newEvent()]);
    const [one = 0n, two = 0n, three = 0n] = on.server
      .events()
      .slice(-3)
      .map(({ position }) => position);
    expect(two - one).toBeGreaterThan(1000n);
    expect(three - two).toBeLessThan(500n);
    expect(three - two).toBeGreaterThan(1n);
  });

  it.each(['no_stream', 0n, 2n, 5n] as const)('refuses the expected revision %s when the stream is at 1', async (expected) => {
    await append(newEvents(2));
    const refused = append(newEvents(1), expected);
    await expect(refused).rejects.toThrow(WrongExpectedVersionError);
    await expect(refused).rejects.toMatchObject({ streamName: 'loan-1', expectedVersion: expected, actualVersion: 1n });
    expect(await revisions()).toEqual([0n, 1n]);
  });

  it.each([0n, 'stream_exists'] as const)('refuses %s when there is no stream', async (expectedVersion) => {
    await expect(append(newEvents(1), expectedVersion)).rejects.toMatchObject({ expectedVersion, actualVersion: 'no_stream' });
  });

  it('takes whatever revision there is when any will do', async () => {
    await append(newEvents(2), 'any');
    await append(newEvents(1), 'any');
    await append(newEvents(1), 'stream_exists');
    expect(await revisions()).toEqual([0n, 1n, 2n, 3n]);
  });

  describe('again', () => {
    it.each(['no_stream', 1n] as const)('gives the first result, also when the stream has moved on (%s)', async (expected) => {
      if (expected === 1n) await append(newEvents(2), 'no_stream');
      const events = newEvents(2);
      const first = await append(events, expected);
      expect(await append(events, expected)).toEqual(first);
      await append(newEvents(3), first.nextExpectedRevision);
      expect(await append(events, expected)).toEqual(first);
      expect(on.server.events().filter(({ id }) => id === events[0]?.id)).toHaveLength(1);
    });

    it('knows a repeated id by the letters, whatever their case', async () => {
      const event = { ...newEvent(), id: randomUUID().toUpperCase() };
      const first = await append([event], 'no_stream');
      expect(await append([event], 'no_stream')).toEqual(first);
      expect((await all(on.client.readStream('loan-1')))[0]?.event?.id).toBe(event.id.toLowerCase());
    });

    it.each(['any', 'stream_exists'] as const)('recognises ids anywhere in the stream when %s is expected', async (expected) => {
      await append(newEvents(2));
      const events = newEvents(2);
      const first = await append(events);
      await append(newEvents(1));
      expect(await append(events, expected)).toEqual(first);
    });

    it.each([
      ['with one event more', (events: ReturnType<typeof newEvents>) => [...events, newEvent()], -1],
      ['with another last event', ([first]: ReturnType<typeof newEvents>) => [first ?? newEvent(), newEvent()], -1],
      ['at another revision', (events: ReturnType<typeof newEvents>) => events, 0],
    ])('is refused %s', async (__, changed, offset) => {
      await append(newEvents(1), 'no_stream');
      const events = newEvents(2);
      await append(events, 0n);
      const again = append(changed(events), offset < 0 ? 0n : 1n);
      await expect(again).rejects.toMatchObject({ actualVersion: 2n });
      expect(await revisions()).toHaveLength(3);
    });

    it('is new where any revision will do and the first id is new', async () => {
      const events = newEvents(2);
      await append(events);
      await append([newEvent(), ...events], 'any');
      expect(await revisions()).toHaveLength(5);
      await expect(append([...events, newEvent()], 'any')).rejects.toThrow(WrongExpectedVersionError);
    });

    it('is new in another stream', async () => {
      const events = newEvents(1);
      await append(events, 'no_stream');
      await append(events, 'no_stream', 'loan-2');
      expect(await revisions('loan-2')).toEqual([0n]);
    });
  });

  describe('more than the server takes', () => {
    it('is refused, with the limit', async () => {
      const large = append([newEvent({ book: 'x'.repeat(1024 * 1024) })]);
      await expect(large).rejects.toThrow(MaxAppendSizeExceededError);
      await expect(large).rejects.toMatchObject({ maxAppendSize: 1024 * 1024 });
      await expect(append([1, 2, 3].map(() => newEvent({ book: 'x'.repeat(400_000) })))).rejects.toMatchObject({
        type: 'maximum-append-size-exceeded',
      });
      await append([newEvent({ book: 'x'.repeat(1_000_000) })]);
      expect(await revisions()).toEqual([0n]);
    });

    it('counts over the messages that a large append is split into', async () => {
      const events = Array.from({ length: 12 }, () => newEvent({ book: 'x'.repeat(100_000) }));
      const split = on.client.appendToStream('loan-1', events, { batchAppendSize: 300_000 });
      await expect(split).rejects.toThrow(MaxAppendSizeExceededError);
      await on.client.appendToStream('loan-1', events.slice(0, 9), { batchAppendSize: 300_000 });
      expect(await revisions()).toHaveLength(9);
    });
  });

  it('fails without a name when an id is no UUID', async () => {
    await expect(append([{ ...newEvent(), id: 'one' }])).rejects.toThrow(UnknownError);
    expect(on.server.events().at(-1)?.stream).not.toBe('loan-1');
  });

  describe('to a stream that was', () => {
    it('deleted begins after its hidden events', async () => {
      await append(newEvents(2));
      const { position } = await on.client.deleteStream('loan-1');
      expect(position?.commit).toBe(on.server.events().at(-1)?.position);
      await expect(all(on.client.readStream('loan-1'))).rejects.toThrow(StreamNotFoundError);
      await expect(append(newEvents(1), 'stream_exists')).rejects.toThrow(StreamDeletedError);
      await append(newEvents(1), 'no_stream');
      expect(await revisions()).toEqual([2n]);
      expect(on.server.events().filter(({ stream }) => stream === 'loan-1')).toHaveLength(3);
    });

    it('tombstoned is refused for ever', async () => {
      await append(newEvents(2));
      await on.client.tombstoneStream('loan-1', { expectedRevision: 1n });
      for (const expected of ['any', 'no_stream', 1n] as const) {
        await expect(append(newEvents(1), expected)).rejects.toMatchObject({ type: 'stream-deleted', streamName: 'loan-1' });
      }
      await expect(all(on.client.readStream('loan-1'))).rejects.toThrow(StreamDeletedError);
      expect(on.server.events().at(-1)).toMatchObject({ stream: 'loan-1', type: '$streamDeleted', revision: 2n ** 63n - 1n });
    });
  });
});

describe('deleting', () => {
  const on = serverUnderTest();

  it.each(['deleteStream', 'tombstoneStream'] as const)('expects the revision it names (%s)', async (erase) => {
    await on.client.appendToStream('loan-1', newEvents(2));
    const refused = on.client[erase]('loan-1', { expectedRevision: 0n });
    await expect(refused).rejects.toMatchObject({ type: 'wrong-expected-version', expectedVersion: 0n, actualVersion: 1n });
    await on.client[erase]('loan-1', { expectedRevision: 1n });
  });

  it('needs a stream, and a tombstone needs none', async () => {
    await expect(on.client.deleteStream('loan-1')).rejects.toThrow(WrongExpectedVersionError);
    await on.client.tombstoneStream('loan-1');
    await expect(on.client.tombstoneStream('loan-1')).rejects.toThrow(StreamDeletedError);
    await expect(on.client.deleteStream('loan-1')).rejects.toThrow(StreamDeletedError);
  });

  it('leaves events in the log until it is scavenged', async () => {
    await on.client.appendToStream('loan-1', newEvents(3));
    await on.client.appendToStream('loan-2', newEvents(1));
    await on.client.tombstoneStream('loan-1');
    const names = () =>
      on.server
        .events()
        .map(({ stream }) => stream)
        .filter((name) => name.startsWith('loan'));
    expect(names()).toEqual(['loan-1', 'loan-1', 'loan-1', 'loan-2', 'loan-1']);
    on.server.scavenge();
    expect(names()).toEqual(['loan-2', 'loan-1']);
  });
});

describe('a server whose clock is ahead', () => {
  const on = serverUnderTest({ now: () => new Date(Date.now() + 60_000) });

  it('answers at once that an append in a batch has timed out', async () => {
    await expect(on.client.appendToStream('loan-1', newEvent())).rejects.toThrow(DeadlineExceededError);
    await on.client.appendToStream('loan-1', newEvent(), { deadline: 120_000 });
  });
});

describe('a server that asks for a password', () => {
  const on = serverUnderTest({ credentials: { username: 'ada', password: 'lovelace' } });
  const named = () => on.connect(on.server.connectionString.replace('://', '://ada:lovelace@'));

  it('denies everything to a client without', async () => {
    await expect(on.client.appendToStream('loan-1', newEvent())).rejects.toThrow(AccessDeniedError);
    await expect(all(on.client.readStream('loan-1'))).rejects.toThrow(AccessDeniedError);
    await expect(all(on.client.subscribeToAll())).rejects.toThrow(AccessDeniedError);
    await expect(on.client.deleteStream('loan-1')).rejects.toThrow(AccessDeniedError);
  });

  it('gets none from a client without TLS, whatever its connection string says', async () => {
    await expect(named().appendToStream('loan-1', newEvent())).rejects.toThrow(AccessDeniedError);
  });
});
