import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder that holds package.json: this file runs from `src/` under test and from `dist/src/` in production. */
export const packageRoot = findPackageRoot(dirname(fileURLToPath(import.meta.url)));

/** The compiled file of a worker thread; workers always run compiled code, because Node starts them without a transformer. */
export const compiledFile = (path: string): string => join(packageRoot, 'dist', path);

function findPackageRoot(folder: string): string {
  if (existsSync(join(folder, 'package.json'))) return folder;
  const parent = dirname(folder);
  if (parent === folder) throw new Error('package.json not found above the running code');
  return findPackageRoot(parent);
}
