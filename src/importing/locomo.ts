import { z } from 'zod';
import { readTime } from './read-time.js';
import type { EvidenceItem } from './record.js';

/**
 * The file of LoCoMo (Maharana et al., 2024): conversations in sessions, and questions with the turns that answer them.
 */
const turn = z.object({
  speaker: z.string(),
  dia_id: z.string(),
  text: z.string(),
  blip_caption: z.string().optional(),
});
const question = z.object({
  question: z.string(),
  evidence: z.array(z.string()).default([]),
  category: z.number().int(),
});
const sample = z.object({
  sample_id: z.string().min(1),
  conversation: z.record(z.string(), z.unknown()),
  qa: z.array(question).default([]),
});

export interface LocomoQuestion {
  readonly question: string;
  /** Ids of the turns that answer it; some name no turn. */
  readonly evidence: readonly string[];
  readonly category: number;
}

export interface LocomoConversation {
  readonly id: string;
  /** A turn each, in order. */
  readonly items: readonly (EvidenceItem & { readonly external_id: string })[];
  readonly questions: readonly LocomoQuestion[];
}

/** The text is no such file. The message names places, never what stands there. */
export class LocomoFileInvalid extends Error {
  readonly code = 'locomo_file_invalid';
}

/** @throws LocomoFileInvalid */
export function readLocomo(text: string): LocomoConversation[] {
  const samples = checked(z.array(sample).min(1), parsed(text), []);
  return samples.map(({ sample_id, conversation, qa }, index) => ({
    id: sample_id,
    items: sessionsOf(conversation).flatMap((name) => session(name, conversation, index)),
    questions: qa,
  }));
}

const sessionsOf = (conversation: object): string[] =>
  Object.keys(conversation)
    .filter((name) => /^session_\d+$/.test(name))
    .sort((one, other) => Number(one.slice('session_'.length)) - Number(other.slice('session_'.length)));

function session(name: string, conversation: Readonly<Record<string, unknown>>, index: number) {
  const place = [index, 'conversation', name];
  const turns = checked(z.array(turn), conversation[name], place);
  const time = readTime(conversation[`${name}_date_time`]);
  // An empty session says nothing at no time.
  if (time === undefined && turns.length > 0) throw invalid([...place.slice(0, 2), `${name}_date_time`]);
  return turns.map(({ speaker, dia_id, text, blip_caption }, sequence) => ({
    content: `${speaker}: ${text}${blip_caption === undefined ? '' : ` [shares ${blip_caption}]`}`,
    author: speaker,
    group: name,
    sequence,
    source_type: 'conversation',
    ...(time !== undefined && { occurred_at: time }),
    external_id: dia_id,
  }));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new LocomoFileInvalid('the file is no JSON');
  }
}

function checked<T>(schema: z.ZodType<T>, value: unknown, place: readonly (string | number)[]): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw invalid([...place, ...(result.error.issues[0]?.path ?? [])]);
}

const invalid = (place: readonly PropertyKey[]) =>
  new LocomoFileInvalid(
    `the file is not in the shape of LoCoMo at ${place.length === 0 ? 'its root' : place.map(String).join('.')}`,
  );
