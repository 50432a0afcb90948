import { randomUUID } from 'node:crypto';
import type { Filler } from './builds.js';
import { fillerOf, type EngineSettings } from './options.js';
import { Bell, Gate } from './pacing.js';

/** What the parts of one engine share. */
export class Workshop {
  /** Closed to batches while a build joins. */
  readonly gate = new Gate();
  /** Rung whenever position or builds may be others. */
  readonly bell = new Bell();
  readonly filler: Filler;
  /** Called when builds joined, switched or went, so that nobody goes by what was. */
  onBuilds: () => void = () => undefined;
  private stopping = new AbortController();

  constructor(readonly settings: EngineSettings) {
    this.filler = fillerOf(settings, randomUUID());
  }

  /** Aborts when the engine stops. */
  get signal(): AbortSignal {
    return this.stopping.signal;
  }

  buildsChanged(): void {
    this.onBuilds();
    this.bell.ring();
  }

  open(): void {
    this.stopping = new AbortController();
  }

  close(): void {
    this.stopping.abort();
  }
}
