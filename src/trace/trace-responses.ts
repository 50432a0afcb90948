import { ApiProperty } from '@nestjs/swagger';
import { AsOfResponse } from '../http/as-of.js';
import type { Answer } from '../http/openapi.js';
import type { Positions } from '../http/positions.js';
import type { Trace, TracedEvent } from './trace.js';

class ActorResponse {
  @ApiProperty({ nullable: true, type: String }) profile_id!: string | null;
  @ApiProperty({ nullable: true, type: String }) api_key_id!: string | null;
}

export class TracedEventResponse {
  @ApiProperty({ format: 'uuid' }) event_id!: string;
  @ApiProperty() type!: string;
  @ApiProperty({ description: 'Kind of the memory whose stream holds the event.' }) kind!: string;
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ description: 'Place in that stream, from 0.' }) revision!: number;
  @ApiProperty({ description: 'Place in the whole log; opaque.' }) position!: string;
  @ApiProperty() recorded_at!: Date;
  @ApiProperty({ nullable: true, type: Date }) occurred_at!: Date | null;
  @ApiProperty() actor!: ActorResponse;
  @ApiProperty() correlation_id!: string;
  @ApiProperty() causation_id!: string;
  @ApiProperty({ type: 'object', additionalProperties: true }) data!: object;
  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    nullable: true,
    description: 'What was written; needs memory:read.',
  })
  content!: object | null;
  @ApiProperty({ description: 'Whether the content was erased.' }) redacted!: boolean;
}

/** A trace without its state, which every kind has its own of. */
export class TraceResponse {
  @ApiProperty() kind!: string;
  @ApiProperty({ format: 'uuid' }) id!: string;
  @ApiProperty({ type: [TracedEventResponse] }) events!: TracedEventResponse[];
  @ApiProperty({ nullable: true, type: String }) next_cursor!: string | null;
  @ApiProperty({ description: 'Whether further events follow on another page.' }) truncated!: boolean;
  @ApiProperty({ description: 'Every event up to this position is in the answer or on a page of it.' })
  complete_to_position!: string;
  @ApiProperty({ type: AsOfResponse, nullable: true, description: 'The moment it is of; null for now.' })
  as_of!: AsOfResponse | null;
}

export function traceResponse<State>(
  trace: Trace<State>,
  positions: Positions,
  as_of: Answer<AsOfResponse> | null,
): Answer<TraceResponse> & { readonly state: State } {
  return {
    kind: trace.kind,
    id: trace.id,
    state: trace.state,
    events: trace.events.map((event) => eventResponse(event, positions)),
    next_cursor: trace.next === undefined ? null : positions.token(trace.next),
    truncated: trace.next !== undefined,
    complete_to_position: positions.token(trace.completeTo),
    as_of,
  };
}

const eventResponse = (event: TracedEvent, positions: Positions): Answer<TracedEventResponse> => ({
  ...event,
  revision: Number(event.revision),
  position: positions.token(event.position),
});
