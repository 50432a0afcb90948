import { etaText, type Projection, statusTable } from './projections.command.js';

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
      'NAME        VERSION  STATE        POSITION  HEAD    LAG  EVENTS/S  ETA  LAST ERROR',
      'procedures        1  catching_up       120   500  2.3 s       152  3 s',
    ]);
  });

  it('says why one stopped', () => {
    expect(statusTable([{ ...projection, state: 'stopped', last_error: 'key_unavailable' }])).toContain('key_unavailable');
  });
});
