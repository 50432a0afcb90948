import { START, type Position, type ReadPosition } from '@eventstore/db-client';

/** Positions that servers give for "none" are the largest of 64 bits. */
const largest = 2n ** 63n - 1n;

export const readFrom = (position: bigint): ReadPosition => (position < 0n ? START : { commit: position, prepare: position });

/**
 * The position of an event as one number. An event of ours is committed by being written, so that its commit and prepare
 * position are the same, and no other event has it; they differ only within the explicit transactions of old TCP clients.
 */
export const eventPosition = (position: Position | undefined): bigint | undefined =>
  position && position.commit <= largest ? position.commit : undefined;

/**
 * The position of a checkpoint as one number; undefined when it only says that everything before it was looked at. While
 * none of the events match, and with 24.10 and 25.0 before their fixes also at the end of the log, servers send where the
 * next event begins, with prepare position 0. That event has the same commit position: who began after it would miss it.
 */
export const checkpointPosition = (position: Position): bigint | undefined =>
  position.commit === position.prepare ? eventPosition(position) : undefined;

/** A revision that a server may give as the largest of 64 bits for "no stream". */
export const knownRevision = (revision: bigint): bigint | 'no_stream' => (revision > largest ? 'no_stream' : revision);
