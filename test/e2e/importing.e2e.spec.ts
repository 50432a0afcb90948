import { createWriteStream, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { once } from 'node:events';
import { exitCodes } from '../../src/cli/failure.js';
import type { ImportReport } from '../../src/importing/import-evidence.js';
import { mneme, serve, type Served, temporaryFolder } from '../support/command-line.js';

const patience = 180_000;

describe('importing and recalling on the command line', () => {
  const folder = temporaryFolder();
  const environment = { MNEME_DATA: folder.path, MNEME_EMBEDDING_PROVIDER: 'shared_words' };
  let service: Served;

  beforeAll(async () => {
    service = await serve(environment);
    await run('teams', 'create', 'Shop');
  }, patience);
  afterAll(async () => {
    await service.stop();
    folder.remove();
  });

  const run = (...words: string[]) => mneme(words, { MNEME_DATA: folder.path }).ended;
  const file = (name: string, text: string): string => {
    const path = join(folder.path, name);
    writeFileSync(path, text);
    return path;
  };
  const imported = async (...words: string[]) => {
    const { code, stdout } = await run('import', ...words, '--json');
    return { code, report: JSON.parse(stdout) as ImportReport };
  };
  const recalled = async (question: string, ...words: string[]) => {
    const { stdout } = await run('recall', question, '--team', 'Shop', '--json', ...words);
    return (JSON.parse(stdout) as { results: { context: string }[] }).results.map(({ context }) => context);
  };

  it(
    'remembers the good lines of a file, names the bad ones, and creates nothing when done again',
    async () => {
      const path = file(
        'notes.jsonl',
        [
          '{"content":"Refunds take five days.","author":"Mark","scope":"handbook"}',
          '{"content":',
          '',
          '{"content":"Returns are free.","colour":"red"}',
          '{"content":""}',
          '{"content":"Parcels leave at noon."}',
          `{"content":"${'x'.repeat(20_001)}"}`,
          `{"content":"${'y'.repeat(5 * 1024 * 1024)}"}`,
        ].join('\n'),
      );
      const words = ['jsonl', path, '--team', 'Shop', '--scope', 'work'];
      const refusals = [
        { line: 2, code: 'malformed_json', field: null },
        { line: 4, code: 'unknown_field', field: 'colour' },
        { line: 5, code: 'validation_failed', field: 'content' },
        { line: 7, code: 'validation_failed', field: 'content' },
        { line: 8, code: 'too_large', field: null },
      ];
      const first = await imported(...words);
      expect(first).toEqual({ code: exitCodes.failed, report: { created: 2, duplicates: 0, refused: 5, refusals } });
      const again = await imported(...words);
      expect(again).toEqual({ code: exitCodes.failed, report: { created: 0, duplicates: 2, refused: 5, refusals } });
      expect(await recalled('When do parcels leave?', '--scope', 'work')).toEqual(['Parcels leave at noon.']);
      expect(await recalled('When do parcels leave?', '--scope', 'handbook')).not.toContain('Parcels leave at noon.');
    },
    patience,
  );

  it(
    'reads chats as lines and as an array, and what is an equal message of both is one memory',
    async () => {
      const message = (text: string, place: number) => ({
        conversation: 'c-7',
        speaker: 'Ann',
        text,
        time: `2030-01-01 10:0${place}`,
      });
      const messages = ['Is the kettle here?', 'Yes, in room four.', 'ok', 'ok'].map(message);
      const lines = file('chat.jsonl', messages.map((one) => JSON.stringify(one)).join('\n'));
      const array = file('chat.json', JSON.stringify(messages, null, 2));
      expect(await imported('chat', lines, '--team', 'Shop')).toMatchObject({ code: 0, report: { created: 4, refused: 0 } });
      expect(await imported('chat', array, '--team', 'Shop')).toMatchObject({ code: 0, report: { created: 0, duplicates: 4 } });
      const bad = file(
        'bad.json',
        JSON.stringify([
          { ...messages[0], text: '' },
          { ...messages[0], time: 'soon' },
        ]).slice(0, -1),
      );
      expect((await imported('chat', bad, '--team', 'Shop')).report.refusals).toEqual([
        { line: 1, code: 'validation_failed', field: 'text' },
        { line: 2, code: 'malformed_json', field: null },
      ]);
    },
    patience,
  );

  it(
    'takes up an interrupted import by doing it again',
    async () => {
      const path = join(folder.path, 'many.jsonl');
      const many = createWriteStream(path);
      const count = 1_000;
      for (let line = 0; line < count; line += 1)
        many.write(`{"content":"Note ${line}","group":"many ${line % 50}","sequence":${line},"scope":"many"}\n`);
      many.end();
      await once(many, 'finish');
      const started = mneme(['import', 'jsonl', path, '--team', 'Shop', '--json'], { MNEME_DATA: folder.path });
      // A busy machine may answer that it is busy: only the result counts.
      while (!(await run('recall', 'Note', '--team', 'Shop', '--scope', 'many', '--limit', '1')).stdout.startsWith('1. '));
      started.process.kill('SIGINT');
      const { code } = await started.ended;
      const { report } = await imported('jsonl', path, '--team', 'Shop');
      expect(report.created + report.duplicates).toBe(count);
      expect(report.duplicates).toBeGreaterThan(0);
      // On a fast machine the first run may have come to its end before the signal.
      expect(code === exitCodes.interrupted ? report.created > 0 : report.created === 0).toBe(true);
      expect((await imported('jsonl', path, '--team', 'Shop')).report).toMatchObject({ created: 0, duplicates: count });
    },
    patience,
  );

  it(
    'prints numbered contexts, and on request how each came to its place',
    async () => {
      const { code, stdout } = await run('recall', 'How long do refunds take?', '--team', 'Shop', '--scope', 'handbook');
      expect([code, stdout]).toEqual([0, '1. Refunds take five days.\n']);
      const explained = await run(
        ...['recall', 'How long do refunds take?', '--team', 'Shop', '--scope', 'handbook', 'work', '--limit', '1', '--explain'],
      );
      expect(explained.stdout).toMatch(
        /^1\. Refunds take five days\.\n {3}\[\d\.\d{4} from \d\.\d{4}; (.*; )?text 1; .*[0-9a-f-]{36}\]\n$/,
      );
      const past = await run('recall', 'refunds', '--team', 'Shop', '--scope', 'handbook', '--known-at', '2020-01-01T00:00:00Z');
      expect(past.stdout).toBe('Nothing found (no_candidates)\n');
    },
    patience,
  );

  it(
    'says what to do where an operator’s key names no team, and where there is no file',
    async () => {
      const recall = await run('recall', 'refunds');
      expect([recall.code, recall.stderr]).toEqual([exitCodes.failed, expect.stringContaining('name the team with --team')]);
      const missing = await run('import', 'jsonl', join(folder.path, 'none.jsonl'), '--team', 'Shop');
      expect([missing.code, missing.stderr]).toEqual([
        exitCodes.failed,
        'mneme: file_unreadable (file): the file cannot be read (ENOENT)\n',
      ]);
    },
    patience,
  );

  it(
    'works with a team’s own key, and leaves no key of its own behind',
    async () => {
      const { stdout } = await run('keys', 'list', '--team', 'Shop', '--json');
      const { items } = JSON.parse(stdout) as { items: { revoked: boolean; name: string }[] };
      // That of the import which was interrupted could not be revoked any more, and expires.
      expect(items.filter(({ revoked }) => !revoked).length).toBeLessThanOrEqual(1);
      await run('profiles', 'create', 'agent', '--team', 'Shop');
      const scopes = ['--scope', 'memory:read', 'memory:write'];
      const key = (await run('keys', 'create', '--team', 'Shop', '--profile', 'agent', ...scopes, '--quiet')).stdout.trim();
      const path = file('own.jsonl', '{"content":"Kettles are in room four.","scope":"own"}');
      const own = { MNEME_URL: service.url, MNEME_API_KEY: key };
      expect((await mneme(['import', 'jsonl', path], own).ended).stdout).toBe('1 created, 0 known already, 0 refused\n');
      expect((await mneme(['recall', 'kettles', '--scope', 'own'], own).ended).stdout).toBe('1. Kettles are in room four.\n');
    },
    patience,
  );

  const locomo = [
    {
      sample_id: 'made-up',
      conversation: {
        session_1_date_time: '1:56 pm on 8 May, 2023',
        session_1: [
          { speaker: 'Ann', dia_id: 'D1:1', text: 'My brother keeps bees on the roof.' },
          { speaker: 'Bob', dia_id: 'D1:2', text: 'I would rather have a goldfish.', blip_caption: 'a bowl of water' },
          { speaker: 'Ann', dia_id: 'D1:3', text: 'Tomorrow we paint the fence green.' },
        ],
      },
      qa: [
        { question: 'Where are the bees kept?', answer: 'roof', evidence: ['D1:1'], category: 4 },
        { question: 'Which colour does the fence get?', answer: 'green', evidence: ['D1:3', 'D7:1'], category: 2 },
        { question: 'Who flies to the moon?', evidence: ['D1:1'], category: 5 },
        { question: 'What was never said?', evidence: ['D8:8'], category: 1 },
      ],
    },
  ];

  it(
    'imports LoCoMo, a team for each conversation, and measures recall on it',
    async () => {
      const path = file('locomo.json', JSON.stringify(locomo));
      const first = await imported('locomo', path);
      expect(first).toMatchObject({
        code: 0,
        report: { created: 3, duplicates: 0, conversations: [{ conversation: 'made-up' }] },
      });
      const measured = JSON.parse((await run('eval', 'locomo', path, '--json')).stdout) as object;
      expect(Object.keys(measured).slice(0, 2)).toEqual(['recall_at_10', 'mrr']);
      expect(measured).toMatchObject({ recall_at_10: 1, mrr: 1, questions: 2, by_category: { single_hop: {}, temporal: {} } });
      expect((await imported('locomo', path)).report).toMatchObject({ created: 0, duplicates: 3 });
      const { items } = JSON.parse((await run('teams', 'list', '--json')).stdout) as { items: { name: string }[] };
      expect(items.map(({ name }) => name)).toEqual(['Shop', 'locomo made-up']);
      const text = (await run('eval', 'locomo', path, '--questions', '1', '--limit', '3', '--profile', 'evidence')).stdout;
      expect(text.split('\n').slice(0, 2)).toEqual([
        '            RECALL@3    MRR  QUESTIONS',
        'all            1.000  1.000          1',
      ]);
      const unknown = await run('eval', 'locomo', path, '--profile', 'nonsense', '--json');
      expect([unknown.code, unknown.stderr]).toEqual([exitCodes.failed, expect.stringContaining('ranking_profile_unknown')]);
    },
    patience,
  );

  it(
    'measures on a service of its own where none runs, and leaves nothing behind',
    async () => {
      const other = temporaryFolder();
      const path = file('locomo.json', JSON.stringify(locomo));
      const { code, stdout } = await mneme(['eval', 'locomo', path, '--json'], {
        MNEME_DATA: join(other.path, 'data'),
        TMPDIR: other.path,
        MNEME_EMBEDDING_PROVIDER: 'shared_words',
      }).ended;
      expect([code, JSON.parse(stdout)]).toMatchObject([0, { recall_at_10: 1 }]);
      expect(readdirSync(other.path)).toEqual([]);
      other.remove();
    },
    patience,
  );
});
