import { type DomainEvent, isRedacted, type Sealed } from '../event-log/domain-event.js';
import type { EventDefinitions } from '../event-log/event-catalogue.js';
import type { Refusal } from '../event-log/execute.js';

/** A piece of evidence: an immutable fragment of a source, and what became of it. */
export const evidenceStream = (team: string, evidence: string) => ({ kind: 'evidence', team, id: evidence }) as const;

export const contentLimit = 20_000; // code points
export const subjectLimit = 8;
/** Handles that callers gave one piece of evidence: a stream that grows without end would make every command on it slower. */
export const externalIdLimit = 100;

export const sourceTypes = ['conversation', 'document', 'integration', 'manual'] as const;
export type SourceType = (typeof sourceTypes)[number];

/** From the strongest to the weakest, `unknown` aside. */
export const authorities = ['authoritative', 'primary', 'secondary', 'inferred', 'unknown'] as const;
export type Authority = (typeof authorities)[number];

export type Scalar = string | number | boolean | null;

/** What a person or an agent wrote; sealed under the evidence's own key. */
export interface EvidenceContent {
  readonly content: string;
  readonly author: string | null;
  readonly scope: string;
  /** Opaque ids of the people it is about. */
  readonly subjects: readonly string[];
  readonly source_key: string | null;
  readonly source_revision: string | null;
  /** The conversation, session or document it stands in. */
  readonly group: string | null;
  readonly labels: readonly string[];
  readonly metadata: Readonly<Record<string, Scalar>>;
  /** The caller's own handle. */
  readonly external_id: string | null;
}

/** What stays readable for ever: ids, numbers and times. */
export interface EvidenceFacts {
  readonly evidence_id: string;
  /** From 0; one more each time the id of the generation before was erased. */
  readonly generation: number;
  readonly source_id: string | null;
  /** Place in the group, from 0. */
  readonly sequence: number | null;
  readonly source_type: SourceType;
  readonly authority: Authority;
  /** ISO times; validity is half-open: from <= t < to. */
  readonly occurred_at: string | null;
  readonly valid_from: string | null;
  readonly valid_to: string | null;
}

type ReasonedType =
  | 'EvidenceQuarantined'
  | 'EvidenceReleased'
  | 'EvidenceSupersessionAnnounced'
  | 'EvidenceSupersessionWithdrawn'
  | 'EvidenceRetracted';

interface Change {
  readonly evidence_id: string;
  readonly sealed: Sealed<{ readonly reason: string | null }>;
}

/** Of the profile that wrote an event, only the log's metadata tells: the owner is the profile of the first one. */
export type EvidenceEvent = DomainEvent &
  (
    | ({ readonly type: 'EvidenceRemembered'; readonly sealed: Sealed<EvidenceContent> } & EvidenceFacts)
    | {
        readonly type: 'EvidenceAliased';
        readonly evidence_id: string;
        readonly sealed: Sealed<{ readonly external_id: string }>;
      }
    | ({ readonly type: ReasonedType } & Change)
    | ({
        readonly type: 'EvidenceSuperseded';
        readonly replacement_id: string;
        /** The replacement as its stream stood when this was decided, as `stream@revision`. */
        readonly based_on: readonly string[];
      } & Change)
    | { readonly type: 'EvidenceErased'; readonly evidence_id: string }
  );

const keyOwner = ({ evidence_id }: { evidence_id: string }) => evidence_id;

export const evidenceEvents: EventDefinitions<EvidenceEvent> = {
  EvidenceRemembered: { version: 1, keyOwner },
  EvidenceAliased: { version: 1, keyOwner },
  EvidenceQuarantined: { version: 1, keyOwner },
  EvidenceReleased: { version: 1, keyOwner },
  EvidenceSupersessionAnnounced: { version: 1, keyOwner },
  EvidenceSupersessionWithdrawn: { version: 1, keyOwner },
  EvidenceSuperseded: { version: 1, keyOwner },
  EvidenceRetracted: { version: 1, keyOwner },
  EvidenceErased: { version: 1 },
};

/** Non-current by a revision of its source, and of a deactivated owner, are no states: they follow from other streams. */
export type EvidenceStatus = 'current' | 'quarantined' | 'supersession_pending' | 'superseded' | 'retracted' | 'erased';

/** States that may still be quarantined, and that a release gives back. */
export type LivingStatus = 'current' | 'supersession_pending';

/** Where remembered evidence stands. */
export type Lifecycle =
  | { readonly status: LivingStatus | 'retracted' }
  | { readonly status: 'quarantined'; readonly from: LivingStatus }
  | { readonly status: 'superseded'; readonly replacement_id: string };

export type RememberedEvidence = Lifecycle & {
  readonly facts: EvidenceFacts;
  readonly content: Sealed<EvidenceContent>;
  /** All of them, the first included. */
  readonly external_ids: readonly string[];
};

export type Evidence = { readonly status: 'none' } | RememberedEvidence | { readonly status: 'erased' };

export const noEvidence: Evidence = { status: 'none' };

type Remembering = Extract<EvidenceEvent, { type: 'EvidenceRemembered' }>;
type LaterEvent = Exclude<EvidenceEvent, { type: 'EvidenceRemembered' | 'EvidenceErased' }>;

export function evolveEvidence(evidence: Evidence, event: EvidenceEvent): Evidence {
  if (event.type === 'EvidenceErased') return { status: 'erased' };
  if (event.type === 'EvidenceRemembered') return evidence.status === 'none' ? remembered(event) : evidence;
  if (evidence.status === 'none' || evidence.status === 'erased') return evidence;
  const { facts, content, external_ids } = evidence;
  const added = event.type === 'EvidenceAliased' ? aliasOf(event.sealed) : [];
  return { ...evolveLifecycle(evidence, event), facts, content, external_ids: [...external_ids, ...added] };
}

/** Of evidence that was remembered and is not erased. */
export function evolveLifecycle(lifecycle: Lifecycle, event: LaterEvent): Lifecycle {
  switch (event.type) {
    case 'EvidenceAliased':
      return lifecycle;
    case 'EvidenceQuarantined':
      return isLiving(lifecycle) ? { status: 'quarantined', from: lifecycle.status } : lifecycle;
    case 'EvidenceReleased':
      return lifecycle.status === 'quarantined' ? { status: lifecycle.from } : lifecycle;
    case 'EvidenceSupersessionAnnounced':
      return { status: 'supersession_pending' };
    case 'EvidenceSupersessionWithdrawn':
      return { status: 'current' };
    case 'EvidenceSuperseded':
      return { status: 'superseded', replacement_id: event.replacement_id };
    case 'EvidenceRetracted':
      return { status: 'retracted' };
    default:
      return event satisfies never;
  }
}

function remembered(event: Remembering): Evidence {
  const { sealed, evidence_id, generation, source_id, sequence, source_type, authority, occurred_at, valid_from, valid_to } =
    event;
  const facts = { evidence_id, generation, source_id, sequence, source_type, authority, occurred_at, valid_from, valid_to };
  // Left out, not redacted, where the reader may not see content: the boxes were never opened.
  const content = sealed as typeof sealed | undefined;
  const external_id = content === undefined || isRedacted(content) ? null : content.external_id;
  return { status: 'current', facts, content: sealed, external_ids: external_id === null ? [] : [external_id] };
}

const aliasOf = (content: Sealed<{ external_id: string }> | undefined): string[] =>
  content === undefined || isRedacted(content) ? [] : [content.external_id];

const isLiving = (lifecycle: Lifecycle): lifecycle is { status: LivingStatus } =>
  lifecycle.status === 'current' || lifecycle.status === 'supersession_pending';

export const evidenceOf = (events: readonly { data: EvidenceEvent }[]): Evidence =>
  events.reduce<Evidence>((evidence, { data }) => evolveEvidence(evidence, data), noEvidence);

/** Who asks, who remembered it, and whether the first may decide about what others remembered. */
export interface Authorship {
  readonly by: string | undefined;
  readonly owner: string | undefined;
  readonly admin: boolean;
}

/** What is to replace evidence, as its stream stood when the decision was made. */
export interface ReplacementFacts {
  readonly evidence_id: string;
  readonly evidence: Evidence;
  readonly owner: string | undefined;
  readonly basis: string;
}

interface Because {
  readonly evidence_id: string;
  readonly reason: string | undefined;
}

export type EvidenceCommand =
  | { readonly type: 'Remember'; readonly facts: EvidenceFacts; readonly content: EvidenceContent }
  | ({ readonly type: 'Quarantine' } & Because)
  | ({ readonly type: 'Release' } & Because)
  | ({ readonly type: 'AnnounceSupersession' | 'WithdrawSupersession'; readonly authorship: Authorship } & Because)
  | ({ readonly type: 'Retract'; readonly authorship: Authorship } & Because)
  | ({ readonly type: 'Supersede'; readonly authorship: Authorship; readonly replacement: ReplacementFacts } & Because)
  | { readonly type: 'Erase'; readonly evidence_id: string; readonly authorship: Authorship };

export type EvidenceRefusal =
  | 'not_found'
  | 'erased'
  | 'not_the_owner'
  | 'already_superseded'
  | 'already_retracted'
  | 'evidence_quarantined'
  | 'replacement_is_itself'
  | 'replacement_not_found'
  | 'replacement_of_other_owner'
  | 'replacement_not_current'
  | 'source_key_required'
  | 'group_required'
  | 'validity_empty'
  | 'too_many_external_ids';

const refuse = (refused: EvidenceRefusal, field?: string): Refusal => ({ refused, ...(field ? { field } : {}) });

/** The events that follow from a command, none when it is already so, or why not. */
export function decideEvidence(command: EvidenceCommand, evidence: Evidence): readonly EvidenceEvent[] | Refusal {
  if (command.type === 'Remember') return decideRemember(command, evidence);
  if (evidence.status === 'erased') return command.type === 'Erase' ? [] : refuse('erased');
  if (evidence.status === 'none') return refuse('not_found');
  const forAll = command.type === 'Quarantine' || command.type === 'Release';
  if (!forAll && !mayDecide(command.authorship)) return refuse('not_the_owner');
  switch (command.type) {
    case 'Quarantine':
    case 'Release':
      return decideQuarantine(command, evidence);
    case 'AnnounceSupersession':
    case 'WithdrawSupersession':
      return decideAnnouncement(command, evidence);
    case 'Supersede':
      return decideSupersede(command, evidence);
    case 'Retract':
      if (evidence.status === 'retracted') return [];
      if (evidence.status === 'superseded') return refuse('already_superseded');
      return [because('EvidenceRetracted', command)];
    case 'Erase':
      return [{ type: 'EvidenceErased', evidence_id: command.evidence_id }];
    default:
      return command satisfies never;
  }
}

const mayDecide = ({ by, owner, admin }: Authorship): boolean => admin || (by !== undefined && by === owner);

/** The same again is no other memory, whatever became of it; a handle that is new is added to it. */
function decideRemember({ facts, content }: Extract<EvidenceCommand, { type: 'Remember' }>, evidence: Evidence) {
  const invalid = inconsistency(facts, content);
  if (invalid) return invalid;
  if (evidence.status === 'erased') return refuse('erased');
  if (evidence.status === 'none') return [{ type: 'EvidenceRemembered', ...facts, sealed: content } as const];
  const { external_id } = content;
  if (external_id === null || evidence.external_ids.includes(external_id)) return [];
  if (evidence.external_ids.length >= externalIdLimit) return refuse('too_many_external_ids', 'external_id');
  return [{ type: 'EvidenceAliased', evidence_id: facts.evidence_id, sealed: { external_id } } as const];
}

function inconsistency(facts: EvidenceFacts, { source_key, source_revision, group }: EvidenceContent): Refusal | undefined {
  if (source_revision !== null && source_key === null) return refuse('source_key_required', 'source_key');
  if (facts.sequence !== null && group === null) return refuse('group_required', 'group');
  const { valid_from, valid_to } = facts;
  // ISO texts of one form, but as times: years over 9999 would compare wrongly.
  if (valid_from !== null && valid_to !== null && Date.parse(valid_from) >= Date.parse(valid_to))
    return refuse('validity_empty', 'valid_to');
  return undefined;
}

function decideQuarantine(
  command: Extract<EvidenceCommand, { type: 'Quarantine' | 'Release' }>,
  evidence: RememberedEvidence,
): readonly EvidenceEvent[] | Refusal {
  const final = finalRefusal(evidence);
  if (final) return final;
  const quarantined = evidence.status === 'quarantined';
  if (command.type === 'Quarantine') return quarantined ? [] : [because('EvidenceQuarantined', command)];
  return quarantined ? [because('EvidenceReleased', command)] : [];
}

/** Quarantined evidence is released first: what follows from a withdrawal is recall, and only a release may lead there. */
function decideAnnouncement(
  command: Extract<EvidenceCommand, { type: 'AnnounceSupersession' | 'WithdrawSupersession' }>,
  evidence: RememberedEvidence,
): readonly EvidenceEvent[] | Refusal {
  const final = finalRefusal(evidence);
  if (final) return final;
  if (evidence.status === 'quarantined') return refuse('evidence_quarantined');
  const pending = evidence.status === 'supersession_pending';
  if (command.type === 'AnnounceSupersession') return pending ? [] : [because('EvidenceSupersessionAnnounced', command)];
  return pending ? [because('EvidenceSupersessionWithdrawn', command)] : [];
}

function decideSupersede(
  command: Extract<EvidenceCommand, { type: 'Supersede' }>,
  evidence: RememberedEvidence,
): readonly EvidenceEvent[] | Refusal {
  const { replacement, authorship, evidence_id } = command;
  const { evidence_id: replacement_id, basis } = replacement;
  if (evidence.status === 'superseded') return evidence.replacement_id === replacement_id ? [] : refuse('already_superseded');
  const final = finalRefusal(evidence);
  if (final) return final;
  if (replacement_id === evidence_id) return refuse('replacement_is_itself', 'replacement_id');
  if (replacement.evidence.status === 'none' || replacement.evidence.status === 'erased')
    return refuse('replacement_not_found', 'replacement_id');
  if (replacement.owner !== authorship.owner) return refuse('replacement_of_other_owner', 'replacement_id');
  if (replacement.evidence.status !== 'current') return refuse('replacement_not_current', 'replacement_id');
  const sealed = { reason: command.reason ?? null };
  return [{ type: 'EvidenceSuperseded', evidence_id, replacement_id, based_on: [basis], sealed }];
}

/** Superseded and retracted are final: nothing but an erasure follows. */
function finalRefusal({ status }: RememberedEvidence): Refusal | undefined {
  if (status === 'superseded') return refuse('already_superseded');
  return status === 'retracted' ? refuse('already_retracted') : undefined;
}

const because = (type: ReasonedType, { evidence_id, reason }: Because): EvidenceEvent => ({
  type,
  evidence_id,
  sealed: { reason: reason ?? null },
});
