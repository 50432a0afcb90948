import { appendSizeLimit, eventSizeLimit, type NewEvent } from '../../src/event-log/event-log.js';
import { all, expectGrowing, given, ids, newEvent, newEvents, told, type LogUnderTest } from './log-under-test.js';

/** What appending promises. */
export function appendContract(on: LogUnderTest): void {
  describe('append', () => {
    it('gives revisions from 0 in order, and positions that grow', async () => {
      const [first, second, third] = [newEvent(), newEvent(), newEvent()];
      const one = await on.log.append(on.stream, [first, second], { expected: 'no_stream' });
      const two = await on.log.append(on.stream, [third], { expected: one.revision });
      expect([one.revision, two.revision]).toEqual([1n, 2n]);
      const stored = await all(on.log.readStream(on.stream));
      expect(ids(stored)).toEqual(ids([first, second, third]));
      expect(stored.map(({ revision }) => revision)).toEqual([0n, 1n, 2n]);
      expect([stored[1]?.position, stored[2]?.position]).toEqual([one.position, two.position]);
      expectGrowing(stored);
    });

    it('stores what it was given, byte for byte', async () => {
      const texts = [
        '{"b":1,"a":2,"b":3}',
        '{ "spaced" :\t[ 1.0, 1e2, 12345678901234567890, -0 ] }',
        '"Ünïcödé, 日本語, 👩‍👩‍👧, e\u0301, \u202e, \ufeff"',
        '"\\u0000 \\ud800 \\" \\\\ {,} \'"',
        '"NULL"',
        'null',
        '""',
        '[]',
      ];
      const events = texts.map((text) => ({ ...newEvent(text), metadata: text }));
      await on.log.append(on.stream, events, { expected: 'no_stream' });
      expect((await all(on.log.readStream(on.stream))).map(given)).toEqual(events);
      expect((await on.ours()).map(given)).toEqual(events);
    });

    it('keeps stream names and event types as they are', async () => {
      const odd = `${on.prefix}Größe-{"a,b"}_\\ NULL`;
      await on.log.append(odd, [{ ...newEvent(), type: 'NULL' }], { expected: 'no_stream' });
      expect(await on.ours()).toMatchObject([{ stream: odd, type: 'NULL' }]);
    });

    it('says when the log learned it, in whole milliseconds', async () => {
      await on.log.append(on.stream, newEvents(2), { expected: 'no_stream' });
      for (const { recordedAt } of await all(on.log.readStream(on.stream))) {
        expect(recordedAt).toBeInstanceOf(Date);
        expect(Math.abs(recordedAt.getTime() - Date.now())).toBeLessThan(60 * 60 * 1000);
      }
    });

    it('refuses a stream that exists when none was expected, and names its revision', async () => {
      await on.log.append(on.stream, newEvents(2), { expected: 'no_stream' });
      const again = on.log.append(on.stream, newEvents(1), { expected: 'no_stream' });
      await expect(again).rejects.toMatchObject({ code: 'wrong_expected_revision' });
      await expect(again).rejects.toMatchObject({ stream: on.stream, expected: 'no_stream', actual: 1n });
      expect(await all(on.log.readStream(on.stream))).toHaveLength(2);
    });

    it.each([0n, 2n, 7n])('refuses when revision %s was expected and the stream is at 1', async (expected) => {
      await on.log.append(on.stream, newEvents(2), { expected: 'no_stream' });
      await expect(on.log.append(on.stream, newEvents(1), { expected })).rejects.toMatchObject({ expected, actual: 1n });
    });

    it('refuses a stream that does not exist when a revision was expected', async () => {
      const early = on.log.append(on.stream, newEvents(1), { expected: 0n });
      await expect(early).rejects.toMatchObject({ code: 'wrong_expected_revision', actual: 'no_stream' });
      expect(await all(on.log.readStream(on.stream))).toEqual([]);
    });

    it('is all or nothing', async () => {
      const [stored, fresh] = [newEvent(), newEvent()];
      await on.log.append(on.stream, [stored], { expected: 'no_stream' });
      await expect(on.log.append(on.stream, [fresh, newEvent()], { expected: 'no_stream' })).rejects.toMatchObject({
        code: 'wrong_expected_revision',
      });
      expect(ids(await on.ours())).toEqual([stored.id]);
    });

    it('lets exactly one of many writers win who expect the same revision', async () => {
      await on.log.append(on.stream, newEvents(1), { expected: 'no_stream' });
      const writers = Array.from({ length: 20 }, () => newEvent());
      const outcomes = await Promise.allSettled(writers.map((event) => on.log.append(on.stream, [event], { expected: 0n })));
      const winners = writers.filter((_, index) => outcomes[index]?.status === 'fulfilled');
      expect(winners).toHaveLength(1);
      for (const outcome of outcomes) {
        if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'wrong_expected_revision', actual: 1n });
      }
      expect(ids(await all(on.log.readStream(on.stream)))).toEqual([expect.any(String), winners[0]?.id]);
    });

    it('takes appends to many streams at once', async () => {
      const streams = Array.from({ length: 30 }, (_, index) => `${on.prefix}loan-${index}`);
      await Promise.all(streams.map((name) => on.log.append(name, newEvents(2), { expected: 'no_stream' })));
      const stored = await on.ours();
      expect(stored).toHaveLength(60);
      expectGrowing(stored);
    });
  });

  describe('the same append again', () => {
    it('succeeds with the first result and stores nothing', async () => {
      const events = newEvents(2);
      const first = await on.log.append(on.stream, events, { expected: 'no_stream' });
      expect(await on.log.append(on.stream, events, { expected: 'no_stream' })).toEqual(first);
      expect(await all(on.log.readStream(on.stream))).toHaveLength(2);
    });

    it('succeeds with the first result when the stream has moved on', async () => {
      await on.log.append(on.stream, newEvents(1), { expected: 'no_stream' });
      const events = newEvents(2);
      const first = await on.log.append(on.stream, events, { expected: 0n });
      await on.log.append(on.stream, newEvents(3), { expected: 2n });
      expect(await on.log.append(on.stream, events, { expected: 0n })).toEqual(first);
      expect(await all(on.log.readStream(on.stream))).toHaveLength(6);
    });

    it('succeeds when both are on their way at once', async () => {
      const events = newEvents(2);
      const both = [1, 2].map(() => on.log.append(on.stream, events, { expected: 'no_stream' }));
      const [one, two] = await Promise.all(both);
      expect(one).toEqual(two);
      expect(await all(on.log.readStream(on.stream))).toHaveLength(2);
    });

    it.each([
      ['one event more', (events: NewEvent[]) => [...events, newEvent()]],
      ['another order', (events: NewEvent[]) => [...events].reverse()],
      ['another first event', ([, second = newEvent()]: NewEvent[]) => [newEvent(), second]],
      ['another last event', ([first = newEvent()]: NewEvent[]) => [first, newEvent()]],
    ])('is refused with %s', async (_, changed) => {
      const events = newEvents(2);
      await on.log.append(on.stream, events, { expected: 'no_stream' });
      const again = on.log.append(on.stream, changed(events), { expected: 'no_stream' });
      await expect(again).rejects.toMatchObject({ code: 'wrong_expected_revision', actual: 1n });
      expect(ids(await all(on.log.readStream(on.stream)))).toEqual(ids(events));
    });

    it('is refused at another expected revision', async () => {
      const events = newEvents(1);
      await on.log.append(on.stream, newEvents(1), { expected: 'no_stream' });
      await on.log.append(on.stream, events, { expected: 0n });
      await expect(on.log.append(on.stream, events, { expected: 'no_stream' })).rejects.toMatchObject({ actual: 1n });
    });

    it('does not confuse streams that hold events of the same ids', async () => {
      const events = newEvents(2);
      await on.log.append(on.stream, events, { expected: 'no_stream' });
      await on.log.append(`${on.prefix}loan-2`, events, { expected: 'no_stream' });
      expect(ids(await on.ours())).toEqual(ids([...events, ...events]));
    });
  });

  describe('append of many', () => {
    it('carries out each stream for itself, and answers in the order given', async () => {
      await on.log.append(on.stream, newEvents(3), { expected: 'no_stream' });
      const outcomes = await on.log.appendMany([
        { stream: `${on.prefix}loan-2`, events: newEvents(2), expected: 'no_stream' },
        { stream: on.stream, events: newEvents(1), expected: 0n },
        { stream: `${on.prefix}loan-3`, events: [], expected: 'no_stream' },
        { stream: `${on.prefix}loan-4`, events: newEvents(1), expected: 'no_stream' },
      ]);
      expect(outcomes.map(told)).toEqual([1n, { wrong: 2n }, 'invalid_append', 0n]);
      expect(await all(on.log.readStream(`${on.prefix}loan-2`))).toHaveLength(2);
      expect(await all(on.log.readStream(on.stream))).toHaveLength(3);
      expect(await all(on.log.readStream(`${on.prefix}loan-4`))).toHaveLength(1);
    });

    it('gives each its own position', async () => {
      const names = Array.from({ length: 10 }, (_, index) => `${on.prefix}loan-${index}`);
      const outcomes = await on.log.appendMany(
        names.map((name) => ({ stream: name, events: newEvents(2), expected: 'no_stream' })),
      );
      for (const [index, outcome] of outcomes.entries()) {
        const last = (await all(on.log.readStream(names[index] ?? ''))).at(-1);
        expect(outcome).toEqual({ appended: { revision: 1n, position: last?.position } });
      }
    });

    it('takes none', async () => expect(await on.log.appendMany([])).toEqual([]));

    it('takes more events than one batch holds', async () => {
      const names = Array.from({ length: 600 }, (_, index) => `${on.prefix}loan-${index}`);
      const outcomes = await on.log.appendMany(
        names.map((name) => ({ stream: name, events: newEvents(2), expected: 'no_stream' })),
      );
      expect(new Set(outcomes.map(told))).toEqual(new Set([1n]));
      expect(await on.ours()).toHaveLength(1200);
    });
  });

  describe('what is not an append', () => {
    it.each([
      ['no events', []],
      ['data that is not JSON', [newEvent('{')]],
      ['U+0000', [newEvent('"\0"')]],
      ['an id that is no UUID', [{ ...newEvent(), id: 'one' }]],
    ])('is refused: %s', async (_, events) => {
      await expect(on.log.append(on.stream, events, { expected: 'no_stream' })).rejects.toMatchObject({ code: 'invalid_append' });
      expect(await on.ours()).toEqual([]);
    });

    it('is refused when an event is too large, and taken when it just is not', async () => {
      const full = newEvent(JSON.stringify('x'.repeat(eventSizeLimit - newEvent().metadata.length - 2)));
      const tooLarge = { ...full, metadata: `${full.metadata} ` };
      await expect(on.log.append(on.stream, [tooLarge], { expected: 'no_stream' })).rejects.toMatchObject({
        code: 'append_too_large',
      });
      await on.log.append(on.stream, [full], { expected: 'no_stream' });
      expect((await on.ours()).map(given)).toEqual([full]);
    });

    it('is refused when its events together are too large', async () => {
      const large = () => newEvent(JSON.stringify('x'.repeat(appendSizeLimit / 2)));
      await expect(on.log.append(on.stream, [large(), large()], { expected: 'no_stream' })).rejects.toMatchObject({
        code: 'append_too_large',
      });
      expect(await on.ours()).toEqual([]);
    });
  });
}
