import type { INestApplicationContext } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { Clock } from '../config/clock.js';
import { deriveId, newCommandId } from '../event-log/ids.js';
import { systemTeam } from '../event-log/stream-name.js';
import { operatorScopes } from './scopes.js';
import { IssueKey } from './team-commands.js';

/**
 * Issues an operator key that may do everything an operator may, for whoever has no key yet: the first start of the
 * embedded default, and `keys create --admin`. The projections must run.
 *
 * The caller keeps it: a crash before that leaves a key in the list whose secret nobody knows, to be revoked.
 */
export async function ensureFirstAdminKey(app: INestApplicationContext): Promise<string> {
  const commandId = newCommandId();
  const order = {
    type: 'IssueApiKey',
    key: deriveId(commandId, `key ${systemTeam}`),
    profile: undefined,
    scopes: operatorScopes,
    expiresAt: undefined,
    name: 'admin',
    now: app.get(Clock).now(),
  } as const;
  const context = { commandId, correlationId: commandId, team: systemTeam };
  const { key } = await app.get(CommandBus).execute(new IssueKey(systemTeam, order, { context }));
  if (key === undefined) throw new Error('a new key already had a secret');
  return key;
}
