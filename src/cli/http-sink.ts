import type { EvidenceItem } from '../importing/record.js';
import type { EvidenceSink, ItemReceipt } from '../importing/import-evidence.js';
import type { Client } from './client.js';
import { isCliFailure } from './failure.js';
import { patiently } from './patience.js';

/** Problems of a whole request that one item of it may have caused. Others, such as a missing right, are the same for each. */
const problemsOfItems: ReadonlySet<string> = new Set([
  'malformed_json',
  'body_not_an_object',
  'unknown_field',
  'validation_failed',
  'number_not_exact',
  'too_large',
]);

export interface HttpSink extends EvidenceSink {
  /** Of the last write: opaque, for `min_position`. */
  readonly position: string | undefined;
}

/** Sends evidence to `POST /v1/evidence/batch`. A batch that is refused as a whole is halved until the item at fault is alone. */
export function httpSink(client: Client, signal: AbortSignal): HttpSink {
  let position: string | undefined;
  const remember = async (items: readonly EvidenceItem[]): Promise<readonly ItemReceipt[]> => {
    try {
      const answer = await patiently(signal, () => client.post<{ items: ItemReceipt[] }>('/v1/evidence/batch', { items }));
      position = answer.position ?? position;
      return answer.body.items;
    } catch (error) {
      if (!isCliFailure(error) || !problemsOfItems.has(error.code)) throw error;
      if (items.length === 1) return [refusal(error.code, error.facts.field)];
      const half = Math.ceil(items.length / 2);
      return [...(await remember(items.slice(0, half))), ...(await remember(items.slice(half)))];
    }
  };
  return {
    remember,
    get position() {
      return position;
    },
  };
}

const refusal = (code: string, field: string | undefined): ItemReceipt => ({
  outcome: 'refused',
  evidence_id: null,
  code,
  // `items[0].metadata` and the like: the place in the request says nothing about the file.
  field: field?.replace(/^items(\[0\]|\.0)?\.?/, '') || null,
});
