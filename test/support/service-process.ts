import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { compiledFile } from '../../src/config/package-root.js';

/** The service in a process of its own, as it runs in production. */
export interface ServiceProcess {
  readonly url: string;
  readonly pid: number;
  /** kill -9: no chance to finish anything. */
  kill(): Promise<void>;
  /** SIGTERM: as an operator stops it. @returns its exit code */
  stop(): Promise<number | null>;
}

/** Starts it with these settings and none of the test's own. @throws Error with what it printed when it ends instead */
export async function startServiceProcess(settings: Readonly<Record<string, string>>): Promise<ServiceProcess> {
  const child = spawn(process.execPath, [compiledFile('src/main.js')], {
    env: {
      PATH: process.env.PATH ?? '',
      HOME: process.env.HOME ?? '',
      TMPDIR: process.env.TMPDIR ?? '/tmp',
      MNEME_PORT: '0',
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const url = await addressOf(child);
  const exited = once(child, 'exit') as Promise<[number | null]>;
  const end = async (signal: 'SIGKILL' | 'SIGTERM') => {
    child.kill(signal);
    const [code] = await exited;
    return code;
  };
  return {
    url,
    pid: child.pid ?? 0,
    kill: async () => {
      await end('SIGKILL');
    },
    stop: () => end('SIGTERM'),
  };
}

async function addressOf(child: ChildProcess): Promise<string> {
  if (!child.stdout || !child.stderr) throw new Error('the service has no output');
  const printed: string[] = [];
  child.stderr.on('data', (chunk: Buffer) => printed.push(chunk.toString()));
  for await (const line of createInterface({ input: child.stdout })) {
    printed.push(line);
    const { url } = (line.startsWith('{') ? JSON.parse(line) : {}) as { url?: string };
    if (url === undefined) continue;
    child.stdout.resume();
    return url;
  }
  throw new Error(`the service did not start: ${printed.join('\n')}`);
}
