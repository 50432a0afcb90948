import { timelineText, type TracedEvent } from './timeline.js';

const event: TracedEvent = {
  type: 'ProcedureRemembered',
  recorded_at: '2030-01-01T00:00:00.000Z',
  kind: 'procedure',
  id: '0123456789ab',
  revision: 0,
  data: { version: '1.0', parent_id: null },
  content: { question: 'How?', graph: { steps: ['so'] } },
  redacted: false,
};
const state = { status: 'active', counters: { runs: 1, successes: 1, judged_runs: 0 } };

describe('the timeline of a trace', () => {
  it('tells when, what, where and what it says, and how it stands now', () => {
    expect(timelineText({ kind: 'procedure', id: '0123456789ab', state, events: [event] }).split('\n')).toEqual([
      'Trace of procedure 0123456789ab, replayed from the event log:',
      '  2030-01-01T00:00:00.000Z  ProcedureRemembered   procedure 01234567, revision 0',
      '      version: 1.0',
      '      question: How?',
      '      graph: {"steps":["so"]}',
      '  Now: active; 1 run, 1 worked, 0 judged by somebody else than the agent',
    ]);
  });

  it('says where content was erased', () => {
    expect(timelineText({ kind: 'procedure', id: 'x', state, events: [{ ...event, content: null, redacted: true }] })).toContain(
      'content erased',
    );
  });
});
