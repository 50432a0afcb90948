import { type Piece, refused } from './record.js';

/** Longest record, bytes. Evidence has half a megabyte at most, and JSON can write a letter in six. */
export const longestRecord = 4 * 1024 * 1024;

const [lineFeed, openBracket, closeBracket, openBrace, closeBrace, quote, backslash, comma] = [...Buffer.from('\n[]{}"\\,')] as [
  number,
  number,
  number,
  number,
  number,
  number,
  number,
  number,
];

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);
const blanks = new Set(Buffer.from(' \t\r\n'));

/**
 * The lines of a file, one at a time and each only once it is asked for; memory does not grow with the file. Blank lines are
 * passed over. A line that is too long is not kept.
 */
export async function* linesOf(chunks: AsyncIterable<Buffer>, longest = longestRecord): AsyncGenerator<Piece> {
  const record = new Collector(longest);
  let line = 1;
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(lineFeed); end !== -1; end = chunk.indexOf(lineFeed, from)) {
      record.add(chunk.subarray(from, end));
      yield* record.take(line);
      line += 1;
      from = end + 1;
    }
    record.add(chunk.subarray(from));
  }
  yield* record.take(line);
}

/**
 * The elements of a JSON array, as texts, one at a time; numbered from 1. An element that is no JSON is left to its reader.
 * Where brackets do not match, what follows cannot be told apart: it is one bad element.
 */
export async function* elementsOf(chunks: AsyncIterable<Buffer>, longest = longestRecord): AsyncGenerator<Piece> {
  const array = new ArrayScan(longest);
  for await (const chunk of chunks) yield* array.pieces(chunk);
  yield* array.end();
}

/** Whether a file holds one JSON array, by its first byte that is no blank. */
export async function beginsArray(chunks: AsyncIterable<Buffer>): Promise<boolean> {
  for await (const chunk of chunks) {
    const begin = chunk.find((byte) => !blanks.has(byte) && !byteOrderMark.includes(byte));
    if (begin !== undefined) return begin === openBracket;
  }
  return false;
}

/** The bytes of one record, as far as they are few enough. */
class Collector {
  private parts: Buffer[] = [];
  private size = 0;
  private taken = 0;

  constructor(private readonly longest: number) {}

  add(part: Buffer): void {
    this.size += part.length;
    if (this.size > this.longest) this.parts = [];
    // A copy: the stream may fill its buffer anew.
    else if (part.length > 0) this.parts.push(Buffer.from(part));
  }

  /** @returns the record, or nothing where it is blank and may be */
  take(line: number, blankAllowed = true): Piece[] {
    const { parts, size } = this;
    const first = this.taken === 0;
    this.taken += 1;
    this.parts = [];
    this.size = 0;
    if (size > this.longest) return [{ line, ...refused('too_large') }];
    const bytes = Buffer.concat(parts);
    const text = decoded(first && bytes.subarray(0, 3).equals(byteOrderMark) ? bytes.subarray(3) : bytes);
    if (text === undefined) return [{ line, ...refused('malformed_utf8') }];
    if (text.trim() !== '') return [{ line, text }];
    return blankAllowed ? [] : [{ line, ...refused('malformed_json') }];
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decoded(bytes: Buffer): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Finds where elements end by counting brackets outside of texts; the texts themselves are not looked at. */
class ArrayScan {
  private readonly element: Collector;
  private state: 'before' | 'inside' | 'after' = 'before';
  private line = 1;
  private depth = 0;
  private inText = false;
  private escaped = false;
  private rubbish = false;

  constructor(longest: number) {
    this.element = new Collector(longest);
  }

  *pieces(chunk: Buffer): Generator<Piece> {
    let from = 0;
    for (const [at, byte] of chunk.entries()) {
      const was = this.state;
      const ends = this.step(byte);
      if (was === 'before' && this.state === 'inside') from = at + 1;
      if (!ends) continue;
      this.element.add(chunk.subarray(from, at));
      yield* this.element.take(this.line, this.state === 'after' && this.line === 1);
      this.line += 1;
      from = at + 1;
    }
    if (this.state === 'inside') this.element.add(chunk.subarray(from));
  }

  /** A file that was cut off, or has something behind its array, is not passed over in silence. */
  *end(): Generator<Piece> {
    if (this.state !== 'after' || this.rubbish) yield { line: this.line, ...refused('malformed_json') };
  }

  /** @returns whether this byte ends an element */
  private step(byte: number): boolean {
    if (this.state === 'before') {
      if (byte === openBracket) this.state = 'inside';
      return false;
    }
    if (this.state === 'after') {
      if (!blanks.has(byte)) this.rubbish = true;
      return false;
    }
    if (this.inText) {
      if (this.escaped) this.escaped = false;
      else if (byte === backslash) this.escaped = true;
      else if (byte === quote) this.inText = false;
      return false;
    }
    if (byte === quote) this.inText = true;
    else if (byte === openBrace || byte === openBracket) this.depth += 1;
    else if (this.depth > 0) {
      if (byte === closeBrace || byte === closeBracket) this.depth -= 1;
    } else if (byte === closeBracket) {
      this.state = 'after';
      return true;
    } else return byte === comma;
    return false;
  }
}
