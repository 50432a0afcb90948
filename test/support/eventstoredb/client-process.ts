import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';

export interface ClientProcess {
  /** 0 when it got to its end. */
  readonly exitCode: number | null;
  readonly output: string;
}

/**
 * Runs code with a client in a process of its own, for what would end this one. It has `client`, `event` (a new one) and
 * `wait` (milliseconds).
 */
export async function runClient(connectionString: string, code: string): Promise<ClientProcess> {
  const script = `
    const { EventStoreDBClient, jsonEvent, streamNameFilter } = require('@eventstore/db-client');
    const client = EventStoreDBClient.connectionString(${JSON.stringify(connectionString)});
    const event = (data = {}) => jsonEvent({ type: 'BookLent', data });
    const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
    (async () => { ${code} })().then(() => { console.log('got to its end'); process.exit(0); });`;
  const child = spawn(process.execPath, ['-e', script], { env: { PATH: process.env.PATH } });
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const [output, errors, exitCode] = await Promise.all([text(child.stdout), text(child.stderr), exited]);
  return { exitCode, output: output + errors };
}
