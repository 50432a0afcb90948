import type { Queries } from '../../src/database/database.js';
import { sentBy } from '../../test/support/plans.js';
import { findCandidates, getProcedure, listProcedures } from './procedure-queries.js';
import { findCandidatesAsOf } from './procedure-queries-as-of.js';

const team = '00000000-0000-4000-8000-00000000000a';
const search = { team, scope: 'default', intent: undefined, contract: 'test', vector: [1], pool: 50 };
const filter = { team, scope: undefined, status: undefined, intent: undefined, before: undefined, limit: 50 };
const ofThePast = /_history|\.moments|\.event_refs/;

const ofNow: readonly [name: string, query: (queries: Queries) => Promise<unknown>][] = [
  ['a recall', (queries: Queries) => findCandidates(queries, search)],
  ['one procedure', (queries: Queries) => getProcedure(queries, { team, procedure: team })],
  ['a list', (queries: Queries) => listProcedures(queries, filter)],
];

describe('queries of now', () => {
  it.each(ofNow)('for %s never read what is kept for the past', async (_, query) => {
    const sent = await sentBy((database) => database.asTeam(team, query));
    expect(sent).toHaveLength(1);
    for (const { sql } of sent) expect(sql).not.toMatch(ofThePast);
  });

  it('differ in that from queries of the past', async () => {
    const [sent] = await sentBy((database) => database.asTeam(team, (queries) => findCandidatesAsOf(queries, search, 7n)));
    expect(sent?.sql).toMatch(ofThePast);
  });
});
