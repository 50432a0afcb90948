import { type KeyRef, KeyRing, type KeySource } from '../encryption/data-keys.js';
import { IntegrityError, isKeyErased, KeyErased, KeyUnavailable } from '../encryption/errors.js';
import { boxAad, open, seal } from '../encryption/sealed-box.js';
import type { CommandContext } from './command-context.js';
import { isRedacted, redacted, type DomainEvent, type RecordedEvent } from './domain-event.js';
import type { EventCatalogue, EventDefinition } from './event-catalogue.js';
import { storedMetadata, eventMetadata } from './event-metadata.js';
import type { NewEvent, StoredEvent } from './event-log.js';
import { eventHash, firstPreviousHash, type ChainLink } from './hash-chain.js';
import { deriveEventId } from './ids.js';
import { canonicalJson, EventNotEncodable, jsonValue, type JsonObject } from './json.js';
import { parseStreamName, type StreamId } from './stream-name.js';

/** The log holds an event of a type that this version of the product does not define. */
export class UnknownEventType extends Error {
  readonly code = 'unknown_event_type';

  constructor(readonly eventType: string) {
    super(`the event type ${eventType} is not defined`);
  }
}

/** The log holds an event in a shape that only a newer version of the product knows. */
export class EventFromNewerVersion extends Error {
  readonly code = 'event_from_newer_version';

  constructor(
    readonly eventType: string,
    readonly version: number,
    readonly known: number,
  ) {
    super(`${eventType} is stored in version ${version}, known up to ${known}`);
  }
}

export const isUnknownEventType = (error: unknown): error is UnknownEventType => error instanceof UnknownEventType;
export const isEventFromNewerVersion = (error: unknown): error is EventFromNewerVersion => error instanceof EventFromNewerVersion;

/** Turns domain events into what the log stores (sealed, chained, versioned) and back. */
export class Codec {
  private readonly definitions: ReadonlyMap<string, EventDefinition>;

  constructor(
    catalogue: EventCatalogue,
    private readonly keys: KeySource,
    readonly streamPrefix: string,
  ) {
    this.definitions = new Map(catalogue.types.map((type) => [type, catalogue.definition(type)]));
  }

  /**
   * Encodes the events that follow `last` in a stream, undefined for the first ones of it. Makes missing data keys.
   *
   * @throws EventNotEncodable before any key is made; KeyErased, KeyUnavailable, DatabaseUnavailable
   */
  async encode(
    stream: string,
    last: ChainLink | undefined,
    events: readonly DomainEvent[],
    context: CommandContext,
    occurredAt?: Date,
  ): Promise<NewEvent[]> {
    const drafted = this.drafted({ stream, last, events, context, ...(occurredAt && { occurredAt }) });
    return sealed(drafted, await this.keys.provision(drafted.team, drafted.owners));
  }

  /**
   * The same for many streams, with one query for the keys of a team. What cannot be encoded is an error in its place.
   *
   * @throws KeyUnavailable, DatabaseUnavailable
   */
  async encodeMany(many: readonly Unencoded[]): Promise<(NewEvent[] | Error)[]> {
    const drafted = many.map((one) => attempt(() => this.drafted(one)));
    const wanted = new Map<string, string[]>();
    for (const one of drafted)
      if (!(one instanceof Error)) wanted.set(one.team, [...(wanted.get(one.team) ?? []), ...one.owners]);
    const keys = new Map<string, KeyRing>();
    try {
      for (const [team, owners] of wanted) keys.set(team, await this.keys.provision(team, owners));
    } catch (error) {
      if (!isKeyErased(error)) throw error;
      return this.encodeEach(many);
    }
    return drafted.map((one) => (one instanceof Error ? one : attempt(() => sealed(one, keys.get(one.team) ?? new KeyRing([])))));
  }

  /** No key is made when one of them is refused, so each is asked for alone. */
  private async encodeEach(many: readonly Unencoded[]): Promise<(NewEvent[] | Error)[]> {
    const encoded: (NewEvent[] | Error)[] = [];
    for (const { stream, last, events, context, occurredAt } of many) {
      const one = this.encode(stream, last, events, context, occurredAt);
      encoded.push(await one.catch((error: unknown) => asError(error)));
    }
    return encoded;
  }

  /** @throws EventNotEncodable */
  private drafted(unencoded: Unencoded): Drafted {
    const drafts = unencoded.events.map((event) => draft(this.definition(event.type), event));
    const owners = drafts.flatMap(({ content }) => content?.owner ?? []);
    return { ...unencoded, team: this.streamId(unencoded.stream).team, drafts, owners };
  }

  /**
   * Decodes a batch with one query for all its keys. Content whose key was destroyed comes as `redacted`.
   *
   * @param options.content false leaves boxes shut and fetches no keys: `data.sealed` is absent then
   * @throws KeyUnavailable, IntegrityError, UnknownEventType, EventFromNewerVersion, DatabaseUnavailable
   */
  async decode<Event extends DomainEvent = DomainEvent>(
    events: readonly StoredEvent[],
    { content = true }: { content?: boolean } = {},
  ): Promise<RecordedEvent<Event>[]> {
    const read = events.map((event) => this.read(event));
    const boxes = content ? read.flatMap(({ box }) => box ?? []) : [];
    const keys = boxes.length > 0 ? await this.keys.fetch(boxes) : undefined;
    return read.map(({ event, id, definition, metadata, fields, box }) => {
      if (box && keys) fields.sealed = openContent(keys, box);
      const data = upcast(definition, metadata.schemaVersion, fields);
      data.type = event.type;
      return {
        stream: event.stream,
        team: id.team,
        kind: id.kind,
        streamId: id.id,
        revision: event.revision,
        position: event.position,
        recordedAt: event.recordedAt,
        eventId: event.id,
        data: data as unknown as Event,
        metadata,
      };
    });
  }

  /** The fields are of this call alone, and may be changed: copying them for every event took as long as parsing them. */
  private read(event: StoredEvent) {
    const id = this.streamId(event.stream);
    const definition = this.definition(event.type);
    const metadata = eventMetadata(storedObject(event.metadata));
    if (metadata.schemaVersion > definition.version)
      throw new EventFromNewerVersion(event.type, metadata.schemaVersion, definition.version);
    const stored = storedObject(event.data);
    if (stored.sealed === undefined) return { event, id, definition, metadata, fields: stored, box: undefined };
    const { sealed, ...fields } = stored;
    return { event, id, definition, metadata, fields: fields as Record<string, unknown>, box: storedBox(event, id, sealed) };
  }

  private definition(type: string): EventDefinition {
    const definition = this.definitions.get(type);
    if (!definition) throw new UnknownEventType(type);
    return definition;
  }

  private streamId(stream: string): StreamId {
    const id = parseStreamName(this.streamPrefix, stream);
    if (!id) throw new IntegrityError('a stream name is not one of this installation');
    return id;
  }
}

/** Events that follow `last` in a stream. */
export interface Unencoded {
  readonly stream: string;
  readonly last: ChainLink | undefined;
  readonly events: readonly DomainEvent[];
  readonly context: CommandContext;
  readonly occurredAt?: Date;
}

interface Drafted extends Unencoded {
  readonly team: string;
  readonly drafts: readonly Draft[];
  readonly owners: readonly string[];
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

function attempt<Result>(work: () => Result): Result | Error {
  try {
    return work();
  } catch (error) {
    return asError(error);
  }
}

/** Seals and chains. @throws KeyErased, KeyUnavailable */
function sealed({ stream, last, context, occurredAt, team, drafts }: Drafted, keys: KeyRing): NewEvent[] {
  let link = last ?? { revision: -1n, hash: firstPreviousHash };
  return drafts.map(({ definition: { type, version }, fields, content }, index) => {
    const id = deriveEventId(context.commandId, stream, index);
    const box = content && {
      [content.owner]: sealContent(keys, { team, stream, eventId: id, owner: content.owner }, content.text),
    };
    const data = canonicalJson(box ? { ...fields, sealed: box } : fields);
    const metadata = storedMetadata(context, { schemaVersion: version, occurredAt, previousHash: link.hash });
    const revision = link.revision + 1n;
    const hash = eventHash(link.hash, { stream, revision, id, type, data, metadata });
    link = { revision, hash };
    return { id, type, data, metadata: canonicalJson({ ...metadata, hash }) };
  });
}

interface Draft {
  readonly definition: EventDefinition;
  readonly fields: JsonObject;
  readonly content: { readonly owner: string; readonly text: string } | undefined;
}

function draft(definition: EventDefinition, event: DomainEvent): Draft {
  const { type, sealed, ...open } = event;
  const fields = jsonValue(type, open) as JsonObject;
  if (sealed === undefined) return { definition, fields, content: undefined };
  if (!definition.keyOwner) throw new EventNotEncodable(type, 'it has content, but its definition names no key owner');
  if (isRedacted(sealed)) throw new EventNotEncodable(type, 'its content was erased');
  return { definition, fields, content: { owner: definition.keyOwner(event), text: canonicalJson(jsonValue(type, sealed)) } };
}

interface Box extends KeyRef {
  readonly stream: string;
  readonly eventId: string;
  readonly text: string;
}

function sealContent(keys: KeyRing, place: Omit<Box, 'text'>, content: string): string {
  const state = keys.get(place);
  if (state.state !== 'active') throw state.state === 'erased' ? new KeyErased(place.owner) : new KeyUnavailable();
  return seal(state.key, content, boxAad(place));
}

function openContent(keys: KeyRing, box: Box): object {
  const state = keys.get(box);
  switch (state.state) {
    case 'active':
      return storedObject(open(state.key, box.text, boxAad(box)));
    case 'erased':
      return redacted;
    case 'never_provisioned':
      throw new KeyUnavailable();
    default:
      return state satisfies never;
  }
}

function storedBox(event: StoredEvent, { team }: StreamId, sealed: unknown): Box {
  const [entry, ...others] = typeof sealed === 'object' && sealed !== null ? Object.entries(sealed) : [];
  if (!entry || typeof entry[1] !== 'string' || others.length > 0)
    throw new IntegrityError('a stored event has no single sealed box');
  return { team, owner: entry[0], stream: event.stream, eventId: event.id, text: entry[1] };
}

/** @throws IntegrityError, without the parser's words, which would quote the text */
function storedObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // as below
  }
  throw new IntegrityError('a stored event is not a JSON object');
}

function upcast(definition: EventDefinition, version: number, stored: Record<string, unknown>): Record<string, unknown> {
  const upcasters = definition.upcasters?.slice(version - 1) ?? [];
  return upcasters.reduce<Record<string, unknown>>((shape, next) => ({ ...next(shape) }), stored);
}
