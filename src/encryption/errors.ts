/** The owner's data key was destroyed: nothing can be sealed for it any more. */
export class KeyErased extends Error {
  readonly code = 'key_erased';

  constructor(readonly owner: string) {
    super('the data key was destroyed');
  }
}

/** A data key that must exist is missing or cannot be unwrapped. Content behind it is unreadable until that is put right. */
export class KeyUnavailable extends Error {
  readonly code = 'key_unavailable';

  constructor() {
    super('a data key is missing or cannot be unwrapped');
  }
}

/** The master key is not the one that wrapped the data keys of this database. */
export class MasterKeyMismatch extends Error {
  readonly code = 'master_key_mismatch';

  constructor() {
    super(
      'the master key is not the one this database was created with: set MNEME_MASTER_KEY, or the key file in the data folder, ' +
        'to the original key, or connect to the database that belongs to this key',
    );
  }
}

/** What is stored is not what was written: altered, moved to another place, or damaged. The message never quotes it. */
export class IntegrityError extends Error {
  readonly code = 'event_integrity';

  constructor(reason: string = 'a sealed box was altered') {
    super(reason);
  }
}

export const isKeyErased = (error: unknown): error is KeyErased => error instanceof KeyErased;
export const isKeyUnavailable = (error: unknown): error is KeyUnavailable => error instanceof KeyUnavailable;
export const isMasterKeyMismatch = (error: unknown): error is MasterKeyMismatch => error instanceof MasterKeyMismatch;
export const isIntegrityError = (error: unknown): error is IntegrityError => error instanceof IntegrityError;
