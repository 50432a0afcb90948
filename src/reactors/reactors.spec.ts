import {
  letterId,
  letterStream,
  letterTeams,
  canyonStream,
  copies,
  copyStream,
  echo,
  reminders,
} from '../../test/support/letters.js';
import { ReactorStage, stageLogId, until } from '../../test/support/reactor-stage.js';
import { newCommandId } from '../event-log/ids.js';
import type { Reactor } from './reactor.js';

const [team, otherTeam] = letterTeams;
const day = 86_400_000;

describe('reactors', () => {
  let stage: ReactorStage;
  beforeEach(async () => (stage = await ReactorStage.open()));
  afterEach(() => stage.close());

  const sent = (number: number, answerBy: Date = later(1), of: string = team) =>
    stage.write(letterStream(of, letterId(number)), {
      type: 'LetterSent',
      letter: letterId(number),
      answer_by: answerBy.toISOString(),
    });
  const answered = (number: number) =>
    stage.write(letterStream(team, letterId(number)), { type: 'LetterAnswered', letter: letterId(number) });
  const erased = (number: number) =>
    stage.write(letterStream(team, letterId(number)), { type: 'LetterErased', letter: letterId(number) });
  /** Days after the clock's beginning. */
  const start = new Date('2026-06-01T12:00:00Z').getTime();
  const later = (days: number) => new Date(start + days * day);
  const status = async (reactors: { status(): Promise<{ name: string }[]> }, name: string) =>
    (await reactors.status()).find((each) => each.name === name);

  describe('that append', () => {
    it('do so once for every event, in its team, as a link of its chain of causes', async () => {
      const running = await stage.started([copies]);
      await sent(1);
      await sent(2, later(1), otherTeam);
      await stage.settled(running);
      const events = await stage.events();
      const filed = events.filter(({ data }) => data.type === 'CopyFiled');
      expect(filed.map(({ streamId, team: of }) => [of, streamId])).toEqual([
        [team, letterId(1)],
        [otherTeam, letterId(2)],
      ]);
      expect(filed[0]?.metadata).toMatchObject({ causationDepth: 1, correlationId: 'letters', team, profile: undefined });
      expect(stage.outcomes).toEqual([
        ['copies', 'appended'],
        ['copies', 'appended'],
      ]);
    });

    it('react to what was there before they came', async () => {
      for (let number = 0; number < 30; number += 1) await sent(number);
      await stage.settled(await stage.started([copies]));
      expect(await stage.of('CopyFiled')).toHaveLength(30);
    });

    it('append nothing a second time when they begin anew', async () => {
      await sent(1);
      const first = await stage.started([copies]);
      await stage.settled(first);
      await first.stop();
      await stage.database.query('DELETE FROM mneme.reactors');
      await stage.settled(await stage.started([copies]));
      expect(await stage.of('CopyFiled')).toHaveLength(1);
      expect(stage.outcomes).toEqual([
        ['copies', 'appended'],
        ['copies', 'repeated'],
      ]);
    });

    it.each(['lost_request', 'lost_answer', 'unreachable', 'unreadable_after'] as const)(
      'append once when the log has trouble: %s',
      async (fault) => {
        stage.log.next(fault, fault);
        const running = await stage.started([copies]);
        for (const number of [1, 2, 3]) await sent(number);
        await stage.settled(running);
        expect((await stage.of('CopyFiled')).map(({ letter }) => letter)).toEqual([1, 2, 3].map(letterId));
        expect((await status(running, 'copies')) as object).toMatchObject({ state: 'caught_up', lastError: null });
      },
    );

    it('end a chain of causes that goes round in circles, and say so', async () => {
      const running = await stage.started([echo]);
      await stage.write(canyonStream(team, letterId(1)), { type: 'Called', canyon: letterId(1) });
      await stage.settled(running);
      expect((await stage.events()).map(({ metadata }) => metadata.causationDepth)).toEqual([0, 1, 2, 3, 4, 5]);
      expect(stage.outcomes.map(([, outcome]) => outcome)).toEqual([...Array<string>(5).fill('appended'), 'dropped']);
      expect(stage.warnings).toEqual([expect.objectContaining({ reactor: 'echo', depth: 6, correlation_id: 'letters' })]);
    });

    it('go on where they were, and not from the beginning', async () => {
      await sent(1);
      const first = await stage.started([copies]);
      await stage.settled(first);
      await first.stop();
      await sent(2);
      await stage.settled(await stage.started([copies]));
      expect(stage.outcomes.map(([, outcome]) => outcome)).toEqual(['appended', 'appended']);
    });
  });

  describe('that wait for read models', () => {
    it('react only once these have passed the event', async () => {
      const seen: { event: bigint; readModels: bigint }[] = [];
      const waiting: Reactor = {
        ...copies,
        facts: async (queries, { events }) => {
          const [row] = await queries.query<{ position: bigint }>('SELECT position FROM mneme.projection_group');
          for (const { position } of events) seen.push({ event: position, readModels: row?.position ?? -1n });
        },
      };
      const running = await stage.started([waiting]);
      for (let number = 1; number <= 20; number += 1) await sent(number);
      await stage.settled(running);
      expect(seen).toHaveLength(20);
      expect(seen.filter(({ event, readModels }) => readModels < event)).toEqual([]);
    });

    it('do nothing as long as these stand still, and say why', async () => {
      await stage.engine.stop();
      await sent(1);
      const running = await stage.started([copies]);
      await until(async () => (await running.status())[0]?.lastError === 'read_models_behind');
      expect(await stage.of('CopyFiled')).toEqual([]);
      await stage.engine.start();
      await stage.settled(running);
      expect(await stage.of('CopyFiled')).toHaveLength(1);
    });
  });

  describe('with timers', () => {
    it('do what is due, and not before', async () => {
      const running = await stage.started([reminders]);
      await sent(1, later(1));
      await sent(2, later(3));
      await stage.settled(running);
      expect(await stage.of('ReminderSent')).toEqual([]);
      expect(await stage.timers()).toEqual([
        { key: letterId(1), due: later(1) },
        { key: letterId(2), due: later(3) },
      ]);
      stage.clock.set(later(1));
      await stage.settled(running);
      expect(await stage.of('ReminderSent')).toEqual([
        { type: 'ReminderSent', letter: letterId(1), due: later(1).toISOString() },
      ]);
    });

    it('find a due timer by themselves, without being woken', async () => {
      await stage.started([reminders]);
      await sent(1, later(1));
      await until(async () => (await stage.timers()).length === 1);
      stage.clock.set(later(1));
      await until(async () => (await stage.of('ReminderSent')).length === 1);
    });

    it('set a timer again for a later moment, each of which has an effect of its own', async () => {
      const running = await stage.started([reminders]);
      await sent(1, later(1));
      await stage.settled(running);
      for (const days of [1, 2, 3, 4]) {
        stage.clock.set(later(days));
        await stage.settled(running);
      }
      expect((await stage.of('ReminderSent')).map(({ due }) => due)).toEqual([1, 2, 3].map((days) => later(days).toISOString()));
      expect((await stage.events()).map(({ metadata }) => metadata.causationDepth)).toEqual([0, 1, 1, 1]);
      expect(stage.outcomes.map(([, outcome]) => outcome)).toEqual(['appended', 'appended', 'appended', 'unchanged']);
    });

    it('make up for all that fell due while nobody looked', async () => {
      const first = await stage.started([reminders]);
      await sent(1, later(1));
      await stage.settled(first);
      await first.stop();
      stage.clock.set(later(10));
      await stage.settled(await stage.started([reminders]));
      expect(await stage.of('ReminderSent')).toHaveLength(3);
    });

    it('cancel them', async () => {
      const running = await stage.started([reminders]);
      await sent(1, later(1));
      await stage.settled(running);
      await answered(1);
      await stage.settled(running);
      expect(await stage.timers()).toEqual([]);
      stage.clock.set(later(2));
      await stage.settled(running);
      expect(await stage.of('ReminderSent')).toEqual([]);
    });

    it('lose those of an erased memory, which their reactor need not know of', async () => {
      const running = await stage.started([reminders]);
      await sent(1, later(1));
      await sent(2, later(1));
      await stage.settled(running);
      await erased(1);
      await stage.settled(running);
      expect((await stage.timers()).map(({ key }) => key)).toEqual([letterId(2)]);
    });

    it('drop what its stream refuses by then', async () => {
      const deaf: Reactor = { ...reminders, eventTypes: ['LetterSent'] };
      const running = await stage.started([deaf]);
      await sent(1, later(1));
      await answered(1);
      await stage.settled(running);
      stage.clock.set(later(1));
      await stage.settled(running);
      expect(await stage.of('ReminderSent')).toEqual([]);
      expect(stage.outcomes).toEqual([['reminders', 'refused']]);
    });

    it.each(['lost', 'lost_answer'] as const)(
      'have one effect each, cut short between the append and the removal of the timer: %s',
      async (fault) => {
        const running = await stage.started([reminders]);
        for (const number of [1, 2, 3]) await sent(number, later(1));
        await stage.settled(running);
        stage.database.next(fault, fault);
        stage.clock.set(later(1));
        await stage.settled(running);
        expect((await stage.of('ReminderSent')).map(({ letter }) => letter)).toEqual([1, 2, 3].map(letterId));
        expect((await stage.timers()).map(({ due }) => due)).toEqual([later(2), later(2), later(2)]);
      },
    );

    it.each(['lost', 'lost_answer'] as const)('set every timer, cut short while they are written: %s', async (fault) => {
      stage.database.next(fault, fault);
      const running = await stage.started([reminders]);
      for (const number of [1, 2, 3]) await sent(number, later(1));
      await stage.settled(running);
      expect((await stage.timers()).map(({ key }) => key)).toEqual([1, 2, 3].map(letterId));
    });

    it('keep one that stands for the same moment, with its cause', async () => {
      const running = await stage.started([reminders]);
      await sent(1, later(1));
      await stage.settled(running);
      const causes = () => stage.database.query('SELECT cause_id FROM mneme.due_timers');
      const before = await causes();
      await sent(1, later(1));
      await stage.settled(running);
      expect(await causes()).toEqual(before);
    });
  });

  describe('that meet what they cannot handle', () => {
    const clumsy = (over: Partial<Reactor>): Reactor => ({ ...reminders, name: 'clumsy', ...over });
    const stumbling = new Error('with words of the event, which nobody may see');

    it('stop there and say why, and the others go on', async () => {
      const poisonous = clumsy({
        react: (event, facts) => {
          if (event.streamId === letterId(2)) throw stumbling;
          return reminders.react(event, facts);
        },
      });
      const running = await stage.started([poisonous, copies]);
      await sent(1);
      const position = await sent(2);
      await sent(3);
      await stage.settled(running);
      await until(async () => (await stage.of('CopyFiled')).length === 3);
      expect(await status(running, 'clumsy')).toMatchObject({
        state: 'stopped',
        lastError: `Error, at LetterSent in position ${position}`,
      });
      expect((await stage.timers()).map(({ key }) => key)).toEqual([letterId(1)]);
      expect(await status(running, 'copies')).toMatchObject({ state: 'caught_up', lastError: null });
      expect(JSON.stringify(stage.warnings)).not.toContain('words');
    });

    it('try again when they start anew', async () => {
      const broken = clumsy({
        react: () => {
          throw stumbling;
        },
      });
      const first = await stage.started([broken]);
      await sent(1);
      await stage.settled(first);
      await first.stop();
      expect(await status(first, 'clumsy')).toMatchObject({ state: 'stopped' });
      const mended = await stage.started([clumsy({})]);
      await until(async () => (await mended.status())[0]?.state === 'caught_up');
      expect(await status(mended, 'clumsy')).toMatchObject({ lastError: null });
      expect(await stage.timers()).toHaveLength(1);
    });

    it('stop at a timer too, once those that were due with it are done', async () => {
      const poisonous = clumsy({
        due: (timer, facts, now) => {
          if (timer.key === letterId(2)) throw stumbling;
          return reminders.due(timer, facts, now);
        },
      });
      const running = await stage.started([poisonous]);
      for (const number of [1, 2]) await sent(number, later(number / 10));
      await stage.settled(running);
      stage.clock.set(later(1));
      await until(async () => (await status(running, 'clumsy')) !== undefined && (await stage.of('ReminderSent')).length === 1);
      await until(async () => ((await running.status())[0]?.state ?? '') === 'stopped');
      expect(await status(running, 'clumsy')).toMatchObject({ lastError: `Error, at a timer due ${later(0.2).toISOString()}` });
    });

    it.each<[string, Partial<Reactor>]>([
      [
        'two commands on one stream for one cause',
        {
          react: ({ team: of, streamId }) =>
            [1, 2].map(() => ({ do: 'run', stream: copyStream(of, streamId), order: undefined })),
        },
      ],
      [
        'an event that cannot be stored',
        { react: (event) => copies.react(event, undefined), decide: () => [{ type: 'CopyFiled', letter: 1n } as never] },
      ],
      [
        'a timer without an end to its key',
        { react: () => [{ do: 'set_timer', key: 'x'.repeat(201), memory: letterId(1), dueAt: later(1) }] },
      ],
    ])('stop at a defect: %s', async (_, defect) => {
      const running = await stage.started([clumsy(defect)]);
      await sent(1);
      await stage.settled(running);
      expect(await status(running, 'clumsy')).toMatchObject({ state: 'stopped' });
    });

    it('do not take an event for the culprit when the database lacks what is being built', async () => {
      const early = clumsy({ facts: (queries) => queries.query('SELECT a_column_to_come FROM mneme.projection_group') });
      const running = await stage.started([early]);
      await sent(1);
      await until(async () => ((await running.status())[0]?.lastError ?? '').startsWith('database_failure'));
      expect(await status(running, 'clumsy')).toMatchObject({ state: 'catching_up' });
    });
  });

  describe('of which one process runs each', () => {
    it('stand by where they are not elected, and come when they are', async () => {
      let elected = false;
      const standing = stage.reactors([copies]);
      await standing.start(() => elected);
      await sent(1);
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect(await stage.of('CopyFiled')).toEqual([]);
      elected = true;
      await until(async () => (await stage.of('CopyFiled')).length === 1);
      elected = false;
      await new Promise((resolve) => setTimeout(resolve, 100));
      await sent(2);
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect(await stage.of('CopyFiled')).toHaveLength(1);
    });

    it('show the same status wherever they are asked', async () => {
      const running = await stage.started([reminders]);
      const standing = stage.reactors([reminders]);
      await standing.start(() => false);
      await sent(1, later(1));
      await stage.settled(running);
      stage.clock.set(later(1.5));
      await until(async () => (await stage.of('ReminderSent')).length === 1);
      await until(async () => (await standing.status())[0]?.state === 'caught_up');
      expect(await standing.status()).toEqual([
        {
          name: 'reminders',
          state: 'caught_up',
          position: 1n,
          head: 1n,
          lag: { positions: 0n, seconds: 0 },
          timers: { set: 1, overdueSeconds: 0 },
          lastError: null,
        },
      ]);
    });
  });

  describe('whose checkpoint does not fit the log', () => {
    const refused = (message: string) =>
      expect(stage.reactors([copies]).start()).rejects.toMatchObject({
        code: 'log_mismatch',
        message: expect.stringContaining(message) as string,
      });
    const checkpoint = (logId: string, position: number) =>
      stage.database.query(`INSERT INTO mneme.reactors VALUES ('copies', '${logId}', ${position}, 1)`);

    it('do not start on another log', async () => {
      const other = newCommandId();
      await checkpoint(other, 0);
      await refused(`follows the event log ${other}`);
    });

    it('do not start beyond the head, because the log was restored to an earlier moment', async () => {
      await sent(1);
      await checkpoint(stageLogId, 1);
      await refused('stands at position 1, but the event log ends at 0');
    });
  });

  it('have names of their own, which can be part of an id', () => {
    expect(() => stage.reactors([copies, copies])).toThrow('two reactors have one name');
    expect(() => stage.reactors([{ ...copies, name: 'Of Copies' }])).toThrow('no name for a reactor');
  });
});
