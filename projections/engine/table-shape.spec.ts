import fc from 'fast-check';
import { table } from './projection.js';
import { normalised, shapeOf, valuesId } from './table-shape.js';

const loans = table<{ team_id: string; reader: string; shelf: string | null; lent: bigint; due: Date; contract: string | null }>({
  name: 'loans',
  columns: { team_id: 'uuid', reader: 'text', shelf: 'text', lent: 'int8', due: 'timestamptz', contract: 'text' },
  nullable: ['shelf'],
  key: ['team_id', 'reader'],
  operational: ['contract'],
});
const team = '00000000-0000-4000-8000-00000000000a';

describe('the shape of a table', () => {
  const shape = shapeOf(loans);

  it('leaves operational columns out of rows', () =>
    expect(shape.row({ team_id: team, reader: 'ada', shelf: null, lent: 1n, due: new Date(0), contract: 'x' })).toEqual({
      team_id: team,
      reader: 'ada',
      shelf: null,
      lent: 1n,
      due: new Date(0),
    }));

  it('refuses a row without one of its columns, naming both', () =>
    expect(() => shape.row({ team_id: team, reader: 'ada' })).toThrow('a row for loans has no shelf'));

  it('refuses to name rows by null, which equals nothing', () =>
    expect(() => shape.where({ team_id: team, shelf: null })).toThrow('rows of loans are named by a shelf that is null'));

  it('refuses to name rows by a column that is not the projection’s', () =>
    expect(() => shape.where({ team_id: team, contract: 'x' })).toThrow('loans has no column contract to name rows by'));

  it('takes the same values in another order and spelling for the same rows', () => {
    const one = shape.where({ team_id: team, lent: 7n });
    const other = shape.where({ lent: 7, team_id: team.toUpperCase() });
    expect([other.columnsId, other.id]).toEqual([one.columnsId, one.id]);
  });

  it('sorts by key', () => {
    const rows = ['b', 'a', 'ä', 'B'].map((reader) => ({ team_id: team, reader }));
    expect(rows.sort(shape.byKey).map(({ reader }) => reader)).toEqual(['B', 'a', 'b', 'ä']);
  });
});

describe('values in comparable form', () => {
  it('replace what text cannot hold', () => expect(normalised('text', 'a\0b\ud800c😀')).toBe('a\ufffdb\ufffdc😀'));

  it('have equal ids exactly when they are equal', () => {
    const text = fc.oneof(fc.constant(null), fc.constantFrom('', 'null', '1', 'a'), fc.string({ unit: 'binary' }));
    const values = fc.tuple(text, text).map((pair) => pair.map((value) => normalised('text', value)));
    fc.assert(
      fc.property(values, values, (one, other) => {
        expect(valuesId(one) === valuesId(other)).toBe(one[0] === other[0] && one[1] === other[1]);
      }),
    );
  });
});

describe('a declared table', () => {
  const columns = { team_id: 'uuid', id: 'uuid', position: 'int8' } as const;

  it('has keys that begin with the team', () =>
    expect(() => table({ name: 'loans', columns, key: ['id'] })).toThrow('loans: keys and indexes begin with team_id'));

  it('has indexes that begin with the team', () =>
    expect(() => table({ name: 'loans', columns, key: ['team_id', 'id'], indexes: [['id']] })).toThrow('begin with team_id'));

  it('has a name that can stand in SQL', () =>
    expect(() => table({ name: 'Loans"', columns, key: ['team_id'] })).toThrow('no name for a table or a column'));

  it('leaves the position to the history table', () =>
    expect(() => table({ name: 'loans', columns, key: ['team_id', 'id'], history: ['position'] })).toThrow(
      'the history table has a column position of its own',
    ));
});
