import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { CommandContext } from '../event-log/command-context.js';
import { isAppendTooLarge, isWrongExpectedRevision } from '../event-log/errors.js';
import type { AppendOutcome } from '../event-log/event-log.js';
import { isCommandRefused } from '../event-log/execute.js';
import { type StreamAppend, Streams } from '../event-log/streams.js';
import { type EvidencePlace, EvidencePlaces } from './evidence-places.js';
import type { EvidenceInput } from './evidence-requests.js';
import { decideEvidence, type EvidenceEvent, noEvidence } from './evidence.js';
import { RememberEvidence, RememberEvidenceHandler, type RememberReceipt } from './remember-evidence.handler.js';

export interface BatchItem {
  readonly context: CommandContext;
  readonly input: EvidenceInput;
}

export interface ItemRefusal {
  readonly refused: string;
  readonly field?: string;
}

export type ItemOutcome = RememberReceipt | ItemRefusal;

export interface BatchOutcome {
  /** In the order of the items. */
  readonly outcomes: readonly ItemOutcome[];
  /** Of the last event of any of them; -1 when all were refused. */
  readonly position: bigint;
}

/** All of one team. */
export class RememberBatch extends Command<BatchOutcome> {
  constructor(readonly items: readonly BatchItem[]) {
    super();
  }
}

/** Streams looked up side by side: one at a time, two hundred items would take as many round trips. */
const lookupsAtOnce = 16;

interface Settled {
  readonly outcome: ItemOutcome;
  readonly position: bigint;
}

interface Decided {
  readonly item: number;
  readonly append: StreamAppend<EvidenceEvent>;
}

/**
 * Remembers many at once, each for itself. Those that are new go in one append to many streams; equal items of one batch, what
 * is known already, and what loses a race follow one by one as if they had been sent alone.
 *
 * A log or a database that fails on the way fails the whole batch: what was stored stands, and the same batch sent again finds
 * it.
 */
@CommandHandler(RememberBatch)
export class RememberBatchHandler implements ICommandHandler<RememberBatch> {
  constructor(
    private readonly streams: Streams,
    private readonly places: EvidencePlaces,
    private readonly single: RememberEvidenceHandler,
  ) {}

  async execute({ items }: RememberBatch): Promise<BatchOutcome> {
    const settled = new Map<number, Settled>();
    const places = await this.lookUp(items);
    const decided = newOnes(items, places, settled);
    const outcomes = await this.streams.appendMany(decided.map(({ append }) => append));
    for (const [index, one] of decided.entries()) settle(one, outcomes[index], settled);
    for (const [index, item] of items.entries()) if (!settled.has(index)) settled.set(index, await this.remember(item));
    const inOrder = items.flatMap((_, index) => settled.get(index) ?? []);
    const position = inOrder.reduce((latest, one) => (one.position > latest ? one.position : latest), -1n);
    return { outcomes: inOrder.map(({ outcome }) => outcome), position };
  }

  private async lookUp(items: readonly BatchItem[]): Promise<EvidencePlace[]> {
    const [first] = items;
    if (!first) return [];
    const team = await this.places.of(first.context.team);
    const places: EvidencePlace[] = [];
    for (let from = 0; from < items.length; from += lookupsAtOnce) {
      const some = items.slice(from, from + lookupsAtOnce);
      places.push(...(await Promise.all(some.map(({ context, input }) => team.find(context, input)))));
    }
    return places;
  }

  private async remember({ context, input }: BatchItem): Promise<Settled> {
    try {
      const { receipt, position } = await this.single.execute(new RememberEvidence(context, input, undefined));
      return { outcome: receipt, position };
    } catch (error) {
      if (!isCommandRefused(error)) throw error;
      return refused({ refused: error.code, ...(error.field !== undefined && { field: error.field }) });
    }
  }
}

const refused = (outcome: ItemRefusal): Settled => ({ outcome, position: -1n });

/** The first item of every stream that is still empty; what it is refused for is settled. */
function newOnes(items: readonly BatchItem[], places: readonly EvidencePlace[], settled: Map<number, Settled>): Decided[] {
  const taken = new Set<string>();
  return items.flatMap(({ context, input }, item) => {
    const { stream, ...ids } = places[item] ?? {};
    if (!stream || stream.events.length > 0 || taken.has(stream.name)) return [];
    const facts = { ...(ids as Omit<EvidencePlace, 'stream'>), ...input.facts };
    const events = decideEvidence({ type: 'Remember', facts, content: input.content }, noEvidence);
    if ('refused' in events) {
      settled.set(item, refused(events));
      return [];
    }
    taken.add(stream.name);
    const { occurred_at } = input.facts;
    return [{ item, append: { stream, events, context, ...(occurred_at !== null && { occurredAt: new Date(occurred_at) }) } }];
  });
}

/** A lost race is left open, to be remembered alone. @throws what fails the whole batch */
function settle({ item, append }: Decided, result: AppendOutcome | undefined, settled: Map<number, Settled>): void {
  if (!result || ('error' in result && isWrongExpectedRevision(result.error))) return;
  if ('appended' in result) {
    const [remembered] = append.events;
    if (remembered?.type !== 'EvidenceRemembered') throw new Error('what was remembered begins with it');
    const { evidence_id, source_id } = remembered;
    const outcome = { evidence_id, outcome: 'created', status: 'current', source_id } as const;
    settled.set(item, { outcome, position: result.appended.position });
    return;
  }
  if (!isAppendTooLarge(result.error)) throw result.error;
  settled.set(item, refused({ refused: 'too_large' }));
}
