import type { Database } from '../database/database.js';
import { DataKeys, masterKeyCheck } from '../encryption/data-keys.js';
import { isKeyUnavailable } from '../encryption/errors.js';
import { MasterKey } from '../encryption/master-key.js';
import { findingsOf, type Finding } from './finding.js';

const { ok, failed } = findingsOf('encryption');

/** Whether the master key opens the data keys of this database. */
export async function checkMasterKey(database: Database, masterKey: Buffer): Promise<Finding> {
  try {
    const { state } = (await new DataKeys(database, new MasterKey(masterKey)).fetch([masterKeyCheck])).get(masterKeyCheck);
    return ok(state === 'active' ? 'the master key opens the data keys' : 'there are no data keys yet');
  } catch (error) {
    if (!isKeyUnavailable(error)) throw error;
    return failed(
      'the master key is not the one this database was created with',
      'set MNEME_MASTER_KEY, or the key file in the data folder, to the original key',
    );
  }
}
