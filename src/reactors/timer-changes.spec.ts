import fc from 'fast-check';
import type { StreamId } from '../event-log/stream-name.js';
import { checkSetAgain, TimerChanges, type TimerReaction } from './timer-changes.js';

const team = '00000000-0000-4000-8000-00000000000a';
const memoryOf = (key: string) => `00000000-0000-4000-8000-00000000000${key}`;
const moment = (day: number) => new Date(Date.UTC(2026, 0, day));
const cause = { eventId: memoryOf('e'), correlationId: 'c', depth: 0 };

type Step =
  | TimerReaction
  | { readonly do: 'fired'; readonly key: string }
  | { readonly do: 'erased'; readonly id: string; readonly kind: StreamId['kind'] };

/** One after the other, as whoever writes each of them at once would. */
function oneByOne(stored: ReadonlyMap<string, Date>, steps: readonly Step[]): Map<string, Date> {
  const timers = new Map(stored);
  for (const step of steps) {
    switch (step.do) {
      case 'set_timer': {
        const stands = timers.get(step.key);
        if (!step.unlessEarlier || !stands || stands > step.dueAt) timers.set(step.key, step.dueAt);
        break;
      }
      case 'cancel_timer':
      case 'fired':
        timers.delete(step.key);
        break;
      case 'cancel_timers':
        timers.clear();
        break;
      case 'erased':
        if (step.kind === 'team') timers.clear();
        else for (const key of timers.keys()) if (memoryOf(key) === step.id) timers.delete(key);
        break;
      default:
        step satisfies never;
    }
  }
  return timers;
}

/** As the statements do: removals first, then what is set. */
function atOnce(stored: ReadonlyMap<string, Date>, changes: TimerChanges): Map<string, Date> {
  const timers = new Map(changes.teams.has(team) ? [] : stored);
  for (const { key } of changes.toRemove) timers.delete(key);
  for (const { memory } of changes.toErase) for (const key of timers.keys()) if (memoryOf(key) === memory) timers.delete(key);
  for (const { key, dueAt, mode } of changes.toSet) {
    const stands = timers.get(key);
    if (mode === 'replace' || !stands || stands > dueAt) timers.set(key, dueAt);
  }
  return timers;
}

const key = fc.constantFrom('1', '2', '3');
const dueAt = fc.integer({ min: 1, max: 6 }).map(moment);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('set_timer' as const), key, dueAt }).map(withMemory) },
  {
    weight: 4,
    arbitrary: fc
      .record({ do: fc.constant('set_timer' as const), key, dueAt, unlessEarlier: fc.constant(true as const) })
      .map(withMemory),
  },
  fc.record({ do: fc.constant('cancel_timer' as const), key }),
  fc.record({ do: fc.constant('fired' as const), key }),
  fc.constant({ do: 'cancel_timers' as const }),
  fc.record({ do: fc.constant('erased' as const), id: key.map(memoryOf), kind: fc.constantFrom('procedure', 'team') }),
);

function withMemory<Of extends { key: string }>(set: Of): Of & { memory: string } {
  return { ...set, memory: memoryOf(set.key) };
}

describe('changes of timers', () => {
  it('put together come to what they come to one by one, whatever is stored', () =>
    fc.assert(
      fc.property(fc.array(fc.tuple(key, dueAt)), fc.array(step, { maxLength: 12 }), (before, steps) => {
        const stored = new Map(before);
        const changes = new TimerChanges();
        for (const each of steps) {
          if (each.do === 'fired') changes.fired({ team, key: each.key, dueAt: moment(1) });
          else if (each.do === 'erased') changes.erase({ team, kind: each.kind, id: each.id });
          else changes.add(team, cause, each);
        }
        const byKey = (timers: Map<string, Date>) => [...timers].sort(([a], [b]) => a.localeCompare(b));
        expect(byKey(atOnce(stored, changes))).toEqual(byKey(oneByOne(stored, steps)));
      }),
      { numRuns: 2_000 },
    ));

  it('are none at first', () => expect(new TimerChanges().empty).toBe(true));
});

describe('a timer that is due', () => {
  const timer = { team, key: '1', dueAt: moment(2) };
  const again = (day: number, of = '1') =>
    checkSetAgain(timer, [{ do: 'set_timer', key: of, memory: memoryOf(of), dueAt: moment(day) }]);

  it('may be set again for a later moment, and another for any', () => {
    again(3);
    again(1, '2');
  });

  it('may not be set again for the same moment or an earlier one: it would be due for ever', () => {
    for (const day of [1, 2]) expect(() => again(day)).toThrow(expect.objectContaining({ code: 'reactor_defect' }) as Error);
  });
});
