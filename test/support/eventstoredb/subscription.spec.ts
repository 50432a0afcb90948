import { END, eventTypeFilter, StreamDeletedError, streamNameFilter, UnknownError } from '@eventstore/db-client';
import { all, newEvent, newEvents, serverUnderTest } from './server-under-test.js';
import { SubscriptionLog } from './subscription-log.js';

describe('a subscription to all', () => {
  const on = serverUnderTest();
  const append = async (stream: string, count = 1) => {
    const { position } = await on.client.appendToStream(stream, newEvents(count));
    if (!position) throw new Error('no position');
    return position;
  };
  const loans = () => streamNameFilter({ prefixes: ['loan-'] });

  it('confirms, gives what is stored, says that it has, and goes on', async () => {
    await append('loan-1', 2);
    const log = new SubscriptionLog(on.client);
    await log.until(({ words }) => words.includes('caught_up'));
    await append('loan-2');
    await log.until(({ events }) => events.length === 6);
    expect(log.words).toEqual(['confirmation', ...Array<string>(5).fill('event'), 'caught_up', 'event']);
    expect(log.events.map(({ position }) => position.commit)).toEqual(on.server.events().map(({ position }) => position));
  });

  it('begins after a position, or at the end', async () => {
    const position = await append('loan-1');
    await append('loan-2');
    const after = new SubscriptionLog(on.client, { fromPosition: position });
    const atEnd = new SubscriptionLog(on.client, { fromPosition: END });
    await atEnd.until(({ words }) => words.includes('caught_up'));
    await append('loan-3');
    await after.until(({ events }) => events.length === 2);
    await atEnd.until(({ events }) => events.length === 1);
    expect(after.events.map(({ streamId }) => streamId)).toEqual(['loan-2', 'loan-3']);
    expect(atEnd.events.map(({ streamId }) => streamId)).toEqual(['loan-3']);
  });

  it('takes a position beyond the end, and leaves out what comes before it', async () => {
    const { commit } = await append('loan-1');
    const log = new SubscriptionLog(on.client, { fromPosition: { commit: commit + 300n, prepare: commit + 300n } });
    await log.until(({ words }) => words.includes('caught_up'));
    await append('loan-2', 5);
    await log.until(({ events }) => events.length > 0);
    expect(log.events[0]?.position.commit).toBeGreaterThan(commit + 300n);
  });

  it('fails at a position between events', async () => {
    const { commit } = await append('loan-1');
    await append('loan-2');
    const log = new SubscriptionLog(on.client, { fromPosition: { commit: commit + 1n, prepare: commit + 1n } });
    const error = await log.end();
    expect(error).toBeInstanceOf(UnknownError);
    expect(error?.message).toContain('invalid position');
  });

  it.each([
    ['streams by prefix', streamNameFilter({ prefixes: ['loan-', 'fine-'] }), ['loan-1', 'fine-1', 'loan-2']],
    ['streams by pattern', streamNameFilter({ regex: '^loan-\\d$' }), ['loan-1', 'loan-2']],
    ['types by prefix', eventTypeFilter({ prefixes: ['Cover'] }), ['cover-1']],
    ['types by pattern', eventTypeFilter({ regex: '^[^$]' }), ['loan-1', 'fine-1', 'cover-1', 'loan-2']],
  ])('chooses %s', async (_, filter, expected) => {
    await append('loan-1');
    await append('fine-1');
    await on.client.appendToStream('cover-1', { ...newEvent(), type: 'CoverScanned' });
    const log = new SubscriptionLog(on.client, { filter });
    await log.until(({ words }) => words.includes('caught_up'));
    await append('loan-2');
    if (expected.includes('loan-2')) await log.until(({ events }) => events.length === expected.length);
    expect(log.events.map(({ streamId }) => streamId)).toEqual(expected);
  });

  it('gives the end of a tombstoned stream as an event of it', async () => {
    const log = new SubscriptionLog(on.client, { filter: loans() });
    await append('loan-1');
    await on.client.tombstoneStream('loan-1');
    await log.until(({ events }) => events.length === 2);
    expect(log.events[1]).toMatchObject({ streamId: 'loan-1', type: '$streamDeleted', revision: 2n ** 63n - 1n });
  });

  describe('that filters', () => {
    it('has a checkpoint after every interval of windows that were looked at', async () => {
      await append('fine-1', 10);
      await append('loan-1', 1);
      await append('fine-2', 20);
      const filter = streamNameFilter({ prefixes: ['loan-'], maxSearchWindow: 5, checkpointInterval: 2 });
      const log = new SubscriptionLog(on.client, { filter });
      await log.until(({ words }) => words.includes('caught_up'));
      expect(log.words).toEqual([
        'confirmation', // 34 events: 3 of the server, 10, 1, 20
        'checkpoint', // after 10
        'event',
        'checkpoint', // after 20
        'checkpoint', // after 30
        'checkpoint', // at the end
        'caught_up',
      ]);
      const positions = on.server.events().map(({ position }) => position);
      // Where a page had no event of ours, the checkpoint is where the page began: seen, and with prepare position 0.
      expect(log.checkpoints).toEqual([5, 15, 25, 30].map((index) => ({ commit: positions[index], prepare: 0n })));
    });

    it('has a checkpoint at the last event of ours, or at 0, when it has caught up', async () => {
      const nothing = new SubscriptionLog(on.client, { filter: loans() });
      await nothing.until(({ words }) => words.includes('caught_up'));
      expect(nothing.words).toEqual(['confirmation', 'checkpoint', 'caught_up']);
      expect(nothing.checkpoints).toEqual([{ commit: 0n, prepare: 0n }]);
      const position = await append('loan-1');
      await append('fine-1');
      const something = new SubscriptionLog(on.client, { filter: loans() });
      await something.until(({ words }) => words.includes('caught_up'));
      expect(something.words).toEqual(['confirmation', 'event', 'checkpoint', 'caught_up']);
      expect(something.checkpoints).toEqual([position]);
    });

    it('has a live checkpoint at the event that completes the interval, whether it is of ours or not', async () => {
      const filter = streamNameFilter({ prefixes: ['loan-'], maxSearchWindow: 3 });
      const log = new SubscriptionLog(on.client, { filter, fromPosition: END });
      await log.until(({ words }) => words.includes('caught_up'));
      await append('loan-1');
      const third = await append('fine-1', 2);
      await append('fine-1', 2);
      const sixth = await append('loan-1');
      await log.until(({ checkpoints }) => checkpoints.length === 2);
      expect(log.words).toEqual(['confirmation', 'caught_up', 'event', 'checkpoint', 'event', 'checkpoint']);
      expect(log.checkpoints).toEqual([third, sixth]);
    });

    it('catches up again when more comes at once than the server keeps for it', async () => {
      const log = new SubscriptionLog(on.client, { filter: loans() });
      await log.until(({ words }) => words.includes('caught_up'));
      await append('loan-1', 100);
      await log.until(({ words }) => words.filter((word) => word === 'caught_up').length === 2);
      expect(log.events.map(({ revision }) => Number(revision))).toEqual(Array.from({ length: 100 }, (_, index) => index));
      await append('loan-2');
      await log.until(({ events }) => events.length === 101);
    });

    it('says that it fell behind, when told to', async () => {
      const log = new SubscriptionLog(on.client, { filter: loans() });
      await append('loan-1');
      await log.until(({ words }) => words.includes('caught_up') && words.includes('event'));
      expect(on.server.faults.strike('subscribe', { kind: 'fall_behind' })).toBe(1);
      await log.until(({ words }) => words.filter((word) => word === 'caught_up').length === 2);
      expect(log.words.slice(-3)).toEqual(['fell_behind', 'checkpoint', 'caught_up']);
      await append('loan-1');
      await log.until(({ events }) => events.length === 2);
    });
  });

  it('delivers in order to a reader who takes his time', async () => {
    await append('loan-1', 500);
    const seen: number[] = [];
    for await (const { event } of on.client.subscribeToAll({ filter: loans() })) {
      seen.push(Number(event?.revision));
      if (seen.length % 50 === 0) await new Promise((resolve) => setTimeout(resolve, 2));
      if (seen.length === 300) await append('loan-1', 200);
      if (seen.length === 700) break;
    }
    expect(seen).toEqual(Array.from({ length: 700 }, (_, index) => index));
  });
});

describe('a server with the checkpoints of 24.10 before their fix', () => {
  const on = serverUnderTest({ checkpointsAhead: true });

  it('says that it is where the next event is going to be, when a full page was the last', async () => {
    await on.client.appendToStream('fine-1', newEvents(32 - on.server.events().length));
    const log = new SubscriptionLog(on.client, { filter: streamNameFilter({ prefixes: ['loan-'] }) });
    await log.until(({ words }) => words.includes('caught_up'));
    const { position } = await on.client.appendToStream('loan-1', newEvent());
    expect(log.checkpoints.at(-1)).toEqual({ commit: position?.commit, prepare: 0n });
    await log.until(({ events }) => events.length === 1);
  });
});

describe('a server that cannot say caught_up', () => {
  const on = serverUnderTest({ tellsCaughtUp: false });

  it('does not', async () => {
    const log = new SubscriptionLog(on.client, { filter: streamNameFilter({ prefixes: ['loan-'] }) });
    await log.until(({ words }) => words.includes('checkpoint'));
    await on.client.appendToStream('loan-1', newEvent());
    await log.until(({ events }) => events.length === 1);
    expect(log.words).not.toContain('caught_up');
  });
});

describe('a subscription to a stream', () => {
  const on = serverUnderTest();

  it('waits for a stream that is not there, follows it and ends with it', async () => {
    const revisions: bigint[] = [];
    const subscription = on.client.subscribeToStream('loan-1');
    const ended = (async () => {
      for await (const { event } of subscription) revisions.push(event?.revision ?? -1n);
    })();
    await on.server.requests.until('subscribe');
    await on.client.appendToStream('loan-1', newEvents(40));
    await on.client.tombstoneStream('loan-1');
    await expect(ended).rejects.toThrow(StreamDeletedError);
    expect(revisions.map(Number).slice(0, 40)).toEqual(Array.from({ length: 40 }, (_, index) => index));
    await expect(all(on.client.subscribeToStream('loan-1'))).rejects.toThrow(StreamDeletedError);
  });

  it('begins after a revision', async () => {
    await on.client.appendToStream('loan-1', newEvents(5));
    for await (const { event } of on.client.subscribeToStream('loan-1', { fromRevision: 3n })) {
      expect(event?.revision).toBe(4n);
      break;
    }
  });
});
