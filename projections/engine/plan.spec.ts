import { duesProjection, shelfProjection } from '../../test/support/library.js';
import type { Build } from './builds.js';
import { Declared } from './declared.js';
import { tasksOf, type Situation } from './plan.js';

const serving: Build = {
  name: 'dues',
  version: 1,
  build: 1,
  schema: 'mneme_dues_1_1',
  state: 'active',
  role: 'serving',
  position: null,
  lastError: null,
  failedPosition: null,
  filler: null,
  filling: false,
  joined: true,
  purging: false,
  torn: false,
};
const other = (build: Partial<Build>): Build => ({ ...serving, ...build });
const stopped = { state: 'stopped', position: 7n } as const;
const poisoned = { ...stopped, failedPosition: 8n, lastError: 'TypeError' } as const;

const [one, two] = [duesProjection(), duesProjection({ version: 2 })];

const tasks = (projections: (typeof one)[], builds: Build[], situation: Partial<Situation> = {}) =>
  tasksOf({ declared: new Declared(projections), builds, known: () => false, starting: false, ...situation }).map((task) =>
    task.do === 'make'
      ? { do: task.do, version: task.projection.version, first: task.first, replaces: task.replaces?.schema }
      : { do: task.do, build: task.build.schema },
  );

const make = (version: number, more: { first?: boolean; replaces?: string } = {}) => ({
  do: 'make',
  version,
  first: false,
  replaces: undefined,
  ...more,
});

describe('the builds there are and those the code wants', () => {
  it('agree when the one version serves', () => expect(tasks([one], [serving])).toEqual([]));

  it('begin with the latest version where nothing serves', () => {
    expect(tasks([one, two], [])).toEqual([make(2, { first: true })]);
  });

  it('get a version that is new beside the one that serves, once', () => {
    const ready = other({ version: 2, role: 'ready', schema: 'two' });
    expect(tasks([one, two], [serving])).toEqual([make(2)]);
    expect(tasks([one, two], [serving, ready])).toEqual([]);
    expect(tasks([one, two], [serving, { ...ready, state: 'building', position: 3n, filling: true }])).toEqual([]);
    expect(tasks([one, two], [serving], { known: (_, version) => version === 2 })).toEqual([]);
  });

  it('get no version that is older than the one that serves', () => {
    const newer = other({ version: 2 });
    expect(tasks([one, two], [newer])).toEqual([]);
    expect(tasks([one, two], [newer, other({ role: 'standby', schema: 'one' })])).toEqual([]);
  });

  it('lose what nobody finishes, which is begun anew', () => {
    const abandoned = other({ version: 2, role: 'ready', state: 'building', position: 3n, schema: 'two', joined: false });
    expect(tasks([one, two], [serving, abandoned])).toEqual([{ do: 'discard', build: 'two' }, make(2)]);
    expect(tasks([one], [{ ...abandoned, version: 1, role: 'serving' }])).toEqual([
      { do: 'discard', build: 'two' },
      make(1, { first: true }),
    ]);
  });

  describe('when nothing in the code projects what serves', () => {
    const still = other(stopped);
    const ready = other({ version: 2, role: 'ready', schema: 'two' });

    it('it stands still, and the new version is built', () =>
      expect(tasks([two], [serving])).toEqual([{ do: 'stand_still', build: 'mneme_dues_1_1' }, make(2)]));

    it('the new version takes its place as soon as it is level', () => {
      expect(tasks([two], [still, { ...ready, state: 'building', position: 3n, filling: true }])).toEqual([]);
      expect(tasks([two], [still, ready])).toEqual([{ do: 'switch', build: 'two' }]);
    });

    it('a version that stands by takes its place, where that is what the code projects', () => {
      const newer = other({ ...stopped, version: 2 });
      const standby = other({ role: 'standby', schema: 'one' });
      expect(tasks([one], [newer, standby])).toEqual([{ do: 'switch', build: 'one' }]);
      expect(tasks([one], [newer, { ...standby, ...stopped }])).toEqual([{ do: 'resume', build: 'one' }]);
      expect(tasks([one], [newer, { ...standby, ...poisoned }])).toEqual([make(1)]);
    });

    it('a new version that stopped at an event is tried again at the next start only', () => {
      const failed = { ...ready, ...poisoned };
      expect(tasks([two], [still, failed])).toEqual([]);
      expect(tasks([two], [still, failed], { starting: true })).toEqual([make(2, { replaces: 'two' })]);
    });

    it('what was to replace it is replaced when the code does not project that either', () =>
      expect(tasks([two], [still, other({ version: 3, role: 'ready', ...stopped, schema: 'three' })])).toEqual([
        make(2, { replaces: 'three' }),
      ]));
  });

  it('go on where one stands still that the code projects again', () => {
    expect(tasks([one], [other(stopped)])).toEqual([{ do: 'resume', build: 'mneme_dues_1_1' }]);
    expect(tasks([one], [other({ ...stopped, filling: true })])).toEqual([]);
    expect(tasks([one], [other({ ...stopped, torn: true })])).toEqual([make(1)]);
  });

  it('stay as they are where one stopped at an event, whatever its role', () => {
    expect(tasks([one], [other(poisoned)], { starting: true })).toEqual([]);
    expect(tasks([one], [serving, other({ ...poisoned, role: 'standby' })], { starting: true })).toEqual([]);
    expect(tasks([one], [serving, other({ ...poisoned, role: 'ready' })], { starting: true })).toEqual([]);
    expect(
      tasks([one], [serving, other({ ...poisoned, role: 'ready', joined: false, schema: 'x' })], { starting: true }),
    ).toEqual([make(1, { replaces: 'x' })]);
  });

  it('of a projection that is not declared any more stand still', () =>
    expect(tasks([shelfProjection], [serving, other({ name: 'shelf' })])).toEqual([
      { do: 'stand_still', build: 'mneme_dues_1_1' },
    ]));
});
