import { createHash } from 'node:crypto';
import type { StoredEvent } from './event-log.js';
import { canonicalJson, type JsonObject, type JsonValue } from './json.js';

/** What an event's hash covers, besides the hash of the event before it. */
export interface HashedEvent {
  readonly stream: string;
  readonly revision: bigint;
  readonly id: string;
  readonly type: string;
  /** Data in canonical form (RFC 8785). */
  readonly data: string;
  /** Stored metadata; a member `hash` is left out. */
  readonly metadata: JsonObject;
}

/** Stands before the first event of a stream. */
export const firstPreviousHash = '0'.repeat(64);

/**
 * SHA-256, in hexadecimal, of the canonical form of `[previous hash, stream, revision as text, id, type, data, metadata
 * without hash]`. It covers ciphertext, so that destroying a key leaves the chain whole.
 */
export function eventHash(previousHash: string, { stream, revision, id, type, data, metadata }: HashedEvent): string {
  const head = canonicalJson([previousHash, stream, String(revision), id, type]);
  const hashed = Object.fromEntries(Object.entries(metadata).filter(([name]) => name !== 'hash'));
  return createHash('sha256')
    .update(`${head.slice(0, -1)},${data},${canonicalJson(hashed)}]`)
    .digest('hex');
}

export interface ChainLink {
  readonly revision: bigint;
  readonly hash: string;
}

export interface ChainBreak {
  /** First revision that is wrong. */
  readonly revision: bigint;
  /**
   * - `missing`: another revision stands where this one should
   * - `unreadable`: data or metadata are not what the codec writes
   * - `unlinked`: it does not name the hash of the event before it
   * - `altered`: its content does not have its hash
   */
  readonly reason: 'missing' | 'unreadable' | 'unlinked' | 'altered';
}

/**
 * Checks consecutive events of one stream. A chain cannot know that its newest events were cut off: compare the last hash
 * with one kept elsewhere for that.
 *
 * @param after the event before the first of `events`; undefined when they begin the stream
 * @returns the first break, undefined when there is none
 */
export function verifyChain(events: readonly StoredEvent[], after?: ChainLink): ChainBreak | undefined {
  let previous = after ?? { revision: -1n, hash: firstPreviousHash };
  for (const event of events) {
    const revision = previous.revision + 1n;
    if (event.revision !== revision) return { revision, reason: 'missing' };
    const stored = parsed(event);
    if (!stored) return { revision, reason: 'unreadable' };
    const { previous_hash: previousHash, hash } = stored.metadata;
    if (previousHash !== previous.hash) return { revision, reason: 'unlinked' };
    if (typeof hash !== 'string' || hash !== eventHash(previous.hash, { ...event, ...stored }))
      return { revision, reason: 'altered' };
    previous = { revision, hash };
  }
  return undefined;
}

function parsed(event: StoredEvent): { data: string; metadata: JsonObject } | undefined {
  try {
    const metadata = JSON.parse(event.metadata) as JsonValue;
    if (typeof metadata !== 'object' || metadata === null || Array.isArray(metadata)) return undefined;
    return { data: canonicalJson(JSON.parse(event.data) as JsonValue), metadata: metadata as JsonObject };
  } catch {
    return undefined;
  }
}
