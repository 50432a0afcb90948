import type { OperationLog, SkipOrder, SwitchRecord } from '../../projections/engine/operation-log.js';
import { executeCommand, VersionConflict, type CommandRequest, type Written } from '../event-log/execute.js';
import { systemTeam } from '../event-log/stream-name.js';
import type { Streams } from '../event-log/streams.js';
import { decideOperation, operationsOf, operationStream, type OperationCommand, type OperationEvent } from './operation.js';

/** Operations on projections, kept in the log. */
export class StreamOperations implements OperationLog {
  constructor(private readonly streams: Streams) {}

  async skippedIn(projection: string): Promise<ReadonlySet<bigint>> {
    const { events } = await this.streams.load<OperationEvent>(operationStream(projection));
    return new Set([...operationsOf(events).skipped].map(BigInt));
  }

  async expectRevision(projection: string, { context, expectedRevision }: CommandRequest): Promise<void> {
    if (expectedRevision === undefined) return;
    const { events, revision } = await this.streams.load<OperationEvent>(operationStream(projection));
    if (events.some(({ metadata }) => metadata.causationId === context.commandId)) return;
    if (revision !== expectedRevision) throw new VersionConflict(revision);
  }

  recordSwitch({ id, correlationId, apiKey, projection, from, to, kind }: SwitchRecord): Promise<Written> {
    const context = { commandId: id, correlationId, team: systemTeam, ...(apiKey !== null && { apiKey }) };
    return this.run({ type: 'RecordSwitch', projection, from, to, kind }, { context });
  }

  skip({ projection, position, reason, stopped, erasure }: SkipOrder, request: CommandRequest): Promise<Written> {
    return this.run({ type: 'Skip', projection, position: String(position), reason, stopped, erasure }, request);
  }

  private async run(command: OperationCommand, request: CommandRequest): Promise<Written> {
    const { position, revision } = await executeCommand<OperationEvent>(this.streams, {
      ...request,
      // Of the system, whoever's key asks for it: the stream belongs to no team.
      context: { ...request.context, team: systemTeam },
      stream: operationStream(command.projection),
      decide: (events) => decideOperation(command, operationsOf(events)),
    });
    return { position, revision };
  }
}
