import { once } from 'node:events';
import { mkdirSync, readdirSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { temporaryFolder } from '../test/support/command-line.js';
import { readConfiguration } from './config/configuration.js';
import { startService } from './service.js';

const folder = temporaryFolder();
afterAll(() => folder.remove());

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

describe('a service that fails in its start, after it listens', () => {
  it('leaves nothing running', async () => {
    const port = await freePort();
    mkdirSync(join(folder.path, 'admin.key.new')); // so that the first admin key cannot be written
    const configuration = readConfiguration({
      MNEME_DATA: folder.path,
      MNEME_PORT: String(port),
      MNEME_LOG_LEVEL: 'silent',
      MNEME_EMBEDDING_PROVIDER: 'shared_words',
    });
    await expect(startService(configuration)).rejects.toThrow('admin.key.new');
    await expect(once(connect(port, '127.0.0.1'), 'connect')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    expect(readdirSync(folder.path).filter((name) => name.endsWith('.lock'))).toEqual([]);
  }, 120_000);
});
