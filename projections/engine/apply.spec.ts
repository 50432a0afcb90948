import { freshDatabase } from '../../test/support/database.js';
import { rowsOf } from '../../test/support/projections.js';
import { recorded } from '../../test/support/recorded.js';
import type { Database } from '../../src/database/database.js';
import { applyEvents } from './apply.js';
import { erase, lookup, projection, put, remove, table, type Change, type Projection } from './projection.js';
import { createSchema, dropSchema } from './schema-sql.js';

const team = '00000000-0000-4000-8000-00000000000a';
const schema = 'mneme_apply_1_1';

type ClubEvent =
  | { type: 'Joined'; club: string; member: string }
  | { type: 'Moved'; member: string; town: string }
  | { type: 'Dissolved'; town: string }
  | { type: 'Forgotten'; town: string };

type Membership = { team_id: string; club: string; member: string };
type Club = { team_id: string; club: string; moves: number };
type Home = { team_id: string; member: string; town: string };
const memberships = table<Membership>({
  name: 'memberships',
  columns: { team_id: 'uuid', club: 'text', member: 'text' },
  key: ['team_id', 'club', 'member'],
});
const clubs = table<Club>({ name: 'clubs', columns: { team_id: 'uuid', club: 'text', moves: 'int4' }, key: ['team_id', 'club'] });
const homes = table<Home>({
  name: 'homes',
  columns: { team_id: 'uuid', member: 'text', town: 'text' },
  key: ['team_id', 'member'],
  history: ['town'],
  indexes: [['team_id', 'town']],
});

/** A member's move counts for all clubs of the member, which only the memberships name. */
const clubProjection: Projection = projection<ClubEvent>({
  name: 'clubs',
  version: 1,
  eventTypes: ['Joined', 'Moved', 'Dissolved', 'Forgotten'],
  needsContent: false,
  tables: [memberships, clubs, homes],
  load: (events) =>
    events.flatMap(({ data }) => {
      switch (data.type) {
        case 'Joined':
          return [];
        case 'Moved':
          return [lookup(memberships, { team_id: team, member: data.member })];
        case 'Dissolved':
        case 'Forgotten':
          return [lookup(homes, { team_id: team, town: data.town })];
        default:
          return data satisfies never;
      }
    }),
  follow: ({ data }, rows) =>
    data.type === 'Moved'
      ? rows.find(memberships, { team_id: team, member: data.member }).map(({ club }) => lookup(clubs, { team_id: team, club }))
      : [],
  changes({ data }, rows): Change[] {
    switch (data.type) {
      case 'Joined':
        return [put(memberships, { team_id: team, club: data.club, member: data.member })];
      case 'Moved':
        return [
          ...rows.find(memberships, { team_id: team, member: data.member }).map(({ club }) => {
            const moves = rows.get(clubs, { team_id: team, club })?.moves ?? 0;
            return put(clubs, { team_id: team, club, moves: moves + 1 });
          }),
          put(homes, { team_id: team, member: data.member, town: data.town }),
        ];
      case 'Dissolved':
        return rows.find(homes, { team_id: team, town: data.town }).map(({ member }) => remove(homes, { team_id: team, member }));
      case 'Forgotten':
        return [erase(homes, { team_id: team, town: data.town })];
      default:
        return data satisfies never;
    }
  },
});

const joined = (club: string, member: string): ClubEvent => ({ type: 'Joined', club, member });
const moved = (member: string, town: string): ClubEvent => ({ type: 'Moved', member, town });

describe('applying events to a read model', () => {
  let database: Database;
  beforeAll(async () => (database = await freshDatabase()));
  afterAll(() => database.close());

  const rowsAfter = async (events: ClubEvent[], batch: number, reads: Projection = clubProjection) => {
    await database.asOwner((queries) => queries.execute(`${dropSchema(schema)}; ${createSchema(schema, reads)}`));
    const all = events.map((event, index) => recorded(event, BigInt(index)));
    for (let from = 0; from < all.length; from += batch) {
      await database.as('mneme_projector', (queries) =>
        applyEvents(queries, { projection: reads, schema, embeddingContract: undefined }, all.slice(from, from + batch)),
      );
    }
    return rowsOf(database, reads, schema);
  };

  const story = [
    joined('chess', 'ada'),
    moved('ada', 'Turin'),
    joined('rowing', 'ada'),
    joined('chess', 'bob'),
    moved('bob', 'Turin'),
    moved('ada', 'Lyon'),
  ];

  it.each([1, 2, 6])('reaches rows through rows that the batch itself makes, in batches of %i', async (batch) => {
    const { clubs, homes } = await rowsAfter(story, batch);
    expect(clubs).toEqual([
      { team_id: team, club: 'chess', moves: 3 },
      { team_id: team, club: 'rowing', moves: 1 },
    ]);
    expect(homes?.map(({ member, town }) => [member, town])).toEqual([
      ['ada', 'Lyon'],
      ['bob', 'Turin'],
    ]);
  });

  it.each([1, 7])(
    'erases by a column beside the key, in history with the removal that followed, in batches of %i',
    async (batch) => {
      const { homes, homes_history } = await rowsAfter(
        [
          moved('ada', 'Lyon'),
          moved('ada', 'Turin'),
          moved('bob', 'Turin'),
          { type: 'Dissolved', town: 'Turin' },
          { type: 'Forgotten', town: 'Turin' },
        ],
        batch,
      );
      expect(homes).toEqual([]);
      expect(homes_history?.map(({ member, town }) => [member, town])).toEqual([['ada', 'Lyon']]);
    },
  );

  it.each([1, 7])('keeps what was put after an erasure, in batches of %i', async (batch) => {
    const { homes, homes_history } = await rowsAfter(
      [moved('ada', 'Turin'), { type: 'Forgotten', town: 'Turin' }, moved('ada', 'Turin')],
      batch,
    );
    expect(homes).toEqual([{ team_id: team, member: 'ada', town: 'Turin' }]);
    expect(homes_history?.map(({ position }) => position)).toEqual([2n]);
  });

  it('refuses a projection that reads what it did not ask for, whatever happens to be in the batch', async () => {
    const careless = { ...clubProjection, load: () => [], follow: () => [] };
    const failing = rowsAfter([moved('ada', 'Lyon')], 1, careless);
    await expect(failing).rejects.toMatchObject({
      code: 'projection_defect',
      message: 'rows of memberships by team_id,member were not loaded for this event',
    });
  });

  it('refuses changes of a table that is another projection’s', async () => {
    const greedy: Projection = { ...clubProjection, tables: [memberships, clubs] };
    await expect(rowsAfter([moved('ada', 'Lyon')], 1, greedy)).rejects.toThrow('clubs does not own the table homes');
  });
});
