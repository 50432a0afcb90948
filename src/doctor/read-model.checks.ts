import type { Database } from '../database/database.js';
import { countPending, embeddingDocuments, type PendingCounts } from '../embedding/embedding-documents.js';
import { findingsOf, type Finding } from './finding.js';

/** A projection that cannot go on. `last_error` is a code with the event's type and position, never content. */
export interface StoppedProjection {
  readonly name: string;
  readonly failed_position: bigint;
  readonly last_error: string | null;
}

/** What the tables say of the projections, whether or not a service runs to be asked. */
export async function checkProjections(database: Database, head: bigint | undefined): Promise<Finding[]> {
  const [group] = await database.query<{ position: bigint }>('SELECT position FROM mneme.projection_group');
  const stopped = await database.query<StoppedProjection>(
    `SELECT name, failed_position, last_error FROM mneme.projection_builds
     WHERE state = 'stopped' AND role = 'serving' AND failed_position IS NOT NULL ORDER BY name`,
  );
  return projectionFindings(stopped, { position: group?.position, head });
}

/** @param position undefined before the first start */
export function projectionFindings(
  stopped: readonly StoppedProjection[],
  { position, head }: { position: bigint | undefined; head: bigint | undefined },
): Finding[] {
  const { ok, warning, failed } = findingsOf('projections');
  if (position === undefined) return [ok('there are none yet; the first start makes them')];
  const findings = stopped.map(({ name, failed_position, last_error }) =>
    failed(
      `${name} stopped at position ${failed_position} (${last_error ?? 'no reason kept'})`,
      `mneme projections rebuild ${name}, once the cause is mended`,
    ),
  );
  if (head !== undefined && head > position) {
    const message = `they stand at position ${position}, the log at ${head}`;
    return [...findings, warning(message, 'a running service brings them level')];
  }
  return findings.length > 0 ? findings : [ok('all of them are level with the log')];
}

/** What the tables say of the vectors. */
export async function checkEmbeddings(database: Database): Promise<Finding[]> {
  const found = await database.query<{ name: string }>(
    `SELECT name FROM unnest($1::text[]) AS name WHERE to_regclass('mneme_read.' || name) IS NOT NULL`,
    [embeddingDocuments.map(({ table }) => table)],
  );
  if (found.length === 0) return [];
  // A read model that is not built yet has no documents.
  const built = embeddingDocuments.filter(({ table }) => found.some(({ name }) => name === table));
  const counts: PendingCounts[] = [];
  await database.as('mneme_projector', async (queries) => {
    for (const documents of built) counts.push(await countPending(queries, documents));
  });
  return embeddingFindings(counts);
}

export function embeddingFindings(counts: readonly Pick<PendingCounts, 'pending' | 'failed' | 'failures'>[]): Finding[] {
  const { ok, warning } = findingsOf('embeddings');
  const pending = counts.reduce((sum, each) => sum + each.pending, 0);
  const failed = counts.reduce((sum, each) => sum + each.failed, 0);
  const findings: Finding[] = [];
  if (failed > 0) {
    const reasons = [...new Set(counts.flatMap(({ failures }) => Object.keys(failures)))].sort().join(', ');
    findings.push(
      warning(
        `documents that failed and wait for a retry: ${failed} (${reasons})`,
        'docs/embedding.md says what each reason means; recall by meaning does not find these documents',
      ),
    );
  }
  if (pending > failed)
    findings.push(warning(`documents that wait for a vector: ${pending - failed}`, 'a running service makes them'));
  return findings.length > 0 ? findings : [ok('every document has its vector')];
}
