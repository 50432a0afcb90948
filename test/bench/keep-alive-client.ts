import { Agent, request } from 'node:http';

export interface Reply {
  readonly status: number;
  readonly position: string;
  readonly body: unknown;
}

/** A client that keeps its connections and does little else: what is measured is the server. */
export class KeepAliveClient {
  private readonly agent: Agent;
  private readonly address: URL;

  /** @param connections at once; further requests wait for one */
  constructor(
    url: string,
    private readonly key: string,
    connections: number,
  ) {
    this.agent = new Agent({ keepAlive: true, maxSockets: connections });
    this.address = new URL(url);
  }

  close(): void {
    this.agent.destroy();
  }

  get = (path: string): Promise<Reply> => this.send('GET', path, '');
  post = (path: string, body: object = {}): Promise<Reply> => this.send('POST', path, JSON.stringify(body));

  private send(method: string, path: string, text: string): Promise<Reply> {
    const headers = {
      authorization: `Bearer ${this.key}`,
      ...(text !== '' && { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) }),
    };
    const { hostname, port } = this.address;
    return new Promise((resolve, reject) => {
      const sent = request({ agent: this.agent, method, hostname, port, path, headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const answer = Buffer.concat(chunks).toString();
          const position = response.headers['mneme-position'];
          resolve({
            status: response.statusCode ?? 0,
            position: typeof position === 'string' ? position : '',
            body: answer === '' ? undefined : JSON.parse(answer),
          });
        });
      });
      sent.on('error', reject);
      sent.end(text);
    });
  }
}
