import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database.js';
import { isDatabaseUnavailable } from '../../database/errors.js';
import { tableTeamId } from '../../event-log/stream-name.js';
import type { CommandKey } from './command-key.js';

/** A command that is to be carried out once. */
export type CommandOnce = CommandKey & { readonly fingerprint: string };

/** What a command was answered with. Holds no content. */
export interface StoredReceipt {
  readonly fingerprint: string;
  readonly status: number;
  readonly body: object;
  readonly position: bigint;
  readonly revision: bigint | 'no_stream';
}

/** Receipts by command. Not a read model: only what was answered can be answered again. */
@Injectable()
export class CommandTable {
  constructor(private readonly database: Database) {}

  async find({ team, commandId }: CommandOnce): Promise<StoredReceipt | undefined> {
    const [row] = await this.database.as('mneme_system', (queries) =>
      queries.query<{ fingerprint: string; status: number; receipt: string; position: bigint; revision: bigint | null }>(
        'SELECT fingerprint, status, receipt, position, revision FROM mneme.commands WHERE team_id = $1 AND command_id = $2',
        [tableTeamId(team), commandId],
      ),
    );
    if (!row) return undefined;
    const { fingerprint, status, receipt, position, revision } = row;
    return { fingerprint, status, body: JSON.parse(receipt) as object, position, revision: revision ?? 'no_stream' };
  }

  /**
   * Keeps the first receipt of a command. A database that is down just now is no error: the command stands, and its events
   * answer a repetition.
   */
  async keep({ team, commandId }: CommandOnce, receipt: StoredReceipt): Promise<void> {
    const { fingerprint, status, body, position, revision } = receipt;
    const values = [
      tableTeamId(team),
      commandId,
      fingerprint,
      status,
      JSON.stringify(body),
      position,
      revision === 'no_stream' ? null : revision,
    ];
    try {
      await this.database.as('mneme_system', (queries) =>
        queries.execute(
          `INSERT INTO mneme.commands (team_id, command_id, fingerprint, status, receipt, position, revision)
           VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING`,
          values,
        ),
      );
    } catch (error) {
      if (!isDatabaseUnavailable(error)) throw error;
    }
  }

  /**
   * Deletes the oldest receipts of more than so many days, at most `most` of them, by the clock that dated them.
   *
   * @returns how many it deleted
   */
  deleteOlderThan(days: number, most: number): Promise<number> {
    return this.database.as('mneme_system', (queries) =>
      queries.execute(
        `DELETE FROM mneme.commands WHERE (team_id, command_id) IN (
           SELECT team_id, command_id FROM mneme.commands WHERE created_at < now() - make_interval(days => $1)
           ORDER BY created_at LIMIT $2)`,
        [days, most],
      ),
    );
  }
}
