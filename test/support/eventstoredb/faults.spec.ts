import {
  AccessDeniedError,
  CancelledError,
  DeadlineExceededError,
  MaxAppendSizeExceededError,
  NotLeaderError,
  streamNameFilter,
  TimeoutError,
  UnavailableError,
  UnknownError,
} from '@eventstore/db-client';
import { type ErrorKind } from './faults.js';
import { all, eventually, newEvent, newEvents, serverUnderTest, within } from './server-under-test.js';
import { SubscriptionLog } from './subscription-log.js';

const patience = 150;

describe('faults of an append in a batch', () => {
  const on = serverUnderTest();
  const append = () => on.client.appendToStream('loan-1', newEvent());
  const stored = () => on.server.events().filter(({ stream }) => stream === 'loan-1').length;

  it.each([
    ['unavailable', UnknownError, 'Server Is Not Ready'],
    ['too_busy', UnknownError, 'Server Is Busy'],
    ['timeout', DeadlineExceededError, ''],
    ['access_denied', AccessDeniedError, ''],
    ['unknown', UnknownError, ''],
    ['not_leader', NotLeaderError, 'Leader info available'],
    ['cancelled', CancelledError, 'CANCELLED'],
    ['too_large', MaxAppendSizeExceededError, ''],
  ] as const)('%s comes as the client makes it, and nothing is stored', async (kind, type, message) => {
    on.server.faults.inject('batch_append', { kind });
    const failed = append();
    await expect(failed).rejects.toThrow(type);
    await expect(failed).rejects.toThrow(message);
    expect(stored()).toBe(0);
    await append();
    expect(on.server.faults.met).toBe(1);
  });

  it.each<ErrorKind>(['unavailable', 'timeout', 'not_leader', 'unknown'])('%s may come after it was stored', async (kind) => {
    on.server.faults.inject('batch_append', { kind, stored: true });
    await expect(append()).rejects.toThrow();
    expect(stored()).toBe(1);
  });

  it('silence is silence, and the next append is answered', async () => {
    on.server.faults.inject('batch_append', { kind: 'silence', stored: true });
    const first = append();
    expect(await within(patience, first)).toBe('pending');
    expect(stored()).toBe(1);
    await append();
    expect(await within(patience, first)).toBe('pending');
  });

  it('a late reply comes late, and what is slow is also done late', async () => {
    on.server.faults.inject('batch_append', { kind: 'late', ms: patience }, { stream: 'loan-1' });
    on.server.faults.inject('batch_append', { kind: 'slow', ms: patience }, { stream: 'loan-2' });
    const [late, slow] = [append(), on.client.appendToStream('loan-2', newEvent())];
    await on.server.requests.until('batch_append', 2);
    expect(await within(patience / 3, Promise.race([late, slow]))).toBe('pending');
    expect(on.server.events().slice(-1)[0]?.stream).toBe('loan-1');
    expect((await late).success && (await slow).success).toBe(true);
  });

  it('a connection is reset before the event was stored, or after', async () => {
    on.server.faults.inject('batch_append', { kind: 'drop' });
    await expect(append()).rejects.toThrow(UnavailableError);
    expect(stored()).toBe(0);
    on.server.faults.inject('batch_append', { kind: 'drop', stored: true });
    await expect(append()).rejects.toThrow(UnavailableError);
    expect(stored()).toBe(1);
    await append();
  });

  it('a success may lack its position', async () => {
    on.server.faults.inject('batch_append', { kind: 'no_position' });
    expect(await append()).toEqual({ success: true, nextExpectedRevision: 0n, position: undefined });
  });

  it.each(['drop', 'unavailable', 'not_leader'] as const)(
    'a batch stream that is idle may be reset or end with %s',
    async (kind) => {
      await append();
      expect(on.server.faults.strike('batch_append', { kind })).toBe(1);
      await eventually(append);
      expect(stored()).toBe(2);
      expect(on.server.faults.strike('batch_append', { kind })).toBe(1);
    },
  );

  it('a batch stream may end with no error, and leaves the append unanswered', async () => {
    on.server.faults.inject('batch_append', { kind: 'end', stored: true });
    expect(await within(patience, append())).toBe('pending');
    expect(stored()).toBe(1);
    await on.connect().appendToStream('loan-1', newEvent());
  });

  it('meets so many, or until it is cleared, or only some streams', async () => {
    on.server.faults.inject('batch_append', { kind: 'unknown' }, { times: 2 });
    const outcomes = await Promise.allSettled([append(), append(), append()]);
    expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(2);
    on.server.faults.inject('batch_append', { kind: 'unknown' }, { times: 'until_cleared', stream: 'loan-' });
    await on.client.appendToStream('fine-1', newEvent());
    for (let tries = 0; tries < 3; tries += 1) await expect(append()).rejects.toThrow();
    on.server.faults.clear();
    const takeBack = on.server.faults.inject('batch_append', { kind: 'unknown' });
    takeBack();
    await append();
  });
});

describe('faults of an append', () => {
  const on = serverUnderTest({ batchAppend: false });
  const append = () => on.client.appendToStream('loan-1', newEvent());

  it.each([
    ['unavailable', UnavailableError],
    ['too_busy', UnavailableError],
    ['timeout', TimeoutError],
    ['access_denied', AccessDeniedError],
    ['unknown', UnknownError],
    ['not_leader', NotLeaderError],
    ['cancelled', CancelledError],
    ['too_large', MaxAppendSizeExceededError],
    ['drop', UnavailableError],
  ] as const)('%s comes as the client makes it', async (kind, type) => {
    on.server.faults.inject('append', { kind });
    await expect(append()).rejects.toThrow(type);
    expect((await append()).nextExpectedRevision).toBe(0n);
  });

  it('names the leader', async () => {
    on.server.faults.inject('append', { kind: 'not_leader' });
    await expect(append()).rejects.toMatchObject({ leader: { address: '127.0.0.1', port: on.server.port } });
  });

  it.each(['drop', 'unavailable', 'timeout'] as const)('%s may come after it was stored', async (kind) => {
    on.server.faults.inject('append', { kind, stored: true });
    await expect(append()).rejects.toThrow();
    expect((await append()).nextExpectedRevision).toBe(1n);
  });

  it('a success may lack its position', async () => {
    on.server.faults.inject('append', { kind: 'no_position' });
    expect((await append()).position).toBeUndefined();
  });
});

describe('faults of a read', () => {
  const on = serverUnderTest();
  beforeEach(() => on.client.appendToStream('loan-1', newEvents(5)));
  const readStream = () => all(on.client.readStream('loan-1'));

  it.each([
    ['unavailable', UnavailableError],
    ['not_leader', NotLeaderError],
    ['access_denied', AccessDeniedError],
    ['drop', UnavailableError],
  ] as const)('%s comes as the client makes it', async (kind, type) => {
    on.server.faults.inject('read_stream', { kind });
    await expect(readStream()).rejects.toThrow(type);
    on.server.faults.inject('read_all', { kind, afterEvents: 2 });
    const seen: unknown[] = [];
    const read = (async () => {
      for await (const event of on.client.readAll()) seen.push(event);
    })();
    await expect(read).rejects.toThrow(type);
    expect(seen.length).toBeLessThanOrEqual(2);
    expect(await readStream()).toHaveLength(5);
  });

  it('ends early, and looks complete', async () => {
    on.server.faults.inject('read_stream', { kind: 'end', afterEvents: 2 });
    expect(await readStream()).toHaveLength(2);
  });

  it('is silent from the first or from a later event on', async () => {
    on.server.faults.inject('read_stream', { kind: 'silence' });
    const [first, later] = [on.client.readStream('loan-1'), on.client.readAll()];
    expect(await within(patience, all(first))).toBe('pending');
    on.server.faults.inject('read_all', { kind: 'silence', afterEvents: 1 });
    expect(await within(patience, all(later))).not.toBe('pending');
    await first.cancel();
  });

  it('is slow', async () => {
    on.server.faults.inject('read_stream', { kind: 'slow', ms: patience });
    const read = readStream();
    expect(await within(patience / 3, read)).toBe('pending');
    expect(await read).toHaveLength(5);
  });
});

describe('faults of a subscription', () => {
  const on = serverUnderTest();
  beforeEach(() => on.client.appendToStream('loan-1', newEvents(3)));
  const subscribe = () => new SubscriptionLog(on.client, { filter: streamNameFilter({ prefixes: ['loan-'] }) });

  it.each([
    ['unavailable', UnavailableError],
    ['too_busy', UnavailableError],
    ['not_leader', NotLeaderError],
    ['cancelled', CancelledError],
    ['unknown', UnknownError],
    ['drop', UnavailableError],
  ] as const)('%s comes at the start, later, or out of the blue', async (kind, type) => {
    on.server.faults.inject('subscribe', { kind });
    const atStart = subscribe();
    expect(await atStart.end()).toBeInstanceOf(type);
    expect(atStart.words).toEqual([]);
    on.server.faults.inject('subscribe', { kind, afterEvents: 2 });
    const later = subscribe();
    expect(await later.end()).toBeInstanceOf(type);
    expect(later.events.length).toBeLessThanOrEqual(2);
    const live = subscribe();
    await live.until(({ words }) => words.includes('caught_up'));
    expect(on.server.faults.strike('subscribe', { kind })).toBe(1);
    expect(await live.end()).toBeInstanceOf(type);
  });

  it('ends with no error at the start, later, or out of the blue', async () => {
    on.server.faults.inject('subscribe', { kind: 'end' });
    const atStart = subscribe();
    expect(await atStart.end()).toBeUndefined();
    on.server.faults.inject('subscribe', { kind: 'end', afterEvents: 2 });
    const later = subscribe();
    expect(await later.end()).toBeUndefined();
    expect(later.events).toHaveLength(2);
    const live = subscribe();
    await live.until(({ words }) => words.includes('caught_up'));
    on.server.faults.strike('subscribe', { kind: 'end' });
    expect(await live.end()).toBeUndefined();
  });

  it('goes silent while the log grows', async () => {
    on.server.faults.inject('subscribe', { kind: 'silence' });
    const unconfirmed = subscribe();
    const live = subscribe();
    await live.until(({ words }) => words.includes('caught_up'));
    on.server.faults.strike('subscribe', { kind: 'silence' });
    await on.client.appendToStream('loan-1', newEvents(3));
    await new Promise((resolve) => setTimeout(resolve, patience));
    expect(unconfirmed.words).toEqual([]);
    expect(live.events).toHaveLength(3);
    expect(live.ended).toBeUndefined();
  });

  it('is over when the client cancels it', async () => {
    const live = subscribe();
    await live.until(({ words }) => words.includes('caught_up'));
    await live.subscription.unsubscribe();
    await live.end();
    while (on.server.faults.strike('subscribe', { kind: 'silence' }) > 0) await new Promise(setImmediate);
  });
});

describe('other faults', () => {
  const on = serverUnderTest();

  it.each([
    ['delete', 'deleteStream'],
    ['tombstone', 'tombstoneStream'],
  ] as const)('%s fails before it was done, or after', async (operation, erase) => {
    await on.client.appendToStream('loan-1', newEvent());
    on.server.faults.inject(operation, { kind: 'unavailable' });
    await expect(on.client[erase]('loan-1')).rejects.toThrow(UnavailableError);
    expect(await all(on.client.readStream('loan-1'))).toHaveLength(1);
    on.server.faults.inject(operation, { kind: 'drop', stored: true });
    await expect(on.client[erase]('loan-1')).rejects.toThrow(UnavailableError);
    await expect(all(on.client.readStream('loan-1'))).rejects.toThrow();
  });

  it('what the server offers may not be told', async () => {
    on.server.faults.inject('server_features', { kind: 'unavailable' });
    await expect(on.client.appendToStream('loan-1', newEvent())).rejects.toMatchObject({ code: 14 });
    await on.client.appendToStream('loan-1', newEvent());
  });

  it('the cluster may not be told', async () => {
    on.server.faults.inject('gossip', { kind: 'unavailable' });
    const client = on.connect(`${on.server.discoveryString}&discoveryInterval=10`);
    await client.appendToStream('loan-1', newEvent());
    expect(on.server.requests.of('gossip')).toHaveLength(2);
  });
});
