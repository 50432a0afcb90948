import { chatField, chatReader } from './chat.js';
import { jsonlReader } from './jsonl.js';
import { LocomoFileInvalid, readLocomo } from './locomo.js';
import { readTime } from './read-time.js';

describe('a time', () => {
  it.each([
    ['1:56 pm on 8 May, 2023', '2023-05-08T13:56:00.000Z'],
    ['12:09 am on 13 September, 2023', '2023-09-13T00:09:00.000Z'],
    ['2023-05-08T13:56:00+02:00', '2023-05-08T11:56:00.000Z'],
    ['2023-05-08 13:56:07.5Z', '2023-05-08T13:56:07.500Z'],
    ['2023-05-08 13:56', '2023-05-08T13:56:00.000Z'],
    ['2023-05-08', '2023-05-08T00:00:00.000Z'],
    [1_683_554_160, '2023-05-08T13:56:00.000Z'],
    [1_683_554_160_000, '2023-05-08T13:56:00.000Z'],
  ])('%p is %s', (text, expected) => expect(readTime(text)).toBe(expected));

  it.each(['', 'yesterday', '8 May', '10:30', 'May 2023', '2023-13-45T00:00:00Z', NaN, 1e300, true, null, {}, 'x'.repeat(101)])(
    '%p is none, because it has no day of its own',
    (text) => expect(readTime(text)).toBeUndefined(),
  );
});

describe('a line of jsonl', () => {
  it('is sent as it is, with the scope of the command where it names none', () => {
    expect(jsonlReader(undefined)('{"content":"ok","labels":["a"]}', 1)).toEqual({ item: { content: 'ok', labels: ['a'] } });
    expect(jsonlReader('work')('{"content":"ok"}', 1)).toEqual({ item: { content: 'ok', scope: 'work' } });
    expect(jsonlReader('work')('{"content":"ok","scope":"home"}', 1)).toEqual({ item: { content: 'ok', scope: 'home' } });
  });

  it.each([
    ['{"content":', 'malformed_json', null],
    ['"content"', 'body_not_an_object', null],
    ['[]', 'body_not_an_object', null],
    ['null', 'body_not_an_object', null],
    ['{"content":"ok","metadata":{"order":9007199254740993}}', 'number_not_exact', 'metadata'],
  ])('%s is refused: %s', (text, code, field) => expect(jsonlReader(undefined)(text, 1)).toEqual({ refused: { code, field } }));
});

describe('a message of a chat', () => {
  const read = (message: object, line = 7) => chatReader(undefined)(JSON.stringify(message), line);
  const message = { conversation: 'c-1', speaker: 'Ann', text: 'Refunds take five days.' };
  const evidence = { group: 'c-1', author: 'Ann', content: message.text, source_type: 'conversation' };

  it('becomes evidence in a group, in the order of the file', () => {
    expect(read(message)).toEqual({ item: { ...evidence, sequence: 7 } });
  });

  it('takes along what else it has, and its own place in the conversation', () => {
    const more = {
      time: '8 May 2023, 13:56',
      sequence: 3,
      id: 'm-3',
      source: 'crm',
      labels: ['a'],
      metadata: { channel: 'mail' },
    };
    expect(read({ ...message, ...more })).toEqual({
      item: {
        ...evidence,
        occurred_at: '2023-05-08T13:56:00.000Z',
        sequence: 3,
        external_id: 'm-3',
        source_key: 'crm',
        labels: ['a'],
        metadata: { channel: 'mail' },
      },
    });
  });

  it.each([
    [{ speaker: 'Ann', text: 'Hello' }, 'validation_failed', 'conversation'],
    [{ ...message, speaker: 7 }, 'validation_failed', 'speaker'],
    [{ ...message, time: 'yesterday' }, 'time_unreadable', 'time'],
    [{ ...message, mood: 'good' }, 'unknown_field', 'mood'],
    [{ ...message, 'My secret: 1234': 1 }, 'unknown_field', null],
  ])('%j is refused: %s (%s)', (bad, code, field) => expect(read(bad)).toEqual({ refused: { code, field } }));

  it('is refused under the names of its file', () => {
    expect(['content', 'author', 'labels', 'nothing'].map(chatField)).toEqual(['text', 'speaker', 'labels', 'nothing']);
  });
});

describe('a LoCoMo file', () => {
  const conversation = {
    speaker_a: 'Ann',
    session_10_date_time: '2:00 pm on 1 June, 2023',
    session_10: [{ speaker: 'Ann', dia_id: 'D10:1', text: 'Later.' }],
    session_2_date_time: '1:56 pm on 8 May, 2023',
    session_2: [
      { speaker: 'Ann', dia_id: 'D2:1', text: 'Look!', blip_caption: 'a red kite' },
      { speaker: 'Bob', dia_id: 'D2:2', text: 'Nice.' },
    ],
    session_3_date_time: 'unknown',
    session_3: [],
  };
  const sample = { sample_id: 's-1', conversation, qa: [{ question: 'Why?', answer: 3, evidence: ['D2:1'], category: 1 }] };

  it('becomes a piece of evidence for each turn, in the order of sessions and turns', () => {
    const [read, ...others] = readLocomo(JSON.stringify([sample]));
    expect(others).toEqual([]);
    expect(read?.items.map(({ external_id }) => external_id)).toEqual(['D2:1', 'D2:2', 'D10:1']);
    expect(read?.items[0]).toEqual({
      content: 'Ann: Look! [shares a red kite]',
      author: 'Ann',
      group: 'session_2',
      sequence: 0,
      source_type: 'conversation',
      occurred_at: '2023-05-08T13:56:00.000Z',
      external_id: 'D2:1',
    });
    expect(read?.items[1]).toMatchObject({ content: 'Bob: Nice.', sequence: 1 });
    expect(read?.questions).toEqual([{ question: 'Why?', evidence: ['D2:1'], category: 1 }]);
  });

  it.each([
    ['{', 'the file is no JSON'],
    ['{}', 'the file is not in the shape of LoCoMo at its root'],
    [JSON.stringify([{ ...sample, sample_id: 7 }]), 'the file is not in the shape of LoCoMo at 0.sample_id'],
    [
      JSON.stringify([
        sample,
        { ...sample, conversation: { session_1_date_time: '2:00 pm on 1 June, 2023', session_1: [{ text: 'secret' }] } },
      ]),
      'the file is not in the shape of LoCoMo at 1.conversation.session_1.0.speaker',
    ],
    [
      JSON.stringify([{ ...sample, conversation: { ...conversation, session_2_date_time: 'secret' } }]),
      'the file is not in the shape of LoCoMo at 0.conversation.session_2_date_time',
    ],
  ])('of another shape is refused with the place, never with what stands there', (text, message) => {
    expect(() => readLocomo(text)).toThrow(new LocomoFileInvalid(message));
  });
});
