import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';

/** Another process serves from the folder. */
export class DataFolderInUse extends Error {
  readonly code = 'data_folder_in_use';

  constructor(folder: string, pid: number) {
    const lock = join(folder, `mneme.${pid}.*.lock`);
    super(`${folder} is used by process ${pid}; stop it first. If that process is not Mneme, delete ${lock}`);
  }
}

const lockFile = /^mneme\.([1-9]\d{0,9})\.[0-9a-f]{16}\.lock$/;

/** Locks of this process: a process id cannot tell two owners in one process apart, nor this one from its earlier life. */
const own = new Set<string>();

/** Two that start at the same moment may both give way; pauses of random length let one of them come first. */
const attempts = 5;
const longestPauseMs = 50;

/** A holder shows every so often that it lives, for those that cannot ask: process ids mean nothing in another container. */
const signOfLifeMs = 5_000;
const silenceMs = 4 * signOfLifeMs;

/**
 * A process holds a folder while the only lock file of a living process in it is its own.
 *
 * Each puts its file there first and looks for others afterwards, so of two that start at once at least one sees the other:
 * they never both hold it. A single file that is checked and then replaced cannot promise that when its owner has died: one
 * finds it stale, another takes it over, and the first removes what the other wrote. Here each name is used once, so removing
 * a dead process's file can hit no other's.
 */
export class FolderLock {
  private readonly signs: NodeJS.Timeout;

  private constructor(private readonly file: string) {
    this.signs = setInterval(() => showLife(file), signOfLifeMs).unref();
  }

  /** @throws DataFolderInUse after at most a quarter of a second */
  static take(folder: string): FolderLock {
    for (let attempt = 1; ; attempt += 1) {
      const lock = FolderLock.put(folder);
      const others = locksIn(folder).filter(({ file }) => file !== lock.file);
      for (const { file } of others.filter(({ living }) => !living)) rmSync(file, { force: true });
      const owner = others.find(({ living }) => living);
      if (!owner) return lock;
      lock.release();
      if (attempt === attempts) throw new DataFolderInUse(folder, owner.pid);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Math.random() * longestPauseMs);
    }
  }

  get held(): boolean {
    return own.has(this.file);
  }

  release(): void {
    clearInterval(this.signs);
    rmSync(this.file, { force: true });
    own.delete(this.file);
  }

  private static put(folder: string): FolderLock {
    const file = join(folder, `mneme.${process.pid}.${randomBytes(8).toString('hex')}.lock`);
    writeFileSync(file, hostname(), { flag: 'wx', mode: 0o600 });
    own.add(file);
    return new FolderLock(file);
  }
}

/** Living processes with a lock in the folder: the holder, and for moments those that try in vain. */
export const ownersOf = (folder: string): number[] => locksIn(folder).flatMap(({ pid, living }) => (living ? [pid] : []));

function locksIn(folder: string): { file: string; pid: number; living: boolean }[] {
  return readdirSync(folder).flatMap((name) => {
    const pid = Number(lockFile.exec(name)?.[1] ?? 0);
    const file = join(folder, name);
    return pid === 0 ? [] : [{ file, pid, living: isHeld(file, pid) }];
  });
}

function isHeld(file: string, pid: number): boolean {
  const { host, silentMs } = signsOf(file);
  if (host !== hostname()) return silentMs < silenceMs;
  return pid === process.pid ? own.has(file) : isAlive(pid);
}

/** Of a lock that is gone meanwhile: as of one that nobody holds. An empty host is one that is only just being written. */
function signsOf(file: string): { host: string; silentMs: number } {
  try {
    return { host: readFileSync(file, 'utf8') || hostname(), silentMs: Date.now() - statSync(file).mtimeMs };
  } catch {
    return { host: '', silentMs: Number.POSITIVE_INFINITY };
  }
}

function showLife(file: string): void {
  try {
    const now = new Date();
    utimesSync(file, now, now);
  } catch {
    // Somebody deleted the lock, or the whole folder; there is nothing left to hold.
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
