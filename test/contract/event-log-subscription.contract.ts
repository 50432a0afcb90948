import { Feed } from './feed.js';
import { all, expectGrowing, given, newEvents, type LogUnderTest } from './log-under-test.js';

/** What a subscription promises. */
export function subscriptionContract(on: LogUnderTest): void {
  describe('a subscription', () => {
    const feeds: Feed[] = [];
    const subscribe = (after = on.start, of = on.prefix) => {
      const feed = new Feed((signal) => on.log.subscribe({ after, prefix: of, signal }));
      feeds.push(feed);
      return feed;
    };
    afterEach(() => Promise.all(feeds.splice(0).map((feed) => feed.stop())));

    it('gives what is stored, says that it caught up, and gives what comes', async () => {
      const [stored, live] = [newEvents(3), newEvents(2)];
      await on.log.append(on.stream, stored, { expected: 'no_stream' });
      const feed = subscribe();
      await feed.until((items) => items.some(({ kind }) => kind === 'caught_up'));
      await on.log.append(on.stream, live, { expected: 2n });
      await feed.until(() => feed.events.length === 5);
      expect(feed.kinds).toEqual(['event', 'event', 'event', 'caught_up', 'event', 'event']);
      expect(feed.events.map(given)).toEqual([...stored, ...live]);
      expectGrowing(feed.events);
    });

    it('catches up with more than one query reads', async () => {
      const names = Array.from({ length: 1100 }, (_, index) => `${on.prefix}loan-${index}`);
      await on.log.appendMany(names.map((name) => ({ stream: name, events: newEvents(1), expected: 'no_stream' })));
      const feed = subscribe();
      await feed.until((items) => items.some(({ kind }) => kind === 'caught_up'));
      expect(feed.events).toHaveLength(1100);
      expectGrowing(feed.events);
    });

    it('says where the log is when it caught up, and where it is while only others append', async () => {
      await on.log.append(on.stream, newEvents(1), { expected: 'no_stream' });
      const feed = subscribe();
      const caughtUp = await feed.until((items) => items.find((item) => item.kind === 'caught_up'));
      expect(caughtUp.position).toBeGreaterThanOrEqual(feed.events[0]?.position ?? 0n);
      const { position } = await on.log.append(`other${on.prefix}loan-1`, newEvents(1), { expected: 'no_stream' });
      await feed.until((items) => items.some((item) => item.kind === 'checkpoint' && item.position >= position));
      expect(feed.events).toHaveLength(1);
    });

    it('never says that it has seen a position before it gave the events up to it', async () => {
      const feed = subscribe();
      for (let count = 0; count < 20; count++) {
        const name = count % 2 === 0 ? on.prefix : `other${on.prefix}`;
        await on.log.append(`${name}loan-${count}`, newEvents(1), { expected: 'no_stream' });
      }
      await feed.until(() => feed.events.length === 10);
      let seen = on.start;
      for (const item of feed.items) {
        const position = item.kind === 'event' ? item.event.position : item.position;
        if (item.kind === 'event') expect(position).toBeGreaterThan(seen);
        else expect(position).toBeGreaterThanOrEqual(seen);
        seen = position;
      }
    });

    it('begins after the position it is given', async () => {
      const [first, second] = [newEvents(1), newEvents(1)];
      const { position } = await on.log.append(on.stream, first, { expected: 'no_stream' });
      await on.log.append(on.stream, second, { expected: 0n });
      const feed = subscribe(position);
      await feed.until((items) => items.some(({ kind }) => kind === 'caught_up'));
      expect(feed.events.map(given)).toEqual(second);
    });

    it('does not take anything from another one', async () => {
      const [one, two] = [subscribe(), subscribe()];
      const other = subscribe(on.start, `other${on.prefix}`);
      await on.log.append(on.stream, newEvents(3), { expected: 'no_stream' });
      await on.log.append(`other${on.stream}`, newEvents(1), { expected: 'no_stream' });
      await Promise.all([one, two].map((feed) => feed.until(() => feed.events.length === 3)));
      await other.until(() => other.events.length === 1);
      expect(one.events).toEqual(two.events);
    });

    it('ends soon after its signal aborts, also while nothing comes', async () => {
      const feed = subscribe();
      await feed.until((items) => items.some(({ kind }) => kind === 'caught_up'));
      const aborted = performance.now();
      await feed.stop();
      expect(performance.now() - aborted).toBeLessThan(1000);
    });

    it('gives nothing more once its signal has aborted', async () => {
      await on.log.append(on.stream, newEvents(5), { expected: 'no_stream' });
      const abort = new AbortController();
      const seen: bigint[] = [];
      for await (const item of on.log.subscribe({ after: on.start, prefix: on.prefix, signal: abort.signal })) {
        if (item.kind === 'event') seen.push(item.event.revision);
        if (seen.length === 2) abort.abort();
      }
      expect(seen).toEqual([0n, 1n]);
    });

    it('gives nothing when its signal has aborted before', async () =>
      expect(await all(on.log.subscribe({ after: on.start, prefix: on.prefix, signal: AbortSignal.abort() }))).toEqual([]));
  });
}
