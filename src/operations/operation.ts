import type { DomainEvent, Sealed } from '../event-log/domain-event.js';
import type { EventDefinitions } from '../event-log/event-catalogue.js';
import type { Refusal } from '../event-log/execute.js';
import { systemTeam } from '../event-log/stream-name.js';

/** What operators, and the service itself, did to one projection. One stream a projection, under its name. */
export const operationStream = (projection: string) => ({ kind: 'operation', team: systemTeam, id: projection }) as const;

/** One making of a projection: version = what it means, build = how often that was made anew. */
export interface BuildReference {
  readonly version: number;
  readonly build: number;
}

/** `rebuild`: at the end of one. `automatic`: nothing in the code projects what served. */
export type SwitchKind = 'switch' | 'rollback' | 'rebuild' | 'automatic';

export type OperationEvent = DomainEvent &
  (
    | {
        readonly type: 'ProjectionSwitched';
        readonly projection: string;
        /** Null where nothing served before. */
        readonly from: BuildReference | null;
        readonly to: BuildReference;
        readonly kind: SwitchKind;
      }
    | {
        readonly type: 'EventSkipped';
        readonly projection: string;
        /** The version that could not apply the event; rebuilds of every version leave it out. */
        readonly version: number;
        /** Decimal digits: a position of some logs is larger than a JSON number is exact. */
        readonly position: string;
        readonly sealed?: Sealed<{ readonly reason: string }>;
      }
  );

/** Not the bare name: the service keeps secrets under names of its own in the same place. */
const keyOwner = ({ projection }: { projection: string }) => `operation:${projection}`;

export const operationEvents: EventDefinitions<OperationEvent> = {
  ProjectionSwitched: { version: 1 },
  EventSkipped: { version: 1, keyOwner },
};

export interface Operations {
  readonly serving: BuildReference | null;
  readonly skipped: ReadonlySet<string>;
}

export const noOperations: Operations = { serving: null, skipped: new Set() };

export function evolveOperations(operations: Operations, event: OperationEvent): Operations {
  switch (event.type) {
    case 'ProjectionSwitched':
      return { ...operations, serving: event.to };
    case 'EventSkipped':
      return { ...operations, skipped: new Set([...operations.skipped, event.position]) };
    default:
      return event satisfies never;
  }
}

export const operationsOf = (events: readonly { data: OperationEvent }[]): Operations =>
  events.reduce<Operations>((operations, { data }) => evolveOperations(operations, data), noOperations);

export type OperationCommand =
  /** It has happened: the database decided it. */
  | ({ readonly type: 'RecordSwitch' } & Omit<Extract<OperationEvent, { type: 'ProjectionSwitched' }>, 'type' | 'sealed'>)
  | {
      readonly type: 'Skip';
      readonly projection: string;
      readonly position: string;
      readonly reason: string | undefined;
      /** Version of a build that stands still at exactly this event; undefined when none does. */
      readonly stopped: number | undefined;
      /** Whether the event erases something. */
      readonly erasure: boolean;
    };

export type OperationRefusal = 'nothing_stopped_there' | 'erasure_not_skippable';

const refuse = (refused: OperationRefusal, field: string): Refusal => ({ refused, field });

/** The events that follow from a command, none when it is already so, or why not. */
export function decideOperation(command: OperationCommand, operations: Operations): readonly OperationEvent[] | Refusal {
  switch (command.type) {
    case 'RecordSwitch': {
      const { projection, from, to, kind } = command;
      return [{ type: 'ProjectionSwitched', projection, from, to, kind }];
    }
    case 'Skip': {
      const { projection, position, reason, stopped, erasure } = command;
      if (stopped === undefined) return refuse('nothing_stopped_there', 'position');
      // What it was to erase would stay for ever, here and in every rebuild.
      if (erasure) return refuse('erasure_not_skippable', 'position');
      if (operations.skipped.has(position)) return [];
      const sealed = reason === undefined ? {} : { sealed: { reason } };
      return [{ type: 'EventSkipped', projection, version: stopped, position, ...sealed }];
    }
    default:
      return command satisfies never;
  }
}
