import { Controller, Module, Post } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { NestFactory } from '@nestjs/core';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ConnectionLimits, fastifyAdapter } from './fastify-adapter.js';

@Controller()
class EchoController {
  @Post()
  echo() {
    return {};
  }
}

@Module({ controllers: [EchoController] })
class EchoModule {}

describe('a connection', () => {
  let app: NestFastifyApplication;
  const sockets: Socket[] = [];

  const serve = async (limits: ConnectionLimits) => {
    // eslint-disable-next-line @typescript-eslint/no-unsafe-class-instance-assignment -- as in createApplication
    app = await NestFactory.create<NestFastifyApplication>(EchoModule, fastifyAdapter(limits), { logger: false });
    await app.listen(0, '127.0.0.1');
    return Number(new URL(await app.getUrl()).port);
  };
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await app.close();
  });

  /** Opens one and collects what comes until the other side ends it. */
  const open = async (port: number) => {
    const socket = connect(port, '127.0.0.1');
    sockets.push(socket);
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    socket.on('error', () => undefined);
    const closed = once(socket, 'close').then(() => text);
    await once(socket, 'connect');
    return { socket, closed };
  };
  const quick = { headersTimeoutMs: 300, requestTimeoutMs: 600, checkingIntervalMs: 50 };

  it.each<[string, string]>([
    ['sends nothing', ''],
    ['sends half a header', 'POST / HTTP/1.1\r\nhost: x\r\nx-sl'],
    ['sends half a body', 'POST / HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"a'],
    [
      'sends half a chunk',
      'POST / HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nff\r\n{"a',
    ],
  ])('that %s is told so and closed in time', async (_, sent) => {
    const { socket, closed } = await open(await serve(quick));
    const started = Date.now();
    socket.write(sent);
    const answer = await closed;
    expect(Date.now() - started).toBeLessThan(3_000);
    expect(answer).toMatch(/^HTTP\/1\.1 408 [^]*"code":"request_timeout"/);
  });

  it('that goes on sending a letter at a time is closed in time all the same', async () => {
    const { socket, closed } = await open(await serve(quick));
    const started = Date.now();
    socket.write('POST / HTTP/1.1\r\nhost: x\r\nx-slow: ');
    const dripping = setInterval(() => socket.write('x'), 20);
    await closed;
    clearInterval(dripping);
    expect(Date.now() - started).toBeLessThan(3_000);
  });

  it('beyond the limit is closed at once, and may come when another has gone', async () => {
    const port = await serve({ maxConnections: 3 });
    const held = await Promise.all([1, 2, 3].map(() => open(port)));
    const beyond = await open(port);
    expect(await beyond.closed).toBe('');
    held[0]?.socket.destroy();
    await sleep(100);
    const { socket, closed } = await open(port);
    socket.write('POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
    expect(await closed).toMatch(/^HTTP\/1\.1 201 /);
  });
});
