import { IntegrityError } from '../encryption/errors.js';
import type { CommandContext } from './command-context.js';
import type { EventMetadata } from './domain-event.js';

interface Written {
  readonly schemaVersion: number;
  readonly occurredAt: Date | undefined;
  readonly previousHash: string;
}

/** Metadata as the log stores them: a flat object of strings. The two names with a dollar sign are EventStoreDB's own. */
export function storedMetadata(context: CommandContext, written: Written): Record<string, string> {
  return {
    $correlationId: context.correlationId,
    $causationId: context.commandId,
    ...(context.fingerprint !== undefined && { fingerprint: context.fingerprint }),
    causation_depth: String(context.causationDepth ?? 0),
    team: context.team,
    ...(context.profile !== undefined && { profile: context.profile }),
    ...(context.apiKey !== undefined && { api_key: context.apiKey }),
    schema_version: String(written.schemaVersion),
    ...(written.occurredAt && { occurred_at: written.occurredAt.toISOString() }),
    previous_hash: written.previousHash,
  };
}

/** @throws IntegrityError when they are not what `storedMetadata` makes */
export function eventMetadata(stored: Readonly<Record<string, unknown>>): EventMetadata {
  const optional = (name: string): string | undefined => {
    const value = stored[name];
    if (value !== undefined && typeof value !== 'string') throw new IntegrityError(`the metadata’s ${name} is no text`);
    return value;
  };
  const required = (name: string): string => {
    const value = optional(name);
    if (value === undefined) throw new IntegrityError(`the metadata lack ${name}`);
    return value;
  };
  return {
    correlationId: required('$correlationId'),
    causationId: required('$causationId'),
    fingerprint: optional('fingerprint'),
    causationDepth: wholeNumber(required('causation_depth')),
    team: required('team'),
    profile: optional('profile'),
    apiKey: optional('api_key'),
    schemaVersion: wholeNumber(required('schema_version'), 1),
    occurredAt: instant(optional('occurred_at')),
    previousHash: required('previous_hash'),
    hash: required('hash'),
  };
}

/** The hash in an event's metadata. */
export const storedHash = (metadata: string): unknown => (JSON.parse(metadata) as Partial<Record<string, unknown>>).hash;

function wholeNumber(text: string, least = 0): number {
  if (!/^[0-9]{1,9}$/.test(text) || Number(text) < least)
    throw new IntegrityError('the metadata hold no whole number where one belongs');
  return Number(text);
}

function instant(text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) throw new IntegrityError('the metadata hold no time where one belongs');
  return date;
}
