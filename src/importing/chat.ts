import { readTime } from './read-time.js';
import { jsonRecord, type JsonRecord } from './json-record.js';
import { type EvidenceItem, type Reader, refused } from './record.js';

/** Names of a message, and what each becomes. What is not here is refused: left out in silence, it would be missed too late. */
const evidenceNames: Readonly<Record<string, string>> = {
  conversation: 'group',
  speaker: 'author',
  text: 'content',
  time: 'occurred_at',
  sequence: 'sequence',
  id: 'external_id',
  source: 'source_key',
  source_revision: 'source_revision',
  authority: 'authority',
  labels: 'labels',
  subjects: 'subjects',
  metadata: 'metadata',
  scope: 'scope',
};

const required = ['conversation', 'speaker', 'text'] as const;

/**
 * A message of a conversation.
 *
 * Its place in the conversation is its line in the file, unless it says another: lines rise within every conversation, need no
 * counter for each, and stay what they are when a line that was refused is put right.
 *
 * @param scope for messages that name none
 */
export const chatReader =
  (scope: string | undefined): Reader =>
  (text, line) => {
    const read = jsonRecord(text);
    if ('refused' in read) return read;
    const { record } = read;
    const unknown = Object.keys(record).find((name) => !Object.hasOwn(evidenceNames, name));
    if (unknown !== undefined) return refused('unknown_field', shownName(unknown));
    const missing = required.find((name) => typeof record[name] !== 'string');
    if (missing !== undefined) return refused('validation_failed', missing);
    const occurred_at = timeOf(record.time);
    if (occurred_at === undefined) return refused('time_unreadable', 'time');
    return {
      item: { ...(scope !== undefined && { scope }), ...message(record, line), ...(occurred_at !== null && { occurred_at }) },
    };
  };

function message(record: JsonRecord, line: number): EvidenceItem {
  const others = Object.entries(record).filter(([name]) => name !== 'time');
  const renamed = others.map(([name, value]) => [evidenceNames[name] ?? name, value] as const);
  return { source_type: 'conversation', sequence: line, ...Object.fromEntries(renamed) };
}

/** @returns null for a message without a time, undefined for one that cannot be read */
const timeOf = (time: unknown): string | null | undefined => (time === undefined || time === null ? null : readTime(time));

/** The name of the message's field for one of evidence: people look for what they wrote. */
export const chatField = (field: string): string =>
  Object.entries(evidenceNames).find(([, evidence]) => evidence === field)?.[0] ?? field;

/** Names come from the file: one that is no plain word may be content in the wrong place. */
const shownName = (name: string): string | null => (/^[A-Za-z_][\w.-]{0,63}$/.test(name) ? name : null);
