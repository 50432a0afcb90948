import { Injectable } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { ProjectionEngine } from '../../projections/engine/projection-engine.js';
import { type KnownMoment, momentAt, timeOfPosition } from '../../projections/moments/moment-queries.js';
import { Clock } from '../config/clock.js';
import { Configuration } from '../config/configuration.js';
import { Database } from '../database/database.js';
import { EventLog } from '../event-log/event-log.js';
import type { AsOf } from '../trace/as-of.js';
import { HttpProblem } from './http-problem.js';
import type { Answer } from './openapi.js';
import { Positions } from './positions.js';
import { reachPosition } from './read-models.js';
import { Opaque, Optional, Timestamp } from './validation/fields.js';

/** Field of a read of the past. */
export const KnownAt = (): PropertyDecorator =>
  optional(Timestamp({ description: 'Answer as the log stood at this time; a time to come is now. Not with at_position.' }));

/** Field of a read of the past. */
export const AtPosition = (): PropertyDecorator =>
  optional(Opaque({ description: 'Answer as the log stood at this Mneme-Position. Not with known_at.' }));

const optional =
  (rule: PropertyDecorator): PropertyDecorator =>
  (target, property) => {
    rule(target, property);
    Optional()(target, property);
  };

/** What a request for the past names; at most one of the two. */
export interface AsOfFields {
  readonly known_at?: string | undefined;
  readonly at_position?: string | undefined;
}

/** The one moment that the whole answer is of. */
export class AsOfResponse {
  @ApiProperty({ description: 'Last position that counts; opaque.' }) position!: string;
  @ApiProperty({
    format: 'date-time',
    type: String,
    nullable: true,
    description: 'The time that known_at named, at most now; of at_position, when it was known: null before the first event.',
  })
  known_at!: Date | null;
}

export interface PastRead {
  readonly team: string;
  /** Read models that the answer is made from. */
  readonly projections: readonly string[];
  readonly signal: AbortSignal;
  /** Of this request: all that it waits for shares one patience. */
  readonly elapsedMs: number;
}

/** A time after every event: PostgreSQL and RFC 3339 both have it. */
const endOfTime = new Date('9999-12-31T23:59:59.999Z');
/** A time before every event. What lies further back would not be a time to PostgreSQL. */
const startOfTime = new Date(0);

/** Finds the moment of the past that a request means, once, so that everything in its answer is of the same one. */
@Injectable()
export class PastReads {
  constructor(
    private readonly positions: Positions,
    private readonly engine: ProjectionEngine,
    private readonly log: EventLog,
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly configuration: Configuration,
  ) {}

  /**
   * @returns undefined for a read of now
   * @throws HttpProblem 422 `as_of_ambiguous`, `position_invalid`, `position_beyond_head`, or 202 when the read models are
   * behind; LogUnavailable, DatabaseUnavailable
   */
  async resolve({ known_at, at_position }: AsOfFields, read: PastRead): Promise<AsOf | undefined> {
    if (known_at !== undefined && at_position !== undefined)
      throw new HttpProblem(422, 'as_of_ambiguous', { field: 'at_position', detail: 'Name a time or a position, not both.' });
    if (at_position !== undefined) return this.atPosition(this.positions.parse(at_position, 'at_position'), read);
    return known_at === undefined ? undefined : this.atTime(new Date(known_at), read);
  }

  response(asOf: AsOf | undefined): Answer<AsOfResponse> | null {
    return asOf ? { position: this.positions.token(asOf.position), known_at: asOf.time } : null;
  }

  private async atPosition(position: bigint, read: PastRead): Promise<AsOf> {
    await this.reach(position, 'at_position', read);
    const { team } = read;
    const time = await this.database.asTeam(team, (queries) => timeOfPosition(queries, { team, position }), { snapshot: true });
    return { position, time };
  }

  /** The moment of a time that is not over must wait for the head: an event of that time may be on its way to the read models. */
  private async atTime(asked: Date, read: PastRead): Promise<AsOf> {
    const now = this.clock.now();
    const toCome = asked >= now;
    // "Now" is all there is, whatever clock it was recorded by.
    const time = toCome ? endOfTime : asked < startOfTime ? startOfTime : asked;
    let moment = await this.momentAt(time, read);
    if (!moment.over) {
      await this.reach(await this.log.head(), 'known_at', read);
      moment = await this.momentAt(time, read);
    }
    return { position: moment.position, time: toCome ? now : asked };
  }

  private momentAt(time: Date, { team }: PastRead): Promise<KnownMoment> {
    return this.database.asTeam(team, (queries) => momentAt(queries, { team, time: time.toISOString() }), { snapshot: true });
  }

  private reach(position: bigint, field: string, { projections, signal, elapsedMs }: PastRead): Promise<void> {
    const patienceMs = this.configuration.minPositionWaitMs - elapsedMs;
    const { positions, engine, log } = this;
    return reachPosition({ positions, engine, log }, position, {
      field,
      projections: ['moments', ...projections],
      signal,
      patienceMs,
    });
  }
}
