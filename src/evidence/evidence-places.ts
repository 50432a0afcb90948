import { Injectable } from '@nestjs/common';
import { DataKeys } from '../encryption/data-keys.js';
import type { CommandContext } from '../event-log/command-context.js';
import type { DomainEvent } from '../event-log/domain-event.js';
import { naturalId } from '../event-log/ids.js';
import { type LoadedStream, Streams } from '../event-log/streams.js';
import type { EvidenceInput } from './evidence-requests.js';
import { type EvidenceEvent, evidenceOf, evidenceStream } from './evidence.js';
import { type SourceEvent, sourceOf, sourceStream } from './source.js';

/** Where evidence is, or is to be. */
export interface EvidencePlace {
  readonly evidence_id: string;
  readonly generation: number;
  readonly source_id: string | null;
  readonly stream: LoadedStream<EvidenceEvent>;
}

export interface SourcePlace {
  readonly source_id: string;
  readonly erased: boolean;
  readonly stream: LoadedStream<SourceEvent>;
}

/** Finds the streams that memories belong into. */
@Injectable()
export class EvidencePlaces {
  constructor(
    private readonly streams: Streams,
    private readonly keys: DataKeys,
  ) {}

  /** For one request: what it looked up once, it knows. */
  async of(team: string): Promise<TeamPlaces> {
    return new TeamPlaces(this.streams, team, await this.keys.derived({ team, owner: team }, 'identity'));
  }
}

/**
 * The id of a memory follows from what it is, so that two equal commands at once meet in one stream, and an id that was erased
 * is never used again: what is remembered anew takes the next generation.
 */
export class TeamPlaces {
  private readonly sources = new Map<string, Promise<readonly SourcePlace[]>>();

  /** @param secret the team's own, so that nobody can confirm a guess at what was written */
  constructor(
    private readonly streams: Streams,
    private readonly team: string,
    private readonly secret: Buffer,
  ) {}

  /**
   * The first place that is not erased, or the one that this very command wrote into before, whatever became of it.
   *
   * The source counts by its id, not its key: what came from an erased source is recalled no more, so the same text under
   * the key's next generation is a new memory.
   */
  async find(context: CommandContext, input: EvidenceInput): Promise<EvidencePlace> {
    const { source_key } = input.content;
    for (const source of source_key === null ? [undefined] : await this.sourcesOf(source_key)) {
      for (let generation = 0; ; generation += 1) {
        const source_id = source?.source_id ?? null;
        const evidence_id = naturalId(this.secret, naturalKey(context.profile, source_id, input), generation);
        const stream = await this.streams.load<EvidenceEvent>(evidenceStream(this.team, evidence_id));
        const place = { evidence_id, generation, source_id, stream };
        if (isOf(stream, context)) return place;
        if (evidenceOf(stream.events).status === 'erased') continue;
        if (!source?.erased) return place;
        break;
      }
    }
    throw new Error('a source always has a generation that is not erased');
  }

  /** The source's first generation that is not erased, or the one that this very command wrote into before. */
  async findSource(context: CommandContext, key: string): Promise<SourcePlace> {
    const found = (await this.sourcesOf(key)).find(({ stream, erased }) => !erased || isOf(stream, context));
    if (!found) throw new Error('a source always has a generation that is not erased');
    return found;
  }

  private sourcesOf(key: string): Promise<readonly SourcePlace[]> {
    const places = this.sources.get(key) ?? this.loadSources(key);
    this.sources.set(key, places);
    return places;
  }

  /** Every generation: erased ones, and the one that is not. */
  private async loadSources(key: string): Promise<readonly SourcePlace[]> {
    const places: SourcePlace[] = [];
    for (let generation = 0; places.every(({ erased }) => erased); generation += 1) {
      const source_id = naturalId(this.secret, ['source', key], generation);
      const stream = await this.streams.load<SourceEvent>(sourceStream(this.team, source_id));
      places.push({ source_id, erased: sourceOf(stream.events).status === 'erased', stream });
    }
    return places;
  }
}

const isOf = <Event extends DomainEvent>({ events }: LoadedStream<Event>, { commandId }: CommandContext): boolean =>
  events.some(({ metadata }) => metadata.causationId === commandId);

/** What is left out stands as an empty text, which none of them can be. */
export function naturalKey(owner: string | undefined, source_id: string | null, { facts, content }: EvidenceInput): string[] {
  const { sequence, occurred_at } = facts;
  const { scope, source_revision, group, author, content: text } = content;
  const optional = [owner, source_id, source_revision, group, sequence, author, occurred_at];
  return ['evidence', scope, ...optional.map((part) => (part === null || part === undefined ? '' : String(part))), text];
}
