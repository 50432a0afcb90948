import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { CommandContext } from '../event-log/command-context.js';
import type { RecordedEvent } from '../event-log/domain-event.js';
import { type Decision, executeCommand, type Written } from '../event-log/execute.js';
import { Streams } from '../event-log/streams.js';
import {
  type Authorship,
  decideEvidence,
  type Evidence,
  type EvidenceEvent,
  evidenceOf,
  evidenceStream,
  type ReplacementFacts,
} from './evidence.js';

export type EvidenceReceipt = Written & { readonly evidence_id: string; readonly status: Evidence['status'] };

/** What is to become of evidence, and whether the caller may decide about what others remembered. */
export type EvidenceChange = { readonly evidence_id: string; readonly reason: string | undefined; readonly admin: boolean } & (
  | { readonly type: 'Quarantine' | 'Release' | 'AnnounceSupersession' | 'WithdrawSupersession' | 'Retract' }
  | { readonly type: 'Supersede'; readonly replacement_id: string }
);

export class ChangeEvidence extends Command<EvidenceReceipt> {
  constructor(
    readonly context: CommandContext,
    readonly change: EvidenceChange,
    readonly expectedRevision: bigint | undefined,
  ) {
    super();
  }
}

/** Quarantine, release, announce or withdraw a supersession, supersede, retract. */
@CommandHandler(ChangeEvidence)
export class ChangeEvidenceHandler implements ICommandHandler<ChangeEvidence> {
  constructor(private readonly streams: Streams) {}

  async execute({ context, change, expectedRevision }: ChangeEvidence): Promise<EvidenceReceipt> {
    const { evidence_id } = change;
    const stream = evidenceStream(context.team, evidence_id);
    const replacement = change.type === 'Supersede' ? await this.replacement(context.team, change.replacement_id) : undefined;
    const { revision, position } = await executeCommand<EvidenceEvent>(this.streams, {
      stream,
      context,
      ...(expectedRevision === undefined ? {} : { expectedRevision }),
      decide: (events) => decide(change, authorshipOf(events, context, change.admin), evidenceOf(events), replacement),
    });
    const { events } = await this.streams.load<EvidenceEvent>(stream);
    // As it stood after this command, so that a repeated one gets the same receipt.
    const { status } = evidenceOf(events.filter((event) => revision !== 'no_stream' && event.revision <= revision));
    return { evidence_id, status, revision, position };
  }

  private async replacement(team: string, evidence_id: string): Promise<ReplacementFacts> {
    const { events, name, revision } = await this.streams.load<EvidenceEvent>(evidenceStream(team, evidence_id));
    return { evidence_id, evidence: evidenceOf(events), owner: events[0]?.metadata.profile, basis: `${name}@${revision}` };
  }
}

/** The owner is the profile that the first event names. */
export const authorshipOf = ([first]: readonly RecordedEvent[], { profile }: CommandContext, admin: boolean): Authorship => ({
  by: profile,
  owner: first?.metadata.profile,
  admin,
});

function decide(
  change: EvidenceChange,
  authorship: Authorship,
  evidence: Evidence,
  replacement: ReplacementFacts | undefined,
): Decision<EvidenceEvent> {
  const { evidence_id, reason } = change;
  switch (change.type) {
    case 'Quarantine':
    case 'Release':
      return decideEvidence({ type: change.type, evidence_id, reason }, evidence);
    case 'AnnounceSupersession':
    case 'WithdrawSupersession':
      return decideEvidence({ type: change.type, evidence_id, reason, authorship }, evidence);
    case 'Retract':
      return decideEvidence({ type: 'Retract', evidence_id, reason, authorship }, evidence);
    case 'Supersede':
      if (!replacement) throw new Error('a supersession names what replaces');
      return decideEvidence({ type: 'Supersede', evidence_id, reason, authorship, replacement }, evidence);
    default:
      return change satisfies never;
  }
}
