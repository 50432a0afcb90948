import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { compiledFile } from '../../config/package-root.js';
import { DataFolder, DataFolderInUse, MasterKeyFileUnusable, readAdminKey, runningService } from './data-folder.js';
import { placeOfThisProcess } from './folder-lock.js';

let parent: string;
let path: string;
const inside = (name: string) => join(path, name);
const locks = () => readdirSync(path).filter((name) => name.endsWith('.lock'));
const mode = (file: string) => (statSync(file).mode & 0o777).toString(8);
/** Puts down the lock of a process that was not told to, `ageMs` after its last sign of life. @param place empty: not written yet */
function lockedBy(pid: number, place = placeOfThisProcess, ageMs = 0): string {
  const lock = inside(`mneme.${pid}.00000000000000aa.lock`);
  writeFileSync(lock, place);
  const shown = new Date(Date.now() - ageMs);
  utimesSync(lock, shown, shown);
  return lock;
}

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'mneme-folder-'));
  path = join(parent, 'data');
});
afterEach(() => rmSync(parent, { recursive: true }));

/** A process that does nothing but live. */
async function living<T>(use: (pid: number) => T | Promise<T>): Promise<T> {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)'], { stdio: 'ignore' });
  await once(child, 'spawn');
  try {
    return await use(child.pid ?? 0);
  } finally {
    await ended(child);
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

/** The id of a process that lives no more. */
const dead = (): Promise<number> => living((pid) => pid);

describe('a data folder', () => {
  it('is made where there is none, for its owner only', () => {
    const folder = DataFolder.open(path);
    folder.masterKey();
    folder.writeAdminKey('mneme_key');
    folder.announce('http://127.0.0.1:1');
    expect(mode(path)).toBe('700');
    for (const name of ['master.key', 'admin.key', 'service.json', ...locks()])
      expect([name, mode(inside(name))]).toEqual([name, '600']);
    folder.release();
    expect(readdirSync(path).sort()).toEqual(['admin.key', 'master.key']);
  });

  it('is held by one of this process at a time, whichever way it is written', () => {
    const folder = DataFolder.open(path);
    symlinkSync(path, join(parent, 'link'));
    for (const again of [path, join(parent, 'link'), join(path, '..', 'data')])
      expect(() => DataFolder.open(again)).toThrow(DataFolderInUse);
    expect(locks()).toHaveLength(1);
    folder.release();
    DataFolder.open(path).release();
  });

  it('is held by one process at a time', async () =>
    living((pid) => {
      mkdirSync(path);
      lockedBy(pid);
      expect(() => DataFolder.open(path)).toThrow(`is used by process ${pid}; stop it first`);
      expect(locks()).toEqual([`mneme.${pid}.00000000000000aa.lock`]);
    }));

  it('is free when the process that held it has died', async () => {
    mkdirSync(path);
    lockedBy(await dead());
    const folder = DataFolder.open(path);
    expect(locks()).toEqual([expect.stringMatching(new RegExp(`^mneme\\.${process.pid}\\.`))]);
    folder.release();
    expect(locks()).toEqual([]);
  });

  it('is free when it was held by an earlier process of the same id, as a restarted container has', () => {
    mkdirSync(path);
    lockedBy(process.pid);
    DataFolder.open(path).release();
    expect(locks()).toEqual([]);
  });

  describe('of another container', () => {
    // The first process of every container has the id 1, and a container's host name is whatever it was told.
    const elsewhere = 'linux 00000000-0000-4000-8000-000000000000 pid:[4026532000]';
    beforeEach(() => mkdirSync(path));

    it.each([
      ['with the process id of ours', () => process.pid],
      ['with the process id of nobody here', () => 4_000_000],
    ])('is held as long as its process shows life, %s', async (_, pid) => {
      const lock = lockedBy(pid(), elsewhere);
      const started = Date.now();
      const starter = startAt(started + 300);
      const life = setInterval(() => utimesSync(lock, new Date(), new Date()), 200);
      try {
        expect(await firstLine(starter)).toBe('data_folder_in_use');
      } finally {
        clearInterval(life);
        await ended(starter);
      }
      expect(locks()).toEqual([`mneme.${pid()}.00000000000000aa.lock`]);
    });

    it('is free when its process has shown no life for twenty seconds', () => {
      lockedBy(process.pid, elsewhere, 20_100);
      DataFolder.open(path).release();
      expect(locks()).toEqual([]);
    });

    it('is waited for until it has been silent for so long', () => {
      lockedBy(process.pid, elsewhere, 18_500);
      const started = Date.now();
      DataFolder.open(path).release();
      expect(Date.now() - started).toBeGreaterThan(1_000);
    });

    it('is nobody’s to take while its lock is only just being written', () => {
      lockedBy(process.pid, '', 18_500);
      const started = Date.now();
      DataFolder.open(path).release();
      expect(Date.now() - started).toBeGreaterThan(1_000);
    });
  });

  it('is lost when its lock is gone, and not when it was released', async () => {
    const released = DataFolder.open(path);
    const outcomes: unknown[] = [];
    void released.lost.then((reason) => outcomes.push(reason));
    released.release();
    const folder = DataFolder.open(path);
    rmSync(inside(locks()[0] ?? ''));
    expect(await folder.lost).toMatchObject({ code: 'data_folder_lost' });
    expect(outcomes).toEqual([]);
    folder.release();
  });

  it('leaves alone what is no lock of its own', () => {
    mkdirSync(path);
    const others = ['mneme.lock', 'mneme.0.00000000000000aa.lock', 'mneme.x.lock'];
    for (const name of others) writeFileSync(inside(name), '1');
    DataFolder.open(path).release();
    expect(readdirSync(path).sort()).toEqual([...others].sort());
  });

  it('releases once: not what another has taken since', () => {
    const first = DataFolder.open(path);
    first.release();
    const second = DataFolder.open(path);
    second.announce('http://127.0.0.1:2');
    first.release();
    expect(runningService(path)).toEqual({ url: 'http://127.0.0.1:2', pid: process.pid });
    second.release();
  });

  it('goes to one of many that start at once after its owner died', async () => {
    mkdirSync(path);
    lockedBy(await dead());
    const starters = Array.from({ length: 6 }, () => startAt(Date.now() + 1_500));
    try {
      const outcomes = await Promise.all(starters.map(firstLine));
      expect(outcomes.sort()).toEqual([...Array<string>(5).fill('data_folder_in_use'), 'held']);
    } finally {
      await Promise.all(starters.map(ended));
    }
  });
});

/** A process that opens the folder at a time, says what came of it, and keeps it. */
function startAt(time: number): ChildProcess {
  const script = `
    const { DataFolder } = await import(${JSON.stringify(pathToFileURL(compiledFile('src/database/embedded/data-folder.js')).href)});
    while (Date.now() < ${time});
    try { DataFolder.open(${JSON.stringify(path)}); console.log('held'); } catch (error) { console.log(error.code ?? error.message); }
    setInterval(() => undefined, 1000);`;
  return spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
}

async function firstLine({ stdout }: ChildProcess): Promise<string> {
  if (!stdout) throw new Error('no output');
  const [chunk] = (await once(stdout, 'data')) as [Buffer];
  return chunk.toString().trim();
}

describe('the keys of a data folder', () => {
  let folder: DataFolder;
  beforeEach(() => {
    folder = DataFolder.open(path);
  });
  afterEach(() => folder.release());

  it('are made once and read again', () => {
    const key = folder.masterKey();
    expect(key).toHaveLength(32);
    expect(folder.masterKey()).toEqual(key);
    expect([folder.hasAdminKey(), readAdminKey(path)]).toEqual([false, undefined]);
    folder.writeAdminKey('mneme_key');
    expect([folder.hasAdminKey(), readAdminKey(path)]).toEqual([true, 'mneme_key']);
    expect(readdirSync(path).sort()).toEqual([...locks(), 'admin.key', 'master.key'].sort());
  });

  it('are replaced as a whole, whatever an earlier write left behind', () => {
    writeFileSync(inside('admin.key.new'), 'half', { mode: 0o644 });
    writeFileSync(inside('admin.key'), 'old', { mode: 0o644 });
    folder.writeAdminKey('mneme_key');
    expect([readAdminKey(path), mode(inside('admin.key'))]).toEqual(['mneme_key', '600']);
    expect(readdirSync(path)).not.toContain('admin.key.new');
  });

  it('are none when the file is empty', () => {
    writeFileSync(inside('admin.key'), '\n');
    expect([folder.hasAdminKey(), readAdminKey(path)]).toEqual([false, undefined]);
  });

  it.each(['', 'not a key', Buffer.alloc(31).toString('base64'), `${Buffer.alloc(32).toString('base64')}x`])(
    'are refused, with the name of the file and nothing of its text, when the master key is %p',
    (text) => {
      writeFileSync(inside('master.key'), text);
      const refused = () => folder.masterKey();
      expect(refused).toThrow(MasterKeyFileUnusable);
      expect(refused).toThrow(`${inside('master.key')} does not hold 32 bytes in base64`);
      expect(readFileSync(inside('master.key'), 'utf8')).toBe(text);
    },
  );

  it('are not made anew for a database that another key sealed', () => {
    mkdirSync(folder.databaseDirectory);
    expect(() => folder.masterKey()).toThrow(`${inside('master.key')} is missing`);
    expect(readdirSync(path)).not.toContain('master.key');
  });
});

describe('the service that runs on a data folder', () => {
  const announced = (text: string) => writeFileSync(inside('service.json'), text);

  it('is none where there is no folder', () => expect(runningService(path)).toBeUndefined());

  it('is the one that announced itself, until it releases the folder', () => {
    const folder = DataFolder.open(path);
    expect(runningService(path)).toBeUndefined();
    folder.announce('http://127.0.0.1:1');
    expect(runningService(path)).toEqual({ url: 'http://127.0.0.1:1', pid: process.pid });
    folder.release();
    expect(runningService(path)).toBeUndefined();
  });

  it('is not one that ran before', async () => {
    mkdirSync(path);
    lockedBy(await dead());
    announced('{"url":"http://127.0.0.1:1","pid":1}');
    expect(runningService(path)).toBeUndefined();
    const folder = DataFolder.open(path);
    expect(readdirSync(path)).not.toContain('service.json');
    folder.release();
  });

  it('is the process that holds the folder, and no other', async () =>
    living(async (pid) => {
      mkdirSync(path);
      lockedBy(pid);
      announced(JSON.stringify({ url: 'http://127.0.0.1:1', pid }));
      expect(runningService(path)).toEqual({ url: 'http://127.0.0.1:1', pid });
      announced(JSON.stringify({ url: 'http://127.0.0.1:1', pid: await dead() }));
      expect(runningService(path)).toBeUndefined();
      announced(JSON.stringify({ url: 'http://127.0.0.1:1', pid: process.pid }));
      expect(runningService(path)).toBeUndefined();
    }));

  it.each(['', '{"url":"http://127.0.0.1:1"', 'null', '[]', '{}', '{"url":1,"pid":PID}', '{"url":"here","pid":PID}'])(
    'is unknown when its file holds %p',
    async (text) =>
      living((pid) => {
        mkdirSync(path);
        lockedBy(pid);
        announced(text.replace('PID', String(pid)));
        expect(runningService(path)).toBeUndefined();
      }),
  );

  it('is unknown when its file cannot be read', () => {
    const folder = DataFolder.open(path);
    mkdirSync(inside('service.json'));
    expect(runningService(path)).toBeUndefined();
    rmSync(inside('service.json'), { recursive: true });
    folder.release();
  });
});
