import { DeadlineExceededError, streamNameFilter, UnavailableError } from '@eventstore/db-client';
import { runClient } from './client-process.js';
import { startEventStoreDb } from './eventstoredb.js';
import { all, newEvent, newEvents, serverUnderTest, within } from './server-under-test.js';

const patience = 150;

/** What the client does with a server that fails; the event log's adapter guards against it. */
describe('the client', () => {
  const on = serverUnderTest();
  const impatient = () => on.connect(`${on.server.connectionString}&defaultDeadline=50`);

  it('waits for ever for the answer of an append in a batch, whatever the deadline', async () => {
    on.server.faults.inject('batch_append', { kind: 'silence' });
    expect(await within(patience, impatient().appendToStream('loan-1', newEvent()))).toBe('pending');
  });

  it('waits for ever to be told what the server offers, and so to append', async () => {
    on.server.faults.inject('server_features', { kind: 'silence' });
    expect(await within(patience, impatient().appendToStream('loan-1', newEvent()))).toBe('pending');
  });

  it('waits for ever for a read', async () => {
    on.server.faults.inject('read_stream', { kind: 'silence' });
    const read = impatient().readStream('loan-1', { deadline: 50 });
    expect(await within(patience, all(read))).toBe('pending');
  });

  it('cannot append any more, nor end, when the server has ended the batch stream with no error', async () => {
    const client = on.connect();
    await client.appendToStream('loan-1', newEvent());
    on.server.faults.strike('batch_append', { kind: 'end' });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await within(patience, client.appendToStream('loan-1', newEvent()))).toBe('pending');
    expect(await within(patience, client.dispose())).toBe('pending');
    expect(on.server.requests.of('batch_append')).toHaveLength(1);
  });

  it('can read but not append any more, when it once was not told what the server offers', async () => {
    await on.client.appendToStream('loan-1', newEvent());
    on.server.faults.inject('server_features', { kind: 'unknown' });
    const client = on.connect();
    for (let tries = 0; tries < 3; tries += 1) {
      await expect(client.appendToStream('loan-1', newEvent())).rejects.toMatchObject({ code: 2 });
    }
    expect(on.server.requests.of('server_features')).toHaveLength(2);
    expect(await all(client.readStream('loan-1'))).toHaveLength(1);
  });

  it('can read but not append any more, when it once did not find the cluster', async () => {
    await on.client.appendToStream('loan-1', newEvent());
    await on.server.pause();
    const client = on.connect(`${on.server.discoveryString}&maxDiscoverAttempts=1&discoveryInterval=1`);
    await expect(client.appendToStream('loan-1', newEvent())).rejects.toThrow('Failed to discover');
    await on.server.restart();
    await expect(client.appendToStream('loan-1', newEvent())).rejects.toThrow('Failed to discover');
    expect(await all(client.readStream('loan-1'))).toHaveLength(1);
  });

  it('fails the appends of all clients of the process, when the batch stream of one fails', async () => {
    const other = await startEventStoreDb();
    await on.client.appendToStream('loan-1', newEvent());
    other.faults.inject('batch_append', { kind: 'silence' });
    const unanswered = on.connect(other.connectionString).appendToStream('loan-1', newEvent());
    const failed = expect(unanswered).rejects.toThrow(UnavailableError);
    await other.requests.until('batch_append');
    on.server.faults.strike('batch_append', { kind: 'unavailable' });
    await failed;
    await other.stop();
  });

  it('tells a wrong revision when it is not to throw', async () => {
    const client = on.connect(`${on.server.connectionString}&throwOnAppendFailure=false`);
    await client.appendToStream('loan-1', newEvents(5));
    const result = await client.appendToStream('loan-1', newEvent(), { expectedRevision: 'no_stream' });
    expect(result).toEqual({ success: false, nextExpectedRevision: 1n, position: undefined });
  });

  it('tells of checkpoints, and that it has caught up, before the events that came earlier are read', async () => {
    await on.client.appendToStream('loan-1', newEvents(10));
    const told: string[] = [];
    const checkpointReached = () => Promise.resolve(void told.push('checkpoint'));
    const filter = streamNameFilter({ prefixes: ['loan-'], maxSearchWindow: 5, checkpointReached });
    const subscription = on.client.subscribeToAll({ filter });
    subscription.on('caughtUp', () => told.push('caught_up'));
    for await (const { event } of subscription) {
      told.push(String(event?.revision));
      if (event?.revision === 0n) await new Promise((resolve) => setTimeout(resolve, patience));
      if (event?.revision === 9n) break;
    }
    expect(told.indexOf('caught_up')).toBeLessThan(told.indexOf('1'));
    expect(told.lastIndexOf('checkpoint')).toBeLessThan(told.indexOf('1'));
  });
});

describe('the client that appends one by one', () => {
  const on = serverUnderTest({ batchAppend: false });

  it('keeps its deadline', async () => {
    on.server.faults.inject('append', { kind: 'silence', stored: true });
    const client = on.connect(`${on.server.connectionString}&defaultDeadline=50`);
    await expect(client.appendToStream('loan-1', newEvent())).rejects.toThrow(DeadlineExceededError);
    expect(await all(client.readStream('loan-1'))).toHaveLength(1);
  });
});

describe('a process with the client ends', () => {
  const on = serverUnderTest();
  const run = (code: string) => runClient(on.server.connectionString, code);

  it('at none of this', async () => {
    const { exitCode, output } = await run(`await client.appendToStream('loan-1', event()); await wait(50);`);
    expect({ exitCode, output }).toEqual({ exitCode: 0, output: 'got to its end\n' });
  });

  it('when an append is answered twice', async () => {
    on.server.faults.inject('batch_append', { kind: 'duplicate' });
    const { exitCode, output } = await run(`await client.appendToStream('loan-1', event()); await wait(300);`);
    expect(exitCode).not.toBe(0);
    expect(output).toContain('TypeError');
  });

  it('when an append is answered that another client has already failed', async () => {
    on.server.faults.inject('batch_append', { kind: 'late', ms: 200 }, { stream: 'loan-' });
    on.server.faults.inject('batch_append', { kind: 'cancelled' }, { stream: 'fine-' });
    const { exitCode, output } = await run(`
      client.appendToStream('loan-1', event()).catch(() => console.log('failed'));
      await wait(50);
      const other = EventStoreDBClient.connectionString('${on.server.connectionString}');
      await other.appendToStream('fine-1', event()).catch(() => {});
      await wait(500);`);
    expect(exitCode).not.toBe(0);
    expect(output).toContain('failed');
    expect(output).toContain('TypeError');
  });

  it('when an event cannot be made JSON', async () => {
    const { exitCode, output } = await run(`await client.appendToStream('loan-1', event({ pages: 10n }));`);
    expect(exitCode).not.toBe(0);
    expect(output).toContain('Do not know how to serialize a BigInt');
  });

  it('when nothing listens yet for the error of a subscription', async () => {
    on.server.faults.inject('subscribe', { kind: 'unavailable' });
    const { exitCode, output } = await run(`
      const subscription = client.subscribeToAll();
      await wait(300);
      for await (const event of subscription);`);
    expect(exitCode).not.toBe(0);
    expect(output).toContain('Server Is Not Ready');
  });

  it('when it handles a checkpoint with an error', async () => {
    const { exitCode, output } = await run(`
      const checkpointReached = async () => { throw new Error('not handled'); };
      client.subscribeToAll({ filter: streamNameFilter({ prefixes: ['loan-'], checkpointReached }) }).on('data', () => {});
      await wait(300);`);
    expect(exitCode).not.toBe(0);
    expect(output).toContain('not handled');
  });
});
