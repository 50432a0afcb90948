import { NotLeaderError } from '@eventstore/db-client';
import { all, newEvent, newEvents, serverUnderTest } from './server-under-test.js';

describe('a cluster', () => {
  const on = serverUnderTest({ members: 3 });

  it('is one log behind three ports', async () => {
    expect(new Set(on.server.members.map(({ endpoint }) => endpoint.port)).size).toBe(3);
    await on.client.appendToStream('loan-1', newEvents(2));
    for (const { endpoint } of on.server.members) {
      const client = on.connect(`esdb://${endpoint.address}:${endpoint.port}?tls=false`);
      expect(await all(client.readStream('loan-1'))).toHaveLength(2);
      await client.appendToStream(`loan-${endpoint.port}`, newEvent());
    }
  });

  it('sends a client that wants the leader from a follower to it', async () => {
    const [leader, follower] = on.server.members;
    const client = on.connect(`esdb://127.0.0.1:${follower?.endpoint.port ?? 0}?tls=false`);
    const refused = client.appendToStream('loan-1', newEvent(), { requiresLeader: true });
    await expect(refused).rejects.toThrow(NotLeaderError);
    await expect(refused).rejects.toMatchObject({ leader: leader?.endpoint });
    await client.appendToStream('loan-1', newEvent(), { requiresLeader: true });
    await expect(all(client.readStream('loan-1', { requiresLeader: true }))).resolves.toHaveLength(1);
  });

  it('changes its leader, and clients are told by an error', async () => {
    const append = () => on.client.appendToStream('loan-1', newEvent(), { requiresLeader: true });
    await append();
    on.server.elect(on.server.members[2]);
    await expect(append()).rejects.toThrow(NotLeaderError);
    expect((await append()).nextExpectedRevision).toBe(1n);
    await expect(all(on.client.readStream('loan-1', { requiresLeader: true }))).resolves.toHaveLength(2);
  });

  it('is found when members are away', async () => {
    const [first, second] = on.server.members;
    await Promise.all([first?.pause(), second?.pause()]);
    on.server.elect(on.server.members[2]);
    await on.client.appendToStream('loan-1', newEvent());
  });

  it('is not found when no member answers', async () => {
    await on.server.pause();
    const client = on.connect(`${on.server.connectionString}&maxDiscoverAttempts=2&discoveryInterval=10`);
    await expect(all(client.readStream('loan-1'))).rejects.toThrow('Failed to discover after 2 attempts.');
    await on.server.restart();
    await client.appendToStream('loan-1', newEvent());
  });
});
