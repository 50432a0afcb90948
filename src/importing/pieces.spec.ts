import fc from 'fast-check';
import { Readable } from 'node:stream';
import { beginsArray, elementsOf, linesOf } from './pieces.js';
import type { Piece } from './record.js';

type Cut = (chunks: AsyncIterable<Buffer>, longest?: number) => AsyncGenerator<Piece>;

/** In pieces of so many bytes, as a file may come. */
async function* chunksOf(text: string | Buffer, size: number): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text as string);
  for (let from = 0; from < bytes.length; from += size) yield await Promise.resolve(bytes.subarray(from, from + size));
}

async function cut(how: Cut, text: string | Buffer, { size = 7, longest = 100 } = {}) {
  const found: [number, string][] = [];
  for await (const piece of how(chunksOf(text, size), longest))
    found.push([piece.line, 'text' in piece ? piece.text : `refused: ${piece.refused.code}`]);
  return found;
}

describe('lines of a file', () => {
  it('are cut out with their numbers; blank ones and a last line break are nothing', async () => {
    expect(await cut(linesOf, '{"a":1}\r\n\n  \n{"b":2}\n')).toEqual([
      [1, '{"a":1}\r'],
      [4, '{"b":2}'],
    ]);
  });

  it('are none in an empty file', async () => expect(await cut(linesOf, '')).toEqual([]));

  it('lose no letter where a chunk ends in the middle of it, and no byte order mark is left', async () => {
    expect(await cut(linesOf, '\u{feff}zażółć 🦊\njaźń', { size: 1 })).toEqual([
      [1, 'zażółć 🦊'],
      [2, 'jaźń'],
    ]);
  });

  it('that are too long or no UTF-8 are refused alone', async () => {
    const bytes = Buffer.concat([Buffer.from(`a\n${'x'.repeat(101)}\nb\n`), Buffer.from([0xc3, 0x28]), Buffer.from('\nc')]);
    expect(await cut(linesOf, bytes)).toEqual([
      [1, 'a'],
      [2, 'refused: too_large'],
      [3, 'b'],
      [4, 'refused: malformed_utf8'],
      [5, 'c'],
    ]);
  });

  it('are kept in memory one at a time: a line without end is not', async () => {
    const mebibyte = Buffer.alloc(1024 * 1024, 'x');
    const endless = Readable.from(Array<Buffer>(300).fill(mebibyte));
    const before = process.memoryUsage().arrayBuffers;
    const found: Piece[] = [];
    for await (const piece of linesOf(endless)) found.push(piece);
    expect(found).toEqual([{ line: 1, refused: { code: 'too_large', field: null } }]);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(50 * 1024 * 1024);
  });
});

describe('elements of a JSON array', () => {
  it('are cut out whatever brackets and commas stand in their texts', async () => {
    const texts = ['{"a":"],}\\"[,"}', '{"b":[1,{"c":2}]}', '3'];
    expect((await cut(elementsOf, ` [${texts.join(' ,\n')}]\n`)).map(([line, text]) => [line, text.trim()])).toEqual(
      texts.map((text, index) => [index + 1, text]),
    );
  });

  it('are none in an empty array', async () => expect(await cut(elementsOf, '[ ]')).toEqual([]));

  it.each([
    [
      '[1, 2',
      [
        [1, '1'],
        [2, 'refused: malformed_json'],
      ],
    ],
    [
      '[1,',
      [
        [1, '1'],
        [2, 'refused: malformed_json'],
      ],
    ],
    ['[', [[1, 'refused: malformed_json']]],
    [
      '[1,,2]',
      [
        [1, '1'],
        [2, 'refused: malformed_json'],
        [3, '2'],
      ],
    ],
    [
      '[1] 2',
      [
        [1, '1'],
        [2, 'refused: malformed_json'],
      ],
    ],
  ])('of %s, which is no array, are those that came before', async (text, expected) => {
    expect(await cut(elementsOf, text)).toEqual(expected);
  });

  it('are those that JSON reads, of any array in any chunks', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.jsonValue()), fc.integer({ min: 1, max: 20 }), async (values, size) => {
        const found = await cut(elementsOf, JSON.stringify(values, null, 1), { size, longest: 1e6 });
        expect(found.map(([, text]) => JSON.parse(text) as unknown)).toEqual(JSON.parse(JSON.stringify(values)));
      }),
    );
  });
});

describe('a file', () => {
  it.each([
    [' \n[', true],
    ['\u{feff}[1]', true],
    ['{"a":[]}', false],
    ['', false],
  ])('%j is an array: %p', async (text, expected) => expect(await beginsArray(chunksOf(text, 2))).toBe(expected));
});
