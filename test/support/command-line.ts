import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { compiledFile } from '../../src/config/package-root.js';
import { runningService } from '../../src/database/embedded/data-folder.js';

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

type Environment = Readonly<Record<string, string>>;

interface Started {
  readonly process: ChildProcess;
  readonly ended: Promise<Ended>;
}

/** The compiled `mneme`, as a process of its own. */
export const mneme = (words: readonly string[], environment: Environment = {}): Started =>
  compiled('src/cli/mneme.js', words, environment);

/** With nothing of the test's own environment but what a process needs. */
function compiled(file: string, words: readonly string[], environment: Environment): Started {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(process.execPath, [compiledFile(file), ...words], {
    env: { PATH, HOME, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const written = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) child[name].on('data', (text: Buffer) => (written[name] += text.toString()));
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, ...written }));
  });
  return { process: child, ended };
}

/** A folder that is gone after the test. */
export function temporaryFolder(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'mneme-test-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

export interface ServedFolder {
  readonly url: string;
  /** Ends the service as a supervisor does. */
  stop(): Promise<Ended>;
}

/** `mneme serve` on a data folder, once it answers. */
export const serve = (folder: string, environment: Environment = {}): Promise<ServedFolder> =>
  served(folder, mneme(['serve'], { MNEME_DATA: folder, MNEME_PORT: '0', ...environment }));

/** What `npm start` runs, once it answers. */
export const start = (folder: string): Promise<ServedFolder> =>
  served(folder, compiled('src/main.js', [], { MNEME_DATA: folder, MNEME_PORT: '0' }));

async function served(folder: string, started: Started): Promise<ServedFolder> {
  const early = started.ended.then(({ code, stderr }) => {
    throw new Error(`the service ended with ${code}: ${stderr}`);
  });
  const url = await Promise.race([early, announced(folder)]);
  early.catch(() => undefined);
  return {
    url,
    stop: () => {
      started.process.kill('SIGTERM');
      return started.ended;
    },
  };
}

async function announced(folder: string): Promise<string> {
  for (;;) {
    const service = runningService(folder);
    if (service) return service.url;
    await pause(50);
  }
}
