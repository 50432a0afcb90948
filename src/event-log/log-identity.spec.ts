import { expectGolden } from '../../test/support/golden.js';
import { openNoteLog, type NoteLog } from '../../test/support/note-log.js';
import { prefix } from '../../test/support/notes.js';
import { EventCatalogue } from './event-catalogue.js';
import { logEvents, logStream, openLog } from './log-identity.js';
import { streamName } from './stream-name.js';

describe('the identity of a log', () => {
  let notes: NoteLog;
  beforeAll(async () => (notes = await openNoteLog()));
  afterAll(() => notes.close());

  it('is its first event, made by the first start and read by all others', async () => {
    const first = await openLog(notes.streams);
    expect(first.logId).toMatch(/^[0-9a-f]{8}-/);
    expect(await openLog(notes.streams)).toEqual(first);
    const [event, ...more] = await notes.all();
    expect(event).toMatchObject({ type: 'LogCreated', revision: 0n, stream: streamName(prefix, logStream) });
    expect(more).toEqual([]);
  });

  it('is stored as it always was', () =>
    expectGolden(new EventCatalogue([logEvents]), {
      event: { type: 'LogCreated', log_id: '5d0f8a52-93b6-4d0c-8d9e-0f4f6c1f7a11' },
      stream: logStream,
    }));
});

describe('the identity of a log, at the first start of several services at once', () => {
  let notes: NoteLog;
  beforeAll(async () => (notes = await openNoteLog()));
  afterAll(() => notes.close());

  it('is one', async () => {
    const opened = await Promise.all([openLog(notes.streams), openLog(notes.streams), openLog(notes.streams)]);
    expect(new Set(opened.map(({ logId }) => logId)).size).toBe(1);
    expect(await notes.all()).toHaveLength(1);
  });
});
