/**
 * Which evidence may reach a ranking: one predicate for every branch, so that none of them can forget a part of it.
 *
 * Eligible is what is current, of a source revision that is current, by an active owner, and valid at the moment asked for.
 * Only comparisons that are leakproof stand here (of uuid, text, int8 and timestamptz): under row-level security anything
 * else would be held back until the policy has looked at every row.
 */
export interface EligibilityTerms {
  /** Alias of `mneme_read.evidence` in the query. */
  readonly evidence: string;
  /** Placeholder or expression of the moment in the world, a timestamptz. */
  readonly validAt: string;
}

export interface PastEligibilityTerms extends EligibilityTerms {
  /** Placeholder or expression of the position up to which the log counts, an int8. */
  readonly position: string;
}

/** As everything stands now. */
export const eligible = ({ evidence: e, validAt }: EligibilityTerms): string => `(
  ${e}.status = 'current'
  AND ${validWithin(e, validAt)}
  AND EXISTS (
    SELECT FROM mneme_read.profiles owner
    WHERE owner.team_id = ${e}.team_id AND owner.profile_id = ${e}.profile_id AND owner.status = 'active')
  AND ${ofCurrentRevision(e)}
  AND ${sourceNotErased(e)})`;

/**
 * As it stood when the log ended at a position: evidence, publications and owners that came later do not exist. Erasure holds
 * at every moment: what is erased has no rows, and a source erased later counts as erased.
 */
export const eligibleAt = ({ evidence: e, validAt, position }: PastEligibilityTerms): string => `(
  ${statusAt(e, position)} = 'current'
  AND ${validWithin(e, validAt)}
  AND (
    SELECT owner.status FROM mneme_read.profiles_history owner
    WHERE owner.team_id = ${e}.team_id AND owner.profile_id = ${e}.profile_id AND owner.position <= ${position}
    ORDER BY owner.position DESC LIMIT 1) = 'active'
  AND (${e}.source_revision IS NULL OR ${revisionAt(e, position)} IS NULL OR ${revisionAt(e, position)} = ${e}.source_revision)
  AND ${sourceNotErased(e)})`;

/** Status at a position; null for evidence that was not remembered yet. */
export const statusAt = (e: string, position: string): string => `(
    SELECT past.status FROM mneme_read.evidence_history past
    WHERE past.team_id = ${e}.team_id AND past.evidence_id = ${e}.evidence_id AND past.position <= ${position}
    ORDER BY past.position DESC LIMIT 1)`;

/** Half-open: from <= t < to. */
const validWithin = (e: string, validAt: string): string =>
  `(${e}.valid_from IS NULL OR ${e}.valid_from <= ${validAt}) AND (${e}.valid_to IS NULL OR ${e}.valid_to > ${validAt})`;

/** True without a source or a revision, and for a source with none published: then every revision is current. */
export const ofCurrentRevision = (e: string): string => `NOT EXISTS (
    SELECT FROM mneme_read.sources source
    WHERE source.team_id = ${e}.team_id AND source.source_id = ${e}.source_id
      AND source.current_revision <> ${e}.source_revision)`;

const revisionAt = (e: string, position: string): string => `(
    SELECT published.source_revision FROM mneme_read.source_revisions published
    WHERE published.team_id = ${e}.team_id AND published.source_id = ${e}.source_id AND published.position <= ${position}
    ORDER BY published.number DESC LIMIT 1)`;

export const sourceNotErased = (e: string): string => `NOT EXISTS (
    SELECT FROM mneme_read.erased_sources gone
    WHERE gone.team_id = ${e}.team_id AND gone.source_id = ${e}.source_id)`;
