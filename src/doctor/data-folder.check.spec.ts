import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../test/support/command-line.js';
import { DataFolder } from '../database/embedded/data-folder.js';
import { checkDataFolder, freeSpace } from './data-folder.check.js';

const alone = { serves: false, hasMasterKey: false };

describe('the data folder', () => {
  let folder: ReturnType<typeof temporaryFolder>;
  let path: string;
  beforeEach(() => {
    folder = temporaryFolder();
    path = join(folder.path, 'data');
  });
  afterEach(() => folder.remove());

  /** As a service leaves it. */
  function used(): void {
    const opened = DataFolder.open(path);
    opened.masterKey();
    opened.writeAdminKey('mneme_admin');
    mkdirSync(opened.databaseDirectory);
    opened.release();
  }

  const told = (options = alone) =>
    checkDataFolder(path, options)
      .findings.filter(({ severity }) => severity !== 'ok')
      .map(({ severity, message }) => `${severity}: ${message}`);

  it('need not be there before the first start, and is not made by the look', () => {
    expect(told()).toEqual([]);
    expect(checkDataFolder(path, alone).openable).toBe(false);
    expect(checkDataFolder(path, alone).findings[0]?.message).toContain('is not there; the first start makes it');
  });

  it('is well as a service leaves it, and may be opened', () => {
    used();
    expect(told()).toEqual([]);
    expect(checkDataFolder(path, alone).openable).toBe(true);
  });

  it('is a folder, and can be made', () => {
    writeFileSync(path, '');
    expect(told()).toEqual([`failed: ${path} is no folder`]);
    path = join(path, 'below');
    expect(told()).toEqual([`failed: ${path} cannot be made: ${join(path, '..')} is no folder`]);
  });

  it('cannot be written to where nobody can write', () => {
    path = '/proc/mneme-data';
    expect(told()[0]).toMatch(/^failed: \/proc cannot be written to \(E[A-Z]+\)$/);
  });

  it('is locked by a process that names no address', () => {
    used();
    const other = DataFolder.open(path);
    expect(told()).toEqual([
      `failed: process ${process.pid} uses it and names no address: it is starting or stopping, or it hangs`,
    ]);
    expect(checkDataFolder(path, alone).openable).toBe(false);
    expect(told({ ...alone, serves: true })).toEqual([]);
    expect(checkDataFolder(path, { ...alone, serves: true }).openable).toBe(false);
    other.release();
  });

  it('keeps keys that only their owner can read', () => {
    used();
    chmodSync(join(path, 'master.key'), 0o644);
    chmodSync(join(path, 'admin.key'), 0o640);
    expect(told()).toEqual([
      'warning: master.key can be read by others (mode 644)',
      'warning: admin.key can be read by others (mode 640)',
    ]);
  });

  it('has a master key where it has a database, unless the settings have it', () => {
    mkdirSync(join(path, 'postgres'), { recursive: true });
    expect(told()).toEqual(['failed: the file master.key is missing']);
    expect(told({ ...alone, hasMasterKey: true })).toEqual([]);
  });

  it('has a master key that is one, which is not told', () => {
    used();
    writeFileSync(join(path, 'master.key'), 'c2VjcmV0');
    expect(told()).toEqual(['failed: master.key does not hold 32 bytes in base64']);
    expect(checkDataFolder(path, alone).openable).toBe(false);
  });

  it.each([
    [50_000_000, 'failed'],
    [500_000_000, 'warning'],
    [50_000_000_000, 'ok'],
  ] as const)('has room: of %i bytes', (bytes, severity) => expect(freeSpace(bytes).severity).toBe(severity));
});
