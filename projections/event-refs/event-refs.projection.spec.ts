import { recorded } from '../../test/support/recorded.js';
import { eventRefs, eventRefsTable, memoryIdsOf } from './event-refs.projection.js';

const memory = '00000000-0000-4000-8000-000000000001';
const procedure = '00000000-0000-4000-8000-000000000002';
const event = (data: { type: string; procedure_id?: string }, streamId: string, team?: string) => ({
  ...recorded(data, 7n, team),
  streamId,
});

describe('the memories an event is about', () => {
  it('are the one its stream is of', () => expect(memoryIdsOf(event({ type: 'Noted' }, memory))).toEqual([memory]));

  it('include the procedure that a run belongs to', () =>
    expect(memoryIdsOf(event({ type: 'Ran', procedure_id: procedure }, memory))).toEqual([memory, procedure]));

  it('are named once', () => expect(memoryIdsOf(event({ type: 'Noted', procedure_id: memory }, memory))).toEqual([memory]));

  it('are none where a stream is not of a memory', () => expect(memoryIdsOf(event({ type: 'Noted' }, 'settings'))).toEqual([]));
});

describe('event references', () => {
  const refs = eventRefs(['Noted', 'Ran'], memoryIdsOf);
  const rows = { get: () => undefined, find: () => [] };

  it('want every type of event, and no content', () => {
    expect(refs.eventTypes).toEqual(['Noted', 'Ran']);
    expect(refs.needsContent).toBe(false);
  });

  it('say for each memory where in the log the event stands', () => {
    const ran = event({ type: 'Ran', procedure_id: procedure }, memory);
    const row = { team_id: ran.team, position: 7n, stream: ran.stream, revision: 0n, type: 'Ran', recorded_at: ran.recordedAt };
    expect(refs.changes(ran, rows)).toEqual([
      { op: 'put', table: eventRefsTable, row: { ...row, memory_id: memory } },
      { op: 'put', table: eventRefsTable, row: { ...row, memory_id: procedure } },
    ]);
  });

  it('leave streams out that belong to no team', () =>
    expect(refs.changes(event({ type: 'Noted' }, memory, 'system'), rows)).toEqual([]));
});
