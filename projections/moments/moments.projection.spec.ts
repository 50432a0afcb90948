import type { RecordedEvent } from '../../src/event-log/domain-event.js';
import { recorded } from '../../test/support/recorded.js';
import { Coverage, RowSet } from '../engine/row-set.js';
import { shapeOf } from '../engine/table-shape.js';
import type { Row, Table } from '../engine/projection.js';
import { latestMoments, moments, type MomentRow, momentsOf } from './moments.projection.js';

const projection = momentsOf(['Noted']);
const mine = '00000000-0000-4000-8000-00000000000a';
const theirs = '00000000-0000-4000-8000-00000000000b';

/** An event that the log recorded so many seconds after the start. */
const event = (position: number, seconds: number, team = mine): RecordedEvent => ({
  ...recorded({ type: 'Noted' }, BigInt(position), team),
  recordedAt: new Date(seconds * 1000),
});

/** A moment's seconds, first and last position, for each team's moment in the order they came. */
function momentsAfter(events: readonly RecordedEvent[]): [seconds: number, first: number, last: number][] {
  const rows = new RowSet();
  const found = new Map<string, MomentRow>();
  for (const each of events) {
    const coverage = new Coverage();
    for (const asked of projection.load([each])) coverage.add(asked);
    for (const change of projection.changes(each, rows.view(coverage))) {
      if (change.op !== 'put') throw new Error(`unexpected ${change.op}`);
      rows.put(shapeOf(change.table), change.row);
      if (change.table === (moments as unknown as Table)) found.set(keyOf(change.row), change.row as MomentRow);
    }
  }
  return [...found.values()].map(({ known_at, first_position, last_position }) => [
    known_at.getTime() / 1000,
    Number(first_position),
    Number(last_position),
  ]);
}

const keyOf = (row: Row): string => shapeOf(moments).id(shapeOf(moments).row(row));

describe('the moments of a team', () => {
  it('are the times at which it learned something, each with the events it learned then', () =>
    expect(momentsAfter([event(3, 10), event(4, 10), event(9, 12)])).toEqual([
      [10, 3, 4],
      [12, 9, 9],
    ]));

  it('never fall: what is recorded while the clock is behind was known when it was level again', () =>
    expect(momentsAfter([event(1, 10), event(2, 4), event(3, 9), event(4, 11)])).toEqual([
      [10, 1, 3],
      [11, 4, 4],
    ]));

  it('are no other team’s business', () =>
    expect(momentsAfter([event(1, 10), event(2, 4, theirs), event(3, 11)])).toEqual([
      [10, 1, 1],
      [4, 2, 2],
      [11, 3, 3],
    ]));

  it('are the same when an event comes again', () => {
    const all = [event(1, 10), event(2, 12), event(3, 12)];
    expect(momentsAfter([...all, ...all])).toEqual(momentsAfter(all));
    expect(momentsAfter(all.flatMap((each) => [each, each]))).toEqual(momentsAfter(all));
  });

  it('leave out what belongs to no team', () => {
    const without = event(1, 10, 'system');
    expect(projection.load([without])).toEqual([]);
    expect(momentsAfter([without])).toEqual([]);
  });

  it('keep the last one where the next event finds it', () => {
    const noted = event(1, 10);
    const row = { team_id: mine, known_at: noted.recordedAt, first_position: 1n, last_position: 1n };
    expect(projection.changes(noted, { get: () => undefined, find: () => [] })).toEqual([
      { op: 'put', table: moments, row },
      { op: 'put', table: latestMoments, row },
    ]);
  });
});
