/** Who issues a command, and which. Goes into the metadata of every event that follows from it. */
export interface CommandContext {
  /** UUID; events that carry it as their cause are this command's, so that repeating it finds them. */
  readonly commandId: string;
  /**
   * Keyed hash of the whole request, where the client named the command by an idempotency key: equal for a repetition,
   * different for another request under the same key. Says nothing to whoever lacks the team's secret.
   */
  readonly fingerprint?: string;
  readonly correlationId: string;
  /** UUID, or `system`. */
  readonly team: string;
  /** Author; left out when the system itself acts. */
  readonly profile?: string;
  /** Id of the API key, never the key. */
  readonly apiKey?: string;
  /** 0 for a command of a client, one more than its cause for a reactor's. */
  readonly causationDepth?: number;
}
