import fc from 'fast-check';
import { PendingHistory } from './pending-history.js';
import { table } from './projection.js';
import { shapeOf } from './table-shape.js';

const team = '00000000-0000-4000-8000-00000000000a';
const shape = shapeOf(
  table<{ team_id: string; shelf: string; book: string }>({
    name: 'places',
    columns: { team_id: 'uuid', shelf: 'text', book: 'text' },
    key: ['team_id', 'shelf', 'book'],
    history: [],
  }),
);

type Step = { readonly add: [shelf: string, book: string, events: number] } | { readonly erase: string };

const name = fc.constantFrom('a', 'b', 'c');
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.tuple(name, name, fc.nat(1)).map((add) => ({ add })) },
  name.map((erase) => ({ erase })),
);

describe('the history a batch is to write', () => {
  it('is one row for each row and event, the last, of what was not erased later', () =>
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const history = new PendingHistory();
        let expected: { id: string; position: bigint; shelf: string; removed: boolean }[] = [];
        let position = 0n;
        for (const [index, one] of steps.entries()) {
          if ('erase' in one) {
            history.deleteMatching(shape.where({ team_id: team, shelf: one.erase }));
            expected = expected.filter(({ shelf }) => shelf !== one.erase);
            continue;
          }
          const [shelf, book, events] = one.add;
          position += BigInt(events);
          const row = { team_id: team, shelf, book };
          const added = { id: shape.id(row), position, shelf, removed: index % 2 === 0 };
          history.add(added.id, { row, position, removed: added.removed });
          expected = [...expected.filter(({ id, position: at }) => id !== added.id || at !== position), added];
        }
        expect(history.size).toBe(expected.length);
        expect(history.values().map(({ row, position: at, removed }) => [shape.id(row), at, removed])).toEqual(
          expected.map(({ id, position: at, removed }) => [id, at, removed]),
        );
      }),
    ));
});
