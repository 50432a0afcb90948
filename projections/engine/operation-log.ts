import { CommandRefused, type CommandRequest, type Written } from '../../src/event-log/execute.js';
import type { BuildReference, SwitchKind } from '../../src/operations/operation.js';

/** A switch that was carried out in the database; its event follows from it. */
export interface SwitchRecord {
  /** Of the command that asked for it: the same for a repetition. */
  readonly id: string;
  readonly correlationId: string;
  readonly apiKey: string | null;
  readonly projection: string;
  readonly from: BuildReference | null;
  readonly to: BuildReference;
  readonly kind: SwitchKind;
}

export interface SkipOrder {
  readonly projection: string;
  readonly position: bigint;
  readonly reason: string | undefined;
  /** Version of a build that stands still at exactly this event; undefined when none does. */
  readonly stopped: number | undefined;
  /** Whether the event erases something. */
  readonly erasure: boolean;
}

/** Where the engine writes down what was done to projections, and reads which events they leave out. */
export interface OperationLog {
  /** Positions that every build of the projection leaves out. @throws LogUnavailable, KeyUnavailable */
  skippedIn(projection: string): Promise<ReadonlySet<bigint>>;
  /** @throws VersionConflict when the operations moved on since the caller looked, unless this very command moved them */
  expectRevision(projection: string, request: CommandRequest): Promise<void>;
  /** Appends the event of a switch, unless it is there. @throws what executeCommand throws */
  recordSwitch(record: SwitchRecord): Promise<Written>;
  /** @throws CommandRefused `nothing_stopped_there`, `erasure_not_skippable`; what executeCommand throws */
  skip(order: SkipOrder, request: CommandRequest): Promise<Written>;
}

const nowhere: Written = { position: -1n, revision: 'no_stream' };

/** Of an engine that nobody operates. */
export const noOperations: OperationLog = {
  skippedIn: () => Promise.resolve(new Set()),
  expectRevision: () => Promise.resolve(),
  recordSwitch: () => Promise.resolve(nowhere),
  skip: () => Promise.reject(new CommandRefused('nothing_stopped_there', 'position')),
};
