import { jsonRecord } from './json-record.js';
import type { Reader } from './record.js';

/** A line is the body of `POST /v1/evidence`. @param scope for lines that name none */
export const jsonlReader =
  (scope: string | undefined): Reader =>
  (text) => {
    const read = jsonRecord(text);
    if ('refused' in read) return read;
    return { item: scope === undefined ? read.record : { scope, ...read.record } };
  };
