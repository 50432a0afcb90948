import { isKeyErased } from '../encryption/errors.js';
import type { CommandContext } from '../event-log/command-context.js';
import { executeCommand, isCommandRefused } from '../event-log/execute.js';
import { deriveId } from '../event-log/ids.js';
import type { StreamId } from '../event-log/stream-name.js';
import type { Streams } from '../event-log/streams.js';
import { type Reaction, type Reactor, ReactorDefect } from './reactor.js';
import type { OrderOutcome, ReactorObserver } from './status.js';
import type { Cause, StoredTimer } from './timer-changes.js';

/** Links of a chain of causes, the client's command being number 0. What is caused at a greater depth goes round in circles. */
export const deepestCausation = 5;

/** A command to be carried out, with the id that every copy of it has. */
export interface Commission {
  readonly commandId: string;
  readonly cause: Cause;
  readonly team: string;
  readonly stream: StreamId;
  readonly order: unknown;
}

/** Id of what a reactor does about an event, in any stream. */
export const eventCommandId = (reactor: string, cause: Cause): string => deriveId(cause.eventId, `reactor ${reactor}`);

/** The moment belongs to it: a timer may be set again for the same cause, always for a later one. */
export const timerCommandId = (reactor: string, { key, dueAt, cause }: StoredTimer): string =>
  deriveId(cause.eventId, `reactor ${reactor} timer ${key} ${dueAt.toISOString()}`);

/** @throws ReactorDefect when two commands with one id go to one stream: the second would be taken for a copy of the first */
export function commissionsOf(
  reactions: readonly Reaction[],
  { commandId, cause, team }: Pick<Commission, 'commandId' | 'cause' | 'team'>,
): Commission[] {
  const commissions = reactions.flatMap((reaction) =>
    reaction.do === 'run' ? [{ commandId, cause, team, stream: reaction.stream, order: reaction.order }] : [],
  );
  const streams = new Set(commissions.map(({ stream }) => `${stream.kind} ${stream.team} ${stream.id}`));
  if (streams.size < commissions.length) throw new ReactorDefect('two commands on one stream follow from one cause');
  return commissions;
}

export interface OrderLogger {
  warn(fields: object, message: string): void;
}

/** Carries out what a reactor orders. A repetition changes nothing: `executeCommand` looks for the cause first. */
export class Orders {
  constructor(
    private readonly reactor: Pick<Reactor, 'name' | 'decide'>,
    private readonly streams: Streams,
    private readonly observer: ReactorObserver | undefined,
    private readonly logger: OrderLogger | undefined,
  ) {}

  /** @throws what executeCommand throws, but for refusals */
  async carryOut(commission: Commission): Promise<void> {
    const { cause, stream } = commission;
    if (cause.depth >= deepestCausation) {
      this.observer?.ran(this.reactor.name, 'dropped');
      const { name: reactor } = this.reactor;
      this.logger?.warn({ reactor, depth: cause.depth + 1, kind: stream.kind, correlation_id: cause.correlationId }, tooDeep);
      return;
    }
    this.observer?.ran(this.reactor.name, await this.execute(commission));
  }

  private async execute({ commandId, cause, team, stream, order }: Commission): Promise<OrderOutcome> {
    const { correlationId, depth } = cause;
    const context: CommandContext = { commandId, correlationId, team, causationDepth: depth + 1 };
    try {
      const decide = (events: Parameters<Reactor['decide']>[1]) => this.reactor.decide(order, events);
      return (await executeCommand(this.streams, { stream, context, decide })).outcome;
    } catch (error) {
      // What it is about was erased in the same moment: nothing can be sealed for it, and nothing is to be.
      if (isCommandRefused(error) || isKeyErased(error)) return 'refused';
      throw error;
    }
  }
}

const tooDeep = 'a chain of causes is too long: what follows from it is dropped';
