import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request a model server received; `body` is its parsed JSON. */
export interface ModelRequest {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: Readonly<Record<string, unknown>>;
}

/** What a model server does with a request. */
export type Responder = (request: ModelRequest, response: ServerResponse) => void;

/** A real HTTP server on a free port of the loopback address, which answers like a model, or like a broken one. */
export class ModelServer {
  readonly requests: ModelRequest[] = [];
  /** Connections that the other side closed before it had its answer. */
  hangUps = 0;
  private responder: Responder = failing(500);

  private constructor(private readonly server: Server) {
    server.on('request', (request, response) => void this.handle(request, response));
  }

  static async start(): Promise<ModelServer> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new ModelServer(server);
  }

  /** Base URL, as in the settings. */
  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/v1`;
  }

  /** From now on every request is met with this. Forgets earlier requests. */
  does(responder: Responder): this {
    this.responder = responder;
    this.requests.length = 0;
    this.hangUps = 0;
    return this;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('close', () => (this.hangUps += response.writableFinished ? 0 : 1));
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const received: ModelRequest = {
      path: request.url ?? '',
      authorization: request.headers.authorization,
      body: JSON.parse(Buffer.concat(chunks).toString('utf8') || '{}') as Record<string, unknown>,
    };
    this.requests.push(received);
    this.responder(received, response);
  }
}

/** Answers 200 with this JSON, or with what it makes of the request. */
export const answering =
  (body: unknown): Responder =>
  (request, response) =>
    send(response, 200, JSON.stringify(typeof body === 'function' ? (body as (of: ModelRequest) => unknown)(request) : body));

/** Answers an error that quotes the request, as some servers do. */
export const failing =
  (status: number, headers: Readonly<Record<string, string>> = {}): Responder =>
  ({ body }, response) =>
    send(response, status, JSON.stringify({ error: { message: `cannot serve ${JSON.stringify(body)}` } }), headers);

/** Takes so many milliseconds for it. */
export const later =
  (milliseconds: number, responder: Responder): Responder =>
  (request, response) =>
    void setTimeout(() => responder(request, response), milliseconds);

/** Answers 200 with text that is no JSON. */
export const babbling =
  (text: string): Responder =>
  (_, response) =>
    send(response, 200, text);

/** Never answers. */
export const silent: Responder = () => undefined;

/** Sends the start of an answer and then nothing more. */
export const stalling: Responder = (_, response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write('{"data": [');
};

/** Closes the connection without an answer, or in the middle of one. */
export const resetting: Responder = (_, response) => response.destroy();
export const breakingOff: Responder = (_, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
  response.write('{"data": [', () => response.destroy());
};

/** Sends an answer that does not end. */
export const flooding: Responder = (_, response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  const chunk = Buffer.alloc(65_536, ' ');
  const pour = () => {
    while (!response.destroyed && response.write(chunk));
    if (!response.destroyed) response.once('drain', pour);
  };
  pour();
};

/** Sends the client elsewhere. */
export const redirecting =
  (location: string): Responder =>
  (_, response) => {
    response.writeHead(307, { location });
    response.end();
  };

/** The answer of an embedding endpoint: one vector for each input, in this order of indexes. */
export const embeddings =
  (vectorOf: (text: string) => unknown, order: (indexes: number[]) => number[] = (indexes) => indexes): Responder =>
  (request, response) => {
    const input = request.body.input as string[];
    const data = order([...input.keys()]).map((index) => ({ index, embedding: vectorOf(input[index] ?? '') }));
    answering({ object: 'list', data })(request, response);
  };

/** The answer of a chat endpoint whose model says this. */
export const chat = (content: unknown): Responder =>
  answering({ choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }] });

function send(response: ServerResponse, status: number, text: string, headers: Readonly<Record<string, string>> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(text);
}
