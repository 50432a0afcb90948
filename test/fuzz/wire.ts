import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** One answer as it came over the wire. */
export interface WireAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Head and body. */
  readonly text: string;
}

export interface Sending {
  /** Parts, sent one after the other with a moment in between. */
  readonly parts: readonly Buffer[];
  /** What the client does then: it waits for the answer, says that nothing more comes, or is gone. */
  readonly then: 'wait' | 'end' | 'drop';
  /** The answer has no body, whatever its head says. */
  readonly head: boolean;
}

/** Longest wait for the other side to close, milliseconds: longer than any request of the run may take. */
const patienceMs = 20_000;

/** Sends bytes over a connection of their own. @returns the answers; none where the client did not wait, or the connection was closed */
export async function overTheWire(port: number, { parts, then, head }: Sending): Promise<WireAnswer[]> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  const received: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => received.push(chunk));
  socket.on('error', () => undefined); // a connection that is cut while we write: what came before counts
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const refused = new Promise<never>((_, reject) => {
    socket.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') reject(new Error('nobody listens any more'));
    });
  });
  refused.catch(() => undefined);
  await Promise.race([once(socket, 'connect'), refused]);
  for (const [index, part] of parts.entries()) {
    if (index > 0) await sleep(2);
    socket.write(part);
  }
  if (then === 'drop') {
    await sleep(3);
    socket.destroy();
    return [];
  }
  // A connection that is still open after a moment waits for more: it learns that there is none.
  const ending = then === 'end' ? setTimeout(() => socket.end(), 150) : undefined;
  const late = sleep(patienceMs, 'late', { ref: false });
  const outcome = await Promise.race([closed, late]);
  clearTimeout(ending);
  socket.destroy();
  if (outcome === 'late') throw new Error(`no end after ${patienceMs} ms`);
  return answersIn(Buffer.concat(received), head);
}

/** @throws Error for what is no HTTP, so that two answers that were written into each other are noticed */
function answersIn(received: Buffer, head: boolean): WireAnswer[] {
  const answers: WireAnswer[] = [];
  for (let at = 0; at < received.length;) {
    const end = received.indexOf('\r\n\r\n', at);
    const text = received.subarray(at, end).toString('latin1');
    const [, status = ''] = /^HTTP\/1\.1 (\d{3}) [^\r\n]*(?:\r\n|$)/.exec(text) ?? [];
    if (end < 0 || status === '') throw new Error(`no HTTP at byte ${at}: ${received.toString().slice(0, 1_000)}`);
    const headers = headersOf(text);
    const start = end + 4;
    // What the parser refused has a body even for HEAD: nobody knows the method then.
    const bodiless = head && (start === received.length || received.subarray(start, start + 5).toString() === 'HTTP/');
    const without = bodiless || status.startsWith('1') || status === '204' || status === '304';
    const { body, next } = without ? { body: '', next: start } : bodyAt(received, start, headers);
    if (!status.startsWith('1')) answers.push({ status: Number(status), headers, body, text: `${text}\n${body}` });
    at = next;
  }
  return answers;
}

const headersOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .split('\r\n')
      .slice(1)
      .map((line) => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
      }),
  );

function bodyAt(received: Buffer, start: number, headers: Readonly<Record<string, string>>): { body: string; next: number } {
  if (headers['transfer-encoding'] === 'chunked') return chunksAt(received, start);
  const length = headers['content-length'];
  const next = length === undefined ? received.length : start + Number(length);
  if (next > received.length) throw new Error('an answer was cut off');
  return { body: received.subarray(start, next).toString(), next };
}

function chunksAt(received: Buffer, start: number): { body: string; next: number } {
  let body = '';
  for (let at = start; ;) {
    const line = received.indexOf('\r\n', at);
    const size = Number.parseInt(received.subarray(at, line).toString('latin1'), 16);
    if (line < 0 || Number.isNaN(size)) throw new Error('an answer was cut off');
    if (size === 0) return { body, next: line + 4 };
    body += received.subarray(line + 2, line + 2 + size).toString();
    at = line + 2 + size + 2;
  }
}
