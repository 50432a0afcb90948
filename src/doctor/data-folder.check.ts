import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, realpathSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { masterKeyText } from '../config/settings.js';
import { ownersOf } from '../database/embedded/folder-lock.js';
import { findingsOf, type Finding } from './finding.js';

const { ok, warning, failed } = findingsOf('data folder');

const megabyte = 1_048_576;
/** PostgreSQL stops when it cannot write; a rebuild needs as much again as the read models hold. */
const tooLittleSpace = 100 * megabyte;
const littleSpace = 1_024 * megabyte;

/** What the folder's state means for the rest of the examination. */
export interface FolderState {
  readonly findings: readonly Finding[];
  /** There is a database, and nobody uses it: it may be opened. */
  readonly openable: boolean;
}

/**
 * @param serves whether a service runs on it and says where
 * @param hasMasterKey whether the master key comes from the settings, so that no file need have it
 */
export function checkDataFolder(path: string, { serves, hasMasterKey }: { serves: boolean; hasMasterKey: boolean }): FolderState {
  if (!existsSync(path)) return { findings: notThere(path), openable: false };
  if (!statSync(path).isDirectory())
    return { findings: [failed(`${path} is no folder`, 'set MNEME_DATA to a folder')], openable: false };
  const hasDatabase = existsSync(join(path, 'postgres'));
  const lock = serves ? [] : lockFindings(path);
  const findings = [writable(path), space(path), ...keyFiles(path, hasDatabase, hasMasterKey), ...lock];
  return { findings, openable: hasDatabase && !serves && !findings.some(({ severity }) => severity === 'failed') };
}

function notThere(path: string): Finding[] {
  let parent = dirname(path);
  while (!existsSync(parent)) parent = dirname(parent);
  if (!statSync(parent).isDirectory())
    return [failed(`${path} cannot be made: ${parent} is no folder`, 'set MNEME_DATA to another place')];
  const made = writable(parent);
  if (made.severity !== 'ok') return [made];
  return [ok(`${path} is not there; the first start makes it`), space(parent)];
}

function writable(path: string): Finding {
  const probe = join(path, `doctor.${randomBytes(8).toString('hex')}`);
  try {
    writeFileSync(probe, '', { flag: 'wx', mode: 0o600 });
    rmSync(probe);
    return ok(`${path} can be written to`);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown';
    return failed(`${path} cannot be written to (${code})`, 'give the user of the service the right to write there');
  }
}

function space(path: string): Finding {
  const { bavail, bsize } = statfsSync(path);
  return freeSpace(bavail * bsize);
}

/** @param bytes that the user may still write */
export function freeSpace(bytes: number): Finding {
  const message = `${Math.floor(bytes / megabyte).toLocaleString('en')} MB are free`;
  if (bytes < tooLittleSpace) return failed(`only ${message}`, 'make room: the database stops when it cannot write');
  if (bytes < littleSpace) return warning(`only ${message}`, 'make room: rebuilding needs as much again as the read models hold');
  return ok(message);
}

function keyFiles(path: string, hasDatabase: boolean, hasMasterKey: boolean): Finding[] {
  const findings: Finding[] = [];
  const masterKey = join(path, 'master.key');
  if (hasDatabase && !existsSync(masterKey) && !hasMasterKey)
    findings.push(
      failed('the file master.key is missing', 'put a copy of it back: without it nothing that was remembered can be read'),
    );
  if (existsSync(masterKey) && !masterKeyText.test(readFileSync(masterKey, 'utf8').trim()))
    findings.push(failed('master.key does not hold 32 bytes in base64', 'put a copy of the master key there'));
  for (const name of ['master.key', 'admin.key']) {
    const file = join(path, name);
    if (!existsSync(file)) continue;
    const mode = statSync(file).mode & 0o777;
    findings.push(
      mode & 0o077
        ? warning(`${name} can be read by others (mode ${mode.toString(8)})`, `chmod 600 ${file}`)
        : ok(`${name} can be read by its owner only`),
    );
  }
  return findings;
}

function lockFindings(path: string): Finding[] {
  const [owner] = ownersOf(realpathSync(path));
  if (owner === undefined) return [ok('no process uses it')];
  return [
    failed(
      `process ${owner} uses it and names no address: it is starting or stopping, or it hangs`,
      'wait a moment and ask again; where that process is not Mneme, delete its lock file',
    ),
  ];
}
