import { openNoteLog, type NoteLog } from '../../test/support/note-log.js';
import { contextOf, noteFiled, noteStream, noteTaken, type NoteEvent } from '../../test/support/notes.js';
import { executeCommand, isCommandContended, isCommandRefused, isVersionConflict, type Command } from './execute.js';
import { verifyChain } from './hash-chain.js';
import { newCommandId } from './ids.js';

describe('a command', () => {
  let notes: NoteLog;
  let id: string;
  beforeAll(async () => (notes = await openNoteLog()));
  beforeEach(() => (id = newCommandId()));
  afterAll(() => notes.close());

  const execute = (command: Partial<Command<NoteEvent>> & Pick<Command<NoteEvent>, 'decide'>) =>
    executeCommand<NoteEvent>(notes.streams, { stream: noteStream(id), context: contextOf(), ...command });
  const take = (text: string, command: Partial<Command<NoteEvent>> = {}) =>
    execute({ decide: () => [noteTaken(id, text)], ...command });
  const texts = async () => {
    const { events } = await notes.streams.load<NoteEvent>(noteStream(id));
    return events.map(({ data }) => (data.type === 'NoteTaken' && 'text' in data.sealed ? data.sealed.text : data.type));
  };

  it('appends what it decides', async () => {
    const result = await execute({ decide: () => Promise.resolve([noteTaken(id, 'a'), noteFiled(id)]) });
    expect(result).toEqual({
      outcome: 'appended',
      events: [noteTaken(id, 'a'), noteFiled(id)],
      revision: 1n,
      position: await notes.log.head(),
    });
    expect(await texts()).toEqual(['a', 'NoteFiled']);
  });

  it('decides on the events before it', async () => {
    await take('a');
    await execute({ decide: (events) => [noteTaken(id, `after ${events.length}`)] });
    expect(await texts()).toEqual(['a', 'after 1']);
  });

  it('changes nothing when it is already so', async () => {
    expect(await execute({ decide: () => [] })).toEqual({
      outcome: 'unchanged',
      events: [],
      revision: 'no_stream',
      position: -1n,
    });
    const { revision, position } = await take('a');
    expect(await execute({ decide: () => [] })).toEqual({ outcome: 'unchanged', events: [], revision, position });
  });

  it('is refused with the decider’s code and field, and stores nothing', async () => {
    const refused = await execute({ decide: () => ({ refused: 'note_too_long', field: 'text' }) }).catch(
      (error: unknown) => error,
    );
    expect(isCommandRefused(refused) && [refused.code, refused.field]).toEqual(['note_too_long', 'text']);
    expect(await notes.stored(id)).toEqual([]);
  });

  describe('sent again', () => {
    it('answers as the first time, whatever happened since', async () => {
      const context = contextOf();
      const first = await execute({ context, decide: () => [noteTaken(id, 'a'), noteFiled(id)] });
      await take('b');
      expect(await take('not asked', { context })).toEqual({ ...first, outcome: 'repeated' });
      expect(await texts()).toEqual(['a', 'NoteFiled', 'b']);
    });

    it('answers as the first time although the expected version is gone by its own doing', async () => {
      await take('a');
      const command = { context: contextOf(), expectedRevision: 0n };
      const first = await take('b', command);
      expect(await take('b', command)).toEqual({ ...first, outcome: 'repeated' });
    });

    it('with another request than the first is refused', async () => {
      const context = { ...contextOf(), fingerprint: 'of the first' };
      await take('a', { context });
      const other = take('b', { context: { ...context, fingerprint: 'of another' } });
      await expect(other).rejects.toMatchObject({ code: 'idempotency_key_reused', field: 'Idempotency-Key' });
      expect(await take('a', { context })).toMatchObject({ outcome: 'repeated' });
      expect(await texts()).toEqual(['a']);
    });

    it('is not refused over events that were stored before fingerprints were kept', async () => {
      const context = contextOf();
      await take('a', { context });
      expect(await take('a', { context: { ...context, fingerprint: 'new' } })).toMatchObject({ outcome: 'repeated' });
    });

    it('at the same moment is carried out once', async () => {
      const context = contextOf();
      const results = await Promise.all([take('a', { context }), take('a', { context }), take('a', { context })]);
      expect(results.map(({ outcome }) => outcome).sort()).toEqual(['appended', 'repeated', 'repeated']);
      expect(new Set(results.map(({ position }) => position)).size).toBe(1);
      expect(await texts()).toEqual(['a']);
    });

    it('at the same moment with an expected version is repeated, not in conflict with itself', async () => {
      await take('a');
      const command = { context: contextOf(), expectedRevision: 0n };
      const results = await Promise.all([take('b', command), take('b', command)]);
      expect(results.map(({ outcome }) => outcome).sort()).toEqual(['appended', 'repeated']);
    });
  });

  describe('with an expected version', () => {
    it('appends at that version', async () => {
      await take('a');
      expect(await take('b', { expectedRevision: 0n })).toMatchObject({ outcome: 'appended', revision: 1n });
    });

    it('is in conflict with any other, and learns the current one', async () => {
      await take('a');
      await take('b');
      const conflict = await take('c', { expectedRevision: 0n }).catch((error: unknown) => error);
      expect(isVersionConflict(conflict) && conflict.current).toBe(1n);
      expect(conflict).toMatchObject({ code: 'version_conflict' });
    });

    it('is in conflict with a stream that does not exist', async () => {
      await expect(take('a', { expectedRevision: 0n })).rejects.toMatchObject({ code: 'version_conflict', current: 'no_stream' });
    });

    it('is in conflict when another command is faster', async () => {
      await take('a');
      const decide = async () => {
        await take('faster');
        return [noteTaken(id, 'slower')];
      };
      await expect(execute({ expectedRevision: 0n, decide })).rejects.toMatchObject({ code: 'version_conflict', current: 1n });
      expect(await texts()).toEqual(['a', 'faster']);
    });
  });

  describe('that loses a race', () => {
    it('decides again on what the winner left', async () => {
      const seen: number[] = [];
      const result = await execute({
        decide: async (events) => {
          seen.push(events.length);
          if (events.length === 0) await take('faster');
          return [noteTaken(id, 'slower')];
        },
      });
      expect(seen).toEqual([0, 1]);
      expect(result).toMatchObject({ outcome: 'appended', revision: 1n });
      expect(await texts()).toEqual(['faster', 'slower']);
    });

    it('gives up when its patience is over', async () => {
      let decided = 0;
      const decide = async () => {
        decided += 1;
        await take(`faster ${decided}`);
        return [noteTaken(id, 'slower')];
      };
      const contended = await execute({ decide, patienceMs: 200 }).catch((error: unknown) => error);
      expect(isCommandContended(contended)).toBe(true);
      expect(decided).toBeGreaterThan(1);
      expect(await texts()).not.toContain('slower');
    });

    it('lets every one of many at once have its turn, in one hash chain', async () => {
      const words = Array.from({ length: 24 }, (_, index) => `word ${String(index).padStart(2, '0')}`);
      await Promise.all(words.map((word) => take(word)));
      expect((await texts()).sort()).toEqual(words);
      expect(verifyChain(await notes.stored(id))).toBeUndefined();
    });
  });

  describe('whose append got no answer', () => {
    it.each(['lost_request', 'lost_answer'] as const)('is carried out once (%s)', async (fault) => {
      notes.log.next(fault);
      expect(await take('a')).toMatchObject({ outcome: 'appended', revision: 0n });
      expect(await texts()).toEqual(['a']);
    });

    it('can be sent again later, when it was stored after all', async () => {
      const context = contextOf();
      notes.log.next('lost_answer', 'unreachable', 'unreachable', 'unreachable');
      await expect(take('a', { context })).rejects.toMatchObject({ code: 'append_outcome_unknown' });
      expect(await take('a', { context })).toMatchObject({ outcome: 'repeated', revision: 0n });
    });

    it('decides again when another command took its place meanwhile', async () => {
      const late = execute({
        decide: async (events) => {
          if (events.length === 0) {
            await take('first');
            notes.log.next('lost_request');
          }
          return [noteTaken(id, `after ${events.length}`)];
        },
      });
      expect(await late).toMatchObject({ outcome: 'appended', revision: 1n });
      expect(await texts()).toEqual(['first', 'after 1']);
    });
  });
});
