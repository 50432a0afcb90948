import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compiledFile } from '../../src/config/package-root.js';

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

/** The compiled `mneme`, as a process of its own, with nothing of the test's own environment but what a process needs. */
export function mneme(words: readonly string[], environment: Environment = {}): Started {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(process.execPath, [compiledFile('src/cli/mneme.js'), ...words], {
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

export interface Served {
  readonly url: string;
  /** Ends the service as a supervisor does. */
  stop(): Promise<Ended>;
}

/** `mneme serve`, once it answers. */
export const serve = (environment: Environment): Promise<Served> => served(mneme(['serve'], { MNEME_PORT: '0', ...environment }));

async function served({ process: child, ended }: Started): Promise<Served> {
  const early = ended.then(({ code, stderr }) => {
    throw new Error(`the service ended with ${code}: ${stderr}`);
  });
  early.catch(() => undefined);
  const url = await Promise.race([early, announcedUrl(child)]);
  return {
    url,
    stop: () => {
      child.kill('SIGTERM');
      return ended;
    },
  };
}

/** From the line of its log that says where it serves. */
const announcedUrl = (child: ChildProcess): Promise<string> =>
  new Promise((resolve) => {
    let log = '';
    child.stdout?.on('data', (text: Buffer) => {
      log += text.toString();
      const [, url] = /"url":"([^"]+)"[^\n]*Mneme serves/.exec(log) ?? [];
      if (url !== undefined) resolve(url);
    });
  });
