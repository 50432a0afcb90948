import { discardBuild, makeBuild, replaceBuild } from './build-life.js';
import { buildsOf, claimBuild, renewBuild, type Build } from './builds.js';
import { announceBuilds, lockGroup } from './checkpoint.js';
import { RebuildFailed, RebuildRunning } from './errors.js';
import { describeError } from './failures.js';
import { Fill } from './fill.js';
import type { Meter } from './pacing.js';
import type { Projection } from './projection.js';
import type { ToFill } from './settle.js';
import type { RebuildProgress } from './status.js';
import type { Workshop } from './workshop.js';

/** Brings builds level with the log, in this process. */
export class Builder {
  /** Speed of those that are being brought level, by schema. */
  readonly meters = new Map<string, Meter>();
  /** Why the last one of each projection failed in this process. */
  readonly failures = new Map<string, string>();
  private readonly running = new Set<Promise<unknown>>();

  constructor(private readonly workshop: Workshop) {}

  /** Until nothing is being brought level any more. */
  async idle(): Promise<void> {
    await Promise.allSettled(this.running);
  }

  /** Makes an empty build in place of one that is ready. @throws RebuildRunning */
  async make(projection: Projection): Promise<Build> {
    const { settings, filler } = this.workshop;
    // Before anything is awaited: whoever looks after asking for a rebuild must not see why an earlier one failed.
    this.failures.delete(projection.name);
    const build = await settings.database.asOwner(async (queries) => {
      await lockGroup(queries);
      const builds = await buildsOf(queries, projection.name);
      const coming = builds.find(({ role, state }) => role === 'ready' || state === 'building');
      if (coming?.filling) return undefined;
      if (coming) await replaceBuild(queries, coming.schema);
      const serves = builds.some(({ role, schema }) => role === 'serving' && schema !== coming?.schema);
      return makeBuild(queries, projection, serves ? 'ready' : 'serving', filler);
    });
    if (!build) throw new RebuildRunning(projection.name);
    return build;
  }

  /** One after the other, in the background: readers of other projections need not wait for them. */
  async fillAll(fills: readonly ToFill[]): Promise<void> {
    for (const fill of fills) {
      if (this.workshop.signal.aborted) await this.giveUp(fill.build);
      else await this.fill(fill).catch(() => undefined); // It is in the logs, and in the status.
    }
  }

  /** Lets builds go on that stand still at no event. */
  async resume(name: string): Promise<void> {
    const { settings, filler } = this.workshop;
    for (const build of await buildsOf(settings.database, name)) {
      const projection = settings.projections.of(build);
      if (!projection || build.state !== 'stopped') continue;
      const claimed = await settings.database.asOwner(async (queries) => {
        await announceBuilds(queries);
        return claimBuild(queries, build.schema, filler, false);
      });
      if (claimed) await this.fill({ projection, build }).catch(() => undefined);
    }
  }

  /** In the background; what fails is to be found and done again by the owner. */
  start(work: () => Promise<unknown>): void {
    void this.tracked(work()).catch((error: unknown) =>
      this.workshop.settings.logger.warn({ error: describeError(error) }, 'work on the builds is left for later'),
    );
  }

  /** @throws RebuildFailed */
  async fill({ projection, build }: ToFill, onProgress: (progress: RebuildProgress) => void = () => undefined): Promise<void> {
    const { settings, gate, filler, signal } = this.workshop;
    const fill = new Fill({ settings, projection, build, filler, gate, signal, onProgress });
    this.meters.set(build.schema, fill.meter);
    try {
      await this.tracked(fill.run());
    } catch (failure) {
      const error = failure instanceof RebuildFailed ? failure : new RebuildFailed(projection.name, describeError(failure));
      this.failures.set(projection.name, error.reason);
      settings.logger.error({ schema: build.schema, error: error.reason }, 'a build could not be brought level');
      await this.giveUp(build);
      throw error;
    } finally {
      this.meters.delete(build.schema);
      this.workshop.buildsChanged();
    }
    if (build.role === 'serving') settings.onBatch();
  }

  /** Waited for by `idle`. */
  tracked<T>(work: Promise<T>): Promise<T> {
    this.running.add(work);
    const over = () => this.running.delete(work);
    work.then(over, over);
    return work;
  }

  /** What stopped at an event stays; what is only half made goes; what stood still before does so again. */
  private async giveUp({ schema, state }: Build): Promise<void> {
    const { settings, filler } = this.workshop;
    const leave = async () => {
      if (state === 'building') await settings.database.asOwner((queries) => discardBuild(queries, schema));
      else await settings.database.as('mneme_projector', (queries) => renewBuild(queries, schema, { ...filler, leaseMs: 0 }));
    };
    await leave().catch(() => undefined); // What cannot be dropped now is dropped by whoever owns the group.
  }
}
