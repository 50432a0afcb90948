import type { RecordedEvent } from '../event-log/domain-event.js';
import { recorded } from '../../test/support/recorded.js';
import {
  expiredBefore,
  expiryOf,
  reactToRetention,
  retentionDue,
  type RetentionEvent,
  type RetentionFacts,
} from './execution-retention.js';

const team = '00000000-0000-4000-8000-00000000000a';
const procedure = '00000000-0000-4000-8000-000000000001';
const other = '00000000-0000-4000-8000-000000000002';
const at = (text: string) => new Date(`2026-${text}Z`);

const given = (known: Partial<RetentionFacts> = {}) => {
  const facts: RetentionFacts = { days: 30, oldest: new Map(), oldestLeft: new Map(), erased: new Set(), ...known };
  return {
    when: (data: RetentionEvent, occurredAt?: Date) => {
      const event: RecordedEvent<RetentionEvent> = recorded(data, 1n, team);
      const reactions = reactToRetention({ ...event, metadata: { ...event.metadata, occurredAt } }, facts);
      return { then: (...expected: object[]) => expect(reactions).toEqual(expected) };
    },
    whenDue: (dueAt: Date, now: Date) => {
      const reactions = retentionDue({ team, key: procedure, dueAt }, facts, now);
      return { then: (...expected: object[]) => expect(reactions).toEqual(expected) };
    },
  };
};

const ran: RetentionEvent = {
  type: 'ExecutionRecorded',
  execution_id: other,
  procedure_id: procedure,
  agent_success: true,
  evaluator_success: null,
};
const remembered: RetentionEvent = {
  type: 'ProcedureRemembered',
  procedure_id: procedure,
  parent_id: null,
  status: 'active',
  based_on: [],
  sealed: { redacted: true },
};
const set = (dueAt: Date, key = procedure) => ({ do: 'set_timer', key, memory: key, dueAt });
const prune = (before: Date) => ({
  do: 'run',
  stream: { kind: 'procedure', team, id: procedure },
  order: { type: 'Prune', procedure_id: procedure, before },
});

describe('the moment a run expires', () => {
  it.each([
    ['03-01T00:00:00', '03-31T01:00:00'],
    ['03-01T00:00:00.001', '03-31T01:00:00'],
    ['03-01T00:59:59.999', '03-31T01:00:00'],
    ['03-01T01:00:00', '03-31T02:00:00'],
  ])('is the first full hour after its own hour and the retention: %s -> %s', (ranAt, expiry) =>
    expect(expiryOf(at(ranAt), 30)).toEqual(at(expiry)),
  );

  it('is one at which it happened before what expires then, and not an hour earlier', () => {
    const run = at('03-01T00:59:59.999');
    const expiry = expiryOf(run, 30);
    expect(run < expiredBefore(expiry, 30)).toBe(true);
    expect(run < expiredBefore(new Date(expiry.getTime() - 3_600_000), 30)).toBe(false);
    expect(expiry.getTime() - run.getTime()).toBeGreaterThan(30 * 86_400_000);
  });

  it('can be computed for the first and the last year there is', () => {
    expect(expiryOf(new Date('0001-01-01T00:00:00Z'), 1).toISOString()).toBe('0001-01-02T01:00:00.000Z');
    expect(expiryOf(new Date('9999-12-31T23:59:59Z'), 36_500).getTime()).toBeLessThan(8.64e15);
  });
});

describe('a run that is recorded', () => {
  it('sets a timer for when it expires, unless an older one has an earlier', () =>
    given()
      .when(ran, at('03-01T10:20:00'))
      .then({ ...set(at('03-31T11:00:00')), unlessEarlier: true }));

  it('goes by the time the log learned of it where none was said', () =>
    given({ days: 1 })
      .when(ran)
      .then({ ...set(new Date('1970-01-02T01:00:00Z')), unlessEarlier: true }));

  it('sets none where verdicts are kept for ever', () => given({ days: null }).when(ran, at('03-01T10:20:00')).then());

  it('sets none when its procedure was erased in the same moment', () =>
    given({ erased: new Set([procedure]) })
      .when(ran, at('03-01T10:20:00'))
      .then());
});

describe('a procedure that is remembered', () => {
  it('has a timer for its first run, which expired perhaps before there was a procedure', () =>
    given({ oldest: new Map([[procedure, at('03-01T10:20:00')]]) })
      .when(remembered)
      .then({ ...set(at('03-31T11:00:00')), unlessEarlier: true }));

  it('has none without a run that is not pruned, and none where verdicts are kept', () => {
    given().when(remembered).then();
    given({ days: null, oldest: new Map([[procedure, at('03-01T10:20:00')]]) })
      .when(remembered)
      .then();
  });
});

describe('a change of the setting', () => {
  const changed = (execution_retention_days: number | null): RetentionEvent => ({
    type: 'TeamSettingsChanged',
    settings: { execution_retention_days },
  });
  const oldest = new Map([
    [procedure, at('03-01T10:20:00')],
    [other, at('05-01T00:00:00')],
  ]);

  it('sets every procedure’s timer anew, earlier or later than it was', () =>
    given({ days: 10, oldest })
      .when(changed(10))
      .then(set(at('03-11T11:00:00')), set(at('05-11T01:00:00'), other)));

  it('goes by the setting as it is by now', () =>
    given({ days: 20, oldest: new Map([[procedure, at('03-01T10:20:00')]]) })
      .when(changed(10))
      .then(set(at('03-21T11:00:00'))));

  it('cancels all timers when it is switched off', () =>
    given({ days: null, oldest }).when(changed(null)).then({ do: 'cancel_timers' }));

  it('of another setting changes nothing', () => given({ oldest }).when({ type: 'TeamSettingsChanged', settings: {} }).then());
});

describe('a timer that is due', () => {
  const due = at('03-31T11:00:00');
  const oldest = new Map([[procedure, at('03-01T10:20:00')]]);

  it('prunes what happened before the retention, counted from the moment it was due', () =>
    given({ oldest })
      .whenDue(due, at('03-31T11:59:59'))
      .then(prune(at('03-01T11:00:00'))));

  it('is set again for the oldest run that is left', () =>
    given({ oldest, oldestLeft: new Map([[procedure, at('03-01T12:00:00')]]) })
      .whenDue(due, due)
      .then(prune(at('03-01T11:00:00')), set(at('03-31T13:00:00'))));

  it('moves to the present hour when it is late, so that one event prunes all that expired', () => {
    given({ oldest })
      .whenDue(due, at('06-15T09:30:00'))
      .then(set(at('06-15T09:00:00')));
    given({ oldest })
      .whenDue(at('06-15T09:00:00'), at('06-15T09:30:00'))
      .then(prune(at('05-16T09:00:00')));
  });

  it('waits longer when the retention has grown, or the oldest run was pruned by hand', () => {
    given({ oldest, days: 60 })
      .whenDue(due, due)
      .then(set(at('04-30T11:00:00')));
    given({ oldest: new Map([[procedure, at('03-20T10:20:00')]]) })
      .whenDue(due, due)
      .then(set(at('04-19T11:00:00')));
  });

  it('never prunes what is not due, when the retention has shrunk', () =>
    given({ oldest, days: 10 })
      .whenDue(due, due)
      .then(prune(at('03-21T11:00:00'))));

  it('ends when nothing is left to prune, or verdicts are kept for ever', () => {
    given().whenDue(due, due).then();
    given({ oldest, days: null }).whenDue(due, due).then();
  });
});
