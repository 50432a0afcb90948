import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { masterKeyText } from '../../config/settings.js';
import { FolderLock, ownersOf } from './folder-lock.js';

export { DataFolderInUse } from './folder-lock.js';

/** The file of the master key is lost or damaged. Its message never quotes what it holds. */
export class MasterKeyFileUnusable extends Error {
  readonly code = 'master_key_file_unusable';
}

const serviceAddress = z.object({ url: z.url(), pid: z.int() });

/** Where a running service can be reached, for the command line. */
export type ServiceAddress = Readonly<z.infer<typeof serviceAddress>>;

const serviceFile = (folder: string) => join(folder, 'service.json');
const masterKeyFile = (folder: string) => join(folder, 'master.key');
const adminKeyFile = (folder: string) => join(folder, 'admin.key');

/**
 * The folder of the embedded default: database, master key, first admin key, lock, address of the running service.
 * Files are readable by their owner only (mode 0600).
 */
export class DataFolder {
  private constructor(
    readonly path: string,
    private readonly lock: FolderLock,
  ) {}

  /** Creates the folder where needed and locks it. @throws DataFolderInUse */
  static open(path: string): DataFolder {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const lock = FolderLock.take(realpathSync(path));
    rmSync(serviceFile(path), { force: true }); // of a service that was killed
    return new DataFolder(path, lock);
  }

  /** Resolves when the folder may be another process's by now, which this one must not outlive. */
  get lost(): Promise<Error> {
    return this.lock.lost;
  }

  get databaseDirectory(): string {
    return join(this.path, 'postgres');
  }

  /** The master key, made at the first start. @throws MasterKeyFileUnusable */
  masterKey(): Buffer {
    const file = masterKeyFile(this.path);
    if (!existsSync(file)) {
      // A folder that has a database but no master key has lost it: a new one could never open what the old one sealed.
      if (existsSync(this.databaseDirectory))
        throw new MasterKeyFileUnusable(`${file} is missing; without it the data in ${this.path} cannot be read`);
      writeWhole(file, `${randomBytes(32).toString('base64')}\n`);
    }
    const text = readFileSync(file, 'utf8').trim();
    if (!masterKeyText.test(text))
      throw new MasterKeyFileUnusable(`${file} does not hold 32 bytes in base64; put a copy of the master key there`);
    return Buffer.from(text, 'base64');
  }

  hasAdminKey(): boolean {
    return readAdminKey(this.path) !== undefined;
  }

  writeAdminKey(key: string): void {
    writeWhole(adminKeyFile(this.path), `${key}\n`);
  }

  announce(url: string): void {
    writeWhole(serviceFile(this.path), JSON.stringify({ url, pid: process.pid } satisfies ServiceAddress));
  }

  release(): void {
    if (!this.lock.held) return; // the folder may be another's by now
    rmSync(serviceFile(this.path), { force: true });
    this.lock.release();
  }
}

/** The service that runs on a data folder, if one does and has said where. */
export function runningService(path: string): ServiceAddress | undefined {
  if (!existsSync(serviceFile(path))) return undefined;
  const address = announced(path);
  return address && ownersOf(realpathSync(path)).includes(address.pid) ? address : undefined;
}

export function readAdminKey(path: string): string | undefined {
  const file = adminKeyFile(path);
  return (existsSync(file) && readFileSync(file, 'utf8').trim()) || undefined;
}

/** Undefined for a file that is gone again, or was written by something else. */
function announced(path: string): ServiceAddress | undefined {
  try {
    return serviceAddress.safeParse(JSON.parse(readFileSync(serviceFile(path), 'utf8'))).data;
  } catch {
    return undefined;
  }
}

/** Either the old text or the new one is there whenever a process dies or the power fails, and no half of a key. */
function writeWhole(file: string, text: string): void {
  const written = `${file}.new`;
  rmSync(written, { force: true }); // or its mode would stay
  withFile(written, 'wx', (descriptor) => {
    writeSync(descriptor, text);
    fsyncSync(descriptor);
  });
  renameSync(written, file);
  withFile(join(file, '..'), 'r', fsyncSync);
}

function withFile(path: string, flags: string, use: (descriptor: number) => void): void {
  const descriptor = openSync(path, flags, 0o600);
  try {
    use(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
