import { shapeOf } from './table-shape.js';
import { table, type Row } from './projection.js';
import { TableWrites } from './table-writes.js';

const team = '00000000-0000-4000-8000-00000000000a';
const loans = table<{ team_id: string; book: string; reader: string }>({
  name: 'loans',
  columns: { team_id: 'uuid', book: 'text', reader: 'text' },
  key: ['team_id', 'book'],
  history: ['reader'],
});
const row = (book: string, reader: string): Row => ({ team_id: team, book, reader });
const key = (book: string): Row => ({ team_id: team, book });

const shape = shapeOf(loans);

/** Writes as a projection asks for them. */
class Changes {
  readonly writes = new TableWrites(shape);
  put = (row: Row, position: bigint) => this.writes.put(shape.id(row), row, position);
  remove = (key: Row, position: bigint) => this.writes.remove(shape.id(key), key, position);
  erase = (where: Row) => this.writes.erase(shape.where(where));
}

function finished(change: (changes: Changes) => void) {
  const changes = new Changes();
  change(changes);
  return changes.writes.finished().map(({ erasures, removals, puts, history }) => ({
    erased: erasures.flat().map(({ values }) => values.filter((value) => value !== team)),
    removed: removals.map(({ book }) => book),
    put: puts.map(({ book, reader }) => [book, reader]),
    history: history.map(({ row, position, removed }) => [row.book, row.reader ?? null, position, removed]),
  }));
}

describe('the writes of a batch to a table', () => {
  it('are one a row, and one a change in history', () =>
    expect(
      finished((writes) => {
        writes.put(row('moby', 'ada'), 1n);
        writes.put(row('moby', 'bob'), 2n);
        writes.put(row('ulysses', 'ada'), 3n);
      }),
    ).toEqual([
      {
        erased: [],
        removed: [],
        put: [
          ['moby', 'bob'],
          ['ulysses', 'ada'],
        ],
        history: [
          ['moby', 'ada', 1n, false],
          ['moby', 'bob', 2n, false],
          ['ulysses', 'ada', 3n, false],
        ],
      },
    ]));

  it('keep the last change of an event that changes a row twice', () =>
    expect(
      finished((writes) => {
        writes.put(row('moby', 'ada'), 1n);
        writes.put(row('moby', 'bob'), 1n);
      })[0]?.history,
    ).toEqual([['moby', 'bob', 1n, false]]));

  it('keep the last change of an event that erases other rows in between', () =>
    expect(
      finished((writes) => {
        writes.put(row('ulysses', 'ada'), 0n);
        writes.put(row('moby', 'ada'), 1n);
        writes.erase({ team_id: team, reader: 'eve' });
        writes.put(row('moby', 'bob'), 1n);
      }).map(({ history }) => history),
    ).toEqual([[['ulysses', 'ada', 0n, false]], [['moby', 'bob', 1n, false]]]));

  it('remove a row that came and went, because it may have been there before', () =>
    expect(
      finished((writes) => {
        writes.put(row('moby', 'ada'), 1n);
        writes.remove(key('moby'), 2n);
      }),
    ).toEqual([
      {
        erased: [],
        removed: ['moby'],
        put: [],
        history: [
          ['moby', 'ada', 1n, false],
          ['moby', null, 2n, true],
        ],
      },
    ]));

  it('put a row that went and came', () =>
    expect(
      finished((writes) => {
        writes.remove(key('moby'), 1n);
        writes.put(row('moby', 'ada'), 2n);
      })[0],
    ).toMatchObject({ removed: [], put: [['moby', 'ada']] }));

  it('never carry out what was erased later in the batch, nor its history', () =>
    expect(
      finished((writes) => {
        writes.put(row('moby', 'ada'), 1n);
        writes.remove(key('moby'), 2n);
        writes.put(row('ulysses', 'ada'), 3n);
        writes.erase(key('moby'));
      }),
    ).toEqual([{ erased: [['moby']], removed: [], put: [['ulysses', 'ada']], history: [['ulysses', 'ada', 3n, false]] }]));

  it('put what came after its erasure', () =>
    expect(
      finished((writes) => {
        writes.erase(key('moby'));
        writes.put(row('moby', 'bob'), 2n);
      }),
    ).toEqual([{ erased: [['moby']], removed: [], put: [['moby', 'bob']], history: [['moby', 'bob', 2n, false]] }]));

  it('are carried out before an erasure by other columns than the key, which goes by what they leave', () =>
    expect(
      finished((writes) => {
        writes.put(row('moby', 'ada'), 1n);
        writes.erase({ team_id: team, reader: 'ada' });
        writes.erase({ team_id: team, reader: 'bob' });
        writes.put(row('moby', 'eve'), 3n);
      }).map(({ erased, put }) => ({ erased, put })),
    ).toEqual([
      { erased: [], put: [['moby', 'ada']] },
      { erased: [['ada'], ['bob']], put: [['moby', 'eve']] },
    ]));

  it('refuse an erasure by a column that the history does not hold, where it would leave rows', () => {
    const bare = table<{ team_id: string; book: string; reader: string }>({ ...loans, history: [] });
    const where = shapeOf(bare).where({ team_id: team, reader: 'ada' });
    expect(() => new TableWrites(shapeOf(bare)).erase(where)).toThrow(
      'loans is erased by team_id,reader, which its history does not hold',
    );
  });
});
