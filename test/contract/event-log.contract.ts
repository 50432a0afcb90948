import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import type { EventLog } from '../../src/event-log/event-log.js';
import { appendContract } from './event-log-append.contract.js';
import { readContract } from './event-log-read.contract.js';
import { subscriptionContract } from './event-log-subscription.contract.js';
import { LogModel, steps } from './event-log.model.js';
import { all, expectGrowing, ids, told, type LogUnderTest } from './log-under-test.js';

export interface OpenedLog {
  readonly log: EventLog;
  close(): Promise<void>;
}

/**
 * What every adapter of the event log port does. Only what the port promises: positions may have gaps, and the log may be
 * shared with others, so each test writes under a prefix of its own and reads from the head it found.
 */
export function eventLogContract(name: string, open: () => Promise<OpenedLog>): void {
  describe(`the event log on ${name}`, () => {
    let opened: OpenedLog;
    let prefix: string;
    let start: bigint;

    const on: LogUnderTest = {
      get log() {
        return opened.log;
      },
      get prefix() {
        return prefix;
      },
      get stream() {
        return `${prefix}loan-1`;
      },
      get start() {
        return start;
      },
      ours: () => all(opened.log.readAll({ after: start, prefix })),
    };

    beforeAll(async () => {
      opened = await open();
    });
    afterAll(() => opened.close());
    beforeEach(async () => {
      prefix = `contract${randomUUID().slice(0, 8)}_`;
      start = await opened.log.head();
    });

    appendContract(on);
    readContract(on);
    subscriptionContract(on);

    it('agrees with a simple model on any sequence of appends', () =>
      fc.assert(
        fc.asyncProperty(steps, async (sequence) => {
          const model = new LogModel(`model${randomUUID().slice(0, 8)}_`);
          const before = await on.log.head();
          for (const step of sequence) {
            const append = model.appendOf(step);
            const [outcome] = await on.log.appendMany([append]);
            expect(outcome && told(outcome)).toEqual(model.apply(append));
          }
          for (const name of model.streamNames) expect(ids(await all(on.log.readStream(name)))).toEqual(model.idsOf(name));
          const stored = await all(on.log.readAll({ after: before, prefix: model.prefix }));
          expect(stored.map(({ stream: name, id }) => ({ name, id }))).toEqual(model.order);
          expectGrowing(stored);
        }),
        { numRuns: 30 },
      ));
  });
}
