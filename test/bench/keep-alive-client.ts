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

  post(path: string, body: object = {}): Promise<Reply> {
    const text = JSON.stringify(body);
    const headers = {
      authorization: `Bearer ${this.key}`,
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(text)),
    };
    const { hostname, port } = this.address;
    return new Promise((resolve, reject) => {
      const sent = request({ agent: this.agent, method: 'POST', hostname, port, path, headers }, (response) => {
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

  close(): void {
    this.agent.destroy();
  }
}
