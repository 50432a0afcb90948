import type { Queries } from '../../src/database/database.js';
import type { RecordedEvent } from '../../src/event-log/domain-event.js';
import type { StoredEvent } from '../../src/event-log/event-log.js';
import { parseStreamName, tableTeamId } from '../../src/event-log/stream-name.js';
import { isUuid } from '../../src/uuid.js';
import { applyEvents, type Target } from './apply.js';
import { readBuilds, setPurging, setTorn, type Build } from './builds.js';
import { announceBuilds, lockGroup, readGroup } from './checkpoint.js';
import { decodeFor, deliveredTo } from './deliveries.js';
import { isPassing } from './failures.js';
import type { EngineSettings } from './options.js';
import type { Projection } from './projection.js';
import { qualified, quoted } from './table-sql.js';

/** Events that take a memory away for good. Their stream bears the memory's id. */
export const isErasure = ({ type }: { readonly type: string }): boolean => type.endsWith('Erased');

/** Erasures to be carried out on one build that stands still. */
export interface Purge {
  readonly build: Build;
  /** Undefined where no code projects it: what names an erased memory goes then. */
  readonly own: { readonly target: Target; readonly events: readonly RecordedEvent[] } | undefined;
  readonly erased: readonly { readonly team: string; readonly memory: string }[];
}

/**
 * What of these events must be carried out on these builds, though they stand still: a build that is kept must not keep
 * what was erased. Opens no box, so it may be asked inside a transaction.
 */
export async function purgesOf(
  { projections, codec, embeddingContract }: EngineSettings,
  builds: readonly Build[],
  events: readonly StoredEvent[],
): Promise<Purge[]> {
  const erasures = events.filter(isErasure);
  if (erasures.length === 0 || builds.length === 0) return [];
  const declared = builds.map((build) => erasuresOnly(projections.of(build)));
  const decoded = await decodeFor(
    declared.flatMap((projection) => projection ?? []),
    codec,
    erasures,
  );
  const erased = erasures.flatMap(({ stream }) => {
    const id = parseStreamName(codec.streamPrefix, stream);
    return id && isUuid(id.id) ? [{ team: tableTeamId(id.team), memory: id.id }] : [];
  });
  return builds.map((build, index) => {
    const projection = declared[index];
    const delivered = projection && deliveredTo(projection, decoded);
    const own =
      projection && delivered && !delivered.undecodable && !build.torn
        ? { target: { projection, schema: build.schema, embeddingContract }, events: delivered.events }
        : undefined;
    return { build, own, erased };
  });
}

/** Run as the projector. */
export async function carryOut(queries: Queries, purges: readonly Purge[]): Promise<void> {
  for (const { build, own, erased } of purges) {
    if (own && (await ownErasures(queries, own))) continue;
    await purgeByName(queries, build.schema, erased);
    if (build.torn) continue;
    await setTorn(queries, build.schema);
    await announceBuilds(queries);
  }
}

/** @returns false when its code cannot carry them out */
async function ownErasures(queries: Queries, { target, events }: NonNullable<Purge['own']>): Promise<boolean> {
  if (events.length === 0) return true;
  await queries.execute('SAVEPOINT purge');
  try {
    await applyEvents(queries, target, events);
    await queries.execute('RELEASE SAVEPOINT purge');
    return true;
  } catch (error) {
    if (isPassing(error)) throw error;
    await queries.execute('ROLLBACK TO SAVEPOINT purge; RELEASE SAVEPOINT purge');
    return false;
  }
}

/** Deletes every row that names one of these memories in a column for ids. */
async function purgeByName(queries: Queries, schema: string, erased: Purge['erased']): Promise<void> {
  const columns = await queries.query<{ table: string; column: string }>(
    `SELECT c.relname AS table, a.attname AS column
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
     WHERE c.relnamespace = to_regnamespace($1) AND c.relkind = 'r' AND a.attnum > 0 AND a.atttypid = 'uuid'::regtype
       AND a.attname <> 'team_id'`,
    [quoted(schema)],
  );
  for (const { table, column } of columns) {
    await queries.execute(
      `DELETE FROM ${qualified(schema, table)} AS t USING unnest($1::uuid[], $2::uuid[]) AS k (team_id, memory)
       WHERE t.team_id = k.team_id AND t.${quoted(column)} = k.memory`,
      [erased.map(({ team }) => team), erased.map(({ memory }) => memory)],
    );
  }
}

const purging = new WeakMap<Projection, Projection>();

/**
 * The same projection as far as it erases. What else an erasure changes comes in its turn, when the build goes on: it is
 * then as if the erased rows had never been there.
 */
function erasuresOnly(projection: Projection | undefined): Projection | undefined {
  if (!projection) return undefined;
  let only = purging.get(projection);
  if (!only) {
    only = {
      ...projection,
      eventTypes: projection.eventTypes.filter((type) => isErasure({ type })),
      needsContent: false,
      changes: (event, rows) => projection.changes(event, rows).filter(({ op }) => op === 'erase'),
    };
    purging.set(projection, only);
  }
  return only;
}

/** Erasures of one transaction. */
const erasuresAtOnce = 500;

/**
 * Carries out on a build what was erased after it came to stand still and before the group knew of it; from then on the
 * group does, batch by batch.
 */
export async function bringErasuresLevel(settings: EngineSettings, { schema, position }: Build): Promise<void> {
  const { database, log, codec } = settings;
  for (let after = position ?? -1n; ;) {
    const until = (await readGroup(database))?.position ?? -1n;
    let chunk: StoredEvent[] = [];
    const flush = async (last: boolean): Promise<boolean> => {
      const build = (await readBuilds(database)).find((each) => each.schema === schema);
      if (build?.state !== 'stopped' || build.purging) return true;
      const purges = await purgesOf(settings, [build], chunk);
      chunk = [];
      return database.as('mneme_projector', async (queries) => {
        const group = await lockGroup(queries);
        await carryOut(queries, purges);
        if (!last || group.position !== until) return false;
        await setPurging(queries, schema);
        await announceBuilds(queries);
        return true;
      });
    };
    for await (const event of log.readAll({ after, prefix: codec.streamPrefix, until })) {
      if (isErasure(event)) chunk.push(event);
      if (chunk.length >= erasuresAtOnce && (await flush(false))) return;
    }
    if (await flush(true)) return;
    after = until;
  }
}
