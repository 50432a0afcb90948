import { connect } from 'node:net';
import { once } from 'node:events';
import { UnavailableError } from '@eventstore/db-client';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import streamsService from '@eventstore/db-client/generated/streams_grpc_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import { credentials, Metadata, type ServiceError } from '@grpc/grpc-js';
import { startEventStoreDb, type TestEventStoreDb } from './eventstoredb.js';
import { all, eventually, newEvent, serverUnderTest } from './server-under-test.js';

describe('a server', () => {
  const on = serverUnderTest();
  const append = () => on.client.appendToStream('loan-1', newEvent());

  it('loses every connection at once, and takes new ones', async () => {
    await append();
    const reads = on.client.subscribeToAll();
    await on.server.requests.until('subscribe');
    const ended = all(reads);
    on.server.kill();
    await expect(ended).rejects.toThrow(UnavailableError);
    expect((await eventually(append)).nextExpectedRevision).toBe(1n);
  });

  it('is away for a while, and has its port and its data when it is back', async () => {
    await append();
    const { port } = on.server;
    await on.server.pause();
    await expect(append()).rejects.toThrow(UnavailableError);
    await expect(all(on.client.readStream('loan-1'))).rejects.toThrow(UnavailableError);
    await on.server.restart();
    expect(on.server.port).toBe(port);
    expect((await append()).nextExpectedRevision).toBe(1n);
  });

  it('is found by discovery', async () => {
    const client = on.connect(on.server.discoveryString);
    await client.appendToStream('loan-1', newEvent());
    expect(on.server.requests.of('gossip')).toHaveLength(1);
  });

  it('keeps a record of what it was asked', async () => {
    const event = newEvent();
    await on.client.appendToStream('loan-1', event, { expectedRevision: 'no_stream' });
    await all(on.client.readStream('loan-1'));
    expect(on.server.requests.all).toEqual([
      { operation: 'server_features', stream: '', ids: [] },
      { operation: 'batch_append', stream: 'loan-1', ids: [event.id], expected: 'no_stream' },
      { operation: 'read_stream', stream: 'loan-1', ids: [] },
    ]);
    const next = [1, 2, 2].map((count) => on.server.requests.until('delete', count));
    await on.client.deleteStream('loan-1');
    await on.client.deleteStream('loan-1');
    expect((await Promise.all(next)).map(({ stream }) => stream)).toEqual(['loan-1', 'loan-1', 'loan-1']);
    on.server.requests.clear();
    await on.client.appendToStream('loan-1', event, { expectedRevision: 5n }).catch(() => undefined);
    expect(on.server.requests.all).toMatchObject([{ operation: 'batch_append', expected: 5n }]);
  });

  it('listens no more once it has stopped', async () => {
    const { port } = on.server;
    await on.server.stop();
    const socket = connect(port, '127.0.0.1');
    const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException];
    expect(error.code).toBe('ECONNREFUSED');
  });
});

describe('a server that asks for a password', () => {
  let server: TestEventStoreDb;
  beforeEach(async () => {
    server = await startEventStoreDb({ credentials: { username: 'ada', password: 'lovelace' } });
  });
  afterEach(() => server.stop());

  /** @returns the code the call ended with; 0 when all went well */
  async function tombstone(authorization?: string): Promise<number> {
    const client = new streamsService.StreamsClient(`127.0.0.1:${server.port}`, credentials.createInsecure());
    const metadata = new Metadata();
    if (authorization) metadata.set('authorization', `Basic ${Buffer.from(authorization).toString('base64')}`);
    const name = new shared.StreamIdentifier().setStreamName(Buffer.from('loan-1'));
    const options = new streams.TombstoneReq.Options().setStreamIdentifier(name).setAny(new shared.Empty());
    const error = await new Promise<ServiceError | null>((resolve) =>
      client.tombstone(new streams.TombstoneReq().setOptions(options), metadata, resolve),
    );
    client.close();
    return error?.code ?? 0;
  }

  it('takes the right one, and no other', async () => {
    expect(await tombstone()).toBe(7);
    expect(await tombstone('ada:byron')).toBe(16);
    expect(await tombstone('ada:lovelace')).toBe(0);
  });
});
