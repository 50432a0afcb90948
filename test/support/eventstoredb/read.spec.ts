import { BACKWARDS, END, InvalidArgumentError, START, StreamNotFoundError, UnknownError } from '@eventstore/db-client';
import { all, newEvents, serverUnderTest } from './server-under-test.js';

describe('reading a stream', () => {
  const on = serverUnderTest();
  const revisions = async (options: Parameters<typeof on.client.readStream>[1]) =>
    (await all(on.client.readStream('loan-1', options))).map(({ event }) => Number(event?.revision));

  it('finds none', async () => {
    const missing = all(on.client.readStream('loan-1'));
    await expect(missing).rejects.toThrow(StreamNotFoundError);
    await expect(missing).rejects.toMatchObject({ streamName: 'loan-1' });
  });

  it('begins and ends where it is told', async () => {
    await on.client.appendToStream('loan-1', newEvents(5));
    expect(await revisions({})).toEqual([0, 1, 2, 3, 4]);
    expect(await revisions({ fromRevision: 3n })).toEqual([3, 4]);
    expect(await revisions({ fromRevision: 1n, maxCount: 2 })).toEqual([1, 2]);
    expect(await revisions({ fromRevision: 5n })).toEqual([]);
    expect(await revisions({ fromRevision: END })).toEqual([]);
  });

  it('goes backwards', async () => {
    await on.client.appendToStream('loan-1', newEvents(5));
    expect(await revisions({ direction: BACKWARDS, fromRevision: END })).toEqual([4, 3, 2, 1, 0]);
    expect(await revisions({ direction: BACKWARDS, fromRevision: 2n, maxCount: 2 })).toEqual([2, 1]);
    expect(await revisions({ direction: BACKWARDS, fromRevision: START })).toEqual([0]);
    expect(await revisions({ direction: BACKWARDS, fromRevision: 99n, maxCount: 1 })).toEqual([4]);
  });

  it('hides what the metadata of the stream truncates', async () => {
    await on.client.appendToStream('loan-1', newEvents(5));
    await on.client.setStreamMetadata('loan-1', { truncateBefore: 3 });
    expect(await revisions({})).toEqual([3, 4]);
    expect((await on.client.getStreamMetadata('loan-1')).metadata).toEqual({ truncateBefore: 3 });
  });

  it('gives each event its position', async () => {
    await on.client.appendToStream('loan-1', newEvents(2));
    const positions = (await all(on.client.readStream('loan-1'))).map(({ event }) => event?.position);
    const stored = on.server.events().slice(-2);
    expect(positions).toEqual(stored.map(({ position }) => ({ commit: position, prepare: position })));
  });

  it('reads more than fits into its buffers', async () => {
    await on.client.appendToStream('loan-1', newEvents(700));
    expect(await revisions({})).toEqual(Array.from({ length: 700 }, (_, index) => index));
  });

  it('knows no negative revisions', () => {
    expect(() => on.client.readStream('loan-1', { fromRevision: -1n })).toThrow(InvalidArgumentError);
  });
});

describe('reading all', () => {
  const on = serverUnderTest();
  const read = async (options: Parameters<typeof on.client.readAll>[0]) =>
    (await all(on.client.readAll(options))).map(({ event }) => event?.streamId);
  const append = async (stream: string) => {
    const { position } = await on.client.appendToStream(stream, newEvents(1));
    if (!position) throw new Error('no position');
    return position;
  };

  it('has what the server wrote before the first client came', async () => {
    expect((await read({})).every((name) => name?.startsWith('$'))).toBe(true);
    expect(await read({})).toEqual(on.server.events().map(({ stream }) => stream));
  });

  it('goes forwards with the event at a position, and backwards with the one before', async () => {
    const [, two, three] = [await append('a'), await append('b'), await append('c')];
    expect(await read({ fromPosition: two })).toEqual(['b', 'c']);
    expect(await read({ fromPosition: two, maxCount: 1 })).toEqual(['b']);
    expect(await read({ direction: BACKWARDS, fromPosition: three, maxCount: 2 })).toEqual(['b', 'a']);
    expect(await read({ direction: BACKWARDS, fromPosition: END, maxCount: 1 })).toEqual(['c']);
    expect(await read({ direction: BACKWARDS, fromPosition: START })).toEqual([]);
    expect(await read({ fromPosition: END })).toEqual([]);
  });

  it('gives nothing after the end and fails between events', async () => {
    const { commit } = await append('a');
    const at = (position: bigint) => ({ commit: position, prepare: position });
    expect(await read({ fromPosition: at(commit + 100_000n) })).toEqual([]);
    await expect(read({ fromPosition: at(commit - 1n) })).rejects.toThrow(UnknownError);
  });

  it('begins where an event was that is scavenged', async () => {
    const position = await append('a');
    await on.client.tombstoneStream('a');
    await append('b');
    on.server.scavenge();
    expect(await read({ fromPosition: position })).toEqual(['a', 'b']);
  });
});
