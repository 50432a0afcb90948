import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database.js';
import { isDatabaseUnavailable } from '../../database/errors.js';
import { tableTeamId } from '../../event-log/stream-name.js';

/** What an item of a batch was answered with, by the command that its own idempotency key names. Holds no content. */
export interface ItemReceipt {
  readonly commandId: string;
  /** HMAC of the item: equal for a repetition, different for another item under the same key. */
  readonly fingerprint: string;
  readonly body: object;
  readonly position: bigint;
}

/** The command table, for many commands at once: one by one, a batch would take hundreds of round trips. */
@Injectable()
export class ItemReceipts {
  constructor(private readonly database: Database) {}

  /** By command. */
  async find(team: string, commandIds: readonly string[]): Promise<ReadonlyMap<string, ItemReceipt>> {
    if (commandIds.length === 0) return new Map();
    const rows = await this.database.as('mneme_system', (queries) =>
      queries.query<{ command_id: string; fingerprint: string; receipt: string; position: bigint }>(
        `SELECT command_id, fingerprint, receipt, position FROM mneme.commands
         WHERE team_id = $1 AND command_id = ANY($2::uuid[])`,
        [tableTeamId(team), commandIds],
      ),
    );
    return new Map(
      rows.map(({ command_id, fingerprint, receipt, position }) => [
        command_id,
        { commandId: command_id, fingerprint, body: JSON.parse(receipt) as object, position },
      ]),
    );
  }

  /** Keeps the first receipt of each. A database that is down just now is no error: the events answer a repetition. */
  async keep(team: string, receipts: readonly ItemReceipt[]): Promise<void> {
    if (receipts.length === 0) return;
    const sorted = [...receipts].sort((a, b) => (a.commandId < b.commandId ? -1 : 1)); // two batches must not wait for each other
    try {
      await this.database.as('mneme_system', (queries) =>
        queries.execute(
          `INSERT INTO mneme.commands (team_id, command_id, fingerprint, status, receipt, position, revision)
           SELECT $1, kept.command_id, kept.fingerprint, 200, kept.receipt, kept.position, NULL
           FROM unnest($2::uuid[], $3::text[], $4::text[], $5::int8[]) AS kept(command_id, fingerprint, receipt, position)
           ON CONFLICT DO NOTHING`,
          [
            tableTeamId(team),
            sorted.map(({ commandId }) => commandId),
            sorted.map(({ fingerprint }) => fingerprint),
            sorted.map(({ body }) => JSON.stringify(body)),
            sorted.map(({ position }) => position),
          ],
        ),
      );
    } catch (error) {
      if (!isDatabaseUnavailable(error)) throw error;
    }
  }
}
