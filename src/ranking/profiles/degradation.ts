import { type Branch } from '../fusion/fusion.js';
import { type EvidenceProfile } from './evidence-profile.js';

/** A required branch of a recall could not be asked. */
export class BranchFailed extends Error {
  readonly code = 'branch_failed';

  constructor(
    readonly branch: Branch,
    options: { cause: unknown },
  ) {
    // The cause may quote a database or a model server; the message names the branch alone.
    super(`the branch ${branch} failed, and the ranking profile requires it`, options);
    this.name = 'BranchFailed';
  }
}

export const isBranchFailed = (error: unknown): error is BranchFailed => error instanceof BranchFailed;

/** A branch without which a recall was answered. For telemetry and logs, never for the public answer. */
export interface DegradedBranch {
  readonly branch: Branch;
  readonly cause: unknown;
}

/**
 * What a failed branch does to a recall: nothing when the profile does without it, a note when it is optional.
 *
 * @throws BranchFailed when the profile requires it: an outage must not silently become another ranking
 */
export function degrade(
  { branches }: Pick<EvidenceProfile, 'branches'>,
  branch: Branch,
  cause: unknown,
): DegradedBranch | undefined {
  const use = branches[branch];
  switch (use) {
    case 'required':
      throw new BranchFailed(branch, { cause });
    case 'optional':
      return { branch, cause };
    case 'off':
      return undefined;
    default:
      return use satisfies never;
  }
}
