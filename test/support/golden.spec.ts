import { EventCatalogue } from '../../src/event-log/event-catalogue.js';
import { logEvents, logStream } from '../../src/event-log/log-identity.js';
import { everyEventTypeHasAGoldenFixture, expectGolden } from './golden.js';
import { noteCatalogue, noteFiled } from './notes.js';

const created = { type: 'LogCreated', log_id: '5d0f8a52-93b6-4d0c-8d9e-0f4f6c1f7a11' } as const;
const today = new EventCatalogue([logEvents]);

describe('a golden fixture', () => {
  it('is missed when a type has none', async () => {
    await expect(expectGolden(noteCatalogue, { event: noteFiled('note') })).rejects.toThrow('NoteFiled.v1.json is missing');
    await expect(everyEventTypeHasAGoldenFixture(noteCatalogue)).rejects.toThrow('NoteFiled.v1.json');
  });

  it('notices that an event is read differently from how it was written', async () => {
    await expect(expectGolden(today, { event: { ...created, log_id: 'another' }, stream: logStream })).rejects.toThrow('another');
  });

  it('notices that an event is written in another shape under the same version', async () => {
    await expect(expectGolden(today, { event: { ...created, server: 'x' }, stream: logStream })).rejects.toThrow('server');
  });

  it('of an older version becomes today’s shape', async () => {
    const newer = new EventCatalogue([
      { LogCreated: { version: 2, upcasters: [({ log_id, ...stored }) => ({ ...stored, log: { id: log_id } })] } },
    ]);
    await expectGolden(newer, { event: { type: 'LogCreated', log: { id: created.log_id } } as never, version: 1 });
  });
});
