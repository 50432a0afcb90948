import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../src/database/database.js';
import { freshDatabase } from '../../test/support/database.js';
import { erased, extended, lent, loanId, teams, type LoanEvent } from '../../test/support/library.js';
import { request } from '../../test/support/operator.js';
import { emptyLog, Stage } from '../../test/support/projections.js';
import { erase, projection, put, table } from './projection.js';

type NoteRow = {
  team_id: string;
  loan_id: string;
  position: bigint;
  contract: string | null;
  embedding: string | null;
};
const notes = table<NoteRow>({
  name: 'notes',
  columns: { team_id: 'uuid', loan_id: 'uuid', position: 'int8', contract: 'text', embedding: 'vector' },
  key: ['team_id', 'loan_id'],
  operational: ['contract', 'embedding'],
  embeds: 'loan_id',
});
const noteProjection = projection<Exclude<LoanEvent, { type: 'ReaderLeft' }>>({
  name: 'notes',
  version: 1,
  eventTypes: ['BookLent', 'LoanExtended', 'LoanErased'],
  needsContent: false,
  tables: [notes],
  load: () => [],
  changes: ({ team, position, data: { type, loan_id } }) =>
    type === 'LoanErased'
      ? [erase(notes, { team_id: team, loan_id })]
      : [put(notes, { team_id: team, loan_id, position, contract: null, embedding: null })],
});

describe('rows that carry a vector', () => {
  let database: Database;
  let stage: Stage;
  beforeAll(async () => (database = await freshDatabase()));
  afterAll(() => database.close());
  beforeEach(async () => {
    await emptyLog(database);
    await database.query('TRUNCATE mneme.vector_cache');
    stage = new Stage(database);
  });
  afterEach(() => stage.end());

  const remember = (loan: number, contract: string, vector: string, team: string = teams[0]) =>
    database.query(
      `INSERT INTO mneme.vector_cache (team_id, content_hmac, contract, memory_id, embedding) VALUES ($1, $2, $3, $4, $5)`,
      [team, `hmac of ${loan}`, contract, loanId(loan), vector],
    );
  const rows = () =>
    database.query<{ loan_id: string; contract: string; embedding: string }>(
      'SELECT loan_id, contract, embedding FROM mneme_read.notes ORDER BY loan_id',
    );

  it('get one that was made before, of the contract in use and of their own team', async () => {
    await remember(1, 'words:2', '[1,0]');
    await remember(1, 'other:2', '[0,1]');
    await remember(2, 'words:2', '[0,1]', teams[1]);
    await stage.library.record(lent(1), lent(2));
    await stage.projected([noteProjection], { embeddingContract: 'words:2' });
    expect(await rows()).toEqual([
      { loan_id: loanId(1), contract: 'words:2', embedding: '[1,0]' },
      { loan_id: loanId(2), contract: null, embedding: null },
    ]);
  });

  it('keep it when the row changes', async () => {
    const engine = await stage.projected([noteProjection], { embeddingContract: 'words:2' });
    await stage.library.record(lent(1));
    await stage.level(engine);
    await database.query(`UPDATE mneme_read.notes SET contract = 'words:2', embedding = '[1,1]'`);
    await stage.library.record(extended(1));
    await stage.level(engine);
    expect(await rows()).toEqual([{ loan_id: loanId(1), contract: 'words:2', embedding: '[1,1]' }]);
  });

  it('get it again when the read model is rebuilt, without the model', async () => {
    await remember(1, 'words:2', '[1,0]');
    await stage.library.record(lent(1));
    let batches = 0;
    const engine = await stage.projected([noteProjection], { embeddingContract: 'words:2', onBatch: () => batches++ });
    batches = 0;
    await engine.rebuild('notes');
    expect(await rows()).toEqual([{ loan_id: loanId(1), contract: 'words:2', embedding: '[1,0]' }]);
    expect(batches).toBeGreaterThan(0); // whoever makes the missing ones is told
  });

  describe('of a build that is kept beside the one that serves', () => {
    /** As the embedding worker does: the cache, then the row of the build that serves. */
    const embed = async (loan: number, vector: string) => {
      await remember(loan, 'words:2', vector);
      await database.query(`UPDATE mneme_read.notes SET contract = 'words:2', embedding = $2 WHERE loan_id = $1`, [
        loanId(loan),
        vector,
      ]);
    };
    const three = [1, 2, 3].map((loan) => ({ loan_id: loanId(loan), contract: 'words:2', embedding: `[${loan},0]` }));

    it('are as complete as those of the one it takes the place of, at a switch and at a rollback', async () => {
      await stage.library.record(lent(1));
      // Nobody looks after the builds in between: the switch alone must do.
      const engine = await stage.projected([noteProjection], { embeddingContract: 'words:2', tendMs: 60_000 });
      await embed(1, '[1,0]');
      await engine.rebuild('notes');
      await stage.library.record(lent(2));
      await stage.level(engine);
      await embed(2, '[2,0]');
      await engine.rollback('notes', request());
      expect(await rows()).toEqual(three.slice(0, 2));
      await engine.rebuild('notes', { hold: true });
      await stage.library.record(lent(3));
      await stage.level(engine);
      await embed(3, '[3,0]');
      await engine.switch('notes', request());
      expect(await rows()).toEqual(three);
    });

    it('are brought along while it is kept', async () => {
      await stage.library.record(lent(1));
      const engine = await stage.projected([noteProjection], { embeddingContract: 'words:2', tendMs: 10 });
      await engine.rebuild('notes');
      await embed(1, '[1,0]');
      const kept = () => database.query<{ embedding: string | null }>('SELECT embedding FROM mneme_notes_1_1.notes');
      for (let tries = 0; tries < 200 && (await kept())[0]?.embedding === null; tries++) await sleep(10);
      expect(await kept()).toEqual([{ embedding: '[1,0]' }]);
    });

    it('of another model are replaced by those of the model in use', async () => {
      await stage.library.record(lent(1));
      const before = await stage.projected([noteProjection], { embeddingContract: 'old:2' });
      await database.query(`UPDATE mneme_read.notes SET contract = 'old:2', embedding = '[9,9]'`);
      await before.rebuild('notes');
      await before.stop();
      await database.query(`UPDATE mneme_notes_1_1.notes SET contract = 'old:2', embedding = '[9,9]'`);
      const engine = await stage.projected([noteProjection], { embeddingContract: 'words:2' });
      await embed(1, '[1,0]');
      await engine.rollback('notes', request());
      expect(await rows()).toEqual(three.slice(0, 1));
    });

    it('do not come back when the memory was erased', async () => {
      await stage.library.record(lent(1), lent(2));
      const engine = await stage.projected([noteProjection], { embeddingContract: 'words:2' });
      await embed(1, '[1,0]');
      await embed(2, '[2,0]');
      await engine.rebuild('notes');
      await stage.library.record(erased(1));
      await stage.level(engine);
      await engine.rollback('notes', request());
      expect(await rows()).toEqual(three.slice(1, 2));
    });
  });

  it('have none without a contract', async () => {
    await remember(1, 'words:2', '[1,0]');
    await stage.library.record(lent(1));
    await stage.projected([noteProjection]);
    expect(await rows()).toEqual([{ loan_id: loanId(1), contract: null, embedding: null }]);
  });

  it('go with it when they are erased in the batch that made them', async () => {
    await remember(1, 'words:2', '[1,0]');
    await stage.library.record(lent(1), erased(1));
    await stage.projected([noteProjection], { embeddingContract: 'words:2' });
    expect(await rows()).toEqual([]);
  });

  it('need the columns for it', () =>
    expect(() =>
      table({ name: 'notes', columns: { team_id: 'uuid', loan_id: 'uuid' }, key: ['team_id'], embeds: 'loan_id' }),
    ).toThrow('notes: a table whose rows carry a vector has a column contract'));
});
