import { ProjectionEngine } from '../../projections/engine/projection-engine.js';
import { copies, letterId, letterStream, letterTeams, reminders } from '../../test/support/letters.js';
import { ReactorStage, stageLogId, until } from '../../test/support/reactor-stage.js';
import { Database } from '../database/database.js';

const [team] = letterTeams;
const dueAt = new Date('2026-06-02T12:00:00Z');

describe('several processes with the same reactors', () => {
  let stage: ReactorStage;
  beforeEach(async () => (stage = await ReactorStage.open()));
  afterEach(() => stage.close());

  const sent = (number: number) =>
    stage.write(letterStream(team, letterId(number)), {
      type: 'LetterSent',
      letter: letterId(number),
      answer_by: dueAt.toISOString(),
    });
  const doubled = (letters: readonly { letter: string }[]) =>
    letters.map(({ letter }) => letter).filter((letter, index, all) => all.indexOf(letter) !== index);

  it('that all take themselves for the one do not double an event, nor lose one', async () => {
    const letters = 120;
    const all = [];
    for (let each = 0; each < 3; each += 1) all.push(await stage.started([copies, reminders], { standbyMs: 5 }));
    await Promise.all(Array.from({ length: letters }, (_, number) => sent(number)));
    await until(async () => (await stage.of('CopyFiled')).length >= letters, 60_000);
    await until(async () => (await stage.timers()).length === letters, 60_000);
    stage.clock.set(dueAt);
    for (const each of all) each.wake();
    await until(async () => (await stage.of('ReminderSent')).length >= letters, 60_000);
    for (const each of all) await stage.settled(each);
    const [filed, reminded] = [await stage.of('CopyFiled'), await stage.of('ReminderSent')];
    expect([filed.length, doubled(filed)]).toEqual([letters, []]);
    expect([reminded.length, doubled(reminded)]).toEqual([letters, []]);
    expect((await stage.timers()).map(({ due }) => due.toISOString())).toEqual(
      Array<string>(letters).fill('2026-06-03T12:00:00.000Z'),
    );
    // They really took it from each other.
    const [row] = await stage.database.query<{ epoch: bigint }>(`SELECT epoch FROM mneme.reactors WHERE name = 'copies'`);
    expect(row?.epoch).toBeGreaterThan(3n);
  }, 180_000);

  it('run them where the read models are projected, and another takes over when that process dies', async () => {
    await stage.engine.stop();
    const { url } = stage.database;
    const { codec, log } = stage;
    const processes = [];
    for (const name of ['first', 'second']) {
      const database = new Database(url, false, 5);
      const engine = new ProjectionEngine({ database, log, codec, logId: stageLogId, projections: [], leaseMs: 500 });
      await engine.start();
      const reactors = stage.reactors([copies, reminders], { database, readModels: engine });
      await reactors.start(() => engine.projects);
      processes.push({ name, database, engine, reactors });
    }
    const [first, second] = processes;
    if (!first || !second) throw new Error('there are two');
    await sent(1);
    await until(async () => (await stage.timers()).length === 1 && (await stage.of('CopyFiled')).length === 1);
    expect([first.engine.projects, second.engine.projects]).toEqual([true, false]);
    // Dead to the database: it cannot say any more that it is alive.
    await first.database.close();
    await sent(2);
    await until(async () => (await stage.of('CopyFiled')).length === 2, 20_000);
    stage.clock.set(dueAt);
    second.reactors.wake();
    await until(async () => (await stage.of('ReminderSent')).length === 2, 20_000);
    expect(second.engine.projects).toBe(true);
    expect(doubled(await stage.of('CopyFiled'))).toEqual([]);
    for (const { reactors, engine } of processes) {
      await reactors.stop();
      await engine.stop();
    }
    await second.database.close();
  }, 60_000);
});
