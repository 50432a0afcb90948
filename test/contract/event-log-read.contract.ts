import { all, newEvents, type LogUnderTest } from './log-under-test.js';

/** What reading a stream and reading the whole log promise. */
export function readContract(on: LogUnderTest): void {
  describe('reading a stream', () => {
    it('is empty when there is none', async () => expect(await all(on.log.readStream(on.stream))).toEqual([]));

    it('begins at a revision and ends at a limit', async () => {
      await on.log.append(on.stream, newEvents(10), { expected: 'no_stream' });
      const revisions = async (options: { from?: bigint; limit?: number }) =>
        (await all(on.log.readStream(on.stream, options))).map(({ revision }) => Number(revision));
      expect(await revisions({ from: 7n })).toEqual([7, 8, 9]);
      expect(await revisions({ limit: 2 })).toEqual([0, 1]);
      expect(await revisions({ from: 3n, limit: 4 })).toEqual([3, 4, 5, 6]);
      expect(await revisions({ from: 8n, limit: 100 })).toEqual([8, 9]);
      expect(await revisions({ from: 10n })).toEqual([]);
      expect(await revisions({ limit: 0 })).toEqual([]);
    });

    it('reads longer streams than one query does', async () => {
      for (let appended = 0n; appended < 1200n; appended += 400n) {
        await on.log.append(on.stream, newEvents(400), { expected: appended === 0n ? 'no_stream' : appended - 1n });
      }
      const stored = await all(on.log.readStream(on.stream));
      expect(stored.map(({ revision }) => revision)).toEqual(Array.from({ length: 1200 }, (_, index) => BigInt(index)));
    });

    it('may stop early', async () => {
      await on.log.append(on.stream, newEvents(3), { expected: 'no_stream' });
      for await (const { revision } of on.log.readStream(on.stream)) {
        if (revision === 1n) break;
      }
      expect(await all(on.log.readStream(on.stream))).toHaveLength(3);
    });

    it('lets the reader append while it reads', async () => {
      await on.log.append(on.stream, newEvents(3), { expected: 'no_stream' });
      for await (const { revision } of on.log.readStream(on.stream)) {
        await on.log.append(`${on.prefix}copy-${revision}`, newEvents(1), { expected: 'no_stream' });
      }
      expect(await on.ours()).toHaveLength(6);
    });
  });

  describe('reading the log', () => {
    const appendTo = async (suffix: string) =>
      (await on.log.append(`${on.prefix}${suffix}`, newEvents(1), { expected: 'no_stream' })).position;
    const read = async (options: { after?: bigint; until?: bigint; suffix?: string }) => {
      const { suffix = '', after = on.start, ...until } = options;
      return (await all(on.log.readAll({ after, prefix: `${on.prefix}${suffix}`, ...until }))).map(({ stream: name }) =>
        name.slice(on.prefix.length),
      );
    };

    it('gives all streams in the order of their positions', async () => {
      const positions = [await appendTo('b-1'), await appendTo('a-1'), await appendTo('c-1')];
      const stored = await on.ours();
      expect(stored.map(({ position }) => position)).toEqual(positions);
      expect(await read({})).toEqual(['b-1', 'a-1', 'c-1']);
    });

    it('begins after a position and ends with one', async () => {
      const [one, two, three] = [await appendTo('1'), await appendTo('2'), await appendTo('3'), await appendTo('4')];
      expect(await read({ after: one })).toEqual(['2', '3', '4']);
      expect(await read({ until: two })).toEqual(['1', '2']);
      expect(await read({ after: one, until: three })).toEqual(['2', '3']);
      expect(await read({ after: two, until: two })).toEqual([]);
      expect(await read({ after: three, until: one })).toEqual([]);
      expect(await read({ after: one, until: (await on.log.head()) + 1_000_000n })).toEqual(['2', '3', '4']);
    });

    it('takes a prefix literally', async () => {
      for (const name of ['a_b-1', 'axb-1', 'p%q-1', 'pxyq-1', 'A_b-1', '\\a-1', 'ä-1']) await appendTo(name);
      expect(await read({ suffix: 'a_b' })).toEqual(['a_b-1']);
      expect(await read({ suffix: 'p%' })).toEqual(['p%q-1']);
      expect(await read({ suffix: '\\' })).toEqual(['\\a-1']);
      expect(await read({ suffix: 'ä' })).toEqual(['ä-1']);
      expect(await read({ suffix: 'nothing' })).toEqual([]);
    });

    it('knows its head', async () => {
      const position = await appendTo('1');
      expect(await on.log.head()).toBeGreaterThanOrEqual(position);
      expect(on.start).toBeLessThan(position);
    });
  });
}
