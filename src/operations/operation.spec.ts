import { expectGolden } from '../../test/support/golden.js';
import { eventCatalogue } from '../all-events.js';
import { decideOperation, operationsOf, operationStream, type OperationCommand, type OperationEvent } from './operation.js';

const switched: OperationEvent = {
  type: 'ProjectionSwitched',
  projection: 'procedures',
  from: { version: 1, build: 2 },
  to: { version: 2, build: 1 },
  kind: 'switch',
};
const skipped: OperationEvent = {
  type: 'EventSkipped',
  projection: 'procedures',
  version: 1,
  position: '42',
  sealed: { reason: 'a bug of last week' },
};
const skip: Extract<OperationCommand, { type: 'Skip' }> = {
  type: 'Skip',
  projection: 'procedures',
  position: '42',
  reason: 'a bug of last week',
  stopped: 1,
  erasure: false,
};

const decided = (past: OperationEvent[], command: OperationCommand) =>
  decideOperation(command, operationsOf(past.map((data) => ({ data }))));

describe('the operations on a projection', () => {
  it('record every switch, also one back to what served before', () => {
    expect(decided([], { ...switched, type: 'RecordSwitch' })).toEqual([switched]);
    expect(decided([switched], { ...switched, type: 'RecordSwitch' })).toEqual([switched]);
  });

  it('know what serves', () => {
    expect(operationsOf([]).serving).toBeNull();
    expect(operationsOf([{ data: switched }, { data: skipped }]).serving).toEqual({ version: 2, build: 1 });
  });

  it('skip an event at which something stopped, once', () => {
    expect(decided([], skip)).toEqual([skipped]);
    expect(decided([skipped], skip)).toEqual([]);
    expect(decided([skipped], { ...skip, position: '43', reason: undefined })).toEqual([
      { type: 'EventSkipped', projection: 'procedures', version: 1, position: '43' },
    ]);
  });

  it('skip no event at which nothing stopped, be it skipped already', () => {
    const refused = { refused: 'nothing_stopped_there', field: 'position' };
    expect(decided([], { ...skip, stopped: undefined })).toEqual(refused);
    expect(decided([skipped], { ...skip, stopped: undefined })).toEqual(refused);
  });

  it('skip no erasure, whose content would stay', () =>
    expect(decided([], { ...skip, erasure: true })).toEqual({ refused: 'erasure_not_skippable', field: 'position' }));
});

describe('events stored earlier', () => {
  it.each([switched, skipped].map((event) => [event.type, event] as const))('%s is still read as it was written', (_, event) =>
    expectGolden(eventCatalogue, { event, stream: operationStream('procedures') }),
  );
});
