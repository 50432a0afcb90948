import type { DomainEvent } from './domain-event.js';

/** How one event type is stored: its version, whose key seals it, and how older versions become today's. */
export interface EventDefinition<Event extends DomainEvent = DomainEvent> {
  readonly type: Event['type'];
  /** Version that is written today, from 1. */
  readonly version: number;
  /** Id of the memory whose data key seals `sealed`; left out for events that carry no content. */
  readonly keyOwner?: (event: Event) => string;
  /** `upcasters[0]` turns version 1 into 2, and so on; there are exactly `version - 1` of them. Run after decryption, on the stored shape. */
  readonly upcasters?: readonly Upcaster[];
}

export type Upcaster = (stored: Readonly<Record<string, unknown>>) => Record<string, unknown>;

/** The definitions of a slice, one per event type of its union: a missing or misspelt one does not compile. */
export type EventDefinitions<Event extends DomainEvent> = {
  readonly [Type in Event['type']]: Omit<EventDefinition<Extract<Event, { type: Type }>>, 'type'>;
};

/** All event types the product knows. Building it fails for a gap in an upcaster chain or a type defined twice. */
export class EventCatalogue {
  private readonly definitions = new Map<string, EventDefinition>();

  constructor(slices: readonly Readonly<Record<string, Omit<EventDefinition<never>, 'type'>>>[]) {
    for (const [type, definition] of slices.flatMap((slice) => Object.entries(slice))) {
      if (this.definitions.has(type)) throw new Error(`event type ${type} is defined twice`);
      const { version, upcasters = [] } = definition;
      if (!Number.isInteger(version) || version < 1) throw new Error(`event type ${type} has version ${version}`);
      if (upcasters.length !== version - 1)
        throw new Error(`event type ${type} is at version ${version} with ${upcasters.length} upcasters`);
      this.definitions.set(type, { ...definition, type } as unknown as EventDefinition);
    }
  }

  /** @throws Error for a type that no slice defines */
  definition(type: string): EventDefinition {
    const definition = this.definitions.get(type);
    if (!definition) throw new Error(`event type ${type} is not defined`);
    return definition;
  }

  get types(): string[] {
    return [...this.definitions.keys()];
  }
}
