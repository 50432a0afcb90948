import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client } from './client.js';
import { exitCodes } from './failure.js';
import { profileId, teamId } from './lookup.js';

/** Names, looked up at a real HTTP server that lists two teams and two profiles of one name each. */
describe('a thing given by name', () => {
  let server: Server;
  let client: Client;
  const items = [
    { team_id: 't-1', profile_id: 'p-1', name: 'twice' },
    { team_id: 't-2', profile_id: 'p-2', name: 'twice' },
    { team_id: 't-3', profile_id: 'p-3', name: 'once' },
  ];

  beforeAll(async () => {
    server = createServer((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ items, next_cursor: null }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    client = new Client(`http://127.0.0.1:${port}`, 'secret', new AbortController().signal);
  });
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it('is found where the name is unique', async () =>
    expect([await teamId(client, 'once'), await profileId(client, 't-3', 'once')]).toEqual(['t-3', 'p-3']));

  it('is refused with all ids where several have the name', async () => {
    const { failed } = exitCodes;
    await expect(teamId(client, 'twice')).rejects.toMatchObject({
      exitCode: failed,
      code: 'team_ambiguous',
      message: 'several teams have that name, give an id: t-1, t-2',
    });
    await expect(profileId(client, 't-1', 'twice')).rejects.toMatchObject({
      code: 'profile_ambiguous',
      message: 'several profiles have that name, give an id: p-1, p-2',
    });
  });
});
