import { type ChildProcess, spawn } from 'node:child_process';
import { compiledFile } from '../../src/config/package-root.js';

/** The service in a process of its own, as it runs in production. */
export interface ServiceProcess {
  readonly url: string;
  readonly pid: number;
  /** kill -9: no chance to finish anything. */
  kill(): Promise<void>;
  /** SIGTERM: as an operator stops it. @returns its exit code, or the signal that ended it */
  stop(): Promise<number | NodeJS.Signals>;
}

/** The process from its first moment, before it serves. */
export interface StartingProcess {
  readonly child: ChildProcess;
  /** All it has printed so far. */
  readonly printed: { stdout: string; stderr: string };
  /** Its exit code, or the signal that ended it. */
  readonly exited: Promise<number | NodeJS.Signals>;
}

/** Starts it with these settings and none of the test's own. @param options of Node, before the file */
export function spawnService(settings: Readonly<Record<string, string>>, options: readonly string[] = []): StartingProcess {
  const child = spawn(process.execPath, [...options, compiledFile('src/main.js')], {
    env: {
      PATH: process.env.PATH ?? '',
      HOME: process.env.HOME ?? '',
      TMPDIR: process.env.TMPDIR ?? '/tmp',
      MNEME_PORT: '0',
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const printed = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) child[name].on('data', (text: Buffer) => (printed[name] += text.toString()));
  const exited = new Promise<number | NodeJS.Signals>((resolve) => {
    child.once('close', (code, signal) => resolve(code ?? signal ?? -1));
  });
  return { child, printed, exited };
}

/** Starts it and waits until it serves. @throws Error with what it printed when it ends instead */
export async function startServiceProcess(settings: Readonly<Record<string, string>>): Promise<ServiceProcess> {
  const starting = spawnService(settings);
  const { child, exited } = starting;
  const url = await addressOf(starting);
  const end = async (signal: 'SIGKILL' | 'SIGTERM') => {
    child.kill(signal);
    return exited;
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

/** Once the log has a line with it. */
export async function addressOf({ child, printed, exited }: StartingProcess): Promise<string> {
  const served = new Promise<string>((resolve) => {
    child.stdout?.on('data', () => {
      const [, url] = /"url":"([^"]+)"/.exec(printed.stdout) ?? [];
      if (url !== undefined) resolve(url);
    });
  });
  const ended = exited.then((code) => {
    throw new Error(`the service ended with ${code}: ${printed.stdout}${printed.stderr}`);
  });
  return Promise.race([served, ended]);
}
