import type { Build, Projection, Verification } from './projections.answers.js';
import { comparisonTable, etaText, statusTable } from './projections.text.js';

const projection: Projection = {
  name: 'procedures',
  version: 1,
  state: 'catching_up',
  position: 120,
  head: 500,
  lag: { positions: 380, seconds: 2.34 },
  rate: 152.4,
  eta_seconds: 2.5,
  last_error: null,
  build: 1,
  rebuild: null,
  rebuild_error: null,
  builds: [],
};
const standby: Build = {
  version: 2,
  build: 3,
  role: 'standby',
  state: 'stopped',
  projected: false,
  position: 90,
  lag: { positions: 410, seconds: 60 },
  rate: 0,
  eta_seconds: null,
  last_error: 'nothing in the code projects version 2 any more',
  failed_position: null,
  purged: true,
};

describe('the time left', () => {
  it.each([
    [null, '-'],
    [0, '0 s'],
    [0.2, '1 s'],
    [59.2, '1 min 00 s'],
    [130, '2 min 10 s'],
    [3_900, '1 h 05 min'],
  ])('of %p seconds reads %s', (seconds, text) => expect(etaText(seconds)).toBe(text));
});

describe('the status of projections', () => {
  it('is a line each, with lag, rate and time left', () => {
    expect(statusTable([projection]).split('\n')).toEqual([
      'NAME        VERSION  BUILD  STATE        POSITION  HEAD    LAG  EVENTS/S  ETA  LAST ERROR',
      'procedures        1      1  catching_up       120   500  2.3 s       152  3 s',
    ]);
  });

  it('says why one stopped', () => {
    expect(statusTable([{ ...projection, state: 'stopped', last_error: 'key_unavailable' }])).toContain('key_unavailable');
  });

  it('has a line for every other build, and says that one cannot serve again', () => {
    const [, , line] = statusTable([{ ...projection, builds: [standby] }]).split('\n');
    expect(line?.trim().split(/ {2,}/)).toEqual([
      '2',
      '3',
      'standby, stopped',
      '90',
      '500',
      '60.0 s',
      '0',
      '-',
      'nothing in the code projects version 2 any more; cannot be rolled back to',
    ]);
  });
});

describe('two builds compared', () => {
  const digest = { rows: 2, checksum: '1' };
  const table = { table: 'shelf', serving: digest, candidate: digest, columns: ['team_id'], equal: true, differences: [] };
  const verification: Verification = {
    projection: 'shelf',
    position: 7,
    serving: { version: 1, build: 1 },
    candidate: { version: 2, build: 1, role: 'ready' },
    equal: true,
    tables: [table, { ...table, table: 'new', serving: null, columns: [] }],
  };

  it('are told table by table', () =>
    expect(comparisonTable(verification).split('\n')).toEqual([
      'TABLE  SERVING  READY  COMPARED           RESULT',
      'shelf        2      2  1 columns          equal',
      'new          -      2  rows counted only  -',
      'shelf: version 2 build 1 (ready) equals version 1 build 1 (serving), at position 7',
    ]));

  it('are told with the rows that differ', () => {
    const differences = [{ found: 'only_serving', key: { team_id: 't', loan_id: 'l' } }];
    const text = comparisonTable({ ...verification, equal: false, tables: [{ ...table, equal: false, differences }] });
    expect(text).toContain('shelf: only in what serves: team_id t, loan_id l\n');
    expect(text).toContain('(ready) differs from version 1 build 1');
  });
});
