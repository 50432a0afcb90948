import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';

export const address = '127.0.0.1';

/** A listening socket that can be closed and opened again on its port, and whose connections can be cut. */
export class Listener {
  port = 0;
  private server: Server | undefined;
  private readonly sockets = new Set<Socket>();

  constructor(private readonly accept: (socket: Socket) => void) {}

  get isOpen(): boolean {
    return this.server !== undefined;
  }

  async open(): Promise<void> {
    if (this.server) return;
    const server = createServer({ noDelay: true }, (socket) => {
      this.sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => this.sockets.delete(socket));
      this.accept(socket);
    });
    server.listen(this.port, address);
    await once(server, 'listening');
    this.port = (server.address() as AddressInfo).port;
    this.server = server;
  }

  /** Takes no new connections and cuts those there are. */
  async close(): Promise<void> {
    const server = this.server;
    if (!server) return;
    this.server = undefined;
    server.close();
    this.cut();
    await once(server, 'close');
  }

  /** Resets every connection. */
  cut(): void {
    for (const socket of this.sockets) socket.resetAndDestroy();
  }

  /** Resets the connection with this peer, written as address:port. */
  cutPeer(peer: string): void {
    for (const socket of this.sockets) {
      if (`${socket.remoteAddress}:${socket.remotePort}` === peer) socket.resetAndDestroy();
    }
  }
}
