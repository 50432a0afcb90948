import { setTimeout as pause } from 'node:timers/promises';
import type { Builder } from './builder.js';
import { readBuilds, type Build } from './builds.js';
import { lockGroup } from './checkpoint.js';
import { describeError } from './failures.js';
import { copyCachedVectors } from './kept-vectors.js';
import type { Operator } from './operator.js';
import { bringErasuresLevel } from './purge.js';
import { settle, tasksNow, type Settled } from './settle.js';
import { ownContext } from './switch-over.js';
import { unrecordedSwitches } from './switches.js';
import type { Workshop } from './workshop.js';

/**
 * Does, as the owner of the group, what others left undone: builds that nobody finishes, switches that follow by themselves,
 * events and erasures that are still to be carried out. Every step may be cut short and is found again.
 */
export class Caretaker {
  constructor(
    private readonly workshop: Workshop,
    private readonly parts: { readonly builder: Builder; readonly operator: Operator },
    private readonly epoch: bigint,
  ) {}

  /** Until the signal aborts. */
  async run(first: Settled, signal: AbortSignal): Promise<void> {
    const { settings } = this.workshop;
    this.follow(first);
    while (!signal.aborted) {
      await this.tend(signal).catch((error: unknown) =>
        settings.logger.warn({ error: describeError(error) }, 'tending the builds is tried again'),
      );
      await pause(settings.tendMs, undefined, { signal }).catch(() => undefined);
    }
  }

  private async tend(signal: AbortSignal): Promise<void> {
    const { database, projections } = this.workshop.settings;
    await this.recordSwitches();
    const builds = await readBuilds(database);
    const poisoned = builds.filter((build) => build.failedPosition !== null && projections.of(build));
    for (const name of new Set(poisoned.map((build) => build.name))) await this.parts.operator.applySkips(name);
    this.follow(await this.settle());
    for (const build of await readBuilds(database)) {
      if (signal.aborted) return;
      await this.keep(build);
    }
  }

  private async recordSwitches(): Promise<void> {
    for (const record of await unrecordedSwitches(this.workshop.settings.database)) await this.parts.operator.record(record);
  }

  /** Looks before it locks: there is rarely anything to do. */
  private async settle(): Promise<Settled> {
    const { settings, filler } = this.workshop;
    const settling = { filler, starting: false, alone: false };
    if ((await tasksNow(settings.database, settings, settling)).length === 0) return { fills: [], switches: [] };
    return settings.database.asOwner(async (queries) => {
      const group = await lockGroup(queries);
      return group.epoch === this.epoch ? settle(queries, settings, group, settling) : { fills: [], switches: [] };
    });
  }

  /** In the background: a replay takes its time, and the other duties do not wait for it. */
  private follow({ fills, switches }: Settled): void {
    if (fills.length + switches.length === 0) return;
    this.parts.builder.start(async () => {
      await this.parts.builder.fillAll(fills);
      const { settings, signal } = this.workshop;
      if (signal.aborted) return;
      // What was brought level may be what is to serve now.
      for (const task of await tasksNow(settings.database, settings, { starting: false, alone: false })) {
        if (task.do === 'switch' && task.build.role !== 'serving') await this.switch(task.build.name, task.build.role);
      }
    });
  }

  private async switch(name: string, role: 'ready' | 'standby'): Promise<void> {
    await this.parts.operator.switchAndRecord({ name, role, kind: 'automatic', context: ownContext() });
    this.workshop.settings.logger.info(
      { projection: name },
      'a projection switched, because nothing in the code projects what served',
    );
  }

  /** What a build needs that does not serve, or stands still, so that it holds what it should and nothing else. */
  private async keep(build: Build): Promise<void> {
    const { settings } = this.workshop;
    const projection = settings.projections.of(build);
    const still = build.state === 'stopped' && (build.failedPosition !== null || !projection || build.torn);
    if (still && !build.purging) await bringErasuresLevel(settings, build);
    const contract = settings.embeddingContract;
    if (build.state !== 'active' || build.role === 'serving' || !projection || contract === undefined) return;
    if (!projection.tables.some(({ embeds }) => embeds)) return;
    for (let more = true; more && !this.workshop.signal.aborted;) {
      more = await settings.database.as('mneme_projector', async (queries) => {
        await lockGroup(queries);
        return copyCachedVectors(queries, { projection, schema: build.schema, contract }, { every: false });
      });
    }
  }
}
