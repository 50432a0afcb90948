import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Another process serves from the folder. */
export class DataFolderInUse extends Error {
  readonly code = 'data_folder_in_use';

  constructor(folder: string, pid: number) {
    super(`${folder} is used by process ${pid}; stop it first. If that process is not Mneme, delete ${lockFile(folder)}`);
  }
}

/** Where a running service can be reached, for the command line. */
export interface ServiceAddress {
  readonly url: string;
  readonly pid: number;
}

const lockFile = (folder: string) => join(folder, 'mneme.lock');
const serviceFile = (folder: string) => join(folder, 'service.json');
const masterKeyFile = (folder: string) => join(folder, 'master.key');
const adminKeyFile = (folder: string) => join(folder, 'admin.key');

/** Folders this process holds: a process id in a lock file cannot tell two owners in one process apart. */
const held = new Set<string>();

/**
 * The folder of the embedded default: database, master key, first admin key, lock, address of the running service.
 * Keys are readable by their owner only (mode 0600).
 */
export class DataFolder {
  private constructor(readonly path: string) {}

  /** Creates the folder where needed and locks it. @throws DataFolderInUse */
  static open(path: string): DataFolder {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const owner = held.has(path) ? process.pid : livingOwner(path);
    if (owner !== undefined) throw new DataFolderInUse(path, owner);
    writeFileSync(lockFile(path), String(process.pid), { mode: 0o600 });
    held.add(path);
    return new DataFolder(path);
  }

  get databaseDirectory(): string {
    return join(this.path, 'postgres');
  }

  /** The master key, made at the first start. */
  masterKey(): Buffer {
    const file = masterKeyFile(this.path);
    if (!existsSync(file)) {
      // A folder that has a database but no master key has lost it: a new one could never open what the old one sealed.
      if (existsSync(this.databaseDirectory))
        throw new Error(`${file} is missing; without it the data in ${this.path} cannot be read`);
      writeSecret(file, randomBytes(32).toString('base64'));
    }
    return Buffer.from(readFileSync(file, 'utf8').trim(), 'base64');
  }

  hasAdminKey(): boolean {
    return existsSync(adminKeyFile(this.path));
  }

  writeAdminKey(key: string): void {
    writeSecret(adminKeyFile(this.path), key);
  }

  announce(url: string): void {
    writeFileSync(serviceFile(this.path), JSON.stringify({ url, pid: process.pid } satisfies ServiceAddress), { mode: 0o600 });
  }

  release(): void {
    rmSync(serviceFile(this.path), { force: true });
    rmSync(lockFile(this.path), { force: true });
    held.delete(this.path);
  }
}

/** The service that runs on a data folder, if one does. */
export function runningService(path: string): ServiceAddress | undefined {
  if (livingOwner(path) === undefined || !existsSync(serviceFile(path))) return undefined;
  return JSON.parse(readFileSync(serviceFile(path), 'utf8')) as ServiceAddress;
}

export function readAdminKey(path: string): string | undefined {
  const file = adminKeyFile(path);
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined;
}

/** A lock of a dead process is no lock; nor is one with our own id, which a restarted container gets again. */
function livingOwner(path: string): number | undefined {
  if (!existsSync(lockFile(path))) return undefined;
  const pid = Number(readFileSync(lockFile(path), 'utf8'));
  if (!Number.isInteger(pid) || pid <= 0 || pid === process.pid) return undefined;
  try {
    process.kill(pid, 0);
    return pid;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM' ? pid : undefined;
  }
}

function writeSecret(file: string, text: string): void {
  writeFileSync(file, `${text}\n`, { mode: 0o600, flag: 'w' });
  chmodSync(file, 0o600);
}
