import type { CommandBus } from '@nestjs/cqrs';
import type { Clock } from '../config/clock.js';
import { deriveId, newCommandId } from '../event-log/ids.js';
import { systemTeam } from '../event-log/stream-name.js';
import { operatorScopes } from './scopes.js';
import { IssueKey } from './team-commands.js';

/** Where the first admin key is kept: the data folder of the embedded default. */
export interface AdminKeyFile {
  hasAdminKey(): boolean;
  writeAdminKey(key: string): void;
}

/**
 * Issues an operator key and writes it into the file, unless the file is there. For the first start of the embedded
 * default, once the projections run.
 *
 * A crash between issuing and writing leaves a key in the list whose secret nobody knows; the next start issues another.
 *
 * @returns the key when one was issued
 */
export async function ensureFirstAdminKey(commands: CommandBus, clock: Clock, file: AdminKeyFile): Promise<string | undefined> {
  if (file.hasAdminKey()) return undefined;
  const key = await issueAdminKey(commands, clock);
  file.writeAdminKey(key);
  return key;
}

/** Issues an operator key that may do everything an operator may; for `keys create --admin`, which needs no key to run. */
export async function issueAdminKey(commands: CommandBus, clock: Clock, name = 'admin'): Promise<string> {
  const commandId = newCommandId();
  const context = { commandId, correlationId: commandId, team: systemTeam };
  const keyId = deriveId(commandId, `key ${systemTeam}`);
  const order = { key: keyId, profile: undefined, scopes: operatorScopes, expiresAt: undefined, name, now: clock.now() };
  const { key } = await commands.execute(new IssueKey(systemTeam, { type: 'IssueApiKey', ...order }, { context }));
  if (key === undefined) throw new Error('a new key already had a secret');
  return key;
}
