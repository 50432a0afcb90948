import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, readlinkSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
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

/** The folder may be another's by now: two that write into one database destroy it, so this process has to end. */
export class DataFolderLost extends Error {
  readonly code = 'data_folder_lost';

  constructor() {
    super('the lock of the data folder is gone: this process was silent for too long, or somebody deleted it');
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
/** How often somebody who waits for a sign of life looks for one. */
const lookMs = 100;

/**
 * Where a process id names one process: the running kernel and its namespace of process ids. Host names do not tell: two
 * containers may have the same one, and the first process of each has the id 1. Random where the system does not say, so that
 * nobody's ids are taken for ours.
 */
export const placeOfThisProcess = placeOfIds();

/**
 * A process holds a folder while the only lock file of a living process in it is its own.
 *
 * Each puts its file there first and looks for others afterwards, so of two that start at once at least one sees the other:
 * they never both hold it. A single file that is checked and then replaced cannot promise that when its owner has died: one
 * finds it stale, another takes it over, and the first removes what the other wrote. Here each name is used once, so removing
 * a dead process's file can hit no other's.
 */
export class FolderLock {
  /** Resolves when the lock is gone although it was not released. */
  readonly lost: Promise<DataFolderLost>;
  private readonly signs: NodeJS.Timeout;

  private constructor(private readonly file: string) {
    let lose: (reason: DataFolderLost) => void = () => {};
    this.lost = new Promise((resolve) => (lose = resolve));
    this.signs = setInterval(() => {
      if (!showLife(file)) lose(new DataFolderLost());
    }, signOfLifeMs).unref();
  }

  /**
   * @throws DataFolderInUse after at most a quarter of a second, where the holder can be asked; else at its next sign of life,
   *   which is at most five seconds away. A holder of another container that was killed is given up after twenty seconds.
   */
  static take(folder: string): FolderLock {
    const signs = new Map<string, number>();
    for (let attempt = 1; ; attempt += 1) {
      const lock = FolderLock.put(folder);
      const others = locksIn(folder).filter(({ file }) => file !== lock.file);
      for (const { file } of others.filter(({ living }) => !living)) rmSync(file, { force: true });
      const owner = others.find(({ living }) => living);
      if (!owner) return lock;
      lock.release();
      if (others.some(({ living, here }) => living && !here)) waitForSign(folder, signs, owner.pid);
      else if (attempt >= attempts) throw new DataFolderInUse(folder, owner.pid);
      else pause(Math.random() * longestPauseMs);
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
    writeFileSync(file, placeOfThisProcess, { flag: 'wx', mode: 0o600 });
    own.add(file);
    return new FolderLock(file);
  }
}

/** Living processes with a lock in the folder: the holder, and for moments those that try in vain. */
export const ownersOf = (folder: string): number[] => locksIn(folder).flatMap(({ pid, living }) => (living ? [pid] : []));

interface Lock {
  readonly file: string;
  readonly pid: number;
  readonly living: boolean;
  /** Whether its process can be asked whether it lives; otherwise `living` means that it showed life lately. */
  readonly here: boolean;
  /** When it last did, milliseconds since 1970. */
  readonly shownAt: number;
}

function locksIn(folder: string): Lock[] {
  return readdirSync(folder).flatMap((name) => {
    const pid = Number(lockFile.exec(name)?.[1] ?? 0);
    return pid === 0 ? [] : (lockAt(join(folder, name), pid) ?? []);
  });
}

/** Undefined for a lock that is gone meanwhile. An empty one is only just being written. */
function lockAt(file: string, pid: number): Lock | undefined {
  try {
    const here = readFileSync(file, 'utf8') === placeOfThisProcess;
    const shownAt = statSync(file).mtimeMs;
    const living = here ? isAlive(file, pid) : Date.now() - shownAt < silenceMs;
    return { file, pid, living, here, shownAt };
  } catch {
    return undefined;
  }
}

/**
 * Until a lock from elsewhere is gone, or has been silent long enough.
 *
 * @param signs when each showed life for the first time that we looked
 * @throws DataFolderInUse as soon as one shows life again
 */
function waitForSign(folder: string, signs: Map<string, number>, pid: number): void {
  pause(lookMs);
  for (const { file, living, here, shownAt } of locksIn(folder)) {
    if (!living || here) continue;
    const before = signs.get(file);
    if (before !== undefined && shownAt > before) throw new DataFolderInUse(folder, pid);
    signs.set(file, shownAt);
  }
}

/** Whether there still is a lock to show it by. */
function showLife(file: string): boolean {
  try {
    const now = new Date();
    utimesSync(file, now, now);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT';
  }
}

function isAlive(file: string, pid: number): boolean {
  if (pid === process.pid) return own.has(file);
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Nothing runs yet while a folder is taken, so nothing is held up. */
const pause = (milliseconds: number): unknown => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);

function placeOfIds(): string {
  // Elsewhere a machine has one set of process ids.
  if (process.platform !== 'linux') return `${process.platform} ${hostname()}`;
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `linux ${boot} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return `unknown ${randomBytes(16).toString('hex')}`;
  }
}
