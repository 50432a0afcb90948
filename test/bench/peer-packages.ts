import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Longest wait for npm, milliseconds. */
const patienceMs = 180_000;

/** The registry cannot be reached, or does not have the packages. */
export class PeersNotInstalled extends Error {
  constructor(readonly reason: string) {
    super(`the packages to compare with could not be installed: ${reason}`);
  }
}

/** Packages in a temporary folder: none of them is a dependency of ours, nor in our lock file. */
export class PeerPackages {
  private constructor(private readonly folder: string) {}

  /** @param packages with exact versions @throws PeersNotInstalled */
  static async install(packages: readonly string[]): Promise<PeerPackages> {
    const folder = await mkdtemp(join(tmpdir(), 'mneme-peers-'));
    const peers = new PeerPackages(folder);
    try {
      await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
      const options = ['--no-audit', '--no-fund', '--ignore-scripts', '--no-save', '--prefix', folder];
      await run('npm', ['install', ...options, ...packages], { cwd: folder, timeout: patienceMs });
      return peers;
    } catch (error) {
      await peers.remove();
      throw new PeersNotInstalled(reasonOf(error));
    }
  }

  /** What a package exports. */
  async load(name: string): Promise<unknown> {
    const path = createRequire(join(this.folder, 'package.json')).resolve(name);
    return import(pathToFileURL(path).href);
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** npm's own code, as in `npm error code ENOTFOUND`. */
function reasonOf(error: unknown): string {
  const said = error instanceof Error && 'stderr' in error ? String(error.stderr) : '';
  const [, code] = /^npm (?:error|ERR!) code (\S+)/m.exec(said) ?? [];
  if (code !== undefined) return `npm says ${code}; is the registry reachable?`;
  return error instanceof Error ? (error.message.split('\n')[0] ?? '') : 'npm failed';
}
