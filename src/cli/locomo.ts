import { importEvidence, type ImportReport } from '../importing/import-evidence.js';
import type { LocomoConversation } from '../importing/locomo.js';
import type { Client } from './client.js';
import { httpSink } from './http-sink.js';
import { openTeam, type TeamAccess, teamNamed } from './team-access.js';

export interface ImportedConversation {
  /** Id. */
  readonly team: string;
  readonly access: TeamAccess;
  readonly report: ImportReport;
  /** Turns by the evidence that they became. */
  readonly turns: ReadonlyMap<string, string>;
  /** Of the last write: opaque, for `min_position`. */
  readonly position: string | undefined;
}

/** A conversation of LoCoMo becomes the memory of a team of its own; known turns are left as they are. */
export async function importConversation(
  operator: Client,
  { id, items }: LocomoConversation,
  { team: prefix, scope, signal }: { team: string; scope?: string | undefined; signal: AbortSignal },
): Promise<ImportedConversation> {
  const team = await teamNamed(operator, `${prefix} ${id}`);
  const access = await openTeam(operator, { team, profile: 'importer', scopes: ['memory:read', 'memory:write', 'evaluate'] });
  const turns = new Map<string, string>();
  const sink = httpSink(access.client, signal);
  const records = items.map((item, index) => ({ line: index + 1, item: scope === undefined ? item : { scope, ...item } }));
  const report = await importEvidence(records, sink, {
    onRemembered: ({ external_id }, evidenceId) => turns.set(evidenceId, String(external_id)),
  });
  return { team, access, report, turns, position: sink.position };
}
